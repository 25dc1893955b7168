"""The pictures of the plan that a page shows: timeline, map, steps, and what changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from sagagraph.saga.core.state import Operation, Saga
from sagagraph.ui import cards
from sagagraph.ui.gate import visitor_in
from sagagraph.ui.scene import Scene
from sagagraph.ui.visitors import Visitor

Updates = dict[Any, Any]


@dataclass(slots=True)
class Drawn:
    """What a stream has sent already, so that it sends figures again only when they change."""

    plan: object = None
    graph: object = None
    comparison: object = None


class Gallery:
    def __init__(self, look: Callable[[Visitor], Awaitable[Scene]]) -> None:
        self._look = look

    def build(self) -> None:
        with gr.Tabs(visible=False, elem_id="pictures") as self._box:
            self._tabs = [gr.Tab(name) for name in ("Timeline", "Map", "Steps", "Changes")]
            timeline, route, graph, compared = self._tabs
            with timeline:
                self._timeline = gr.Plot(show_label=False, container=False, elem_id="timeline")
            with route:
                self._route = gr.Plot(show_label=False, container=False, elem_id="route")
            with graph:
                self._graph = gr.Plot(show_label=False, container=False, elem_id="graph")
            with compared:
                self._changes = gr.HTML(elem_id="changes")
                self._comparison = gr.Plot(show_label=False, container=False, visible=False, elem_id="comparison")

    @property
    def outputs(self) -> list[Any]:
        return [self._box, self._timeline, self._route, self._graph, self._changes, self._comparison]

    def listen(self, on: Callable[..., None]) -> None:
        for tab in self._tabs:
            on(tab.select, self._on_tab, [])

    async def _on_tab(self, request: gr.Request) -> AsyncIterator[Updates]:
        """What arrived while a tab was hidden is not drawn: it is sent again."""
        yield self.of(await self._look(visitor_in(request.headers)), Drawn())

    def of(self, scene: Scene, drawn: Drawn) -> Updates:
        saga = scene.shown
        if saga is None or saga.plan.content is None:
            return {self._box: gr.update(visible=False)}
        named = (saga.id, saga.plan.hash, saga.plan.version)
        updates: Updates = {self._box: gr.update(visible=True)}
        if drawn.plan != named:
            drawn.plan = named
            updates |= self._plan_of(scene, saga.plan.content)
        operations = _operations(scene, saga)
        if drawn.graph != (states := tuple((each.id, each.status, each.removed) for each in operations)):
            from sagagraph.ui.pictures.dependencies import dependency_graph

            drawn.graph = states
            updates[self._graph] = dependency_graph(operations)
        if drawn.comparison != (compared := (named, scene.plan_before is None)):
            drawn.comparison = compared
            updates |= self._comparison_of(scene, saga.plan.content)
        return updates

    def _plan_of(self, scene: Scene, plan: Any) -> Updates:
        from sagagraph.ui.pictures.route import route_map
        from sagagraph.ui.pictures.timeline import timeline

        return {self._timeline: timeline(scene.subject.bars(plan)), self._route: route_map(scene.subject.route(plan))}

    def _comparison_of(self, scene: Scene, plan: Any) -> Updates:
        from sagagraph.ui.pictures.comparison import changes, comparison

        before, subject = scene.plan_before, scene.subject
        if before is None:
            return {self._comparison: gr.update(visible=False, value=None), self._changes: cards.changes_card(())}
        return {
            self._comparison: gr.update(visible=True, value=comparison(subject.bars(before), subject.bars(plan))),
            self._changes: cards.changes_card(changes(subject.lines(before), subject.lines(plan))),
        }


def _operations(scene: Scene, saga: Saga) -> tuple[Operation, ...]:
    """Before a plan is accepted, those that it would become."""
    if len(saga.operations):
        return tuple(saga.in_order())
    specs = scene.subject.domain.workflow(saga.plan.content)
    return tuple(Operation(spec, ordinal, 0) for ordinal, spec in enumerate(specs))
