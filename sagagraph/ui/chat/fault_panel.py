"""The fault panel: buttons for what can happen to a plan, and faults that the sandbox is asked to produce."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import gradio as gr

from sagagraph.errors import SagaGraphError
from sagagraph.planning.fault_desk import CALLS, FAULTS
from sagagraph.ui.chat.page_model import PageModel
from sagagraph.ui.handlers import Handlers, Stream, Updates
from sagagraph.ui.html import cards
from sagagraph.ui.page_state import Shown, kept
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor

_MOST_DISRUPTIONS: Final = 10


class FaultPanel:
    """`shown`, here and below: where a page keeps which saga it shows. `choose`: handles a click on a choice."""

    def __init__(
        self, service: Service, follow: Callable[..., Stream], choose: Callable[[Visitor, str, str], Awaitable[None]]
    ) -> None:
        self._service = service
        self._follow = follow
        self._choose = choose

    def build(self) -> None:
        with gr.Accordion("Something happens", open=False, visible=False, elem_id="trouble") as self._box:
            self._buttons: list[tuple[gr.Button, gr.Textbox]] = []
            for number in range(_MOST_DISRUPTIONS):
                button = gr.Button("", size="sm", visible=False, elem_id=f"disrupt-{number}")
                self._buttons.append((button, kept()))

    def build_desk(self) -> None:
        """Build the list of faults that the sandbox can be asked for."""
        with gr.Accordion("Faults to inject", open=False, visible=False, elem_id="faults") as self._faults:
            self._build_faults()
            self._told = gr.HTML(elem_id="trouble-told")

    def _build_faults(self) -> None:
        desks = [page.desk for page in self._service.pages.values() if page.desk is not None]
        kinds = list(dict.fromkeys(kind for desk in desks for kind in desk.kinds))
        faults = [(words, name) for name, words in FAULTS.items()]
        with gr.Row(elem_classes="sg-tight"):
            self._kind = gr.Dropdown(kinds, label="In the sandbox, the next", min_width=110, elem_id="fault-of")
            self._call = gr.Dropdown(list(CALLS), value="book", label="call to", min_width=110, elem_id="fault-call")
            self._fault = gr.Dropdown(faults, value="refuse", label="of this saga", min_width=210, elem_id="fault-kind-of")
        self._order = gr.Button("Order this fault", size="sm", elem_id="order-fault")

    @property
    def outputs(self) -> list[Any]:
        return [self._box, self._faults, self._told, *(part for pair in self._buttons for part in pair)]

    def listen(self, on: Callable[..., None], outputs: Sequence[Any], shown: gr.Textbox) -> None:
        for button, key in self._buttons:
            on(button.click, self._on_disrupt, [shown, key])
        on = Handlers(outputs, self._follow, self._refused).on
        on(self._order.click, self._on_order, [shown, self._kind, self._call, self._fault])

    async def _refused(self, _visitor: Visitor, why: SagaGraphError) -> Updates:
        return {self._told: cards.problem(str(why))}

    async def _on_disrupt(self, visitor: Visitor, shown: str, key: str) -> None:
        await self._choose(visitor, f"disruption {key}", shown)

    async def _on_order(self, visitor: Visitor, shown: str, kind: str, call: str, fault: str) -> Updates | None:
        if not (saga_id := Shown.in_text(shown).saga_id):
            return None
        await self._service.order_fault(visitor, saga_id, kind=kind, call=call, fault=fault)
        return {self._told: cards.note(f"Ordered: the next call to {call} ({kind}) {FAULTS.get(fault, fault)}.")}

    def of(self, model: PageModel) -> Updates:
        saga = model.saga
        offered = model.page.disruptions(saga)[:_MOST_DISRUPTIONS] if saga is not None and not model.is_busy else ()
        has_faults = model.page.desk is not None and (model.is_open or bool(offered))
        updates: Updates = {
            self._box: gr.update(visible=bool(offered)),
            self._faults: gr.update(visible=has_faults),
        }
        for number, (button, key) in enumerate(self._buttons):
            there = number < len(offered)
            updates[button] = gr.update(visible=there, value=offered[number].words if there else "")
            updates[key] = offered[number].key if there else ""
        return updates
