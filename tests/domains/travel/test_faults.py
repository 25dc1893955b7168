"""Every single fault of the reservation service at every call of a trip: the service's ledger and the journal judge.

The trip runs through the planning graph against the real service over HTTP. Whatever goes wrong, it ends committed with five
reservations and one payment, or compensated with none, or names the operation that a person has to see to; nothing lands twice.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from sagagraph.domains.travel.actions import actions
from sagagraph.domains.travel.actions.actions import patient
from sagagraph.domains.travel.domain import Travel, account_of
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.domains.travel.provider.receipts import Ledger
from sagagraph.errors import SagaGraphError
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.saga.core import events as e
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.saga.stores.urls import open_store
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from sagagraph.workflow.policy import CompensationPolicy
from tests.support.today import TODAY
from tests.support.trips import REQUEST

SAGA = "trip"
ALL = frozenset({"dedup", "void", "deadline", "refusals"})
LATER_S = 2 * 3600
SHORT_S = 4.0
"""How long a call may take where calls hang on purpose."""
HANGING_S = 5.5
LITTLE_S = 0.7
"""Patience, where a provider fails for longer than anybody would wait."""

BOOKINGS = {"T1": ("flight", 1), "T2": ("hotel", 1), "T3": ("train", 1), "T4": ("hotel", 2), "T5": ("flight", 2)}
"""Kind and number of the call that books each of them. T2 and T4 may swap places: they are booked side by side."""

REASONS: dict[str | int, str] = {
    "refuse": "refused",
    "before": "503",
    "after": "504",
    "late": "504",
    "price_up": "price_changed",
    429: "rate_limited",
    500: "500",
    "hang": "no answer in time",
}
"""What the journal has to say of a fault."""
FAULTS = tuple(fault for fault in REASONS if fault != "hang")


@dataclass
class Trip:
    """The sample trip on a service of its own."""

    engine: Engine
    graph: PlanningGraph
    provider: HttpReservationProvider
    url: str

    async def book(self) -> SagaView:
        return await self.graph.start(SAGA, REQUEST, approved_by="test")

    async def cancel(self) -> SagaView:
        cancelled = await self.engine.cancel(SAGA, by="test")
        assert isinstance(cancelled, SagaView)
        return cancelled

    async def ledger(self) -> Ledger:
        """After everything that is still to land has landed."""
        async with httpx2.AsyncClient(timeout=60) as client:
            await client.post(f"{self.url}/clock/advance", json={"seconds": LATER_S})
        return await self.provider.ledger()

    async def faults(self) -> list[e.Fault]:
        """Every fault in the journals of the trip and of its reversal."""
        journals = [await self.engine.journal(headline.saga_id) for headline in await self.engine.sagas()]
        found = (getattr(entry.event, "fault", None) for journal in journals for entry in journal)
        return [fault for fault in found if fault is not None]


@asynccontextmanager
async def a_trip(
    folder: Path, faults: Iterable[dict[str, Any]] = (), withheld: frozenset[str] = frozenset()
) -> AsyncIterator[Trip]:
    with EmbeddedSandbox(SandboxSettings(folder / "sandbox.db", _file_of(folder, faults), TODAY, withheld=withheld)) as service:
        async with HttpReservationProvider(service.url) as provider:
            travel = await Travel.connect(provider, folder / "outbox")
            engine = Engine(await open_store("memory:"), actions=travel.actions, account=account_of)
            try:
                yield Trip(engine, planning_graph(domain=travel, engine=engine), provider, service.url)
            finally:
                await engine.close()


def _file_of(folder: Path, faults: Iterable[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "faults.json"
    file.write_text(json.dumps(list(faults)))
    return file


def standing(ledger: Ledger) -> tuple[int, int]:
    """Reservations that are confirmed, and payments that are captured."""
    confirmed = sum(row.state == "confirmed" for row in ledger.reservations)
    return confirmed, sum(row.state == "captured" for row in ledger.payments)


def repeated(ledger: Ledger) -> list[str]:
    """What landed more than once for one operation, reservation or payment."""
    landed = Counter(str(row.operation_id) for row in (*ledger.reservations, *ledger.payments))
    undone = Counter(row.reservation_id for row in ledger.cancellations) + Counter(row.payment_id for row in ledger.refunds)
    return [name for name, times in (*landed.items(), *undone.items()) if times > 1]


def assert_clean(view: SagaView, ledger: Ledger) -> None:
    """Booked and paid exactly once, or nothing left."""
    assert view.status in ("committed", "compensated"), view
    assert standing(ledger) == ((5, 1) if view.status == "committed" else (0, 0))
    assert repeated(ledger) == []


def assert_told(fault: str | int, faults: list[e.Fault]) -> None:
    assert any(REASONS[fault] in f"{each.code} {each.message}" for each in faults), faults


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = CompensationPolicy(max_attempts=6, timeout_s=SHORT_S)
    monkeypatch.setattr(actions, "POLICY", replace(actions.POLICY, timeout_s=SHORT_S, compensation=quick))


# -- forwards ----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("operation", BOOKINGS)
async def test_a_single_fault_at_a_booking(tmp_path: Path, operation: str, fault: str | int) -> None:
    kind, nth = BOOKINGS[operation]
    async with a_trip(tmp_path, [{"kind": kind, "call": "book", "nth": nth, "fault": fault, "seconds": 1}]) as trip:
        view = await trip.book()
        assert_clean(view, await trip.ledger())
        assert view.status == "committed"
        assert_told(fault, await trip.faults())
        if fault in ("refuse", "price_up"):  # another one was booked instead
            failed = next(each for each in view.operations if each.status == "failed")
            assert failed.action == f"book_{kind}"
            assert f"{failed.id}.2" in {each.id for each in view.operations if each.status == "succeeded"}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_single_fault_at_the_payment(tmp_path: Path, fault: str | int) -> None:
    async with a_trip(tmp_path, [{"kind": "payment", "call": "capture", "fault": fault, "seconds": 1}]) as trip:
        view = await trip.book()
        assert_clean(view, await trip.ledger())
        assert view.status == ("compensated" if fault == "refuse" else "committed")
        if fault != "price_up":  # a bank has no prices
            assert_told(fault, await trip.faults())


@pytest.mark.parametrize("operation", [*BOOKINGS, "payment"])
async def test_a_call_that_lands_long_after_the_trip_has_ended(tmp_path: Path, operation: str) -> None:
    kind, nth = BOOKINGS.get(operation, ("payment", 1))
    call = "capture" if operation == "payment" else "book"
    async with a_trip(tmp_path, [{"kind": kind, "call": call, "nth": nth, "fault": "late", "seconds": LATER_S - 60}]) as trip:
        assert_clean(await trip.book(), await trip.ledger())


async def test_a_late_call_and_too_many_requests_book_one_flight(tmp_path: Path) -> None:
    """A 429 is not on the provider's books: the call before it may still land under its key."""
    late = {"kind": "flight", "call": "book", "nth": 1, "fault": "late", "seconds": LATER_S - 60}
    busy = [{"kind": "flight", "call": "book", "nth": nth, "fault": 429} for nth in (2, 3)]
    async with a_trip(tmp_path, [late, *busy]) as trip:
        view = await trip.book()
        assert view.status == "committed"
        assert_clean(view, await trip.ledger())


