"""Productions that are begun, repaired, called off and delivered: scenarios for the sweep, judged by the floor's ledger.

`python -m sagagraph.testing tests.domains.job_shop.floors:SCENARIOS` harms them at every boundary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sagagraph.domains.job_shop.actions import Dispatch, Floor
from sagagraph.domains.job_shop.domain import Produced, Production, accepted, request_for
from sagagraph.domains.job_shop.request import Slot
from sagagraph.errors import UnknownSagaError
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.port import Documents
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import Judgement, store_of
from tests.domains.job_shop.shops import THREE

SAGA: Final = "production"
REQUEST: Final = request_for(THREE, 2.0)
DOWN: Final[dict[str, Any]] = {"event": "machine_down", "at": 2, "machine": 0, "until": 5}
REDO: Final[dict[str, Any]] = {"event": "redo", "at": 9, "job": 1, "step": 1}
_NEWS: Final = {"repaired": DOWN, "redone": REDO}


@dataclass(frozen=True)
class Shift:
    """`happens`: what is done in a production under way; None: it is begun."""

    name: str
    happens: str | None = None

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
                after = {"delivered": True} if self.happens == "delivered" else {"events": [_NEWS[self.happens]]}
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
            produced = accepted(saga) if saga.plan.accepted else None
        except UnknownSagaError:
            status, produced = "never begun", None
        floor = Floor(engine.store)
        dispatches, deliveries = list((await floor.dispatches(SAGA)).values()), await floor.deliveries(SAGA)
        standing = await floor.standing(SAGA)
        await engine.close()
        return Judgement(status, tuple(faults(status, produced, dispatches, standing, len(deliveries))))

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
            yield engine, planning_graph(domain=Production(Floor(kept)), engine=engine)
        finally:
            await engine.close()


def faults(
    status: str,
    produced: Produced | None,
    dispatches: Sequence[tuple[Dispatch, bool]],
    standing: Sequence[Slot],
    deliveries: int,
) -> Iterator[str]:
    """Say what the floor has that the accepted schedule does not account for."""
    if deliveries != (status == "committed"):
        yield f"delivered {deliveries} times, and the saga is {status}"
    stands = Counter(
        (each.job, each.step, each.start) for each, is_recalled in dispatches if not is_recalled and not each.goes_on
    )
    yield from (f"dispatched {count} times: {key}" for key, count in stands.items() if count > 1)
    wanted = set(produced.schedule) if produced is not None and status in ("running", "committed") else set()
    if status in ("running", "committed", "compensated", "never begun") and set(standing) != wanted:
        yield f"the floor works by {len(standing)} steps that are not those of the {status} saga"


BEGUN = Shift("a production is begun")
CALLED_OFF = Shift("it is called off", "cancelled")
REPAIRED = Shift("a machine breaks down", "repaired")
REDONE = Shift("a job goes back", "redone")
DELIVERED = Shift("it is delivered", "delivered")
SCENARIOS = (BEGUN, CALLED_OFF, REPAIRED, REDONE, DELIVERED)
