"""What a model chooses of a trip: offers that it was shown, at what the provider asks for them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from sagagraph.context.slice import select
from sagagraph.domains.travel.offers import Offer
from sagagraph.domains.travel.plan import Alternative, Choice, Itinerary
from sagagraph.domains.travel.planning.choice import TripChoice, chosen_trip, trip_facts
from sagagraph.planning.models.model_planner import BUDGET_TOKENS
from sagagraph.validators.verdict import Verdict

from .world import hotel, sample_offers, trip

pytestmark = pytest.mark.quick

OTHER = hotel("Berlin", "06-11", 4, 150)
SECRET = hotel("Berlin", "06-11", 4, 60)


class Desk:
    """Has every offer; keeps what it is asked for."""

    def __init__(self, *gone: str) -> None:
        self.asked: list[str] = []
        self._gone = gone

    async def offer(self, offer_id: str) -> Offer | None:
        self.asked.append(offer_id)
        found = {each.offer_id: each for each in (*sample_offers(), OTHER, SECRET)}
        return None if offer_id in self._gone else found.get(offer_id)

    async def rates(self) -> Any:
        raise AssertionError("the budget is in the currency of prices")


def shown() -> Itinerary:
    """The sample trip, with another hotel beside the first one."""
    instead = Alternative(offer_id=OTHER.offer_id, title="the other one", price=OTHER.price)
    choices = [Choice(why="fine", alternatives=(instead,) if each.kind == "hotel" else ()) for each in sample_offers()]
    return Itinerary.of(trip(), sample_offers(), reasons=("the best",), choices=choices)


async def choose(*offers: str, desk: Desk | None = None) -> Itinerary | Verdict:
    choice = TripChoice(offers=list(offers), reasoning="so", considered=["another"])
    return await chosen_trip(trip(), choice, (shown(),), desk or Desk())  # type: ignore[arg-type]


def ids() -> list[str]:
    return [each.offer_id for each in sample_offers()]


async def test_an_offer_can_be_taken_instead_of_one_at_the_price_that_the_provider_asks() -> None:
    wanted = ids()
    wanted[1] = OTHER.offer_id
    found = await choose(*wanted)
    assert isinstance(found, Itinerary)
    assert [leg.offer.offer_id for leg in found.legs] == wanted
    assert found.total == sum((leg.offer.price for leg in found.legs), Decimal(0))
    assert found.considered == ("another",)


async def test_why_an_offer_was_taken_is_filled_in_from_what_the_solver_knows() -> None:
    found = await choose(*ids())
    assert isinstance(found, Itinerary)
    assert {leg.choice and leg.choice.why for leg in found.legs} == {"fine"}


async def test_ids_that_were_not_shown_never_reach_the_provider_whether_or_not_there_is_such_an_offer() -> None:
    for strange in (SECRET.offer_id, "../../ledger", "x" * 500):
        desk = Desk()
        found = await choose(*ids()[:2], strange, desk=desk)
        assert isinstance(found, Verdict)
        assert [each.code for each in found.violations] == ["UNKNOWN_OFFER"]
        assert (desk.asked, len(found.violations[0].message) < 150) == ([], True)


async def test_an_offer_that_is_gone_since_is_a_violation() -> None:
    found = await choose(*ids(), desk=Desk(ids()[0]))
    assert isinstance(found, Verdict)
    assert [each.code for each in found.violations] == ["UNAVAILABLE"]


def test_the_request_and_the_first_trip_are_always_shown() -> None:
    context = select(trip_facts(trip(), (shown(), shown(), shown(), shown())), budget_tokens=BUDGET_TOKENS)
    assert {"request", "trip 1", f"instead of {ids()[1]}"} <= context.facts.keys()
    tight = select(trip_facts(trip(), (shown(),)), budget_tokens=600)
    assert {"request", "trip 1"} <= tight.facts.keys()
