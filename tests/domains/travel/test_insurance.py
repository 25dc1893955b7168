"""Insurance of fares: taken out unless the booking says that the fare can be refunded; without it where the insurer refuses."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sagagraph.saga.engine.views.view import SagaView
from tests.support.trips import REQUEST

from .test_faults import SAGA, Trip, a_trip, repeated

INSURED = {**REQUEST, "insured": True}


async def booked(trip: Trip, request: dict[str, Any] = INSURED) -> SagaView:
    return await trip.graph.start(SAGA, request, approved_by="test")


async def stands(trip: Trip) -> list[str]:
    """What is confirmed, by operation; it is paid by one payment of exactly what it costs, and nothing landed twice."""
    ledger = await trip.ledger()
    confirmed = [row for row in ledger.reservations if row.state == "confirmed"]
    captured = [row.amount for row in ledger.payments if row.state == "captured"]
    assert repeated(ledger) == []
    assert captured == ([sum(row.price for row in confirmed)] if confirmed else [])
    return sorted(str(row.operation_id) for row in confirmed)


def statuses(view: SagaView) -> dict[str, str]:
    return {each.id: str(each.status) for each in view.operations if each.action == "book_insurance"}


@pytest.mark.quick
async def test_fares_that_cannot_be_refunded_are_insured_and_the_others_are_not(tmp_path: Path) -> None:
    async with a_trip(tmp_path) as trip:
        view = await booked(trip)
        assert view.status == "committed"
        assert statuses(view) == {"T1.cover": "succeeded", "T3.cover": "skipped", "T5.cover": "succeeded"}
        assert await stands(trip) == ["T1", "T1.cover", "T2", "T3", "T4", "T5", "T5.cover"]
        plan = (await trip.engine.load(SAGA)).plan.content
        approved = Decimal(str(plan["total"]))
        paid = sum(row.amount for row in (await trip.ledger()).payments)
        assert approved - paid == Decimal(str(plan["legs"][2]["cover"]["price"])) > 0
        sent = next(each.output for each in view.operations if each.action == "send_itinerary")
        assert _text(sent["text"]).count("Insured: R-") == 2
        assert (await trip.cancel()).status == "compensated"
        assert await stands(trip) == []


@pytest.mark.parametrize("fault", ["refuse", "price_up", "double_charge", "other_name"])
async def test_a_trip_goes_on_without_an_insurance_that_is_refused_or_is_another_one(tmp_path: Path, fault: str) -> None:
    async with a_trip(tmp_path, [{"kind": "insurance", "call": "book", "fault": fault}]) as trip:
        view = await booked(trip)
        assert (view.status, view.plan_version) == ("committed", 1)
        kept = [name for name, status in statuses(view).items() if status == "succeeded"]
        assert len(kept) == 1
        assert await stands(trip) == sorted(["T1", "T2", "T3", "T4", "T5", *kept])


async def test_a_repair_keeps_the_insurance_of_what_it_keeps(tmp_path: Path) -> None:
    async with a_trip(tmp_path, [{"kind": "flight", "call": "book", "nth": 2, "fault": "refuse"}]) as trip:
        view = await booked(trip)
        assert (view.status, view.plan_version) == ("committed", 2)
        assert statuses(view)["T1.cover"] == "succeeded"
        assert await stands(trip) == ["T1", "T1.cover", "T2", "T3", "T4", "T5.2", "T5.2.cover.2"]


async def test_a_change_after_the_payment_keeps_the_insurance_of_what_stays(tmp_path: Path) -> None:
    async with a_trip(tmp_path) as trip:
        assert (await booked(trip)).status == "committed"
        view = await trip.graph.change(SAGA, {**INSURED, "stars": [4, 4]}, by="test", approved_by="test")
        assert view.status == "committed"
        kept = await stands(trip)
        assert {"T1", "T1.cover", "T5", "T5.cover"} < set(kept)
        assert len(kept) == 7
        view = await trip.graph.change(SAGA, {**REQUEST, "stars": [4, 4]}, by="test", approved_by="test")
        assert view.status == "committed"
        assert len(await stands(trip)) == 5
        assert (await trip.cancel()).status == "compensated"
        assert await stands(trip) == []


async def test_no_insurance_breaks_the_budget(tmp_path: Path) -> None:
    async with a_trip(tmp_path) as trip:
        (cheapest, *_) = sorted(each.cost.total for each in await _proposals(trip, REQUEST))
        view = await booked(trip, {**INSURED, "budget": cheapest})
        assert (view.status, statuses(view)) == ("committed", {})
        considered = (await trip.engine.load(SAGA)).plan.content["considered"]
        assert any("it would exceed the budget" in each for each in considered)


def _text(file: str) -> str:
    return Path(file).read_text()


async def _proposals(trip: Trip, request: dict[str, Any]) -> Any:
    return await trip.graph._domain.propose(request)
