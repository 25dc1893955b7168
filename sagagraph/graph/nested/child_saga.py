"""Child: a saga of a domain as one operation of another: begun, found and undone under the key of its call."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

from sagagraph.errors import Refused, UnknownSagaError
from sagagraph.graph.planning_graph import PlanningGraph
from sagagraph.planning.page import Page
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.next_steps import is_quiet
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import SagaView

_REMEMBERED = timedelta(days=3650)
"""A saga of the same id is the same saga, for as long as there is a journal."""
Opened = Callable[[], AbstractAsyncContextManager[tuple[PlanningGraph, Page]]]


def child_saga(name: str, domain: str, engine: Engine, opened: Opened) -> Action:
    """Return the action that carries out a request of a domain, or a sentence that its page reads: `{"request"}`, `{"text"}`."""

    def child(call: Call) -> str:
        return call.operation_key.replace("%2F", "-").replace("/", "-")

    async def undo(_request: Any, _result: Any, call: Call) -> None:
        async with opened():
            await engine.cancel(child(call))

    async def look(_request: Any, call: Call) -> Probe:
        try:
            view = await engine.status(child(call))
        except UnknownSagaError:
            return Probe.absent()
        is_open = view.status is SagaStatus.RUNNING and is_quiet(await engine.load(child(call)))
        if view.status is SagaStatus.COMMITTED or is_open:
            return Probe.landed(_told(view))
        return Probe.undone() if view.status.is_final else Probe.absent()

    @action(name=name, compensate=undo, probe=look, guarantees=Guarantees(dedup=_REMEMBERED), provider=f"sagas:{domain}")
    async def carry_out(request: Any, call: Call) -> dict[str, Any]:
        async with opened() as (graph, page):
            if "request" in request:
                wanted = await page.checked(request["request"])
            else:
                draft = await page.hear(str(request["text"]), None)
                if draft.questions or draft.request is None:
                    raise Refused(" ".join(draft.questions) or "that cannot be read", code="invalid_input")
                wanted = draft.request
            view = await graph.start(child(call), wanted, approved_by=f"mission {call.saga_id}")
        if view.status not in (SagaStatus.COMMITTED, SagaStatus.RUNNING):  # a day that everybody was told of stays open
            raise Refused(f"its saga {view.saga_id} is {view.status.value}", code="invalid_input")
        return _told(view)

    return carry_out


def _told(view: SagaView) -> dict[str, Any]:
    outputs = {each.id: each.output for each in view.operations if each.output is not None}
    return {"saga_id": view.saga_id, "status": view.status.value, "cost": view.cost.total, "outputs": outputs}
