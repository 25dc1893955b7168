from __future__ import annotations

from datetime import datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from sagagraph.domains.travel.money import Converted
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.planning.market import gather
from sagagraph.domains.travel.planning.planner import choose, propose
from sagagraph.domains.travel.request import Direct, Hours, JourneyHours, Stop, Weekday, Window
from sagagraph.domains.travel.rules.validator import validate_itinerary
from sagagraph.planning.domain import Infeasible

from .exhaustive import Trip, best_of, every_trip, in_currency, keeps_all
from .markets import best_at, market_of, problems
from .world import GAZETTEER, NOW, RATES, OfferBook, day, flight, hotel, sample_offers, train, trip

pytestmark = pytest.mark.quick

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sagagraph.domains.travel.offers import Offer
    from sagagraph.domains.travel.request import TripRequest

BERLIN: dict[str, Any] = {"stops": (Stop(city="Berlin", nights=4),)}


def chosen(request: TripRequest, offers: Iterable[Offer], now: datetime = NOW) -> tuple[Itinerary, ...]:
    proposals = choose(request, market_of(request, offers, now))
    assert not isinstance(proposals, Infeasible), proposals.reasons
    return proposals


def refused(request: TripRequest, offers: Iterable[Offer], now: datetime = NOW) -> tuple[str, ...]:
    proposals = choose(request, market_of(request, offers, now))
    assert isinstance(proposals, Infeasible)
    return proposals.reasons


def ids(itinerary: Itinerary) -> list[str]:
    return [leg.offer.offer_id for leg in itinerary.legs]


def offers_for(*flights_out: FlightOffer, hotels: Iterable[HotelOffer] = ()) -> list[Offer]:
    """To Berlin on 10 June and back on the 15th."""
    stays = list(hotels) or [hotel("Berlin", "06-11", 4, 100)]
    return [*flights_out, *stays, flight("Berlin", "San Francisco", "06-15 14:00", 700, 500)]


# -- what is proposed ----------------------------------------------------------------------------------------------------------


def test_the_only_way_is_proposed_in_the_order_of_travel() -> None:
    offers = sample_offers()
    (itinerary,) = chosen(trip(), offers)
    assert ids(itinerary) == [offer.offer_id for offer in offers]
    assert itinerary.total == Decimal(1969)
    assert itinerary.reasons == (
        "direct flights where possible, then the best balance of price and time, the cheapest, the fastest, the most comfortable:"
        " $1,969, 30 h 1 min under way",
        "$3,031 below the budget of $5,000",
        "Cologne to San Francisco with 1 stop in AMS: no direct one is on offer",
    )


def test_proposals_differ_in_what_a_person_cares_about() -> None:
    cheap = flight("San Francisco", "Berlin", "06-10 12:00", 1100, 300, stops=1, via=("FRA",))
    fast = flight("San Francisco", "Berlin", "06-10 20:00", 600, 1500)
    fair = flight("San Francisco", "Berlin", "06-10 16:00", 700, 500)
    hotels = [hotel("Berlin", "06-11", 4, 100), hotel("Berlin", "06-11", 4, 150, stars=4)]
    preferred, cheapest, fastest, comfortable = chosen(trip(**BERLIN), offers_for(cheap, fast, fair, hotels=hotels))
    assert [offer.duration_minutes for offer in preferred.transports] == [700, 700]
    assert [offer.duration_minutes for offer in cheapest.transports] == [1100, 700]
    assert [offer.duration_minutes for offer in fastest.transports] == [600, 700]
    assert [stay.stars for stay in comfortable.stays] == [4]
    assert cheapest.reasons[:3] == (
        "the cheapest: $1,200, 30 h under way",
        "8 h 20 min longer under way than the fastest",
        "1 more change on the way and 1 star fewer a night than the most comfortable",
    )
    assert fastest.reasons[:3] == (
        "the fastest: $2,400, 21 h 40 min under way",
        "$1,200 more than the cheapest",
        "1 star fewer a night than the most comfortable",
    )
    assert comfortable.reasons[0].startswith("the most comfortable: ")
    assert comfortable.reasons[1].endswith("more than the cheapest")


