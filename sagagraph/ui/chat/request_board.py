"""The board of the request: what is known of it as fields to change, from the first word on, whatever its domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from sagagraph.planning.fields import Part
from sagagraph.planning.page import NOTHING_KNOWN
from sagagraph.ui.chat.page_model import PageModel
from sagagraph.ui.handlers import Updates
from sagagraph.ui.html.templates import REQUEST, render
from sagagraph.ui.service import Service


class RequestBoard:
    def __init__(self, service: Service) -> None:
        self._service = service

    def build(self) -> None:
        lists = {name: values for page in self._service.pages.values() for name, values in page.suggestions.items()}
        gr.HTML(render("suggestions", lists=lists), elem_classes="sg-kept")
        self._fields = gr.HTML(elem_id="request", js_on_load=REQUEST)

    @property
    def outputs(self) -> list[Any]:
        return [self._fields]

    @property
    def filled(self) -> Any:
        """Return the event of a field that was changed; it brings `field`, `value` and `turn`."""
        return self._fields.submit

    def of(self, model: PageModel, parts: Sequence[Part]) -> Updates:
        page = model.page
        happened = page.happened(model.saga.request) if model.saga is not None else ()
        quotes, refused = model.conversation.quotes, model.conversation.refused
        is_fresh = model.conversation.draft is NOTHING_KNOWN and not refused
        parts = [each.marked(lambda field: field.quoting(quotes).refusing(refused)) for each in parts]
        told = {"title": page.title, "parts": parts, "happened": happened, "is_fresh": is_fresh}
        told["turn"] = model.conversation.filled
        board = render("request", **told) if parts or happened else ""
        return {self._fields: gr.update(value=board, visible=bool(board))}
