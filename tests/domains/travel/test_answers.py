"""The service books, charges or refunds something else than it was asked for: found in its answer, and undone or named.

Nothing but the look at the answer finds these: the call landed once, under its key, and was acknowledged. The ledger judges.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sagagraph.context.slice import ContextSlice, Fact, select
from sagagraph.domains.travel.actions import actions
from sagagraph.domains.travel.actions.documents import itinerary_ics, told_in
from sagagraph.domains.travel.plan import plan_hash
from sagagraph.domains.travel.rules.answers import BOOKING, PAYMENT, SENT, AnswerValidator
from sagagraph.saga.core import events as e
from sagagraph.validators.verdict import Verdict

from .test_faults import BOOKINGS, SAGA, Trip, a_trip, assert_clean, repeated, standing
from .world import NOW, sample_itinerary

MISTAKES = {
    "other_night": "OTHER_DATES",
    "other_class": "OTHER_CLASS",
    "other_name": "OTHER_NAME",
    "double_charge": "OTHER_PRICE",
}


async def codes(trip: Trip) -> list[str]:
    """What the validators of answers found, in the order of the journal."""
    verdicts = [
        Verdict.model_validate(each)
        for entry in await trip.engine.journal(SAGA)
        if isinstance(entry.event, e.OperationRejected | e.AttemptLost)
        for each in entry.event.verdicts
    ]
    assert all(each.certificate is not None and each.certificate.slice_tokens <= 1000 for each in verdicts)
    return [violation.code for each in verdicts for violation in each.violations]


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("operation", ["T2", "T5"])
async def test_a_booking_of_something_else_is_cancelled_and_another_made(tmp_path: Path, operation: str, mistake: str) -> None:
    kind, nth = BOOKINGS[operation]
    async with a_trip(tmp_path, [{"kind": kind, "call": "book", "nth": nth, "fault": mistake}]) as trip:
        view = await trip.book()
        ledger = await trip.ledger()
        assert_clean(view, ledger)
        assert view.status == "committed"
        assert MISTAKES[mistake] in await codes(trip)
        wrong = next(each for each in view.operations if each.status == "compensated")
        assert (wrong.action, f"{wrong.id}.2" in {each.id for each in view.operations}) == (f"book_{kind}", True)
        assert [row.state for row in ledger.reservations].count("cancelled") == 1


async def test_without_the_validators_nobody_notices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ablation: each of these ends as a committed trip that nobody wanted."""

    def blind(_answer: Any, _inputs: Any) -> list[Any]:
        return []

    monkeypatch.setattr(actions, "BOOKING", AnswerValidator(BOOKING.name, BOOKING.inputs, blind))
    for mistake in MISTAKES:
        async with a_trip(tmp_path / mistake, [{"kind": "hotel", "call": "book", "fault": mistake}]) as trip:
            view = await trip.book()
            assert (view.status, standing(await trip.ledger())) == ("committed", (5, 1))
            assert "compensated" not in {each.status for each in view.operations}


async def test_a_double_charge_is_held_until_a_person_cancels_and_then_given_back(tmp_path: Path) -> None:
    async with a_trip(tmp_path, [{"kind": "payment", "call": "capture", "fault": "double_charge"}]) as trip:
        view = await trip.book()
        (held,) = [each for each in view.operations if each.status == "held"]
        assert (view.status, held.id) == ("held", "payment")
        assert await codes(trip) == ["OTHER_AMOUNT"]
        assert (await trip.cancel()).status == "compensated"
        ledger = await trip.ledger()
        assert (standing(ledger), repeated(ledger)) == ((0, 0), [])
        assert sum(row.amount for row in ledger.refunds) == sum(row.amount for row in ledger.payments) > Decimal(0)


async def test_a_partial_refund_is_named(tmp_path: Path) -> None:
    async with a_trip(tmp_path, [{"kind": "payment", "call": "refund", "fault": "partial_refund"}]) as trip:
        assert (await trip.book()).status == "committed"
        assert (await trip.cancel()).status == "stuck"
        reversal = await trip.engine.status(f"{SAGA}~reversal")
        (held,) = [each for each in reversal.operations if each.status == "held"]
        assert held.action == "capture_payment:undo"
        assert any("the refund is" in f"{each.message}" for each in await trip.faults())
        assert repeated(await trip.ledger()) == []