def test_a_direct_flight_is_preferred_over_a_cheaper_one_with_a_stop() -> None:
    direct = flight("San Francisco", "Berlin", "06-10 20:00", 700, 1500)
    stop = flight("San Francisco", "Berlin", "06-10 19:00", 720, 300, stops=1, via=("FRA",))
    preferred, cheapest = chosen(trip(**BERLIN), offers_for(direct, stop))[:2]
    assert ids(preferred)[0] == direct.offer_id
    assert ids(cheapest)[0] == stop.offer_id
    assert "all flights are direct" in preferred.reasons
    assert "San Francisco to Berlin with 1 stop in FRA: a direct one costs more or does not fit" in cheapest.reasons


def test_a_direct_flight_that_the_budget_does_not_allow_is_not_waited_for() -> None:
    direct = flight("San Francisco", "Berlin", "06-10 20:00", 700, 1500)
    stop = flight("San Francisco", "Berlin", "06-10 19:00", 720, 300, stops=1, via=("FRA",))
    request = trip(budget=Decimal(1200), **BERLIN)
    (only,) = chosen(request, offers_for(direct, stop))
    assert ids(only)[0] == stop.offer_id


def test_where_stops_do_not_matter_price_and_time_decide() -> None:
    direct = flight("San Francisco", "Berlin", "06-10 20:00", 700, 1500)
    stop = flight("San Francisco", "Berlin", "06-10 19:00", 720, 300, stops=1, via=("FRA",))
    assert ids(chosen(trip(direct=Direct.ANY, **BERLIN), offers_for(direct, stop))[0])[0] == stop.offer_id


def test_a_few_dollars_do_not_buy_an_arrival_in_the_middle_of_the_night() -> None:
    at_night = flight("San Francisco", "Berlin", "06-10 05:30", 690, 480)
    by_day = flight("San Francisco", "Berlin", "06-10 20:00", 700, 500)
    hotels = [hotel("Berlin", "06-11", 4, 100), hotel("Berlin", "06-10", 4, 100)]
    offers = [*offers_for(at_night, by_day, hotels=hotels), flight("Berlin", "San Francisco", "06-14 14:00", 700, 500)]
    preferred, cheapest = chosen(trip(**BERLIN), offers)[:2]
    assert ids(preferred)[0] == by_day.offer_id
    assert ids(cheapest)[0] == at_night.offer_id


def test_the_train_is_taken_where_it_is_sensible() -> None:
    plane = flight("Berlin", "Cologne", "06-15 12:00", 70, 20)
    (itinerary,) = chosen(trip(), [*sample_offers(), plane])
    assert itinerary.legs[2].offer.kind == "train"
    assert "Berlin to Cologne: no flights looked for, as the train takes 4 h 16 min" in itinerary.considered


def test_a_slow_train_gives_way_to_a_flight() -> None:
    offers = sample_offers()
    offers[2] = train("Berlin", "Cologne", "06-15 08:00", 420, 20)
    (itinerary,) = chosen(trip(), [*offers, flight("Berlin", "Cologne", "06-15 12:00", 70, 90)])
    assert itinerary.legs[2].offer.kind == "flight"
    assert "Berlin to Cologne: trains dropped, as the fastest takes 7 h" in itinerary.considered


def test_what_was_dropped_is_named() -> None:
    luxury = hotel("Berlin", "06-11", 4, 500, stars=5, name="Grand Palace")
    full = hotel("Cologne", "06-15", 2, 10, left=0)
    (itinerary,) = chosen(trip(), [*sample_offers(), luxury, full])
    assert itinerary.considered == (
        "compared 24 days of departure, all from 1 June 2025 to 24 June 2025",
        "Berlin to Cologne: no flights looked for, as the train takes 4 h 16 min",
        "Berlin: 1 of 2 hotels dropped, outside 3 to 4 stars",
        "1 offer dropped, with too few seats or rooms left",
    )


