"""One trip on a reservation service of its own, struck while it is booked; and what came of it."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx2
from pydantic import TypeAdapter

from benchmarks.repair.oracle import Best, Held, Wreck, best_repair
from sagagraph.domains.travel.actions.actions import travel_actions
from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.domain import Travel, account_of
from sagagraph.domains.travel.offers import Offer
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.domains.travel.request import TripRequest
from sagagraph.errors import SagaGraphError
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.planning.domain import Infeasible, object_of
from sagagraph.saga.core.events import PlanProposed
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from sagagraph.sandbox.books import stock
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from sagagraph.sandbox.world.questions import find_offer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from benchmarks.repair.disruptions import Disruption
    from sagagraph.domains.travel.cities import City
    from sagagraph.domains.travel.money import Rates
    from sagagraph.domains.travel.provider.receipts import Ledger
    from sagagraph.planning.domain import Proposal
    from sagagraph.saga.core.events import Entry
    from sagagraph.saga.core.state import Operation, Saga

SAGA = "trip"
_TODAY = date(2025, 3, 1)
MOST_STARTS = 4
OFFER: TypeAdapter[Offer] = TypeAdapter(Offer)


@dataclass(frozen=True)
class Repaired:
    """One repair: what the oracle says can be kept, and what was proposed. None: nothing was left."""

    best: Best | None
    proposed: Best | None
    held: int
    """Reservations that stood."""


@dataclass
class Meter:
    """What a way out of a disruption takes, from the first moment of it on; the oracle's part left out."""

    calls: int = 0
    seconds: float = 0.0
    _begun: float | None = None
    _calls_before: int = 0

    def begin(self) -> None:
        if self._begun is None:
            self._begun, self._calls_before = time.perf_counter(), self.calls

    def leave_out(self, seconds: float) -> None:
        if self._begun is not None:
            self._begun += seconds

    def end(self) -> None:
        if self._begun is None:
            self.calls = 0
            return
        self.seconds, self.calls = time.perf_counter() - self._begun, self.calls - self._calls_before


@dataclass
class Outcome:
    """What stands after everything, and what is needed to judge it."""

    status: str
    journal: Sequence[Entry]
    ledger: Ledger
    travel: Travel
    repairs: list[Repaired]
    meter: Meter
    rates: Rates
    sagas: list[str]
    """The last one is what came of it."""
    first_plan: Any
    last_plan: Any

    @property
    def saga(self) -> Saga:
        return fold(self.sagas[-1], self.journal)


class StoppedError(SagaGraphError):
    """The trip is left as it stands, to be cancelled."""


class WatchedTravel(Travel):
    """Travel, whose repairs are held against the oracle in the world of that moment; `repairs` False: it stops instead."""

    witness: HttpReservationProvider
    database: Path
    meter: Meter
    repairs_trips: bool = True
    asks_oracle: bool = True

    def watch(self, witness: HttpReservationProvider, database: Path, meter: Meter) -> None:
        self.witness, self.database, self.meter = witness, database, meter
        self.seen: list[Repaired] = []

    async def repair(self, saga: Saga) -> Proposal | Infeasible:
        self.meter.begin()
        left = time.perf_counter()
        sell_out(saga, self.database)
        wreck = wreck_of(saga, await self.witness.now())
        best = await best_repair(wreck, self.witness) if self.asks_oracle else None
        self.meter.leave_out(time.perf_counter() - left)
        if not self.repairs_trips:
            raise StoppedError("the trip is cancelled")
        proposed = await super().repair(saga)
        kept = None if isinstance(proposed, Infeasible) else kept_by(saga, proposed)
        self.seen.append(Repaired(best, kept, len(wreck.held)))
        return proposed


def sell_out(saga: Saga, database: Path) -> None:
    """What was refused is really gone: otherwise it could be had by whoever asks a second time.

    It is taken out of the service's stock by hand, because a call that books it would be counted by the faults.
    """
    for each in bookings(saga):
        if each.status.value == "failed" and each.fault is not None and each.fault.code == "refused":
            offer = find_offer(each.spec.inputs["offer_id"])
            with closing(sqlite3.connect(database, timeout=10)) as connection, connection:
                connection.row_factory = sqlite3.Row
                if offer is not None and (left := stock.left_of(connection, offer)):
                    stock.take(connection, offer.for_quantity(left))


def bookings(saga: Saga) -> list[Operation]:
    return [each for each in saga.in_order() if each.spec.action.startswith("book_")]


