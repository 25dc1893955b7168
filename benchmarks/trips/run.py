"""Plans, judges, books and looks through every request, one after the other, on one reservation service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.trips import books
from benchmarks.trips.audit import World
from benchmarks.trips.audit import faults as faults_of_plan
from benchmarks.trips.comparison import compare
from benchmarks.trips.places import Places
from benchmarks.trips.requests import Asked, requests
from benchmarks.trips.scale import Scale
from benchmarks.trips.stopwatch import CountedTransport, Noted, TimedTravel
from benchmarks.trips.supply import fetch
from sagagraph.domains.travel.domain import Travel, account_of
from sagagraph.domains.travel.problem import parse_request
from sagagraph.domains.travel.provider import HttpReservationProvider
from sagagraph.graph.planning import PlanningGraph, planning_graph
from sagagraph.saga.engine import Engine
from sagagraph.saga.status import SagaStatus
from sagagraph.saga.stores.opening import open_store
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings

APPROVED_BY = "benchmark"


@dataclass(slots=True)
class Trip:
    """What became of one request. Times in seconds, prices in US dollars."""

    number: int
    stops: int
    continents: tuple[str, ...]
    shape: str
    travellers: int
    status: str
    plan_s: float
    judge_s: float
    book_s: float
    plan_calls: int
    judge_calls: int
    book_calls: int
    total: float | None
    legs: int
    possible: int
    """Complete trips that keep every wish but the budget."""
    check: str
    """`Check`"""
    faults: list[str]


@dataclass(frozen=True)
class _Bench:
    travel: Travel
    timed: TimedTravel
    transport: CountedTransport
    graph: PlanningGraph
    uncounted: HttpReservationProvider
    """For those who look on."""


async def run(scale: Scale, seed: int, folder: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """`left_out`: requests that were not begun within the time; `undone`: what only a saga that turned back leaves."""
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
            say(_line(trips[-1]))
        undone = books.undone(await bench.uncounted.ledger())
    return {
        "trips": [asdict(trip) for trip in trips],
        "left_out": len(asked) - len(trips),
        "undone": undone,
    }


async def _trip(bench: _Bench, world: World, asked: Asked, scale: Scale) -> Trip:
    body, saga_id = asked.body, f"trip-{asked.number:03}"
    noted = bench.timed.noted = Noted()
    view = await bench.graph.start(saga_id, _checked(asked, bench, world))
    found = [f"judged {verdict.verdict}: {verdict.violations}" for verdict in noted.verdicts if not verdict.is_valid]
    plan = next((each.plan for each in noted.proposals if each.plan_hash == view.plan_hash), None)
    chosen = None if plan is None else tuple(leg["offer"]["offer_id"] for leg in plan["legs"])
    compared = compare(body, chosen, await fetch(body, bench.uncounted), world.rates, scale.most_trips)  # before it is booked
    found += [compared.fault] if compared.fault else []
    found += faults_of_plan(plan, body, world) if plan else []
    book_s, book_calls = 0.0, 0
    if plan is not None:
        begun, calls = perf_counter(), bench.transport.calls
        view = await bench.graph.decide(saga_id, approved=True, by=APPROVED_BY, plan_hash=view.plan_hash)
        book_s, book_calls = perf_counter() - begun, bench.transport.calls - calls
    is_booked = view.status is SagaStatus.COMMITTED
    found += await books.faults(bench.uncounted, saga_id, plan if is_booked else None)
    return Trip(
        number=asked.number,
        stops=len(body["stops"]),
        continents=asked.continents,
        shape=_shape(body),
        travellers=body["travellers"],
        status=view.status.value,
        plan_s=round(noted.plan_s, 5),
        judge_s=round(noted.judge_s, 5),
        book_s=round(book_s, 5),
        plan_calls=noted.plan_calls,
        judge_calls=noted.judge_calls,
        book_calls=book_calls,
        total=plan["total"] if plan and is_booked else None,
        legs=len(plan["legs"]) if plan else 0,
        possible=compared.possible,
        check=compared.check.value,
        faults=found,
    )


def _checked(asked: Asked, bench: _Bench, world: World) -> dict[str, Any]:
    """As the command line reads a request from a file."""
    return parse_request(asked.body, cities=bench.travel.cities, today=world.now.date()).model_dump(mode="json")


def _shape(body: Mapping[str, Any]) -> str:
    if body["return_to"] is None:
        return "one way"
    return "round trip" if body["return_to"] == body["origin"] else "open jaw"


async def _world(bench: _Bench) -> World:
    rates = await bench.uncounted.rates()
    per_base = {**rates.rates, rates.base: Decimal(1)}
    zones = {city.name: city.timezone for city in bench.travel.cities.cities}
    return World(await bench.uncounted.now(), zones, per_base)


@asynccontextmanager
async def _bench(folder: Path) -> AsyncIterator[_Bench]:
    transport = CountedTransport()
    async with AsyncExitStack() as stack:
        service = stack.enter_context(EmbeddedSandbox(SandboxSettings(folder / "sandbox.db")))
        provider = await stack.enter_async_context(HttpReservationProvider(service.url, transport=transport))
        uncounted = await stack.enter_async_context(HttpReservationProvider(service.url))
        travel = await Travel.connect(provider, folder / "outbox")
        timed = TimedTravel(travel, transport)
        engine = Engine(await open_store(f"sqlite:///{folder / 'sagas.db'}"), actions=travel.actions, account=account_of)
        stack.push_async_callback(engine.close)
        yield _Bench(travel, timed, transport, planning_graph(domain=timed, engine=engine), uncounted)


def _line(trip: Trip) -> str:
    ms = f"plan {trip.plan_s * 1000:.0f} ms, judge {trip.judge_s * 1000:.0f} ms, book {trip.book_s * 1000:.0f} ms"
    wrong = "".join(f"\n  WRONG: {fault}" for fault in trip.faults)
    return f"{trip.number:3} {trip.stops} stops, {trip.shape}: {trip.status}, {ms}; {trip.check} of {trip.possible:.3g}{wrong}"