def test_equal_offers_are_told_apart_by_their_ids() -> None:
    twins = [flight("San Francisco", "Berlin", "06-10 20:25", 695, 653, offer_id=name) for name in ("b", "a", "c")]
    offers = [*twins, *sample_offers()[1:]]
    assert {ids(itinerary)[0] for order in (offers, offers[::-1]) for itinerary in chosen(trip(), order)} == {"a"}


async def test_at_most_so_many_are_proposed_the_preferred_one_first() -> None:
    cheap = flight("San Francisco", "Berlin", "06-10 12:00", 1100, 300, stops=1, via=("FRA",))
    fast = flight("San Francisco", "Berlin", "06-10 20:00", 600, 1500)
    fair = flight("San Francisco", "Berlin", "06-10 16:00", 700, 500)
    book = OfferBook(offers_for(cheap, fast, fair))
    request = trip(depart=day("06-10"), **BERLIN)
    everything = choose(request, await gather(request, book))
    proposals = await propose(request, book, limit=2)
    assert isinstance(everything, tuple)
    assert len(everything) == 3
    assert proposals == everything[:2]


# -- why nothing is ------------------------------------------------------------------------------------------------------------


def test_a_budget_that_nothing_fits_names_the_nearest_miss() -> None:
    assert refused(trip(budget=Decimal(800)), sample_offers()) == (
        "no trip keeps this wish: budget 800 USD",
        "the cheapest trip costs $1,969, $1,169 more than the budget of $800",
    )


def test_a_cent_over_the_budget_is_too_much() -> None:
    assert refused(trip(budget=Decimal("1968.99")), sample_offers())[1:] == (
        "the cheapest trip costs $1,969, $0.01 more than the budget of $1,968.99",
    )
    assert chosen(trip(budget=Decimal(1969)), sample_offers())


def test_a_plan_speaks_the_currency_of_its_budget_and_says_once_what_is_charged() -> None:
    (itinerary,) = chosen(trip(budget=Decimal(2000), currency="EUR"), sample_offers())
    assert (itinerary.total, itinerary.currency) == (Decimal(1969), "USD")
    assert itinerary.converted == Converted(total=Decimal("1891.27"), currency="EUR", on=RATES.on, source="a table for tests")
    assert itinerary.reasons[1:3] == (
        "paid as $1,969, which is 1,891.27 EUR by the rate of 28 February 2025 (a table for tests)",
        "108.73 EUR below the budget of 2,000 EUR",
    )
    others = (itinerary.reasons[0], *itinerary.reasons[2:], *(leg.choice.why for leg in itinerary.legs if leg.choice))
    assert not [each for each in others if "$" in each]
    assert itinerary.price_text(itinerary.total, "USD") == "1,891.27 EUR"
    assert itinerary.price_text(Decimal(100), "USD") == "96.05 EUR"


def test_a_cent_over_a_budget_in_another_currency_is_too_much() -> None:
    assert chosen(trip(budget=Decimal("1891.27"), currency="EUR"), sample_offers())
    assert refused(trip(budget=Decimal("1891.26"), currency="EUR"), sample_offers())[1:] == (
        "the cheapest trip costs 1,891.27 EUR, 0.01 EUR more than the budget of 1,891.26 EUR",
    )


def test_a_currency_without_a_rate_is_named() -> None:
    assert refused(trip(currency="THB"), sample_offers())[1:] == (
        "no rate for THB is known, and the budget is in it; the cheapest trip costs $1,969",
    )


def test_hours_that_nothing_keeps_are_named() -> None:
    wanted = JourneyHours(depart=Hours(earliest=time(11)))
    assert refused(trip(hours=wanted), sample_offers())[1:] == (
        "not every journey can leave at 11:00 or later: leave at 10:00 or later would do",
    )


