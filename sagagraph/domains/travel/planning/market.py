"""Market: what could be booked for a trip: the offers that a search needs, and how they are fetched."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Final, NamedTuple, Self, TypeVar

from sagagraph.domains.travel.cities import City
from sagagraph.domains.travel.money import PRICE_CURRENCY, Rates
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, Offer, TrainOffer, Transport, TransportOffer
from sagagraph.domains.travel.provider.provider import ReservationProvider, journeys
from sagagraph.domains.travel.request import NIGHT_ENDS, By, Hours, Order, Stop, TripRequest, Weekday

CALLS_AT_ONCE: Final = 8
MOST_DEPARTURE_DAYS: Final = 31
DAYS_AROUND: Final = 3
"""If nothing is available on the requested day, this many days before and after it are queried."""
DAYS_BEYOND: Final = 7
"""If nothing is available within the window, this many later days of departure are queried."""
FARTHEST_BY_TRAIN_KM: Final = 1000
SENSIBLE_BY_TRAIN: Final = timedelta(hours=6)
"""A train up to this long is taken instead of a flight."""

Transports = tuple[Transport, ...]
AnyOffer = TypeVar("AnyOffer", FlightOffer | TrainOffer, HotelOffer)


@dataclass(frozen=True)
class Market:
    """Market: the offers of one moment."""

    now: datetime
    departure_days: tuple[date, ...]
    """Cities that were queried: those of the request, and more if the market was gathered widely."""
    journeys: Mapping[tuple[str, str, date], Transports]
    """By city of departure, city of arrival and local day of departure."""
    stays: Mapping[tuple[str, int, date], tuple[HotelOffer, ...]]
    """By city, nights and day of check-in."""
    rates: Rates | None = None
    """None: the budget is in the currency of the offers."""
    has_slow_trains: bool = False
    """Whether trains that take longer than anybody would choose count too: they may be the only way."""
    fees_cents: int = 0
    """What is to be paid besides the offers."""

    @classmethod
    def of(cls, offers: Iterable[Offer], now: datetime, first_day: date, rates: Rates | None) -> Self:
        """Return a market of these offers alone, for a trip that begins on `first_day`; slow trains count."""
        journeys: defaultdict[tuple[str, str, date], Transports] = defaultdict(tuple)
        stays: defaultdict[tuple[str, int, date], tuple[HotelOffer, ...]] = defaultdict(tuple)
        for offer in offers:
            if isinstance(offer, HotelOffer):
                stays[offer.city, offer.nights, offer.check_in] += (offer,)
            else:
                journeys[offer.origin_city, offer.destination_city, offer.departs.date()] += (offer,)
        return cls(now, (first_day,), journeys, stays, rates, has_slow_trains=True)

    def with_trains_first(self, request: TripRequest) -> Market:
        """Return the market without flights on days that have a fast enough train which keeps every wish."""

        def chosen(offers: Transports) -> Transports:
            has_train = any(is_good_train(request, offer, self.now) for offer in offers)
            return tuple(offer for offer in offers if isinstance(offer, TrainOffer)) if has_train else offers

        return replace(self, journeys={key: chosen(offers) for key, offers in self.journeys.items()})


def slot_of(offer: Offer) -> tuple[str, str, date] | tuple[str, int, date]:
    """Return its slot in the market: offers in the same slot are alternatives."""
    if isinstance(offer, HotelOffer):
        return offer.city, offer.nights, offer.check_in
    return offer.origin_city, offer.destination_city, offer.departs.date()


def journeys_of(request: TripRequest) -> tuple[tuple[str, str], ...]:
    """Return the journeys from city to city, in the order of travel."""
    cities = [request.origin, *(stop.city for stop in request.stops)]
    return tuple(pairwise(cities if request.return_to is None else [*cities, request.return_to]))


def pairs_of(request: TripRequest) -> tuple[tuple[str, str], ...]:
    """Return every journey that a trip may have, once each."""
    if request.order is Order.GIVEN:
        return tuple(dict.fromkeys(journeys_of(request)))
    stops = tuple(dict.fromkeys(stop.city for stop in request.stops))
    last = () if request.return_to is None else (request.return_to,)
    pairs = dict.fromkeys((here, there) for here in (request.origin, *stops) for there in (*stops, *last))
    return tuple((here, there) for here, there in pairs if here != there and (here, there) != (request.origin, request.return_to))


def can_be_boarded(offer: TransportOffer, travellers: int, now: datetime) -> bool:
    return offer.left >= travellers and offer.departs > now


def keeps_hours(request: TripRequest, offer: TransportOffer) -> bool:
    leaves, comes = offer.departs.time(), offer.arrives.time()
    return _is_within(request.hours.depart, leaves) and _is_within(request.hours.arrive, comes)


def _is_within(hours: Hours, moment: time) -> bool:
    is_too_early = hours.earliest is not None and moment < hours.earliest
    is_too_late = hours.latest is not None and not NIGHT_ENDS <= moment.replace(second=0, microsecond=0) <= hours.latest
    return not is_too_early and not is_too_late


def keeps_weekdays(request: TripRequest, offer: TransportOffer) -> bool:
    return not {Weekday.of(offer.departs), Weekday.of(offer.arrives)} & set(request.not_on)


def goes_as_wished(request: TripRequest, offer: TransportOffer) -> bool:
    """Tell whether it is a train or a flight, where only those are wanted."""
    return request.by is By.ANY or isinstance(offer, TrainOffer) is (request.by is By.TRAIN)


def is_sensible_train(offer: TransportOffer) -> bool:
    return isinstance(offer, TrainOffer) and timedelta(minutes=offer.duration_minutes) <= SENSIBLE_BY_TRAIN


def is_good_train(request: TripRequest, offer: TransportOffer, now: datetime) -> bool:
    """Tell whether a train is so good that nobody looks for flights on its day."""
    is_wanted = keeps_hours(request, offer) and keeps_weekdays(request, offer) and goes_as_wished(request, offer)
    return is_wanted and is_sensible_train(offer) and can_be_boarded(offer, request.travellers, now)


def has_condition(request: TripRequest, there: str) -> bool:
    """Tell whether a train to a city is wanted only if the flight before it lands early enough."""
    return request.train_if is not None and request.train_if.to in (None, there)


def lands_too_late(request: TripRequest, offer: TransportOffer) -> bool:
    """Tell whether it is a flight that lands too late for a train under a condition."""
    if request.train_if is None or not isinstance(offer, FlightOffer):
        return False
    return not NIGHT_ENDS <= offer.arrives.time() < request.train_if.landed_before


async def gather(
    request: TripRequest,
    provider: ReservationProvider,
    *,
    widely: bool = False,
    known: Sequence[Offer] | None = None,
    begun: Sequence[Offer] = (),
    cities: Iterable[City] | None = None,
) -> Market:
    """Query every day that can be reached: what arrives on a day decides what is queried next.

    `known`: bookings, which are available whatever is offered. They are on the market, and so is what can be reached by them, and
    flights alongside good trains.

    `begun`: those of them that are in the past or under way. Their days have nothing else; past days are not queried.

    `cities`: those of the request, if known: then the provider is not asked for all of its cities.

    `widely`: also query flights alongside good trains, and departure days a little beyond the wishes, to see whether there is any
    trip at all, and what it would need.

    Raises:
        ProviderError: a query was not answered.
    """
    now = await provider.now()
    cities = await provider.cities() if cities is None else cities
    rates = None if request.currency == PRICE_CURRENCY or request.budget is None else await provider.rates()
    by_name, beside_trains = {city.name: city for city in cities}, widely or known is not None
    gathering = _Gathering(request, provider, by_name, now, widely, beside_trains, known or (), begun)
    today = now.astimezone(UTC).date()
    possible = request.departure_days(today)
    days = _spread(possible)
    days = _beyond(request, days, today) if widely and days else days
    transports = [each for each in known or () if not isinstance(each, HotelOffer)]
    days = tuple(sorted({*days, *(each.departs.date() for each in transports if each.departs.date() in possible)}))
    days = tuple(each.departs.date() for each in begun[:1] if not isinstance(each, HotelOffer)) or days
    try:
        async with asyncio.TaskGroup() as tasks:
            await gathering.follow(days, tasks)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return Market(now, days, gathering.journeys, gathering.stays, rates)


def _spread(days: tuple[date, ...]) -> tuple[date, ...]:
    """Return up to a month of days; of a longer period, as many days at even distances, including the first and the last."""
    if len(days) <= MOST_DEPARTURE_DAYS:
        return days
    return tuple(days[n * (len(days) - 1) // (MOST_DEPARTURE_DAYS - 1)] for n in range(MOST_DEPARTURE_DAYS))


def _beyond(request: TripRequest, days: tuple[date, ...], today: date) -> tuple[date, ...]:
    """Return a few days around an exact departure day; a week more if only the window limits the last day."""
    before, after = (0, DAYS_BEYOND) if request.depart is None else (DAYS_AROUND, DAYS_AROUND)
    earliest = today if request.window is None else max(today, request.window.first)
    around = {days[0] - timedelta(days=n) for n in range(before + 1)} | {days[-1] + timedelta(days=n) for n in range(after + 1)}
    return tuple(sorted(set(days) | {day for day in around if day >= earliest}))


def _beside(offers: Sequence[AnyOffer], booked: tuple[AnyOffer, ...]) -> tuple[AnyOffer, ...]:
    """Return what is booked, and what else is offered."""
    ids = {each.offer_id for each in booked}
    return booked + tuple(each for each in offers if each.offer_id not in ids)


class _Place(NamedTuple):
    """Place where a trip may be, and when."""

    visited: int
    """A bit for every stop that was visited."""
    stop: int
    """The last of them, by its place in the request; -1 at the origin."""
    day: date


@dataclass
class _Gathering:
    request: TripRequest
    provider: ReservationProvider
    cities: Mapping[str, City]
    now: datetime
    widely: bool
    beside_trains: bool
    known: Sequence[Offer]
    begun: Sequence[Offer]
    journeys: dict[tuple[str, str, date], Transports] = field(default_factory=dict)
    stays: dict[tuple[str, int, date], tuple[HotelOffer, ...]] = field(default_factory=dict)
    asked: dict[tuple[str, str, date], asyncio.Task[Transports]] = field(default_factory=dict)
    turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CALLS_AT_ONCE))

    async def follow(self, days: Iterable[date], tasks: asyncio.TaskGroup) -> None:
        """Follow the trip journey by journey; the hotels of a stop are queried at the same time as the next journey."""
        if self.request.is_stay_only:
            for day in days:
                tasks.create_task(self._hotels(self.request.stops[0], day))
            return
        places = {_Place(0, -1, day) for day in days}
        for _ in self.request.stops:
            routes = [(place, stop) for place in sorted(places) for stop in self._next_stops(place)]
            cities = [(self._city(place), self.request.stops[stop].city) for place, stop in routes]
            asked = [self._asked(*ends, place.day, tasks) for ends, (place, _) in zip(cities, routes, strict=True)]
            places = set()
            for (place, number), task in zip(routes, asked, strict=True):
                for check_in in sorted({offer.arrives.date() for offer in await task}):
                    stop = self.request.stops[number]
                    needs_bed = self.request.hotels and stop.nights > 0
                    if needs_bed and (stop.city, stop.nights, check_in) not in self.stays:
                        self.stays[stop.city, stop.nights, check_in] = ()
                        tasks.create_task(self._hotels(stop, check_in))
                    places.add(_Place(place.visited | 1 << number, number, check_in + timedelta(days=stop.nights)))
            places = {place for place in places if self._has_time_left(place)}
        if self.request.return_to is not None:
            for place in sorted(places):
                self._asked(self._city(place), self.request.return_to, place.day, tasks)

    def _next_stops(self, place: _Place) -> Iterable[int]:
        if self.request.order is Order.GIVEN:
            return (place.stop + 1,)
        here, stops = self._city(place), self.request.stops
        return (stop for stop in range(len(stops)) if not place.visited & 1 << stop and stops[stop].city != here)

    def _city(self, place: _Place) -> str:
        return self.request.origin if place.stop < 0 else self.request.stops[place.stop].city

    def _has_time_left(self, place: _Place) -> bool:
        """Tell whether there is time for the remaining nights; over the date line, a trip can gain a day."""
        window, stops = self.request.window, self.request.stops
        left = sum(stop.nights for n, stop in enumerate(stops) if not place.visited & 1 << n)
        return self.widely or window is None or place.day + timedelta(days=left - 1) <= window.last

    def _asked(self, here: str, there: str, day: date, tasks: asyncio.TaskGroup) -> asyncio.Task[Transports]:
        key = here, there, day
        if key not in self.asked:
            self.asked[key] = tasks.create_task(self._transports(here, there, day))
        return self.asked[key]

    async def _transports(self, here: str, there: str, day: date) -> Transports:
        def here_of(offers: Sequence[Offer]) -> Transports:
            return tuple(each for each in offers if not isinstance(each, HotelOffer) and slot_of(each) == (here, there, day))

        under_way = here_of(self.begun)
        if under_way or day < self.now.astimezone(UTC).date():
            self.journeys[here, there, day] = under_way
            return under_way
        found: Transports = ()
        async with self.turn:
            ends = self.cities.get(here), self.cities.get(there)
            is_near = not (ends[0] and ends[1]) or ends[0].distance_km(ends[1]) <= FARTHEST_BY_TRAIN_KM
            if self.request.by is By.TRAIN or (is_near and (self.widely or self.request.by is not By.FLIGHT)):
                found = await journeys(self.provider, "train", here, there, day, self.request)
            is_enough = self.request.by is By.TRAIN and not self.widely
            is_enough = is_enough or any(is_good_train(self.request, train, self.now) for train in found)
            if self.beside_trains or not is_enough:
                found += await journeys(self.provider, "flight", here, there, day, self.request)
        self.journeys[here, there, day] = _beside(found, here_of(self.known))
        return self.journeys[here, there, day]

    async def _hotels(self, stop: Stop, check_in: date) -> None:
        slot = stop.city, stop.nights, check_in

        def here_of(offers: Sequence[Offer]) -> tuple[HotelOffer, ...]:
            return tuple(each for each in offers if isinstance(each, HotelOffer) and slot_of(each) == slot)

        self.stays[slot] = here_of(self.begun)
        if self.stays[slot] or check_in < self.now.astimezone(UTC).date():
            return
        check_out = check_in + timedelta(days=stop.nights)
        async with self.turn:
            found = await self.provider.hotels(stop.city, check_in, check_out, self.request.rooms)
        self.stays[slot] = _beside(found, here_of(self.known))
