"""The front door: what the app does in a picture of each domain, with an example, and the visitor's own plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import gradio as gr

from sagagraph.planning.page import NOTHING_KNOWN, Page
from sagagraph.saga.core.state import Saga
from sagagraph.ui.chat.conversation import Conversations
from sagagraph.ui.chat.page_model import PageModel, own_plans, reopen
from sagagraph.ui.handlers import Updates
from sagagraph.ui.html.front import boards_shown
from sagagraph.ui.html.templates import render
from sagagraph.ui.page_state import kept
from sagagraph.ui.pictures.lanes import lanes
from sagagraph.ui.pictures.route import route_map
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor
from sagagraph.ui.wording import next_step, title

_MOST_PLANS: Final = 12


class FrontDoor:
    def __init__(self, service: Service, conversations: Conversations) -> None:
        self._service = service
        self._conversations = conversations

    def build(self) -> None:
        with gr.Column(elem_id="front-door") as self._box:
            with gr.Column(visible=False, elem_id="yours") as self._yours:
                gr.HTML("<h2>Your plans</h2>")
                self._plans = [
                    (gr.Button("", visible=False, elem_classes="sg-choice", elem_id=f"plan-{number}"), kept())
                    for number in range(_MOST_PLANS)
                ]
            gr.HTML("<h2>What it does: try one</h2>")
            with gr.Row(elem_classes="sg-cards"):
                self.cards = [(page.name, *self._card(page)) for page in self._service.pages.values() if page.examples]
            gr.HTML(boards_shown(self._service))

    def _card(self, page: Page) -> tuple[gr.Button, gr.Button]:
        """Build a picture of what a domain does; its buttons begin with an example, or with an empty board."""
        with gr.Column(min_width=170, elem_classes="sg-show"):
            picture = route_map(page.showcase) if page.showcase.route.connections else lanes(page.showcase)
            gr.HTML(render("showcase", picture=picture, title=page.title, promise=page.promise))
            example = gr.Button(f"{page.title}, for example", elem_id=f"example-{page.name}", elem_classes="sg-example")
            return example, gr.Button(f"{page.title}, empty", elem_id=f"empty-{page.name}", elem_classes="sg-example")

    @property
    def outputs(self) -> list[Any]:
        return [self._box, self._yours, *(part for plan in self._plans for part in plan)]

    def listen(self, on: Callable[..., None]) -> None:
        for button, saga_id in self._plans:
            on(button.click, self._on_open, [saga_id])

    async def _on_open(self, visitor: Visitor, saga_id: str) -> None:
        await reopen(self._service, self._conversations, visitor, await self._service.saga(visitor, saga_id))

    async def of(self, model: PageModel, visitor: Visitor) -> Updates:
        talk = model.conversation
        if model.saga is not None or talk.messages or talk.draft is not NOTHING_KNOWN:
            return {self._box: gr.update(visible=False)}
        updates: Updates = {self._box: gr.update(visible=True)}
        own = (await own_plans(self._service, visitor))[:_MOST_PLANS]
        updates[self._yours] = gr.update(visible=bool(own))
        for number, (button, saga_id) in enumerate(self._plans):
            there = number < len(own)
            updates[button] = gr.update(visible=there, value=self._told(own[number]) if there else "")
            updates[saga_id] = own[number].id if there else ""
        return updates

    def _told(self, saga: Saga) -> str:
        page = self._service.pages[saga.domain]
        return f"{title(saga, page)}\n{next_step(saga, page)}"
