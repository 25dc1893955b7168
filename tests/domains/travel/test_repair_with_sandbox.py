"""Trips that are struck while they are booked, against the real service: validators, oracle and ledger judge.

A sample, drawn anew for each trip by a fixed seed; `make bench-repair` strikes every single and every pair of bookings.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING

import pytest

from benchmarks.repair.cases import TRIPS
from benchmarks.repair.disruptions import Blow, Disruption, pairs, singles
from benchmarks.repair.judge import faults_of
from benchmarks.repair.measure import change_of
from benchmarks.repair.oracle import Best
from benchmarks.repair.trips import struck

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.repair.trips import Outcome

SAMPLE, ONE_WAY, CHEAP, CHEAPEST, THREE_STOPS = TRIPS
NO_WAY_BACK = Disruption((Blow("flight", 2, "sold out"),))
DRAWN = {
    "sample": (SAMPLE, 5),
    "one way": (ONE_WAY, 3),
    "cheap": (CHEAP, 3),
    "cheapest": (CHEAPEST, 2),
    "three stops": (THREE_STOPS, 2),
}


@pytest.mark.parametrize("name", DRAWN)
async def test_a_trip_that_is_struck_is_repaired_as_well_as_can_be_or_undone(tmp_path: Path, name: str) -> None:
    trip, count = DRAWN[name]
    drawn = Random(f"repair {name}").sample(trip.disruptions(), count)
    for number, disruption in enumerate(drawn):
        outcome = await struck(tmp_path / str(number), trip.request, disruption)
        assert await faults_of(outcome) == [], disruption


async def test_another_flight_is_booked_and_all_else_stays(tmp_path: Path) -> None:
    outcome = await struck(tmp_path, SAMPLE.request, NO_WAY_BACK)
    assert await faults_of(outcome) == []
    assert outcome.status == "committed"
    assert [each.proposed for each in outcome.repairs] == [Best(kept=4, unchanged=4)]
    assert [leg["label"] for leg in outcome.last_plan["legs"]] == ["T1", "T2", "T3", "T4", "T5.2"]
    assert outcome.ledger.cancellations == ()


async def test_where_money_is_short_the_least_that_stands_is_given_up_for_the_rest(tmp_path: Path) -> None:
    """The next flight home costs 71 more and there are 69: another train is booked, and the first one cancelled."""
    outcome = await struck(tmp_path, CHEAP.request, NO_WAY_BACK)
    assert await faults_of(outcome) == []
    assert outcome.status == "committed"
    assert [leg["label"] for leg in outcome.last_plan["legs"]] == ["T1", "T2", "T3.2", "T4", "T5.2"]
    assert change_of(outcome)["cancelled"] == 1


async def test_where_nothing_is_left_everything_is_undone(tmp_path: Path) -> None:
    outcome = await struck(tmp_path, CHEAPEST.request, NO_WAY_BACK)
    assert await faults_of(outcome) == []
    assert (outcome.status, [each.best for each in outcome.repairs]) == ("compensated", [None])


async def test_the_replacement_is_struck_too(tmp_path: Path) -> None:
    twice = Disruption((Blow("flight", 2, "sold out"), Blow("flight", 3, "sold out")))
    outcome = await struck(tmp_path, SAMPLE.request, twice)
    assert await faults_of(outcome) == []
    assert [leg["label"] for leg in outcome.last_plan["legs"]] == ["T1", "T2", "T3", "T4", "T5.3"]


async def test_starting_again_undoes_what_a_repair_keeps(tmp_path: Path) -> None:
    outcome = await struck(tmp_path, SAMPLE.request, NO_WAY_BACK, repairs=False)
    assert await faults_of(outcome) == []
    assert (outcome.status, outcome.sagas) == ("committed", ["trip", "trip-2"])
    assert change_of(outcome)["cancelled"] == 4
    assert change_of(outcome)["fees"] > 0


async def test_starting_again_may_find_no_trip_at_all(tmp_path: Path) -> None:
    outcome = await struck(tmp_path, CHEAPEST.request, NO_WAY_BACK, repairs=False)
    assert await faults_of(outcome) == []
    assert outcome.status == "infeasible"
    assert change_of(outcome)["cancelled"] == 4


async def test_the_judge_finds_what_is_wrong(tmp_path: Path) -> None:
    good = await struck(tmp_path, CHEAP.request, NO_WAY_BACK)
    ledger = good.ledger
    (payment,), (cancellation,) = ledger.payments, ledger.cancellations
    first, *others = ledger.reservations
    broken = {
        "the payments are": {"payments": (payment, payment.model_copy(update={"operation_id": "payment.9"}))},
        "2 times": {"cancellations": (cancellation, cancellation)},
        "confirmed are": {"reservations": tuple(others)},
        "cancelling cost 7": {"cancellations": (cancellation.model_copy(update={"fee": Decimal(7)}),)},
        "spent, 1960.00 allowed": {"payments": (payment.model_copy(update={"amount": Decimal(1961)}),)},
    }
    for said, changes in broken.items():
        assert any(said in fault for fault in await faults_of(replace(good, ledger=ledger.model_copy(update=changes)))), said
    twice = replace(good, ledger=ledger.model_copy(update={"reservations": (first, *ledger.reservations)}))
    assert any("2 times" in fault for fault in await faults_of(twice))
    assert await faults_of(replace(good, status="held")) == ["it ended held"]
    assert any("left over" in fault for fault in await faults_of(replace(good, status="compensated")))
    assert any("was possible" in fault for fault in await faults_of(_keeping_less(good)))


def _keeping_less(good: Outcome) -> Outcome:
    (only,) = good.repairs
    return replace(good, repairs=[replace(only, proposed=Best(kept=2, unchanged=5))])


def test_every_booking_and_every_pair_of_them_is_struck() -> None:
    kinds = ("flight", "hotel", "train", "hotel", "flight")
    assert len([*singles(kinds)]) == 5 * 3
    assert len([*pairs(kinds)]) == (10 + 5) * 9, "ten pairs of bookings, and each booking with what replaces it"


def test_what_comes_after_repeated_calls_is_counted_from_after_them() -> None:
    twice = Disruption((Blow("train", 1, "no answer"), Blow("train", 2, "sold out")))
    assert [(rule["nth"], rule["fault"]) for rule in twice.rules()] == [(1, 500), (2, 500), (3, 500), (4, 500), (5, "refuse")]
