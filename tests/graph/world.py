"""An outside world for the nodes of graphs: a ledger in a file, which real processes share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sagagraph import Backoff, Call, Guarantees, Policy, current_call
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.engine import Engine
from tests.saga.ledger import Ledger

QUICK = Policy(backoff=Backoff(base_s=0.005, cap_s=0.01), timeout_s=10.0)


def effect(ledger: Ledger, name: str, returned: Callable[[Any, str], Any] | None = None) -> tuple[Any, dict[str, Any]]:
    """A node that lands `name`, and what `add_node` is told about it; `returned(state, key)` makes its update."""
    action = ledger.action(name)
    make = returned or (lambda _state, _key: {"log": [name]})

    async def node(state: Any) -> Any:
        key = await action.execute(None, current_call())
        return make(state, key)

    async def compensate(state: Any, update: Any, call: Call) -> Any:
        return await action.compensate(None, update, call)  # type: ignore[misc]

    async def probe(state: Any, call: Call) -> Any:
        said = await action.probe(None, call)  # type: ignore[misc]
        return said if said.result is None else type(said)(said.answer, make(state, said.result))

    guarantees = Guarantees(dedup=timedelta(days=1))
    return node, {"compensate": compensate, "probe": probe, "guarantees": guarantees, "policy": QUICK}


def thread(name: str, **more: Any) -> Any:
    return {"configurable": {"thread_id": name, **more}}


async def saga_of(engine: Engine, saga_id: str) -> Saga:
    return fold(saga_id, await engine.journal(saga_id))


async def statuses(engine: Engine, saga_id: str) -> dict[str, str]:
    return {each.id: each.status.value for each in (await engine.status(saga_id)).operations}