async def test_a_fee_that_nobody_agreed_to_is_named(tmp_path: Path) -> None:
    faults = [
        {"kind": "payment", "call": "capture", "fault": "refuse"},
        {"kind": "train", "call": "cancel", "fault": "other_fee"},
    ]
    async with a_trip(tmp_path, faults) as trip:
        view = await trip.book()
        (stuck,) = [each for each in view.operations if each.status == "compensation_failed"]
        assert (view.status, stuck.id) == ("stuck", "T3")
        assert any("the fee for cancelling is" in each.message for each in await trip.faults())


async def test_documents_of_another_plan_are_not_taken_for_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Yesterday's plan goes out: an older file is put in the place of the one that was written."""
    yesterday = itinerary_ics(sample_itinerary(), {"T1": "R-00001"}, created=NOW)

    def outdated(file: Path, content: bytes) -> None:
        file.write_bytes(yesterday if file.suffix == ".ics" else content)

    monkeypatch.setattr(actions, "write_whole", outdated)
    async with a_trip(tmp_path) as trip:
        view = await trip.book()
        (held,) = [each for each in view.operations if each.status == "held"]
        assert (view.status, held.id) == ("held", "itinerary")
        assert set(await codes(trip)) == {"OTHER_PLAN"}


async def test_an_untouched_trip_has_a_certificate_for_each_answer(tmp_path: Path) -> None:
    async with a_trip(tmp_path) as trip:
        assert (await trip.book()).status == "committed"
        succeeded = [each.event for each in await trip.engine.journal(SAGA) if isinstance(each.event, e.OperationSucceeded)]
        judged = {each.operation: each.verdicts[0]["verdict"] for each in succeeded if each.verdicts}
        assert judged == dict.fromkeys(["T1", "T2", "T3", "T4", "T5", "payment", "itinerary"], "VALID")


# -- one answer at a time ------------------------------------------------------------------------------------------------


def found(validator: AnswerValidator, answer: Any, inputs: Any) -> set[str]:
    context: ContextSlice = select([Fact("inputs", inputs, critical=True)])
    return {each.code for each in validator.validate(answer, context).violations}


def booked(label: str, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An answer, some of whose offer is changed, and what was asked for."""
    offer = next(leg.offer for leg in sample_itinerary().legs if leg.label == label).model_dump(mode="json")
    answer = {
        "reservation_id": "R",
        "price": offer["price"],
        "currency": "USD",
        "cancellation": offer["cancellation"],
        "offer": {**offer, **changes.pop("offer", {})},
        **changes,
    }
    return json.loads(json.dumps(answer)), {"price": offer["price"], "offer": offer}


@pytest.mark.parametrize(
    ("label", "changes", "code"),
    [
        ("T1", {}, None),
        ("T2", {}, None),
        ("T1", {"offer": {"left": 1}}, None),
        ("T1", {"offer": {"destination_city": "Munich"}}, "OTHER_PLACE"),
        ("T2", {"offer": {"city": "Munich"}}, "OTHER_PLACE"),
        ("T2", {"offer": {"rooms": 2}}, "OTHER_PARTY"),
        ("T2", {"currency": "EUR"}, "OTHER_CURRENCY"),
        ("T2", {"price": 1}, "OTHER_PRICE"),
        ("T2", {"cancellation": {"free_until": None, "fee": 9999}}, "OTHER_TERMS"),
        ("T2", {"cancellation": {"free_until": None, "fee": 0}}, None),
    ],
)
def test_an_answer_is_held_to_what_was_planned(label: str, changes: dict[str, Any], code: str | None) -> None:
    assert found(BOOKING, *booked(label, **changes)) == ({code} if code else set())


def test_what_an_earlier_release_asked_for_is_held_to_its_price() -> None:
    answer, inputs = booked("T1")
    assert found(BOOKING, {**answer, "price": 1}, {"price": inputs["price"]}) == {"OTHER_PRICE"}


def test_a_payment_is_the_amount_in_its_currency() -> None:
    asked = {"amount": 10, "currency": "USD"}
    assert found(PAYMENT, {"amount": 10.0, "currency": "USD"}, asked) == set()
    assert found(PAYMENT, {"amount": 20, "currency": "EUR"}, asked) == {"OTHER_AMOUNT", "OTHER_CURRENCY"}


def test_a_calendar_tells_whose_plan_it_is_and_what_was_reserved() -> None:
    plan = sample_itinerary()
    told = told_in(itinerary_ics(plan, {"T1": "R-1", "T2": "R-2"}, created=NOW))
    assert told == (plan_hash(plan), {"T1": "R-1", "T2": "R-2"})
    asked = {"plan": plan_hash(plan), "reservations": {"T1": "R-1", "T2": "R-3"}}
    assert found(SENT, {"plan": told[0], "reservations": told[1]}, asked) == {"OTHER_PLAN"}
