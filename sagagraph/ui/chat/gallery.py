"""The gallery: pictures of the plan that a page shows (timeline, map, steps), and what changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from sagagraph.saga.core.state import Operation, Saga
from sagagraph.ui.chat.page_model import PageModel
from sagagraph.ui.handlers import Updates
from sagagraph.ui.html import cards
from sagagraph.ui.visitors import Visitor


@dataclass(slots=True)
class Drawn:
    """What a stream has already sent, so that it sends figures again only when they change."""

    plan: object = None
    steps: object = None


class Gallery:
    def __init__(self, look: Callable[[Visitor], Awaitable[PageModel]]) -> None:
        self._look = look

    def build(self) -> None:
        with gr.Tabs(visible=False, elem_id="pictures") as self._box:
            self._tabs = [gr.Tab(name) for name in ("Timeline", "Map", "Steps", "Changes")]
            timeline, route, steps, changed = self._tabs
            with timeline:
                self._timeline = gr.Plot(show_label=False, container=False, elem_id="timeline")
            with route:
                self._route = gr.Plot(show_label=False, container=False, elem_id="route")
            with steps:
                self._steps = gr.Plot(show_label=False, container=False, elem_id="graph")
            with changed:
                self._changes = gr.HTML(elem_id="changes")
                self._comparison = gr.Plot(show_label=False, container=False, visible=False, elem_id="comparison")

    @property
    def outputs(self) -> list[Any]:
        return [self._box, self._timeline, self._route, self._steps, self._changes, self._comparison]

    def listen(self, on: Callable[..., None]) -> None:
        for tab in self._tabs:
            on(tab.select, self._on_tab)

    async def _on_tab(self, visitor: Visitor) -> Updates:
        """Sends the pictures again: what arrived while a tab was hidden has not been drawn."""
        return self.of(await self._look(visitor), Drawn())

    def of(self, model: PageModel, drawn: Drawn) -> Updates:
        saga = model.shown
        if saga is None or saga.plan.content is None:
            return {self._box: gr.update(visible=False)}
        updates: Updates = {self._box: gr.update(visible=True)}
        operations = _operations(model, saga)
        if drawn.steps != (steps := tuple((each.id, each.status, each.removed) for each in operations)):
            from sagagraph.ui.pictures.dependencies import dependency_graph  # Plotly is slow

            drawn.steps = steps
            updates[self._steps] = dependency_graph(operations)
        if drawn.plan != (plan := (saga.id, saga.plan.hash, saga.plan.version, model.plan_before is None)):
            drawn.plan = plan
            updates |= self._plan_of(model, saga)
        return updates

    def _plan_of(self, model: PageModel, saga: Saga) -> Updates:
        from sagagraph.ui.pictures.route import route_map
        from sagagraph.ui.pictures.timeline import comparison, timeline

        plan = model.page.view(saga.plan.content)
        before = plan if model.plan_before is None else model.page.view(model.plan_before)
        compared = None if model.plan_before is None else comparison(before, plan)
        return {
            self._timeline: timeline(plan),
            self._route: route_map(plan),
            self._changes: cards.changes_card(before.lines, plan.lines),
            self._comparison: gr.update(visible=compared is not None, value=compared),
        }


def _operations(model: PageModel, saga: Saga) -> tuple[Operation, ...]:
    """The plan's operations; before a plan is accepted, those that it would become."""
    if len(saga.operations):
        return tuple(saga.in_order())
    specs = model.page.domain.workflow(saga.plan.content)
    return tuple(Operation(spec, ordinal, 0) for ordinal, spec in enumerate(specs))
