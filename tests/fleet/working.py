"""Sagas for a fleet, and a worker that serves them for as long as a block lasts."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress

from sagagraph.fleet.port import Drive, Fleet
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.events import Driver, LeaseTaken, SagaBegun
from sagagraph.saga.core.state import Stage
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.engine import Engine

PATIENCE_S = 90.0


def new_queue() -> str:
    """A queue of its own: tests share a server."""
    return f"q{uuid.uuid4().hex[:8]}"


async def begun(engine: Engine, queue: str, name: str, actions: Iterable[Action]) -> str:
    """A saga that nobody carries out yet. Returns its id."""
    saga_id = f"{name}-{queue}"
    begins = SagaBegun(Driver.WORKFLOW, queue, {})
    lease = await engine.store.create(saga_id, begins, stage=Stage.PLANNING, owner="client", ttl_s=0.0)
    await engine.store.release(lease)
    made = tuple(actions)
    for each in made:
        engine.register(each)
    specs = tuple(each.spec(each.name, {}, ()) for each in made)
    await engine._record(saga_id, (c.AcceptPlan(specs),), looks_again=False)
    return saga_id


async def takes(engine: Engine, saga_id: str) -> int:
    """How often it was taken to be driven; its plan was accepted under a lease before."""
    return sum(isinstance(each.event, LeaseTaken) for each in await engine.journal(saga_id)) - 1


@asynccontextmanager
async def working(fleet: Fleet, drive: Drive, queue: str, *, slots: int = 4, build_id: str = "") -> AsyncIterator[None]:
    serving = asyncio.create_task(fleet.serve(drive, [queue], slots, build_id))
    try:
        yield
        assert not serving.done(), serving
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


async def eventually(is_so: Callable[[], Awaitable[object]], *, within_s: float = PATIENCE_S) -> float:
    """Wait until it is so; returns how long that took."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    while not await is_so():
        assert loop.time() - began < within_s, "it never was so"
        await asyncio.sleep(0.01)
    return loop.time() - began
