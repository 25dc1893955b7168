"""Plans, judges, books and looks through every request, one after the other, on one reservation service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.trips import audit, books, edges, rules
from benchmarks.trips.audit import World
from benchmarks.trips.comparison import compare
from benchmarks.trips.exhaustive import Trips
from benchmarks.trips.places import Places
from benchmarks.trips.requests import Asked, requests
from benchmarks.trips.scale import Scale
from benchmarks.trips.stopwatch import CountedTransport, Noted, TimedTravel
from benchmarks.trips.supply import fetch
from benchmarks.trips.trip import Trip
from sagagraph.domains.travel.domain import Travel, account_of
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.domains.travel.request import parse_request
from sagagraph.errors import SagaGraphError
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.planning.domain import object_of
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings

APPROVED_BY = "benchmark"
_TODAY = date(2025, 3, 1)


@dataclass(frozen=True)
class _Bench:
    travel: Travel
    timed: TimedTravel
    transport: CountedTransport
    graph: PlanningGraph
    onlooker: HttpReservationProvider
    """Whose calls are not counted."""


async def run(scale: Scale, seed: int, folder: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """`left_out`: requests that were not begun within the time; `strangers`: what the ledger should not hold."""
    trips: list[Trip] = []
    begun = perf_counter()
    async with _bench(folder) as bench:
        world = await _world(bench)
        places = Places.of(bench.travel.cities.cities)
        asked = list(requests(seed, scale.requests, places, world.now.date(), world.rates))
        await bench.travel.propose(_checked(asked[0], bench, world))  # so that the first is as warm as the others
        for each in asked:
            if perf_counter() - begun > scale.limit_s:
                break
            trips.append(await _trip(bench, world, each, scale))
            say(trips[-1].line)
        committed = {trip.saga_id for trip in trips if trip.status == SagaStatus.COMMITTED}
        strangers = books.strangers(await bench.onlooker.ledger(), committed)
    return {
        "trips": [trip.as_json() for trip in trips],
        "left_out": len(asked) - len(trips),
        "strangers": strangers,
    }


async def _trip(bench: _Bench, world: World, asked: Asked, scale: Scale) -> Trip:
    trip = Trip.of(asked)
    try:
        plan = await _planned(bench, world, asked, trip)
        await _compared(bench, world, asked, plan, scale, trip)
        if plan is not None:
            trip.faults += audit.faults(plan, asked.body, world)
            await _booked(bench, plan, trip)
        trip.faults += await books.faults(bench.onlooker, trip.saga_id, plan if trip.status == SagaStatus.COMMITTED else None)
    except SagaGraphError as exc:
        trip.faults.append(f"{type(exc).__name__}: {exc}")
    if trip.status not in (SagaStatus.COMMITTED, SagaStatus.INFEASIBLE):
        trip.faults.append(f"ended {trip.status or 'before it began'}")
    return trip


async def _planned(bench: _Bench, world: World, asked: Asked, trip: Trip) -> Mapping[str, Any] | None:
    """The plan that waits for approval; None where there is none."""
    noted = bench.timed.noted = Noted()
    view = await bench.graph.start(trip.saga_id, _checked(asked, bench, world))
    trip.status, trip.plan_hash = view.status.value, view.plan_hash
    trip.plan_s, trip.judge_s = noted.plan_s, noted.judge_s
    trip.plan_calls, trip.judge_calls = noted.plan_calls, noted.judge_calls
    for verdict in noted.verdicts:
        trip.faults += (f"judged {verdict.verdict.value}: {each.message}" for each in verdict.violations)
    if view.status is not SagaStatus.AWAITING_APPROVAL:
        return None
    plan: Mapping[str, Any] = next(object_of(each.plan) for each in noted.proposals if each.plan_hash == view.plan_hash)
    trip.legs = len(plan["legs"])
    return plan


async def _compared(bench: _Bench, world: World, asked: Asked, plan: Mapping[str, Any] | None, scale: Scale, trip: Trip) -> None:
    """While nothing of it has been booked."""
    chosen = None if plan is None else tuple(leg["offer"]["offer_id"] for leg in plan["legs"])
    supply = await fetch(asked.body, bench.onlooker)
    trips = Trips(asked.body, supply, by_rule=True)
    most = rules.most_cents(asked.body, world.rates)
    more = Trips(asked.body, supply, by_rule=False)
    compared = compare(chosen, trips, more, most, scale.most_trips)
    trip.possible, trip.check = compared.possible, compared.check.value
    trip.faults += [compared.fault] if compared.fault else []
    if 0 < trips.count <= scale.most_trips:
        trip.edges = len(edges.limits(trips))
        trip.faults += await edges.faults(_checked(asked, bench, world), trips, more, bench.travel, scale.most_trips)


async def _booked(bench: _Bench, plan: Mapping[str, Any], trip: Trip) -> None:
    begun, calls = perf_counter(), bench.transport.calls
    view = await bench.graph.decide(trip.saga_id, approved=True, by=APPROVED_BY, plan_hash=trip.plan_hash)
    trip.book_s, trip.book_calls = perf_counter() - begun, bench.transport.calls - calls
    trip.status = view.status.value
    trip.total = plan["total"] if view.status is SagaStatus.COMMITTED else None


def _checked(asked: Asked, bench: _Bench, world: World) -> dict[str, Any]:
    """As the command line reads a request from a file."""
    return parse_request(asked.body, cities=bench.travel.cities, today=world.now.date()).model_dump(mode="json")


async def _world(bench: _Bench) -> World:
    rates = await bench.onlooker.rates()
    per_base = {**rates.rates, rates.base: Decimal(1)}
    zones = {city.name: city.timezone for city in bench.travel.cities.cities}
    return World(await bench.onlooker.now(), zones, per_base)


@asynccontextmanager
async def _bench(folder: Path) -> AsyncIterator[_Bench]:
    transport = CountedTransport()
    async with AsyncExitStack() as stack:
        service = stack.enter_context(EmbeddedSandbox(SandboxSettings(folder / "sandbox.db", today=_TODAY)))
        provider = await stack.enter_async_context(HttpReservationProvider(service.url, transport=transport))
        onlooker = await stack.enter_async_context(HttpReservationProvider(service.url))
        travel = await Travel.connect(provider, folder / "outbox")
        timed = TimedTravel(travel, transport)
        engine = Engine(await open_store(f"sqlite:///{folder / 'sagas.db'}"), actions=travel.actions, account=account_of)
        stack.push_async_callback(engine.close)
        yield _Bench(travel, timed, transport, planning_graph(domain=timed, engine=engine), onlooker)