def test_weekdays_that_every_trip_travels_on_are_named() -> None:
    assert refused(trip(not_on=(Weekday.SUNDAY,)), sample_offers()) == (
        "no trip keeps this wish: not on sunday",
        "there is a trip that travels on Sunday",
    )


def test_a_flight_at_the_hours_asked_for_is_taken_where_the_train_is_too_early() -> None:
    by_air = flight("Berlin", "Cologne", "06-15 12:00", 70, 120)
    (itinerary,) = chosen(trip(hours=JourneyHours(depart=Hours(earliest=time(11)))), [*sample_offers(), by_air])
    assert itinerary.transports[1] == by_air


def test_stars_that_no_hotel_has_name_the_nearest() -> None:
    assert refused(trip(stars=(5, 5)), sample_offers())[1:] == (
        "no trip has hotels with 5 stars everywhere: it needs 3 to 5 stars",
    )


def test_direct_flights_that_do_not_exist_name_the_pair() -> None:
    assert refused(trip(direct=Direct.REQUIRED), sample_offers())[1:] == (
        "direct flights alone do not do: it needs a change of plane from Cologne to San Francisco",
    )


def test_a_window_that_ends_too_early_names_the_earliest_end() -> None:
    request = trip(window=Window(first=day("06-10"), last=day("06-16")))
    assert refused(request, sample_offers())[1:] == (
        "the earliest end of the trip is 17 June 2025, 1 day after the window ends on 16 June 2025",
    )


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        (0, "no flight or train from San Francisco to Berlin has 1 seat on the days in question"),
        (1, "no hotel in Berlin has 1 room left for 4 nights on the days in question"),
        (2, "no flight or train from Berlin to Cologne has 1 seat on the days in question"),
        (4, "no flight or train from Cologne to San Francisco has 1 seat on the days in question"),
    ],
)
def test_what_cannot_be_had_at_all_is_named(missing: int, reason: str) -> None:
    offers = sample_offers()
    del offers[missing]
    assert refused(trip(), offers) == (reason,)


def test_offers_that_do_not_fit_together_are_not_forced_to() -> None:
    offers = sample_offers()
    offers[4] = flight("Cologne", "San Francisco", "06-18 14:40", 850, 526)
    assert refused(trip(), offers) == ("the journeys and hotels that are available do not fit together",)


def test_too_few_seats_are_no_seats() -> None:
    request = trip(travellers=10, budget=None)
    offers = [offer.model_copy(update={"left": 10}) for offer in sample_offers()]
    offers[2] = offers[2].model_copy(update={"left": 9})
    assert refused(request, offers) == ("no flight or train from Berlin to Cologne has 10 seats on the days in question",)


def test_a_window_that_is_over_is_named() -> None:
    late = datetime.fromisoformat("2025-06-29T09:00+00:00")
    assert refused(trip(), sample_offers(), late) == ("no day of departure is left: it is 29 June 2025 already",)


def test_a_flight_that_has_left_is_not_proposed() -> None:
    just_left = datetime.fromisoformat("2025-06-10T20:25-07:00")
    assert refused(trip(), sample_offers(), just_left)[0].startswith("no flight or train from San Francisco")
    assert chosen(trip(), sample_offers(), just_left - timedelta(seconds=1))


def test_a_flight_is_not_missed_because_the_one_before_lands_at_midnight() -> None:
    request = trip(origin="Boston", stops=(Stop(city="London", nights=1),), return_to="Paris", direct=Direct.ANY)
    late = flight("Boston", "London", "06-10 11:20", 450, 100)
    too_early = flight("London", "Paris", "06-11 00:30", 75, 10)
    in_time = flight("London", "Paris", "06-11 12:00", 75, 90)
    stay = hotel("London", "06-10", 1, 100)
    assert late.arrives.hour == 23
    (itinerary,) = chosen(request, [late, stay, too_early, in_time])
    assert ids(itinerary)[-1] == in_time.offer_id


