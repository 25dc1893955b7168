"""Stops in any order: the best order is found, little is asked for it, and the validator judges it for itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, event, given, settings

from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.planning.market import gather
from sagagraph.domains.travel.planning.planner import choose, propose
from sagagraph.domains.travel.planning.search import best_path
from sagagraph.domains.travel.request import Direct, Order, Stop
from sagagraph.domains.travel.rules.validator import validate_itinerary
from sagagraph.planning.domain import Infeasible

from .exhaustive import best_of, broken, every_trip, keeps_all, wishes
from .markets import best_at, free_order_problems, market_of
from .world import GAZETTEER, NOW, RATES, OfferBook, day, flight, hotel, trip

if TYPE_CHECKING:
    from sagagraph.domains.travel.offers import Offer
    from sagagraph.domains.travel.request import TripRequest

STOPS = (Stop(city="Paris", nights=2), Stop(city="Rome", nights=3))
ANY: dict[str, Any] = {
    "origin": "London", "stops": STOPS, "direct": Direct.ANY, "depart": day("06-10"), "order": Order.ANY,
}  # fmt: skip


def rome_first() -> list[Offer]:
    return [
        flight("London", "Rome", "06-10 09:00", 150, 100),
        hotel("Rome", "06-10", 3, 80),
        flight("Rome", "Paris", "06-13 09:00", 120, 90),
        hotel("Paris", "06-13", 2, 120),
        flight("Paris", "London", "06-15 09:00", 75, 60),
    ]


def paris_first(price: int) -> list[Offer]:
    return [
        flight("London", "Paris", "06-10 09:00", 75, price),
        hotel("Paris", "06-10", 2, 120),
        flight("Paris", "Rome", "06-12 09:00", 120, 90),
        hotel("Rome", "06-12", 3, 80),
        flight("Rome", "London", "06-15 09:00", 150, 100),
    ]


def cities(itinerary: Itinerary) -> list[str]:
    return [hotel.city for hotel in itinerary.stays]


@pytest.mark.parametrize(("price", "first"), [(59, "Paris"), (61, "Rome")])
async def test_the_better_order_is_taken(price: int, first: str) -> None:
    found = await propose(trip(**ANY), OfferBook([*rome_first(), *paris_first(price)]))
    assert not isinstance(found, Infeasible)
    cheapest = min(found, key=lambda each: each.total)
    assert cities(cheapest)[0] == first


async def test_the_given_order_is_kept_where_nobody_frees_it() -> None:
    found = await propose(trip(**{**ANY, "order": Order.GIVEN}), OfferBook([*rome_first(), *paris_first(9000)]))
    assert isinstance(found, Infeasible)
    assert found.conflict == ("budget 5000 USD",)


async def test_only_what_some_order_can_reach_is_asked_and_nothing_twice() -> None:
    book = OfferBook([*rome_first(), *paris_first(60)])
    await gather(trip(**ANY), book)
    assert max(Counter(book.asked).values()) == 1
    assert {question for question in book.asked if question.startswith(("flights Paris", "flights Rome"))} == {
        "flights Rome Paris 2025-06-13", "flights Paris Rome 2025-06-12",
        "flights Paris London 2025-06-15", "flights Rome London 2025-06-15",
    }  # fmt: skip
    assert not [question for question in book.asked if question.startswith("flights London London")]


async def test_what_no_order_can_do_without_is_named() -> None:
    without_a_bed = [offer for offer in rome_first() if offer.kind != "hotel" or offer.city != "Paris"]
    found = await propose(trip(**ANY), OfferBook(without_a_bed))
    assert isinstance(found, Infeasible)
    assert found.reasons == ("no hotel in Paris has 1 room left for 2 nights on the days in question",)


def test_the_order_is_written_down_only_where_it_is_free() -> None:
    assert trip(**ANY).model_dump(mode="json")["order"] == "any"
    assert "order" not in trip().model_dump(mode="json")


# -- what the validator says ---------------------------------------------------------------------------------------------------


def judged(request: TripRequest, offers: list[Offer]) -> list[str]:
    itinerary = Itinerary.of(request, offers)
    verdict = validate_itinerary(itinerary, request, None, now=NOW, cities=GAZETTEER, rates=RATES)
    return sorted({violation.code for violation in verdict.violations})


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        pytest.param({}, [], id="the stops in another order"),
        pytest.param({"order": Order.GIVEN}, ["ROUTE"], id="another order than the one given"),
        pytest.param({"stops": (STOPS[0], Stop(city="Rome", nights=4))}, ["NIGHTS"], id="too few nights"),
        pytest.param({"stops": (STOPS[0], Stop(city="Rome", nights=2))}, ["NIGHTS"], id="too many nights"),
        pytest.param({"stops": (Stop(city="Paris", nights=3), Stop(city="Rome", nights=2))}, ["NIGHTS"], id="swapped nights"),
        pytest.param({"stops": STOPS[:1]}, ["ROUTE"], id="a stop too many"),
        pytest.param({"stops": (*STOPS, Stop(city="Berlin", nights=1))}, ["ROUTE"], id="a stop too few"),
        pytest.param({"stops": (STOPS[0], Stop(city="Berlin", nights=3))}, ["ROUTE"], id="another city"),
        pytest.param({"return_to": "Madrid"}, ["ROUTE"], id="another end"),
        pytest.param({"return_to": None}, ["ROUTE"], id="no return asked for"),
    ],
)
def test_stops_in_any_order_are_judged_with_their_nights(changes: dict[str, Any], codes: list[str]) -> None:
    assert judged(trip(**{**ANY, **changes}), rome_first()) == codes


def test_of_two_stays_in_one_city_either_may_be_the_longer() -> None:
    stops = (Stop(city="Paris", nights=1), Stop(city="Rome", nights=3), Stop(city="Paris", nights=2))
    offers = [
        flight("London", "Paris", "06-10 09:00", 75, 60),
        hotel("Paris", "06-10", 2, 120),
        flight("Paris", "Rome", "06-12 09:00", 120, 90),
        hotel("Rome", "06-12", 3, 80),
        flight("Rome", "Paris", "06-15 09:00", 120, 90),
        hotel("Paris", "06-15", 1, 120),
        flight("Paris", "London", "06-16 09:00", 75, 60),
    ]
    assert judged(trip(**{**ANY, "stops": stops}), offers) == []
    assert judged(trip(**{**ANY, "stops": stops, "order": Order.GIVEN}), offers) == ["NIGHTS"]
    same = (stops[0], stops[1], stops[0])
    assert judged(trip(**{**ANY, "stops": same}), offers) == ["NIGHTS"]


# -- against exhaustive search -------------------------------------------------------------------------------------------------

EXHAUSTIVE = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))


@EXHAUSTIVE
@given(free_order_problems())
def test_the_best_order_by_each_measure_is_found(problem: tuple[TripRequest, list[Offer]]) -> None:
    request, offers = problem
    trips = every_trip(request, offers)
    valid = keeps_all(request, trips)
    found = choose(request, market_of(request, offers))
    event("feasible" if valid else "infeasible" if trips else "nothing to be had")
    if isinstance(found, Infeasible):
        assert not valid
        breaks = [broken(request, each) for each in trips]
        assert not any(broken_ones.isdisjoint(found.conflict) for broken_ones in breaks)
        assert set(found.conflict) <= set(wishes(request))
        return
    assert best_at(found) == best_of(request, valid)
    quotes = {offer.offer_id: offer for offer in offers}
    for itinerary in found:
        assert validate_itinerary(itinerary, request, quotes, now=NOW, cities=GAZETTEER, rates=RATES).violations == ()


@EXHAUSTIVE
@given(free_order_problems(most_stops=2))
async def test_what_is_gathered_is_enough(problem: tuple[TripRequest, list[Offer]]) -> None:
    request, offers = problem

    def price_alone(_: Offer) -> tuple[int, ...]:
        return ()

    assert best_path(request, await gather(request, OfferBook(offers)), price_alone) == best_path(
        request, market_of(request, offers), price_alone
    )