async def test_a_call_that_is_slow_is_waited_for(tmp_path: Path) -> None:
    async with a_trip(tmp_path, [{"kind": "train", "call": "book", "fault": "hang", "seconds": 0.5}]) as trip:
        view = await trip.book()
        assert view.status == "committed"
        assert {each.attempts for each in view.operations} == {1}
        assert_clean(view, await trip.ledger())


async def test_a_call_that_hangs_longer_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each booking and the payment, all at once: they mostly wait."""
    impatient(monkeypatch)

    async def one(operation: str) -> None:
        kind, nth = BOOKINGS.get(operation, ("payment", 1))
        call = "capture" if operation == "payment" else "book"
        fault = {"kind": kind, "call": call, "nth": nth, "fault": "hang", "seconds": HANGING_S}
        async with a_trip(tmp_path / operation, [fault]) as trip:
            view = await trip.book()
            await asyncio.sleep(HANGING_S)  # what still hung is carried out now, or must not be
            assert_clean(view, await trip.ledger())
            assert_told("hang", await trip.faults())

    await asyncio.gather(*(one(operation) for operation in [*BOOKINGS, "payment"]))


async def test_a_booking_that_never_succeeds_is_given_up_and_sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "POLICY", patient(LITTLE_S))
    faults = [{"kind": "train", "call": "book", "nth": n, "fault": 500} for n in range(1, 10)]
    async with a_trip(tmp_path, faults) as trip:
        view = await trip.book()
        assert view.status == "committed"
        given_up = next(each for each in view.operations if each.id == "T3")
        assert (given_up.status, given_up.attempts) == ("voided", actions.POLICY.retry.max_attempts)
        ledger = await trip.ledger()
        assert_clean(view, ledger)
        assert ("trip/T3/1", "tombstone") in [(row.key, row.outcome) for row in ledger.voids]


async def test_a_landing_nobody_heard_of_is_found_when_the_trip_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It landed, its answer was lost, nobody can ask about it, and the repetitions get no answer either."""
    monkeypatch.setattr(actions, "POLICY", patient(LITTLE_S))
    lost = [{"kind": "train", "call": "book", "nth": n, "fault": "after"} for n in range(1, 10)]
    deaf = [{"kind": "train", "call": "find", "nth": n, "fault": 500} for n in range(1, 30)]
    async with a_trip(tmp_path, lost + deaf) as trip:
        view = await trip.book()
        ledger = await trip.ledger()
        assert repeated(ledger) == []
        assert view.status in ("compensated", "held")
        if view.status == "compensated":
            assert standing(ledger) == (0, 0)
        else:
            assert [each.id for each in view.operations if each.status == "held"] == ["T3"]


