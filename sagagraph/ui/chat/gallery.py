"""The gallery: pictures of the plan that a page shows, each with what the plan before it looked like where it replaced one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from sagagraph.ui.chat.page_model import PageModel
from sagagraph.ui.handlers import Updates
from sagagraph.ui.pictures.lanes import lanes
from sagagraph.ui.pictures.route import route_map


@dataclass(slots=True)
class Drawn:
    """What a stream has already sent, so that it sends pictures again only when they change."""

    plan: object = None
    ways: object = None
    ways_card: str = ""


class Gallery:
    def build(self) -> None:
        with gr.Column(visible=False, elem_id="pictures") as self._box, gr.Tabs():
            with gr.Tab("When"):
                self._timeline = gr.HTML(elem_id="timeline")
            with gr.Tab("Where") as self._where:
                self._route = gr.HTML(elem_id="route")

    @property
    def outputs(self) -> list[Any]:
        return [self._box, self._where, self._timeline, self._route]

    def of(self, model: PageModel, drawn: Drawn) -> Updates:
        saga = model.shown
        if saga is None or saga.plan.content is None:
            return {self._box: gr.update(visible=False)}
        updates: Updates = {self._box: gr.update(visible=True)}
        if drawn.plan != (state := (saga.id, saga.plan.hash or saga.plan.content, saga.plan.version, model.before is None)):
            drawn.plan = state
            plan = model.page.view(saga.plan.content)
            before = None if model.before is None else model.page.view(model.before.plan)
            updates |= {self._timeline: lanes(plan, before), self._route: route_map(plan, before)}
            updates[self._where] = gr.update(visible=bool(plan.route.connections))
        return updates
