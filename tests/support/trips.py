"""The sample trip as scenarios: booked, repaired, repaired at the cost of what stands, cancelled, changed after it was paid."""

from __future__ import annotations

import importlib
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import httpx2

from sagagraph.domains.travel.actions.payer import Payer
from sagagraph.domains.travel.domain import NAME, Travel
from sagagraph.domains.travel.provider.provider import HttpReservationProvider, cities_in
from sagagraph.domains.travel.provider.receipts import Ledger
from sagagraph.errors import SagaGraphError, UnknownSagaError
from sagagraph.graph.checkpoints.checkpointer import open_checkpointer
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.registry import account, entry_of
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.stores.urls import open_store
from sagagraph.sandbox.server import SandboxSettings, serve
from sagagraph.sandbox.world.cities import all_cities
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import Judgement, store_of

SAGA = "trip"
TODAY = date(2025, 3, 1)
"""The day on which the reservation service begins."""
REQUEST = {
    "origin": "San Francisco",
    "stops": [{"city": "Berlin", "nights": 4}, {"city": "Cologne", "nights": 2}],
    "return_to": "San Francisco",
    "depart": "2025-06-04",
    "travellers": 1,
    "rooms": 1,
    "budget": 5000,
    "currency": "USD",
    "stars": [3, 4],
    "direct": "preferred",
}
BOOKINGS = 5
PREVIEWED = "previewed"
"""The file in a case's folder with the fees that a preview of cancelling named."""


@dataclass(frozen=True)
class TripScenario:
    """`faults`: for the reservation service. `prelude`: boundaries to live through before the cancel; 0 cancels nothing."""

    name: str
    faults: tuple[dict[str, Any], ...] = ()
    cancels_after: int | None = None
    """Kill a first run at this boundary, then cancel; None: only run; 0: let the first run end."""
    withheld: frozenset[str] = frozenset()
    budget: int = 5000
    gives_up: int = 0
    """Reservations that have to be cancelled for the trip to be booked after all."""
    insurances: int = 0
    """What is insured: of the sample trip two fares, because the train's can be refunded."""
    train_if: str = ""
    """The hour before which the flight must land for the train to be taken."""
    takes: tuple[str, ...] = ()
    """The operations whose reservations, and no others, stand when it is booked; empty: that is not looked at."""

    @contextmanager
    def world(self, folder: Path) -> Iterator[None]:
        _warm_up()
        faults = folder / "faults.json"
        faults.write_text(json.dumps(self.faults))
        settings = SandboxSettings(folder / "sandbox.db", faults, TODAY, withheld=self.withheld)
        with forked(partial(serve, settings)) as url:
            (folder / "url").write_text(url)
            with urlopen(f"{url}/cities") as answer:
                cities_in(answer.read())
            yield

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        async with self.opened(folder, crash) as (engine, graph):
            if self.cancels_after is None:
                await graph.start(SAGA, self._request, approved_by="sweep")
            else:
                await engine.cancel(SAGA, by="sweep")

    async def prepare(self, folder: Path) -> None:
        """What happens before the run that is killed everywhere: the trip itself, where the run is its cancellation."""
        if self.cancels_after is None:
            return
        async with self.opened(folder, CrashPoint(self.cancels_after, folder / "prelude")) as (engine, graph):
            await graph.start(SAGA, self._request, approved_by="sweep")
            previewed = await engine.cancel(SAGA, preview=True)
            assert isinstance(previewed, CancelPreview)
            (folder / PREVIEWED).write_text(str(previewed.fees))

    @property
    def _request(self) -> dict[str, Any]:
        condition = {"train_if": {"landed_before": self.train_if}} if self.train_if else {}
        return {**REQUEST, **condition, "budget": self.budget, "insured": self.insurances > 0}

    async def resume(self, folder: Path) -> None:
        async with self.opened(folder, None) as (_engine, graph):
            with suppress(UnknownSagaError):  # killed before it began
                await graph.resume(SAGA)

    async def judge(self, folder: Path) -> Judgement:
        ledger = await self.ledger(folder)
        engine = Engine(await open_store(store_of(folder)))
        try:
            status = (await engine.status(SAGA)).status.value
        except UnknownSagaError:
            status = "never began"
        finally:
            await engine.close()
        faults = _faults(ledger, status, BOOKINGS + self.insurances)
        return Judgement(status, (*faults, *self._unexpected(ledger, status), *_beside_preview(folder, ledger, status)))

    @asynccontextmanager
    async def opened(self, folder: Path, crash: CrashPoint | None) -> AsyncIterator[tuple[Engine, PlanningGraph]]:
        async with AsyncExitStack() as stack:
            provider = await stack.enter_async_context(HttpReservationProvider((folder / "url").read_text()))
            travel = await Travel.connect(provider, folder / "outbox", payer=self.payer(folder))
            store = await open_store(store_of(folder))
            checkpointer = await stack.enter_async_context(open_checkpointer(store_of(folder)))
            if crash is None:
                engine = Engine(store, actions=travel.actions, account=account)
            else:
                fragile = crash.around_store(store)
                engine = Engine(
                    fragile,
                    actions=travel.actions,
                    account=account,
                    around_call=crash.around_call,
                    lease_ttl_s=crash.lease_ttl_s,
                )
                checkpointer = crash.around_checkpointer(checkpointer)
            stack.push_async_callback(engine.close)
            yield engine, planning_graph(domain=travel, engine=engine, checkpointer=checkpointer)

    def payer(self, folder: Path) -> Payer:
        return Payer()

    async def ledger(self, folder: Path) -> Ledger:
        async with HttpReservationProvider((folder / "url").read_text()) as provider:
            return await provider.ledger()

    def _unexpected(self, ledger: Ledger, status: str) -> Iterator[str]:
        """Where nobody cancels it, the trip is booked; of what stands no more is given up than must be."""
        if self.cancels_after is None and status == "compensated":
            yield "it was given up, and could be booked"
        if status == "committed" and len(ledger.cancellations) != self.gives_up:
            yield f"{len(ledger.cancellations)} reservations were cancelled, and {self.gives_up} had to be"
        confirmed = sorted(str(row.operation_id) for row in ledger.reservations if row.state == "confirmed")
        if status == "committed" and self.takes and confirmed != sorted(self.takes):
            yield f"{', '.join(confirmed)} stand, and {', '.join(self.takes)} had to"


