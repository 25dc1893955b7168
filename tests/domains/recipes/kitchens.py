"""Meals that are cooked, made again, called off and served: scenarios for the sweep, judged by the kitchen's ledger.

`python -m sagagraph.testing tests.domains.recipes.kitchens:SCENARIOS` harms them at every boundary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sagagraph.domains.recipes.actions import Kitchen, Piece
from sagagraph.domains.recipes.domain import Cooking, accepted
from sagagraph.domains.recipes.plan import Cooked, Plan
from sagagraph.domains.recipes.request import shipped
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


BURNT: Final[dict[str, Any]] = {"event": "burnt", "at": 300, "recipe": "Custard", "step": 0}
"""What is on the stove after five minutes."""


@dataclass(frozen=True)
class Dinner:
    """`happens`: what is done in a meal that is being cooked; None: it is begun."""

    name: str
    happens: str | None = None
    kitchen: type[Kitchen] = Kitchen

    @contextmanager
    def world(self, folder: Path) -> Iterator[None]:
        yield

    async def prepare(self, folder: Path) -> None:
        if self.happens is not None:
            async with self._opened(folder, None) as (_engine, graph):
                await graph.start(SAGA, REQUEST, approved_by="Ann")

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        async with self._opened(folder, crash) as (engine, graph):
            if self.happens is None:
                await graph.start(SAGA, REQUEST, approved_by="Ann")
            elif self.happens == "cancelled":
                await engine.cancel(SAGA, by="Ann")
            else:
                after = {"served": True} if self.happens == "served" else {"events": [BURNT]}
                await graph.change(SAGA, {**REQUEST, **after}, by="Ann", approved_by="Ann")

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
            saga = await engine.load(SAGA)
            cooked = accepted(saga) if saga.plan.accepted else None
        except UnknownSagaError:
            status, cooked = "never begun", None
        kitchen = self.kitchen(engine.store)
        pieces, dinners = list((await kitchen.pieces(SAGA)).values()), await kitchen.dinners(SAGA)
        kept, _thrown = await kitchen.ledger(SAGA)
        await engine.close()
        return Judgement(status, tuple(_faults(status, cooked, pieces, kept, len(dinners))))

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


def _faults(status: str, cooked: Cooked | None, pieces: Iterable[tuple[Piece, bool]], kept: Plan, dinners: int) -> Iterator[str]:
    starts = [(each.recipe, each.step, each.start_s) for each, _is_gone in pieces if not each.goes_on]
    for begin, times in Counter(starts).items():
        if times > 1:
            yield f"{begin} was started {times} times"
    if dinners != (status == "committed"):
        yield f"{status}, and dinner was served {dinners} times"
    if cooked is not None and status in ("running", "committed"):
        if sorted(kept) != sorted(cooked.plan):
            yield f"{status}, and this is on the stove: {kept}, not {cooked.plan}"
        if not validate_plan(cooked.meal, [list(row) for row in kept]).is_valid:
            yield f"{status}, and this is no meal: {kept}"
    elif kept:
        yield f"{status}, and this is on the stove: {kept}"


COOKED = Dinner("cooked")
CALLED_OFF = Dinner("called off", "cancelled")
MADE_AGAIN = Dinner("made again", "burnt")
SERVED = Dinner("served", "served")
SCENARIOS = (COOKED, CALLED_OFF, MADE_AGAIN, SERVED)
