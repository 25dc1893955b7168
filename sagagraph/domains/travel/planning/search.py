"""Search for the best path through a market: exact, on whole cents, the same for the same offers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from heapq import heappop, heappush
from operator import add
from typing import Final, NamedTuple

from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, Offer, Transport
from sagagraph.domains.travel.planning.market import (
    Market,
    can_be_boarded,
    goes_as_wished,
    has_condition,
    is_sensible_train,
    keeps_hours,
    keeps_weekdays,
    lands_too_late,
)
from sagagraph.domains.travel.planning.measures import Weigh, cents, most_cents
from sagagraph.domains.travel.planning.wishes import ALL_WISHES, Wish, without
from sagagraph.domains.travel.request import By, Direct, Order, Stop, TripRequest

AFTER_A_FLIGHT: Final = timedelta(minutes=90)
FROM_TRAIN_TO_FLIGHT: Final = timedelta(minutes=60)
A_DAY_OUT: Final = timedelta(hours=3)
"""The least time in a city that is visited for a day."""


@dataclass(frozen=True, slots=True)
class Path:
    """Path: offers in the order of travel; a whole trip, or its beginning or end."""

    offers: tuple[Offer, ...] = ()
    ids: tuple[str, ...] = ()
    """Of the offers."""
    cents: int = 0
    weight: tuple[int, ...] = ()

    def then(self, later: Path) -> Path:
        some, others = self.weight, later.weight
        weight = tuple(map(add, some, others)) if some and others else some or others
        return Path((*self.offers, *later.offers), (*self.ids, *later.ids), self.cents + later.cents, weight)

    @property
    def rank(self) -> tuple[tuple[int, ...], int, tuple[str, ...]]:
        return self.weight, self.cents, self.ids


class _Late(NamedTuple):
    """Journey that ended so late that an early departure on the next day may be missed."""

    arrives: datetime
    is_flight: bool

    def leaves_time_for(self, offer: Transport) -> bool:
        return offer.departs - self.arrives >= time_to_change(offer, is_from_flight=self.is_flight)


def time_to_change(offer: Transport, *, is_from_flight: bool) -> timedelta:
    """Return the least time between an arrival and this departure."""
    to_flight = FROM_TRAIN_TO_FLIGHT if isinstance(offer, FlightOffer) else timedelta(0)
    return AFTER_A_FLIGHT if is_from_flight else to_flight


class _Place(NamedTuple):
    """Place where a path has arrived, with the time and what it has visited: all that the rest of the trip depends on."""

    visited: int
    """A bit for every stop that was visited."""
    stop: int
    """The last of them, by its place in the request; -1 at the origin."""
    day: date
    needs_bed: bool = False
    is_back: bool = False
    late: _Late | None = None
    no_train: bool = False
    """After a flight that landed too late for a train under a condition."""


class _Step(NamedTuple):
    """Step: an offer that can be taken, and the place that it leads to."""

    path: Path
    day: date
    late: _Late | None
    no_train: bool = False


_Move = tuple[Path, _Place]


def best_path(request: TripRequest, market: Market, weigh: Weigh, wishes: frozenset[Wish] = ALL_WISHES) -> Path | None:
    """Return the path of least weight, then least price, then first in alphabetical order; None if no path keeps the wishes."""
    best = _Search(request, market, weigh, wishes)
    free = best.path()
    most = most_cents(without(request, ALL_WISHES - wishes), market.rates)
    if free is None or most is None or free.cents <= most - market.fees_cents:
        return free
    return best.path_within(most - market.fees_cents, _Search(request, market, lambda _: (), wishes))


class _Search:
    """Dynamic programme: the best continuation from a place depends on the place alone, so it is found once."""

    def __init__(self, request: TripRequest, market: Market, weigh: Weigh, wishes: frozenset[Wish]) -> None:
        self._request = request
        self._usable = Usable(request, market, wishes)
        self._weigh = weigh
        self._all_visited = (1 << len(request.stops)) - 1
        self._steps: dict[tuple[object, ...], list[_Step]] = {}
        self._completions: dict[_Place, Path | None] = {}

    def path(self) -> Path | None:
        """Return the best path, whatever it costs."""
        found = (self.completion(place) for place in self._starts())
        return min((path for path in found if path is not None), key=lambda path: path.rank, default=None)

    def path_within(self, most: int, cheapest: _Search) -> Path | None:
        """Return the best path that costs at most `most` cents: the first one to be completed, extending the most promising
        first.

        No path turns out better than estimated, because the estimate uses its best completion. Paths are dropped if their
        cheapest completion (by `cheapest`) costs too much, and if another at the same place is both better and cheaper.
        """
        ways: list[tuple[tuple[object, ...], Path, _Place]] = []
        least_cents: dict[_Place, int] = {}

        def consider(path: Path, place: _Place) -> None:
            best, least = self.completion(place), cheapest.completion(place)
            if best is not None and least is not None and path.cents + least.cents <= most:
                heappush(ways, (path.then(best).rank, path, place))

        for start in self._starts():
            consider(Path(), start)
        while ways:
            _, path, place = heappop(ways)
            if self._is_over(place):
                return path
            if path.cents < least_cents.get(place, most + 1):
                least_cents[place] = path.cents
                for step, there in self._moves(place, cheaper_too=True):
                    consider(path.then(step), there)
        return None

    def completion(self, place: _Place) -> Path | None:
        """Return the best rest of the trip; None if the trip cannot be completed."""
        if place in self._completions:
            return self._completions[place]
        best: Path | None = None
        if self._is_over(place):
            best = Path() if self._usable.ends_in_time(place.day) else None
        else:
            for step, there in self._moves(place):
                rest = self.completion(there)
                whole = None if rest is None else step.then(rest)
                if whole is not None and (best is None or whole.rank < best.rank):
                    best = whole
        self._completions[place] = best
        return best

    def _starts(self) -> Iterator[_Place]:
        start = _Place(1, 0, date.min, needs_bed=True) if self._request.is_stay_only else _Place(0, -1, date.min)
        return (start._replace(day=day) for day in self._usable.departure_days)

    def _is_over(self, place: _Place) -> bool:
        has_seen_all = place.visited == self._all_visited and not place.needs_bed
        return place.is_back or (has_seen_all and self._request.return_to is None)

    def _moves(self, place: _Place, *, cheaper_too: bool = False) -> Iterator[_Move]:
        """Yield the moves. `cheaper_too`: including those that are worse than another to the same place, but cheaper."""
        if place.needs_bed:
            stop = self._request.stops[place.stop]
            key = stop.city, stop.nights, place.day, cheaper_too
            if key not in self._steps:
                steps = (self._step(offer, offer.check_out, None) for offer in self._usable.hotels(stop, place.day))
                self._steps[key] = _unbeaten(steps, cheaper_too)
            for step in self._steps[key]:
                yield step.path, place._replace(day=step.day, needs_bed=False)
        elif place.visited == self._all_visited:
            for step in self._journeys(place, str(self._request.return_to), None, cheaper_too):
                # Across the date line one may arrive on the day before: the trip lasts until its departure.
                yield step.path, place._replace(day=max(place.day, step.day), is_back=True, late=None)
        else:
            for number in self._next_stops(place):
                stop, visited = self._request.stops[number], place.visited | 1 << number
                needs_bed = self._request.hotels and stop.nights > 0
                for step in self._journeys(place, stop.city, stop.nights, cheaper_too):
                    day = step.day if needs_bed else step.day + timedelta(days=stop.nights)
                    yield step.path, _Place(visited, number, day, needs_bed, late=step.late, no_train=step.no_train)

    def _next_stops(self, place: _Place) -> Iterable[int]:
        if self._request.order is Order.GIVEN:
            return (place.stop + 1,)
        return (stop for stop in range(len(self._request.stops)) if not place.visited & 1 << stop)

    def _journeys(self, place: _Place, there: str, nights: int | None, cheaper_too: bool) -> list[_Step]:
        """Yield the journeys. `nights`: until one leaves again; None: never."""
        here = self._request.origin if place.stop < 0 else self._request.stops[place.stop].city
        key = here, there, place.day, place.late, place.no_train, nights in (0, 1) and nights, cheaper_too
        if key not in self._steps:
            offers = self._usable.transports(here, there, place.day, no_train=place.no_train)
            in_time = (offer for offer in offers if place.late is None or place.late.leaves_time_for(offer))
            steps = (self._step(offer, offer.arrives.date(), _lateness(offer, nights)) for offer in in_time)
            self._steps[key] = _unbeaten(steps, cheaper_too)
        return self._steps[key]

    def _step(self, offer: Offer, day: date, late: _Late | None) -> _Step:
        path = Path((offer,), (offer.offer_id,), cents(offer.price), self._weigh(offer))
        return _Step(path, day, late, self._usable.bars_trains(offer))


def _lateness(offer: Transport, nights: int | None) -> _Late | None:
    if nights == 0:
        return _Late(offer.arrives + A_DAY_OUT, isinstance(offer, FlightOffer))
    if nights != 1:
        return None
    can_miss_the_next_day = (offer.arrives + AFTER_A_FLIGHT).date() > offer.arrives.date()
    return _Late(offer.arrives, isinstance(offer, FlightOffer)) if can_miss_the_next_day else None


def _unbeaten(steps: Iterable[_Step], cheaper_too: bool) -> list[_Step]:
    """Return the best move to each place, and with `cheaper_too` every worse one that is cheaper than all better ones."""
    alike: dict[tuple[object, ...], list[_Step]] = defaultdict(list)
    for step in sorted(steps, key=lambda step: step.path.rank):
        group = alike[step.day, step.late, step.no_train]
        if not group or (cheaper_too and step.path.cents < group[-1].path.cents):
            group.append(step)
    return [step for group in alike.values() for step in group]


class Usable:
    """Offers of a market that a request can use, if it observes `wishes`."""

    def __init__(self, request: TripRequest, market: Market, wishes: frozenset[Wish]) -> None:
        self._request = without(request, ALL_WISHES - wishes)
        self._market = market

    @property
    def departure_days(self) -> tuple[date, ...]:
        depart, window = self._request.depart, self._request.window
        days = self._market.departure_days if depart is None else tuple({depart} & set(self._market.departure_days))
        return days if window is None else tuple(day for day in days if window.first <= day <= window.last)

    def transports(self, here: str, there: str, day: date, *, no_train: bool = False) -> tuple[Transport, ...]:
        """Return the journeys of a day. `no_train`: after a landing too late for trains that have a condition."""
        offers = filter(self._can_be_taken, self._market.journeys.get((here, there, day), ()))
        only_flights = no_train and has_condition(self._request, there)
        return tuple(offer for offer in offers if isinstance(offer, FlightOffer) or not only_flights)

    def bars_trains(self, offer: Offer) -> bool:
        return not isinstance(offer, HotelOffer) and lands_too_late(self._request, offer)

    def hotels(self, stop: Stop, check_in: date) -> tuple[HotelOffer, ...]:
        fewest, most = self._request.stars_in(stop.city)
        offered = self._market.stays.get((stop.city, stop.nights, check_in), ())
        return tuple(offer for offer in offered if offer.left >= self._request.rooms and fewest <= offer.stars <= most)

    def ends_in_time(self, day: date) -> bool:
        return self._request.window is None or day <= self._request.window.last

    def _can_be_taken(self, offer: Transport) -> bool:
        is_wanted = all(keeps(self._request, offer) for keeps in (keeps_hours, keeps_weekdays, goes_as_wished))
        if not is_wanted or not can_be_boarded(offer, self._request.travellers, self._market.now):
            return False
        if isinstance(offer, FlightOffer):
            return offer.is_direct or self._request.direct is not Direct.REQUIRED
        return self._market.has_slow_trains or self._request.by is By.TRAIN or is_sensible_train(offer)
