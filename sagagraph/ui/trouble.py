"""Where things go wrong on purpose: what can happen to a plan as buttons, and faults that the sandbox is to make."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import gradio as gr

from sagagraph.errors import SagaGraphError
from sagagraph.planning.fault_desk import CALLS, FAULTS, KINDS
from sagagraph.saga.core.state import FINAL
from sagagraph.ui import cards
from sagagraph.ui.gate import visitor_in
from sagagraph.ui.keeping import Shown, kept
from sagagraph.ui.scene import Scene
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor

_MOST_DISRUPTIONS: Final = 10

Updates = dict[Any, Any]
Follow = Callable[[Visitor], AsyncIterator[Updates]]
Listen = Callable[..., None]


class Trouble:
    """`shown`, here and below: where a page keeps which saga it shows."""

    def __init__(self, service: Service, follow: Follow) -> None:
        self._service = service
        self._follow = follow

    def build(self) -> None:
        with gr.Accordion("Something happens", open=False, visible=False, elem_id="trouble") as self._box:
            self._buttons: list[tuple[gr.Button, gr.Textbox]] = []
            for number in range(_MOST_DISRUPTIONS):
                button = gr.Button("", size="sm", visible=False, elem_id=f"disrupt-{number}")
                self._buttons.append((button, kept()))
            with gr.Group(visible=False) as self._faults:
                self._build_faults()
            self._told = gr.HTML(elem_id="trouble-told")

    def _build_faults(self) -> None:
        with gr.Row(elem_classes="sg-tight"):
            self._kind = gr.Dropdown(
                list(KINDS), value="hotel", label="In the sandbox, the next", min_width=110, elem_id="fault-of"
            )
            self._call = gr.Dropdown(list(CALLS), value="book", label="call to", min_width=110, elem_id="fault-call")
            faults = [(words, name) for name, words in FAULTS.items()]
            self._fault = gr.Dropdown(faults, value="refuse", label="of this saga", min_width=210, elem_id="fault-kind-of")
        self._order = gr.Button("Order this fault", size="sm", elem_id="order-fault")

    @property
    def outputs(self) -> list[Any]:
        return [self._box, self._faults, self._told, *(part for pair in self._buttons for part in pair)]

    def listen(self, on: Listen, shown: gr.Textbox) -> None:
        """`on(event, handler, inputs)`: as the page listens to its other parts."""
        for button, key in self._buttons:
            on(button.click, self._on_disrupt, [shown, key])
        on(self._order.click, self._on_order, [shown, self._kind, self._call, self._fault])

    async def _on_disrupt(self, shown: str, key: str, request: gr.Request) -> AsyncIterator[Updates]:
        visitor, saga_id = visitor_in(request.headers), Shown.in_text(shown).saga_id
        if saga_id:
            try:
                await self._disrupt(visitor, saga_id, key)
            except SagaGraphError as exc:
                yield {self._told: cards.problem(str(exc))}
        async for updates in self._follow(visitor):
            yield updates

    async def _disrupt(self, visitor: Visitor, saga_id: str, key: str) -> None:
        saga = await self._service.saga(visitor, saga_id)
        happened = {each.key: each for each in self._service.subjects[saga.domain].disruptions(saga)}.get(key)
        if happened is not None:
            await self._service.disrupt(visitor, saga_id, happened)

    async def _on_order(self, shown: str, kind: str, call: str, fault: str, request: gr.Request) -> AsyncIterator[Updates]:
        visitor, saga_id = visitor_in(request.headers), Shown.in_text(shown).saga_id
        if not saga_id:
            return
        try:
            await self._service.order_fault(visitor, saga_id, kind=kind, call=call, fault=fault)
        except SagaGraphError as exc:
            yield {self._told: cards.problem(str(exc))}
        else:
            yield {self._told: cards.note(f"Ordered: the next call to {call} ({kind}) {FAULTS.get(fault, fault)}.")}

    def of(self, scene: Scene) -> Updates:
        saga = scene.saga
        offered = scene.subject.disruptions(saga)[:_MOST_DISRUPTIONS] if saga is not None and not scene.is_busy else ()
        has_faults = scene.subject.desk is not None and saga is not None and (saga.stage not in FINAL or bool(offered))
        updates: Updates = {
            self._box: gr.update(visible=bool(offered) or has_faults),
            self._faults: gr.update(visible=has_faults),
        }
        for number, (button, key) in enumerate(self._buttons):
            there = number < len(offered)
            updates[button] = gr.update(visible=there, value=offered[number].words if there else "")
            updates[key] = offered[number].key if there else ""
        return updates