@pytest.mark.parametrize(("leaves", "is_reached"), [("00:19", False), ("00:20", True)])
def test_ninety_minutes_after_landing_the_next_flight_is_reached(leaves: str, is_reached: bool) -> None:
    request = trip(origin="Boston", stops=(Stop(city="London", nights=1),), return_to="Paris", direct=Direct.ANY)
    offers = [
        flight("Boston", "London", "06-10 10:20", 450, 100),
        hotel("London", "06-10", 1, 100),
        flight("London", "Paris", f"06-11 {leaves}", 75, 10),
    ]
    assert offers[0].arrives.strftime("%H:%M") == "22:50"
    assert isinstance(choose(request, market_of(request, offers)), Infeasible) is not is_reached


def test_a_trip_may_fill_its_window_to_the_last_day() -> None:
    assert chosen(trip(window=Window(first=day("06-10"), last=day("06-17"))), sample_offers())


def test_too_few_rooms_are_no_rooms() -> None:
    request = trip(rooms=2, budget=None)
    offers = sample_offers()
    offers[3] = offers[3].model_copy(update={"left": 1})
    assert refused(request, offers) == ("no hotel in Cologne has 2 rooms left for 2 nights on the days in question",)


# -- against exhaustive search -------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(problems())
def test_the_planner_finds_a_trip_where_there_is_one_and_the_best_by_each_measure(
    problem: tuple[TripRequest, list[Offer]],
) -> None:
    request, offers = problem
    valid = keeps_all(request, every_trip(request, offers))
    event("feasible" if valid else "infeasible")
    proposals = choose(request, market_of(request, offers))
    if not valid:
        assert isinstance(proposals, Infeasible)
        assert proposals.reasons
        return
    assert not isinstance(proposals, Infeasible), proposals.reasons
    assert len({tuple(ids(itinerary)) for itinerary in proposals}) == len(proposals)
    assert best_at(proposals) == best_of(request, valid)
    assert "the best balance of price and time" in proposals[0].reasons[0]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(problems())
def test_every_trip_that_exhaustive_search_finds_is_valid(problem: tuple[TripRequest, list[Offer]]) -> None:
    """The validator shares no code with it either."""
    request, offers = problem
    quotes = {offer.offer_id: offer for offer in offers}
    for each in keeps_all(request, every_trip(request, offers)):
        itinerary = Itinerary.of(request, each.legs, converted=_converted(request, each))
        assert validate_itinerary(itinerary, request, quotes, now=NOW, cities=GAZETTEER, rates=RATES).violations == ()


def _converted(request: TripRequest, trip: Trip) -> Converted | None:
    if request.budget is None or request.currency == "USD":
        return None
    cents = int(in_currency(trip, request.currency) * 100)
    return Converted(total=Decimal(cents) / 100, currency=request.currency, on=RATES.on, source=RATES.source)


@pytest.mark.thorough
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(problems())
def test_the_validator_accepts_every_trip_that_the_planner_proposes(problem: tuple[TripRequest, list[Offer]]) -> None:
    request, offers = problem
    proposals = choose(request, market_of(request, offers))
    quotes = {offer.offer_id: offer for offer in offers}
    for itinerary in () if isinstance(proposals, Infeasible) else proposals:
        verdict = validate_itinerary(itinerary, request, quotes, now=NOW, cities=GAZETTEER, rates=RATES)
        assert verdict.violations == ()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(problems(), st.randoms())
def test_the_order_in_which_offers_come_does_not_matter(problem: tuple[TripRequest, list[Offer]], random: Any) -> None:
    request, offers = problem
    shuffled = offers[:]
    random.shuffle(shuffled)
    assert choose(request, market_of(request, shuffled)) == choose(request, market_of(request, offers))