@dataclass(frozen=True)
class ChangedTrip(TripScenario):
    """The trip was paid; then its train was cancelled by the railway, and better hotels are wished for (ADR-0011)."""

    is_cancelled: bool = False
    """It has been changed before, and now it is cancelled."""

    async def prepare(self, folder: Path) -> None:
        async with self.opened(folder, CrashPoint(0, folder / "prelude")) as (_engine, graph):
            await graph.start(SAGA, self._request, approved_by="sweep")
            await _withdraw((folder / "url").read_text(), _TRAIN)
            if self.is_cancelled:
                await self._change(graph)

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        async with self.opened(folder, crash) as (engine, graph):
            if self.is_cancelled:
                await engine.cancel(SAGA, by="sweep")
            else:
                await self._change(graph)

    async def _change(self, graph: PlanningGraph) -> None:
        await graph.change(SAGA, {**self._request, "stars": [4, 4]}, by="sweep", approved_by="sweep", lost=(_TRAIN,))

    async def judge(self, folder: Path) -> Judgement:
        ledger = await self.ledger(folder)
        engine = Engine(await open_store(store_of(folder)))
        try:
            saga = await engine.load(SAGA)
        finally:
            await engine.close()
        status = status_of(saga).value
        is_changed = saga.plan.version > 1
        planned = {leg["label"] for leg in saga.plan.content["legs"]} if status == "committed" else set()
        faults = (*_repeated(ledger), *_beside_plan(ledger, planned - (set() if is_changed else {_TRAIN}), is_changed=is_changed))
        if status not in ("committed", "compensated") or (status == "compensated" and not self.is_cancelled):
            faults = (*faults, f"the saga ended {status}")
        return Judgement("changed" if is_changed and status == "committed" else status, faults)


def _beside_preview(folder: Path, ledger: Ledger, status: str) -> Iterator[str]:
    """Where it was cancelled: what cancelling has cost, compared with what was said before."""
    charged = sum(row.fee for row in ledger.cancellations)
    if status == "compensated" and (folder / PREVIEWED).exists() and charged != Decimal((folder / PREVIEWED).read_text()):
        yield f"cancelling has cost {charged}, and {(folder / PREVIEWED).read_text()} was previewed"