# -- backwards -----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("kind", "nth"), [("flight", 2), ("hotel", 1), ("train", 1)])
async def test_a_single_fault_at_a_cancellation(tmp_path: Path, kind: str, nth: int, fault: str | int) -> None:
    faults = [
        {"kind": "payment", "call": "capture", "fault": "refuse"},
        {"kind": kind, "call": "cancel", "nth": nth, "fault": fault, "seconds": 1},
    ]
    async with a_trip(tmp_path, faults) as trip:
        view = await trip.book()
        ledger = await trip.ledger()
        assert repeated(ledger) == []
        if fault == "refuse":
            await assert_stuck_and_named(trip, view, ledger)
        else:
            assert view.status == "compensated"
            assert_clean(view, ledger)
        if fault != "price_up":
            assert_told(fault, await trip.faults())


async def assert_stuck_and_named(trip: Trip, view: SagaView, ledger: Ledger) -> None:
    """A cancellation that was refused for good is for a person to see to; then the rest goes on."""
    assert view.status == "stuck"
    stuck = [each for each in view.operations if each.status == "compensation_failed"]
    assert len(stuck) == 1
    assert stuck[0].error is not None or stuck[0].note
    waiting = {each.id for each in view.operations if each.status == "succeeded" and each.action.startswith("book_")}
    assert standing(ledger) == (1 + len(waiting), 0)
    ended = await trip.engine.resume(SAGA)
    assert ended.status == "compensated"
    assert_clean(ended, await trip.ledger())


async def test_what_a_person_has_cancelled_by_hand_is_not_cancelled_again(tmp_path: Path) -> None:
    faults = [
        {"kind": "payment", "call": "capture", "fault": "refuse"},
        {"kind": "train", "call": "cancel", "fault": "refuse"},
    ]
    async with a_trip(tmp_path, faults) as trip:
        view = await trip.book()
        stuck = next(each for each in view.operations if each.status == "compensation_failed")
        async with httpx2.AsyncClient() as client:
            await client.post(f"{trip.url}/reservations/{stuck.output['reservation_id']}/cancel", json={})
        with suppress(SagaGraphError):
            await trip.engine.resolve(SAGA, stuck.id, "compensated", by="test")
        assert repeated(await trip.ledger()) == []
        assert_clean(await trip.engine.status(SAGA), await trip.ledger())


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("kind", "call"), [("payment", "refund"), ("train", "cancel")])
async def test_a_single_fault_while_a_committed_trip_is_cancelled(tmp_path: Path, kind: str, call: str, fault: str | int) -> None:
    async with a_trip(tmp_path, [{"kind": kind, "call": call, "fault": fault, "seconds": 1}]) as trip:
        assert (await trip.book()).status == "committed"
        view = await trip.cancel()
        ledger = await trip.ledger()
        assert repeated(ledger) == []
        if fault == "refuse":
            assert view.status == "stuck"
            reversal = await trip.engine.status(f"{SAGA}~reversal")
            assert [each.action for each in reversal.operations if each.status == "held"] in (
                ["capture_payment:undo"], [f"book_{kind}:undo"],
            )  # fmt: skip
        else:
            assert view.status == "compensated"
            assert_clean(view, ledger)
        if fault != "price_up":
            assert_told(fault, await trip.faults())


async def test_a_cancellation_that_hangs_longer_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    impatient(monkeypatch)

    async def one(kind: str) -> None:
        call = "refund" if kind == "payment" else "cancel"
        async with a_trip(tmp_path / kind, [{"kind": kind, "call": call, "fault": "hang", "seconds": HANGING_S}]) as trip:
            await trip.book()
            view = await trip.cancel()
            await asyncio.sleep(HANGING_S)
            assert repeated(await trip.ledger()) == []
            if view.status == "stuck":  # its attempts were used up while it hung: what hung has landed since
                await trip.graph.resume(SAGA)
                view = await trip.engine.resume(SAGA)
            assert view.status in ("compensated", "stuck")
            if view.status == "compensated":
                assert_clean(view, await trip.ledger())

    await asyncio.gather(*(one(kind) for kind in ("flight", "hotel", "train", "payment")))


