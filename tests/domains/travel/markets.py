"""Small markets, made by hand or drawn at random, as if everything had been asked."""

from __future__ import annotations

from datetime import datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from sagagraph.domains.travel.market import Market, journeys_of
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, TrainOffer
from sagagraph.domains.travel.problem import Direct, Hours, JourneyHours, Stop, Weekday, Window

from .world import NOW, RATES, day, flight, hotel, train, trip

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from sagagraph.domains.travel.offers import Offer
    from sagagraph.domains.travel.problem import TripRequest


def market_of(
    request: TripRequest, offers: Iterable[Offer], now: datetime = NOW, *, departure_days: tuple[date, ...] | None = None
) -> Market:
    """`departure_days`: those of the request, where they are not given."""
    journeys: dict[tuple[str, str, Any], tuple[FlightOffer | TrainOffer, ...]] = {}
    stays: dict[tuple[str, int, Any], tuple[HotelOffer, ...]] = {}
    for offer in offers:
        if isinstance(offer, HotelOffer):
            where = offer.city, offer.nights, offer.check_in
            stays[where] = (*stays.get(where, ()), offer)
        else:
            key = offer.origin_city, offer.destination_city, offer.departs.date()
            journeys[key] = (*journeys.get(key, ()), offer)
    return Market(now, departure_days or request.departure_days(now.date()), journeys, stays, RATES)


PRICES = st.integers(min_value=0, max_value=400).map(lambda cents: Decimal(cents) / 4)
TIMES = st.sampled_from(["00:20", "05:45", "09:00", "13:30", "22:40", "23:30"])
HOURS = st.just(Hours()) | st.builds(
    Hours,
    earliest=st.none() | st.sampled_from([time(5, 45), time(9)]),
    latest=st.none() | st.sampled_from([time(9), time(22, 40)]),
)
FIRST, LAST = 10, 17


@st.composite
def problems(draw: st.DrawFn) -> tuple[TripRequest, list[Offer]]:
    """A short trip through Europe or over an ocean, with a handful of offers, some of them useless."""
    cities = draw(
        st.sampled_from(
            [("San Francisco", "Berlin", "Cologne"), ("Tokyo", "London", "Paris"), ("Auckland", "Honolulu", "Boston")]
        )
    )
    stops = tuple(Stop(city=city, nights=draw(st.integers(1, 2))) for city in cities[1 : draw(st.integers(2, 3))])
    request = trip(
        origin=cities[0],
        stops=stops,
        return_to=draw(st.sampled_from([cities[0], None])),
        window=Window(first=day(f"06-{FIRST}"), last=day(f"06-{LAST}")),
        budget=draw(st.none() | st.integers(100, 600).map(Decimal)),
        direct=draw(st.sampled_from(Direct)),
        travellers=draw(st.integers(1, 2)),
        currency=draw(st.sampled_from(["USD", "USD", "EUR", "JPY"])),
        hours=draw(st.builds(JourneyHours, depart=HOURS, arrive=HOURS)),
        not_on=draw(st.lists(st.sampled_from(Weekday), max_size=2).map(tuple)),
    )
    offers: list[Offer] = []
    for n, (here, there) in enumerate(journeys_of(request)):
        earliest = FIRST + sum(stop.nights for stop in stops[:n])
        by_train = draw(st.booleans()) and here != cities[0] and there != cities[0]
        count = draw(st.integers(4, 10))
        offers += [draw(journeys(here, there, request.travellers, earliest, by_train=by_train)) for _ in range(count)]
    for stop in request.stops:
        for check_in in range(FIRST, LAST):
            offers += [draw(stays(stop, check_in)) for _ in range(draw(st.integers(0, 3)))]
    return request, list({offer.offer_id: offer for offer in offers}.values())


@st.composite
def journeys(
    draw: st.DrawFn, here: str, there: str, travellers: int, earliest: int, *, by_train: bool
) -> FlightOffer | TrainOffer:
    leaves = f"06-{draw(st.integers(earliest, earliest + 2))} {draw(TIMES)}"
    facts: dict[str, Any] = {"travellers": travellers, "left": draw(st.sampled_from([0, 1, 2, 9, 9, 9, 9, 9]))}
    if by_train:
        return train(here, there, leaves, draw(st.integers(60, 360)), draw(PRICES), **facts)
    if draw(st.sampled_from([True, False, False])):
        facts |= {"stops": 1, "via": ("FRA",)}
    return flight(here, there, leaves, draw(st.sampled_from([70, 300, 600, 1000])), draw(PRICES), **facts)


@st.composite
def stays(draw: st.DrawFn, stop: Stop, check_in: int) -> HotelOffer:
    facts = {"stars": draw(st.sampled_from([2, 3, 3, 4, 4, 5])), "left": draw(st.sampled_from([0, 1, 5, 5]))}
    return hotel(stop.city, f"06-{check_in}", stop.nights, draw(PRICES), **facts)
