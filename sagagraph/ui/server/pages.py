"""Pages: the app's page, which Gradio serves. Importing this takes seconds, because it imports Gradio."""

from __future__ import annotations

import os
from typing import Final

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

import gradio as gr
import networkx  # noqa: F401 - pictures and checks of plans need it: it comes now, when nobody waits for them
from fastapi import FastAPI

from sagagraph.ui.chat.chat_page import ChatPage
from sagagraph.ui.chat.conversation import Conversations
from sagagraph.ui.history.history_page import HistoryPage
from sagagraph.ui.html.templates import CSS, CSS_AROUND, LOOK_AGAIN
from sagagraph.ui.service import Service

_READABLE: Final = {
    "button_primary_background_fill": "*primary_600",
    "checkbox_label_background_fill_selected": "*primary_600",
}
"""White on the theme's own shade is too faint for everybody to read."""
_NOTHING_UPLOADED: Final = 1
"""In bytes: no component takes files, yet the route that would accept them exists."""
_LOOKS_EVERY_S: Final = 0.02
"""How often Gradio's queue looks for something to do. By default a thousand times a second, which takes 5 % of a core."""
_TELLS_EVERY_S: Final = 5.0
"""How often it looks for progress to tell: no page here has any of that kind."""


def pages(service: Service, conversations: Conversations) -> FastAPI:
    app: FastAPI = gr.mount_gradio_app(
        FastAPI(docs_url=None, redoc_url=None, openapi_url=None),
        _page(service, conversations),
        path="/",
        theme=gr.themes.Soft(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]).set(**_READABLE),
        css=CSS,
        head=f"<style>{CSS_AROUND}</style><script>{LOOK_AGAIN}</script>",
        footer_links=[],
        run_history=False,
        show_error=False,
        ssr_mode=False,
        enable_monitoring=False,
        max_file_size=_NOTHING_UPLOADED,
    )
    return app


def _page(service: Service, conversations: Conversations) -> gr.Blocks:
    page = gr.Blocks(title="SagaGraph", analytics_enabled=False)
    with page:
        chat = ChatPage(service, conversations)
        chat.build()
        with gr.Accordion("Under the hood", open=False, elem_id="hood") as hood:
            chat.build_under_the_hood()
            HistoryPage(service, conversations).build(hood)
        chat.listen(page)
    page.queue(default_concurrency_limit=None, api_open=False)
    queue = page._queue
    queue.sleep_when_free, queue.progress_update_sleep_when_free = _LOOKS_EVERY_S, _TELLS_EVERY_S
    return page
