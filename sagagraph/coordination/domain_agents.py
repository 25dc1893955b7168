"""Agents that are domains: a task of theirs is a saga of its own, and undone with the mission."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from sagagraph.coordination.agents import Agent, agent
from sagagraph.errors import Refused, UnknownSagaError
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.planning.page import Page
from sagagraph.registry import open_domain, require_entry
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.next_steps import is_quiet
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Guarantees, action
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.settings import Settings

_REMEMBERED = timedelta(days=3650)
"""A saga of the same id is the same saga, for as long as there is a journal."""


def domain_agent(name: str, domain: str, engine: Engine, settings: Settings) -> Agent:
    """Return an agent that carries out requests of a domain, or sentences that its page reads: `{"request"}` or `{"text"}`."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[PlanningGraph, Page]]:
        async with open_domain(domain, settings, engine.store) as served:
            page = require_entry(domain).page(served, None)
            if page is None:
                raise Refused(f"{domain} reads no requests", code="configuration")
            yield planning_graph(domain=served, engine=engine), page

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

    @action(
        name=f"agent.{name}", compensate=undo, probe=look, guarantees=Guarantees(dedup=_REMEMBERED), provider=f"sagas:{domain}"
    )
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

    return agent(name, carry_out, skills=(domain,), tools=(domain,))


def _told(view: SagaView) -> dict[str, Any]:
    outputs = {each.id: each.output for each in view.operations if each.output is not None}
    return {"saga_id": view.saga_id, "status": view.status.value, "cost": view.cost.total, "outputs": outputs}
