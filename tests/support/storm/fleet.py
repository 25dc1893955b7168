"""A storm through the port of a fleet: a client begins sagas and forgets half of their wake-ups; workers serve."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING

from sagagraph.errors import FleetError, NotAllowedError, SagaGraphError, StoreError
from sagagraph.fleet.port import Fleet
from sagagraph.fleet.store_fleet import StoreFleet
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.events import Driver, SagaBegun
from sagagraph.saga.core.state import FINAL
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.port import SagaStore

if TYPE_CHECKING:
    from tests.support.storm.worker import Batch

QUEUE = "storm"
_SLOTS = 16
_LOOK_S = 0.2
_LOOKS_AT_REST = 4


async def fleet_on(batch: Batch, store: SagaStore, random: Random) -> Fleet:
    if batch.fleet == "store":
        return StoreFleet(store, random=random)
    from sagagraph.fleet.temporal.temporal_fleet import TemporalFleet, connect

    while True:
        with suppress(FleetError):
            return TemporalFleet(await connect(batch.fleet), store)
        await asyncio.sleep(_LOOK_S)


async def begin_all(batch: Batch) -> None:
    """Begin all sagas. Of every other one, the client dies between its append and the wake-up."""
    random = Random(f"{batch.seed} client")
    async with batch.engine() as engine:
        fleet = await fleet_on(batch, engine.store, random)
        for number, (name, shape) in enumerate(batch.shapes.items()):
            begun = False
            while not begun:
                with suppress(SagaGraphError):
                    async with engine.hold(name, begin=SagaBegun(Driver.WORKFLOW, QUEUE, name)) as coordinator:
                        if coordinator.saga.plan.version == 0:
                            with suppress(NotAllowedError):  # cancelled before it had a plan
                                await coordinator.tell(c.AcceptPlan(shape.specs))
                        begun = True
            if number % 2:
                with suppress(FleetError, StoreError):
                    await fleet.wake(name, QUEUE)


async def serve(batch: Batch, engine: Engine, random: Random) -> None:
    """Serve until everything that will be asked for was asked for, and nothing has been due or held for a while."""
    if batch.at_rest.exists():
        return
    fleet = await fleet_on(batch, engine.store, random)
    serving = asyncio.create_task(fleet.serve(engine.drive, [QUEUE], _SLOTS, ""))
    looks = 0
    try:
        while looks < _LOOKS_AT_REST and not batch.at_rest.exists() and not serving.done():
            if not batch.goes_on:
                batch.complain("the time was over before all sagas were at rest")
                return
            await asyncio.sleep(_LOOK_S)
            try:
                rests = batch.all_was_asked.exists() and await _is_at_rest(engine)
            except StoreError:
                rests = False
            looks = looks + 1 if rests else 0
        if looks == _LOOKS_AT_REST:
            batch.at_rest.touch()
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


async def _is_at_rest(engine: Engine) -> bool:
    if await engine.store.due(1, [QUEUE]):
        return False
    return not any(each.lease_until > time.time() for each in await engine.store.headlines() if each.stage not in FINAL)
