"""A meal that is cooked, and one that is called off: scenarios for the sweep, judged by the kitchen's ledger.

`python -m sagagraph.testing tests.domains.recipes.kitchens:COOKED` harms the first at every boundary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sagagraph.domains.recipes.actions import Kitchen
from sagagraph.domains.recipes.domain import Cooking
from sagagraph.domains.recipes.plan import Plan
from sagagraph.domains.recipes.request import parse_meal, shipped
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.errors import UnknownSagaError
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.port import Documents
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import Judgement, store_of

SAGA = "dinner"
REQUEST = {"recipes": [shipped("Custard")]}


@dataclass(frozen=True)
class Dinner:
    name: str
    is_cancelled: bool = False
    kitchen: type[Kitchen] = Kitchen

    @contextmanager
    def world(self, folder: Path) -> Iterator[None]:
        yield

    async def prepare(self, folder: Path) -> None:
        if self.is_cancelled:
            async with self._opened(folder, None) as (_engine, graph):
                await graph.start(SAGA, REQUEST, approved_by="Ann")

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        async with self._opened(folder, crash) as (engine, graph):
            if self.is_cancelled:
                await engine.cancel(SAGA, by="Ann")
            else:
                await graph.start(SAGA, REQUEST, approved_by="Ann")

    async def resume(self, folder: Path) -> None:
        async with self._opened(folder, None) as (engine, graph):
            with suppress(UnknownSagaError):
                await graph.resume(SAGA)
            with suppress(UnknownSagaError):
                await engine.resume(f"{SAGA}~reversal")

    async def judge(self, folder: Path) -> Judgement:
        engine = Engine(await open_store(store_of(folder)))
        try:
            status = (await engine.status(SAGA)).status.value
        except UnknownSagaError:
            status = "never begun"
        kept, thrown = await self.kitchen(engine.store).ledger(SAGA)
        await engine.close()
        return Judgement(status, tuple(_faults(status, kept, thrown)))

    @asynccontextmanager
    async def _opened(self, folder: Path, crash: CrashPoint | None) -> AsyncIterator[tuple[Engine, PlanningGraph]]:
        store = await open_store(store_of(folder))
        kept: Documents = store
        if crash is None:
            engine = Engine(store)
        else:
            fragile = crash.around_store(store)
            engine, kept = Engine(fragile, around_call=crash.around_call, lease_ttl_s=crash.lease_ttl_s), fragile
        try:
            yield engine, planning_graph(domain=Cooking(self.kitchen(kept)), engine=engine)
        finally:
            await engine.close()


def _faults(status: str, kept: Plan, thrown: Plan) -> Iterator[str]:
    for row, times in Counter((*kept, *thrown)).items():
        if times > 1:
            yield f"{row} was started {times} times"
    if status == "committed" and not validate_plan(parse_meal(REQUEST), [list(row) for row in kept]).is_valid:
        yield f"committed, and this is on the stove: {kept}"
    if status != "committed" and kept:
        yield f"{status}, and this is on the stove: {kept}"


COOKED = Dinner("cooked")
CALLED_OFF = Dinner("called off", is_cancelled=True)