async def test_cancelling_a_committed_trip_undoes_it_once(tmp_path: Path) -> None:
    async with a_trip(tmp_path) as trip:
        assert_clean(await trip.book(), await trip.ledger())
        view = await trip.cancel()
        ledger = await trip.ledger()
        assert view.status == "compensated"
        assert_clean(view, ledger)
        assert (len(ledger.cancellations), len(ledger.refunds)) == (5, 1)
        assert view.cost.fees == pytest.approx(float(sum(row.fee for row in ledger.cancellations)))
        assert await trip.cancel() == view
        assert await trip.engine.resume(SAGA) == view
        assert await trip.ledger() == ledger


async def test_cancelling_a_repaired_trip_undoes_what_stands_of_it_once(tmp_path: Path) -> None:
    """A hotel was replaced, and then the train that one came by."""
    faults = [
        {"kind": "hotel", "call": "book", "nth": 2, "fault": "refuse"},
        {"kind": "train", "call": "book", "fault": "price_up"},
    ]
    async with a_trip(tmp_path, faults) as trip:
        booked = await trip.book()
        assert booked.plan_version > 1
        assert_clean(booked, await trip.ledger())
        preview = await trip.engine.cancel(SAGA, preview=True)
        stood = {each.id for each in booked.operations if each.status == "succeeded" and each.kind != "read-only"}
        assert {each.id for each in preview.undo} == stood - {each for each in stood if each.startswith("itinerary")}
        view = await trip.cancel()
        assert view.status == "compensated"
        assert_clean(view, await trip.ledger())


async def test_payment_goes_back_before_any_reservation_does(tmp_path: Path) -> None:
    async with a_trip(tmp_path) as trip:
        await trip.book()
        await trip.cancel()
        ledger = await trip.ledger()
        assert all(row.created_at >= ledger.refunds[0].created_at for row in ledger.cancellations)
        undone = [row.reservation_id for row in ledger.cancellations]
        booked = {str(row.operation_id): row.id for row in ledger.reservations}
        assert undone.index(booked["T1"]) > max(undone.index(booked[name]) for name in ("T2", "T3"))
        assert undone.index(booked["T3"]) > max(undone.index(booked[name]) for name in ("T4", "T5"))


# -- providers that promise less ---------------------------------------------------------------------------------------


WITHHELD = {
    "dedup": frozenset({"dedup"}),
    "void": frozenset({"void"}),
    "deadline": frozenset({"deadline"}),
    "refusals": frozenset({"refusals"}),
    "dedup and void": frozenset({"dedup", "void"}),
    "void and deadline": frozenset({"void", "deadline"}),
    "everything": ALL,
}


async def assert_clean_or_named(trip: Trip, view: SagaView) -> None:
    ledger = await trip.ledger()
    assert repeated(ledger) == []
    if view.status in ("held", "stuck"):
        named = [each for each in view.operations if each.status in ("held", "compensation_failed")]
        assert named
        assert all(each.note or each.error for each in named)
    else:
        assert_clean(view, ledger)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("withheld", WITHHELD)
async def test_with_less_promised_nothing_lands_twice_and_what_is_open_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, withheld: str
) -> None:
    """Forwards, every fault at the first hotel, all at once: some wait for a deadline to pass."""
    impatient(monkeypatch)

    async def one(fault: str | int) -> None:
        rule = {"kind": "hotel", "call": "book", "fault": fault, "seconds": LATER_S - 60 if fault == "late" else HANGING_S}
        async with a_trip(tmp_path / str(fault), [rule], WITHHELD[withheld]) as trip:
            view = await trip.book()
            if fault == "hang":
                await asyncio.sleep(HANGING_S)
            await assert_clean_or_named(trip, view)
            if fault in ("refuse", 429, "price_up"):
                assert view.status in ("committed", "compensated")

    await asyncio.gather(*(one(fault) for fault in ("refuse", "before", "after", "late", "hang", 429)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("withheld", WITHHELD)
async def test_with_less_promised_nothing_is_undone_twice(tmp_path: Path, withheld: str) -> None:
    """Backwards, a lost answer to a cancellation and to a refund, all at once."""

    async def one(kind: str, fault: str | int) -> None:
        rule = {"kind": kind, "call": "refund" if kind == "payment" else "cancel", "fault": fault, "seconds": 1}
        async with a_trip(tmp_path / f"{kind}-{fault}", [rule], WITHHELD[withheld]) as trip:
            booked = await trip.book()
            assert booked.status == "committed"
            view = await trip.cancel()
            assert repeated(await trip.ledger()) == []
            assert view.status in ("compensated", "stuck")
            if view.status == "compensated":
                assert_clean(view, await trip.ledger())

    await asyncio.gather(*(one(kind, fault) for kind in ("train", "payment") for fault in ("before", "after", "late")))
