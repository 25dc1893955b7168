"""Small markets, made by hand or drawn at random, as if everything had been asked."""

from __future__ import annotations

from datetime import datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, TrainOffer
from sagagraph.domains.travel.planning.market import Market, journeys_of
from sagagraph.domains.travel.request import Direct, Hours, JourneyHours, Order, Stop, TrainIf, Weekday, Window

from .world import NOW, RATES, day, flight, hotel, train, trip

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from sagagraph.domains.travel.offers import Offer
    from sagagraph.domains.travel.plan import Itinerary
    from sagagraph.domains.travel.request import TripRequest


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


def train_conditions(city: str) -> st.SearchStrategy[TrainIf]:
    return st.builds(TrainIf, landed_before=st.sampled_from([time(9), time(14), time(22, 40)]), to=st.sampled_from([None, city]))


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
        train_if=draw(st.none() | train_conditions(stops[-1].city)),
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


def best_at(proposals: tuple[Itinerary, ...]) -> dict[str, tuple[str, ...]]:
    """The offers of each proposal by what it says it is best at."""
    titles = ("the best balance of price and time", "the cheapest", "the fastest", "the most comfortable")
    said = {tuple(leg.offer.offer_id for leg in each.legs): each.reasons[0].split(":")[0] for each in proposals}
    return {title: ids for title in titles for ids, text in said.items() if title in text}


@st.composite
def free_order_problems(draw: st.DrawFn, most_stops: int = 3) -> tuple[TripRequest, list[Offer]]:
    """Stops in any order, with a few offers from everywhere to everywhere, many of which fit together."""
    origin, *cities = draw(st.permutations(["London", "Paris", "Berlin", "Rome"]))
    stops = tuple(Stop(city=city, nights=draw(st.integers(1, 2))) for city in cities[: draw(st.integers(2, most_stops))])
    request = trip(
        origin=origin,
        stops=stops,
        return_to=draw(st.sampled_from([origin, "Madrid", None])),
        window=Window(first=day(f"06-{FIRST}"), last=day(f"06-{LAST}")),
        budget=draw(st.none() | st.integers(100, 900).map(Decimal)),
        direct=draw(st.sampled_from(Direct)),
        travellers=draw(st.integers(1, 2)),
        not_on=draw(st.lists(st.sampled_from(Weekday), max_size=1).map(tuple)),
        order=Order.ANY,
    )
    offers: list[Offer] = []
    for here in (origin, *(stop.city for stop in stops)):
        for there in (*(stop.city for stop in stops), *((request.return_to,) if request.return_to else ())):
            if here != there and (here, there) != (origin, origin):
                count, first = draw(st.integers(1, 3)), FIRST if here == origin else FIRST + 1
                offers += [draw(journeys(here, there, request.travellers, first + n % 5, by_train=False)) for n in range(count)]
    for stop in stops:
        for check_in in range(FIRST, LAST):
            offers += [draw(stays(stop, check_in)) for _ in range(draw(st.integers(1, 2)))]
    for _ in range(draw(st.integers(0, 4))):
        offers += draw(connected(request.model_copy(update={"stops": tuple(draw(st.permutations(stops)))})))
    return request, list({offer.offer_id: offer for offer in offers}.values())


@st.composite
def connected(draw: st.DrawFn, request: TripRequest) -> list[Offer]:
    """A trip that can be had, whether or not anybody wants it."""
    on = day(f"06-{draw(st.integers(FIRST, FIRST + 1))}")
    offers: list[Offer] = []
    for n, (here, there) in enumerate(journeys_of(request)):
        facts = draw(st.sampled_from([{}, {"stops": 1, "via": ("FRA",)}]))
        leaves = f"{on} {draw(st.sampled_from(['05:45', '09:00', '13:30', '18:00']))}"
        minutes, party = draw(st.sampled_from([70, 300])), request.travellers
        journey = flight(here, there, leaves, minutes, draw(PRICES), travellers=party, **facts)
        offers.append(journey)
        if n < len(request.stops):
            check_in, nights = journey.arrives.date(), request.stops[n].nights
            stay = hotel(there, f"{check_in}", nights, draw(PRICES), stars=draw(st.integers(2, 5)))
            offers.append(stay)
            on = stay.check_out
    return offers
