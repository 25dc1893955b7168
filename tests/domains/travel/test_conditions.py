"""Trains only if the flight before them lands early enough: what its booking confirms decides, and the ledger judges.

The sample flies to Berlin at 16:55 and goes on by train, if it has landed before 17:00; otherwise it flies.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sagagraph.domains.travel.plan import Itinerary, OnlyIf, plan_hash
from sagagraph.domains.travel.request import Direct, TrainIf, parse_request
from sagagraph.domains.travel.rules.validator import validate_itinerary
from sagagraph.errors import InvalidInputError
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.workflow.condition import All, OutputIs

from .test_faults import SAGA, Trip, a_trip
from .test_insurance import stands
from .test_validator import quotes_of, under_condition
from .world import GAZETTEER, NOW, RATES, flight

ROOT = Path(__file__).parents[3]
REQUEST = {
    "origin": "Rome",
    "stops": [{"city": "Berlin", "nights": 2}, {"city": "Cologne", "nights": 2}],
    "return_to": "Rome",
    "depart": "2025-06-04",
    "train_if": {"landed_before": "17:00", "to": "Cologne"},
}
BY_TRAIN = ["T1", "T2", "T3", "T4", "T5"]
BY_AIR = ["T1", "T2", "T3.instead", "T4", "T5"]


def retimed(minutes: int) -> dict[str, Any]:
    return {"kind": "flight", "call": "book", "fault": "retimed", "seconds": 60 * minutes}


def refused(kind: str, nth: int) -> dict[str, Any]:
    return {"kind": kind, "call": "book", "nth": nth, "fault": "refuse"}


async def booked(trip: Trip, **wishes: Any) -> SagaView:
    return await trip.graph.start(SAGA, {**REQUEST, **wishes}, approved_by="test")


async def planned(trip: Trip) -> Itinerary:
    return Itinerary.model_validate((await trip.engine.load(SAGA)).plan.content)


def by_name(view: SagaView) -> dict[str, str]:
    return {each.id: str(each.status) for each in view.operations}


@pytest.mark.quick
@pytest.mark.parametrize(("minutes", "taken", "skipped"), [(4, BY_TRAIN, "T3.instead"), (60, BY_AIR, "T3")])
async def test_what_the_flight_confirms_decides(tmp_path: Path, minutes: int, taken: list[str], skipped: str) -> None:
    async with a_trip(tmp_path, [retimed(minutes)]) as trip:
        view = await booked(trip)
        plan = await planned(trip)
        train = plan.legs[2]
        assert train.only_if is not None
        assert train.otherwise is not None
        assert plan.reasons[-1].endswith("otherwise flight BH773, Berlin to Cologne, 2025-06-06 18:15 for $97, $21 more")
        assert plan.total == sum((leg.price for leg in plan.legs), Decimal(0))
        assert train.price == train.otherwise.offer.price
        assert (view.status, view.plan_version) == ("committed", 1)
        passed_over = next(each for each in view.operations if each.id == skipped)
        assert (passed_over.status, passed_over.note) == ("skipped", "its condition does not hold")
        assert await stands(trip) == taken
        sent = next(each.output for each in view.operations if each.action == "send_itinerary")
        assert sorted(sent["reservations"]) == sorted(taken)
        lands = plan.transports[0].arrives + timedelta(minutes=minutes)
        assert f"arrives Berlin 4 June 2025 {lands:%H:%M}" in _text(sent["text"])
        replayed = await trip.engine.replay(SAGA)
        assert replayed.differences == ()
        assert (await trip.cancel()).status == "compensated"
        assert await stands(trip) == []


async def test_the_condition_is_on_the_operation_and_reads_the_booking_of_the_flight(tmp_path: Path) -> None:
    async with a_trip(tmp_path) as trip:
        await booked(trip)
        condition = (await trip.engine.load(SAGA)).operations["T3"].spec.condition
        assert isinstance(condition, All)
        (read,) = [each for each in condition.conditions if isinstance(each, OutputIs)]
        assert (read.operation, read.path, read.value) == ("T1", ("offer", "arrives"), "2025-06-04T17:00:00+02:00")


@pytest.mark.parametrize("minutes", [8 * 60, 60])
async def test_a_landing_that_the_plan_does_not_allow_for_leads_to_a_repair(tmp_path: Path, minutes: int) -> None:
    """After midnight the hotel would be missed. Where the flight instead exceeds the budget, any later landing is too late."""
    wishes = {"budget": 715} if minutes == 60 else {}
    async with a_trip(tmp_path, [retimed(minutes)]) as trip:
        view = await booked(trip, **wishes)
        if wishes:
            assert "T3.instead" not in by_name(view)
            assert by_name(view)["T3"] != "succeeded"
        assert by_name(view)["T1"] == "compensated"
        assert view.status in ("committed", "compensated")
        confirmed = await stands(trip)
        assert confirmed if view.status == "committed" else not confirmed


@pytest.mark.parametrize(
    ("faults", "taken"),
    [
        ((retimed(60), refused("hotel", 2)), ["T1", "T2", "T3.instead", "T4.2", "T5"]),
        ((retimed(60), refused("flight", 2)), ["T1", "T2", "T3.2", "T4.2", "T5.2"]),
        ((refused("train", 1),), ["T1", "T2", "T3.2", "T4.2", "T5.2"]),
        ((refused("flight", 1),), ["T1.2", "T2.2", "T3.2", "T4.2", "T5.2"]),
    ],
)
async def test_a_repair_goes_on_from_what_the_flight_confirmed(
    tmp_path: Path, faults: tuple[dict[str, Any], ...], taken: list[str]
) -> None:
    async with a_trip(tmp_path, faults) as trip:
        view = await booked(trip)
        assert (view.status, view.plan_version) == ("committed", 2)
        assert await stands(trip) == taken


async def test_a_change_after_the_payment_keeps_what_was_taken_instead(tmp_path: Path) -> None:
    async with a_trip(tmp_path, [retimed(60)]) as trip:
        assert (await booked(trip)).status == "committed"
        view = await trip.graph.change(SAGA, {**REQUEST, "stars": [4, 4]}, by="test", approved_by="test")
        assert view.status == "committed"
        kept = await stands(trip)
        assert {"T1", "T3.instead", "T5"} < set(kept)
        assert len(kept) == 5
        assert (await trip.cancel()).status == "compensated"
        assert await stands(trip) == []


async def test_the_insurance_of_a_train_that_is_not_taken_is_not_taken_out(tmp_path: Path) -> None:
    async with a_trip(tmp_path, [retimed(60)]) as trip:
        view = await booked(trip, insured=True)
        assert view.status == "committed"
        assert by_name(view)["T3.cover"] == "skipped"
        assert await stands(trip) == ["T1", "T1.cover", "T2", "T3.instead", "T4", "T5", "T5.cover"]


def test_whatever_is_killed_on_the_way_one_of_both_is_booked(tmp_path: Path) -> None:
    """At a few boundaries; `make sweep` and `make proof` have more."""
    command = [sys.executable, "-m", "tests.support.sweep", "tests.support.trips:CONDITIONAL", "--sample", "2", "--seed", "3"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "killed 2 times: 2 committed" in ended.stdout


# -- rules -----------------------------------------------------------------------------------------------------------------------


BY_PLANE = flight("Berlin", "Cologne", "06-15 12:00", 70, 60)


def with_flight(otherwise: Any = BY_PLANE, lands_by: str = "23:59") -> Itinerary:
    """The sample: its flight lands in Berlin at 17:00; the train to Cologne leaves on the fifth day."""
    plan = under_condition("06-11 18:00", train_if=TrainIf(landed_before=time(18)))
    train = plan.legs[2]
    assert train.only_if is not None
    latest = train.only_if.lands_before.replace(hour=int(lands_by[:2]), minute=int(lands_by[3:]))
    only_if = OnlyIf(lands_before=train.only_if.lands_before, lands_by=latest, otherwise=otherwise)
    legs = tuple(leg.model_copy(update={"only_if": only_if}) if leg is train else leg for leg in plan.legs)
    return plan.model_copy(update={"legs": legs, "total": sum((leg.price for leg in legs), Decimal(0))})


def found(plan: Itinerary, quoted: bool = True) -> list[tuple[str, Any]]:
    quotes = {**quotes_of(plan), **({BY_PLANE.offer_id: BY_PLANE} if quoted else {})}
    verdict = validate_itinerary(plan, plan.request, quotes, now=NOW, cities=GAZETTEER, rates=RATES)
    return [(each.code, each.scope.get("leg")) for each in verdict.violations]


@pytest.mark.quick
def test_what_is_taken_otherwise_is_judged_as_well() -> None:
    assert found(with_flight()) == []
    assert found(with_flight(), quoted=False) == [("UNAVAILABLE", "T3.instead")]
    too_late = flight("Berlin", "Cologne", "06-15 23:30", 70, 60)
    assert ("DATE_GAP", "T3.instead") not in found(with_flight())
    assert {code for code, leg in found(with_flight(too_late)) if leg in ("T3.instead", "T4")} >= {"UNAVAILABLE", "DATE_OVERLAP"}
    elsewhere = flight("Berlin", "Munich", "06-15 12:00", 70, 60)
    assert ("ROUTE", "T4") in found(with_flight(elsewhere))
    strict = with_flight()
    budget = strict.request.model_copy(update={"budget": strict.total - 1, "direct": Direct.REQUIRED})
    assert ("BUDGET", None) in found(strict.model_copy(update={"request": budget}))


@pytest.mark.quick
def test_a_plan_is_another_one_if_its_condition_or_its_alternative_is() -> None:
    plans = [
        with_flight(),
        with_flight(lands_by="22:00"),
        under_condition("06-11 18:00", train_if=TrainIf(landed_before=time(18))),
    ]
    assert len({plan_hash(plan) for plan in plans}) == 3


@pytest.mark.quick
@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"landed_before": "03:00"}, "train_if.landed_before"),
        ({"landed_before": "noon"}, "train_if.landed_before"),
        ({"landed_before": "12:00", "to": "Paris"}, "train_if"),
        ({"landed_before": "12:00", "to": "Nowhere at all"}, "train_if.to"),
        ({"landed_before": "12:00", "otherwise": "stay"}, "train_if.otherwise"),
    ],
)
def test_a_condition_that_cannot_be_meant_is_refused_by_its_field(wish: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        parse_request({**REQUEST, "train_if": wish}, cities=GAZETTEER, today=NOW.date())
    assert refusal.value.field == field


def _text(file: str) -> str:
    return Path(file).read_text()