def wreck_of(saga: Saga, now: datetime) -> Wreck:
    """Read from its operations: what succeeded and counts, what failed, what undoing has cost.

    `now`, by the provider's clock, says what can be cancelled without a fee.
    """
    planned = {leg["label"]: OFFER.validate_python(leg["offer"]) for leg in _accepted_legs(saga)}
    held: dict[str, Held] = {}
    refused: set[tuple[str, Decimal]] = set()
    paid = Decimal(0)
    for each in bookings(saga):
        if each.status.value == "succeeded" and not each.removed:
            held[planned[each.id].offer_id] = Held(planned[each.id], _fee(each.output["cancellation"], now))
        elif each.status.value in ("failed", "voided"):
            refused.add((each.spec.inputs["offer_id"], Decimal(str(each.spec.inputs["price"]))))
        if isinstance(each.undo_output, dict):
            paid += Decimal(str(each.undo_output.get("fee", 0)))
    request = TripRequest.model_validate(saga.request)
    return Wreck(request, held, frozenset(each.offer_id for each in planned.values()), frozenset(refused), paid)


def _fee(terms: dict[str, Any], now: datetime) -> Decimal:
    free_until = terms["free_until"]
    return Decimal(0) if free_until and now <= datetime.fromisoformat(free_until) else Decimal(str(terms["fee"]))


def _accepted_legs(saga: Saga) -> list[Any]:
    return list(saga.plan.accepted.content["legs"]) if saga.plan.accepted else []


def kept_by(saga: Saga, proposed: Proposal) -> Best:
    planned = {leg["offer"]["offer_id"] for leg in _accepted_legs(saga)}
    booked = {each.id for each in bookings(saga) if each.status.value == "succeeded" and not each.removed}
    legs: Any = object_of(proposed.plan)["legs"]
    return Best(sum(leg["label"] in booked for leg in legs), sum(leg["offer"]["offer_id"] in planned for leg in legs))


class _Counting(httpx2.AsyncHTTPTransport):
    def __init__(self, meter: Meter) -> None:
        super().__init__(verify=False)
        self._meter = meter

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._meter.calls += 1
        return await super().handle_async_request(request)


async def struck(
    folder: Path, request: dict[str, Any], disruption: Disruption | None, *, repairs: bool = True, asks_oracle: bool = True
) -> Outcome:
    """Books the trip while `disruption` strikes. `repairs` False: at the first blow all is cancelled and a new saga begins."""
    async with _opened(folder, disruption) as (travel, engine):
        graph = planning_graph(domain=travel, engine=engine)
        travel.repairs_trips, travel.asks_oracle = repairs, asks_oracle
        sagas: list[str] = []
        while len(sagas) < MOST_STARTS:
            sagas.append(SAGA if not sagas else f"{SAGA}-{len(sagas) + 1}")
            try:
                status = (await graph.start(sagas[-1], request, approved_by="bench")).status.value
                break
            except StoppedError:
                await engine.cancel(sagas[-1], by="bench")
                status = "compensated"
        travel.meter.end()
        first, last = [await engine.journal(name) for name in (sagas[0], sagas[-1])]
        return Outcome(
            status,
            last,
            await travel.witness.ledger(),
            travel,
            travel.seen,
            travel.meter,
            await travel.witness.rates(),
            sagas,
            _first_plan(first),
            fold(sagas[-1], last).plan.content,
        )


def _first_plan(journal: Sequence[Entry]) -> Any:
    return next(entry.event.plan for entry in journal if isinstance(entry.event, PlanProposed))


def _file_of(folder: Path, disruption: Disruption | None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    faults = folder / "faults.json"
    faults.write_text(json.dumps(disruption.rules() if disruption else []))
    return faults


@cache
def _gazetteer(cities: tuple[City, ...]) -> Gazetteer:
    """Of the one world that there is: made once for all trips."""
    return Gazetteer(cities)


@asynccontextmanager
async def _opened(folder: Path, disruption: Disruption | None) -> AsyncIterator[tuple[WatchedTravel, Engine]]:
    faults = _file_of(folder, disruption)
    meter = Meter()
    with EmbeddedSandbox(SandboxSettings(folder / "sandbox.db", faults, _TODAY)) as service:
        async with (
            HttpReservationProvider(service.url, transport=_Counting(Meter())) as witness,
            HttpReservationProvider(service.url, transport=_Counting(meter)) as provider,
        ):
            actions = travel_actions(provider, await provider.guarantees(), folder / "outbox")
            travel = WatchedTravel(provider, _gazetteer(await provider.cities()), actions)
            travel.watch(witness, folder / "sandbox.db", meter)
            engine = Engine(await open_store("memory:"), actions=travel.actions, account=account_of)
            try:
                yield travel, engine
            finally:
                await engine.close()