def _beside_plan(ledger: Ledger, planned: set[str], *, is_changed: bool) -> Iterator[str]:
    """`planned`: the operations whose reservations, and no others, must be confirmed, and paid by one payment."""
    confirmed = [row for row in ledger.reservations if row.state == "confirmed"]
    captured = [row.amount for row in ledger.payments if row.state == "captured"]
    if sorted(str(row.operation_id) for row in confirmed) != sorted(planned):
        yield f"{sorted(planned)} are planned, and {sorted(str(row.operation_id) for row in confirmed)} confirmed"
    if len(captured) != bool(planned):
        yield f"{len(captured)} payments are captured"
    elif is_changed and sum(captured) != sum(row.price for row in confirmed):
        yield f"{sum(captured)} was paid for what costs {sum(row.price for row in confirmed)}"


async def _withdraw(url: str, operation: str) -> None:
    """The provider itself cancels what this operation booked."""
    async with httpx2.AsyncClient(base_url=url, trust_env=False) as client:
        rows = (await client.get("/ledger")).json()["reservations"]
        (reservation,) = [row["id"] for row in rows if row["operation_id"] == operation]
        (await client.post(f"/reservations/{reservation}/withdraw")).raise_for_status()


_TRAIN = "T3"
NO_WAY_BACK = {"kind": "flight", "call": "book", "nth": 2, "fault": "refuse"}
_FOR_A_CHEAPER_TRAIN = 1960
"""With so much, the next flight home can be had with another train only: the one that is booked is cancelled."""
CONDITIONAL = (
    TripScenario(
        "the flight is confirmed to land after noon",
        faults=({"kind": "flight", "call": "book", "fault": "retimed"},),
        train_if="12:00",
        takes=("T1", "T2", "T3.instead", "T4", "T5"),
    ),
)
SCENARIOS = (
    *CONDITIONAL,
    TripScenario("book"),
    TripScenario("refused", faults=(NO_WAY_BACK,)),
    TripScenario("repaired", faults=(NO_WAY_BACK,), budget=_FOR_A_CHEAPER_TRAIN, gives_up=1),
    TripScenario("cancel half-way", cancels_after=44),
    TripScenario("insured", insurances=2),
    TripScenario("cancel after payment", cancels_after=0, insurances=2),
    ChangedTrip("changed"),
    ChangedTrip("cancel after change", is_cancelled=True),
)


@cache
def _warm_up() -> None:
    """Load what every forked process would load for itself."""
    importlib.import_module("sagagraph.saga.stores.migration")
    importlib.import_module("httpcore2")
    for late in ("sagagraph.saga.stores.sqlite", "anyio._backends._asyncio", "langchain_core.tracers.context"):
        importlib.import_module(late)
    entry_of(NAME)
    all_cities()


def _repeated(ledger: Ledger) -> Iterator[str]:
    """What must never stand in the ledger."""
    for name, times in Counter(row.operation_id for row in ledger.reservations).items():
        if times > 1:
            yield f"{name} was reserved {times} times"
    for name, times in Counter(row.reservation_id for row in ledger.cancellations).items():
        if times > 1:
            yield f"{name} was cancelled {times} times"
    for name, times in Counter(row.payment_id for row in ledger.refunds).items():
        if times > 1:
            yield f"{name} was refunded {times} times"


def _faults(ledger: Ledger, status: str, bookings: int) -> Iterator[str]:
    """And what must stand in it at the end."""
    yield from _repeated(ledger)
    if len(ledger.payments) > 1:
        yield f"paid {len(ledger.payments)} times"
    confirmed = sum(row.state == "confirmed" for row in ledger.reservations)
    captured = sum(row.state == "captured" for row in ledger.payments)
    if status == "committed" and (confirmed, captured) != (bookings, 1):
        yield f"committed, but {confirmed} reservations are confirmed and {captured} payments captured"
    elif status in ("compensated", "never began") and (confirmed, captured) != (0, 0):
        yield f"{status}, but {confirmed} reservations are confirmed and {captured} payments captured"
    elif status not in ("committed", "compensated", "never began"):
        yield f"the saga ended {status}"


def _announce(pipe: int, url: str) -> None:
    os.write(pipe, url.encode())
    os.close(pipe)


@contextmanager
def forked(serving: Callable[..., None]) -> Iterator[str]:
    """A service in a process of its own, forked so that it need not import anything; ended by its id."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            serving(on_ready=lambda url: _announce(writing, url))
        finally:
            os._exit(0)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as pipe:
            url = pipe.read().decode()
        if not url:
            raise SagaGraphError("a service did not start")
        yield url
    finally:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
