"""The best way through a market: exact, on whole cents, the same for the same offers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from sagagraph.domains.travel.exchange import most_cents
from sagagraph.domains.travel.market import Market, can_be_boarded, is_sensible_train, keeps_hours, keeps_weekdays
from sagagraph.domains.travel.offers import FlightOffer
from sagagraph.domains.travel.problem import Direct, Order
from sagagraph.domains.travel.wishes import ALL_WISHES, Wish, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from decimal import Decimal

    from sagagraph.domains.travel.offers import HotelOffer, Offer, Transport
    from sagagraph.domains.travel.problem import Stop, TripRequest

    Weigh = Callable[[Offer], tuple[int, ...]]
    """What an offer adds to what is to be small; sums are compared from left to right, then the price counts."""

AFTER_A_FLIGHT: Final = timedelta(minutes=90)
FROM_TRAIN_TO_FLIGHT: Final = timedelta(minutes=60)


@dataclass(frozen=True, slots=True)
class Path:
    """Offers in the order of travel, from the origin up to some point of the trip."""

    offers: tuple[Offer, ...] = ()
    ids: tuple[str, ...] = ()
    """Of the offers."""
    cents: int = 0
    weight: tuple[int, ...] = ()

    def then(self, step: _Step) -> Path:
        summed = tuple(map(sum, zip(self.weight, step.weight, strict=True))) if self.weight else step.weight
        return Path((*self.offers, step.offer), (*self.ids, step.offer.offer_id), self.cents + step.cents, summed)

    @property
    def rank(self) -> tuple[tuple[int, ...], int, tuple[str, ...]]:
        return self.weight, self.cents, self.ids


class _Late(NamedTuple):
    """A journey that ended so late that what leaves early on the next day can be missed."""

    arrives: datetime
    is_flight: bool

    def leaves_time_for(self, offer: Transport) -> bool:
        to_flight = FROM_TRAIN_TO_FLIGHT if isinstance(offer, FlightOffer) else timedelta(0)
        return offer.departs - self.arrives >= (AFTER_A_FLIGHT if self.is_flight else to_flight)


class _Place(NamedTuple):
    """Where and when a path has come to, and what it has seen: all that the rest of the trip depends on."""

    visited: int
    """A bit for every stop that has been come to."""
    stop: int
    """The last of them, by its place in the request; -1 at the origin."""
    day: date
    late: _Late | None = None


class _Step(NamedTuple):
    """An offer that can be taken, and what it leads to."""

    offer: Offer
    weight: tuple[int, ...]
    cents: int
    day: date
    late: _Late | None

    @property
    def rank(self) -> tuple[tuple[int, ...], int, str]:
        return self.weight, self.cents, self.offer.offer_id


_Frontier = dict[_Place, list[Path]]
_Ranked = TypeVar("_Ranked", Path, _Step)


def cents(amount: Decimal) -> int:
    return int(amount * 100)


def best_path(request: TripRequest, market: Market, weigh: Weigh, wishes: frozenset[Wish] = ALL_WISHES) -> Path | None:
    """The path of least weight, then least price, then first in the alphabet; None where no path keeps the wishes."""
    best = _least(request, market, weigh, wishes - {Wish.BUDGET})  # quick: no path is kept only because it is cheaper
    most = most_cents(without(request, ALL_WISHES - wishes), market.rates)
    if best is None or most is None or best.cents <= most:
        return best
    return _least(request, market, weigh, wishes)


def _least(request: TripRequest, market: Market, weigh: Weigh, wishes: frozenset[Wish]) -> Path | None:
    paths = (path for group in paths_by_last_day(request, market, weigh, wishes).values() for path in group)
    return min(paths, key=lambda path: path.rank, default=None)


def paths_by_last_day(request: TripRequest, market: Market, weigh: Weigh, wishes: frozenset[Wish]) -> Mapping[date, list[Path]]:
    """Every complete path that none beats in both weight and price, by the day on which the trip ends.

    What follows a place depends on the place alone, so worse ways to reach it are dropped as soon as they are seen:
    the number of paths stays small, and none that could become the best is lost.
    """
    return _Search(request, market, weigh, wishes).run()


class _Search:
    def __init__(self, request: TripRequest, market: Market, weigh: Weigh, wishes: frozenset[Wish]) -> None:
        self._request = request
        self._usable = Usable(request, market, wishes)
        self._weigh = weigh
        self._most_cents = most_cents(without(request, ALL_WISHES - wishes), market.rates)
        self._journeys: dict[tuple[str, str, date], list[_Step]] = {}
        self._stays: dict[tuple[Stop, date], list[_Step]] = {}

    def run(self) -> Mapping[date, list[Path]]:
        frontier: _Frontier = {_Place(0, -1, day): [Path()] for day in self._usable.departure_days}
        for _ in self._request.stops:
            frontier = self._unbeaten(self._stayed(self._unbeaten(self._travelled(frontier))))
        if self._request.return_to is not None:
            frontier = self._unbeaten(self._returned(frontier, self._request.return_to))
        ended: dict[date, list[Path]] = defaultdict(list)
        for place, paths in frontier.items():
            if self._usable.ends_in_time(place.day):
                ended[place.day] += paths
        return ended

    def _travelled(self, frontier: _Frontier) -> _Frontier:
        after: _Frontier = defaultdict(list)
        for place, paths in frontier.items():
            for stop in self._next_stops(place):
                visited = place.visited | 1 << stop
                for step in self._journeys_from(place, self._request.stops[stop].city):
                    after[_Place(visited, stop, step.day, step.late)] += [path.then(step) for path in paths]
        return after

    def _next_stops(self, place: _Place) -> Iterable[int]:
        if self._request.order is Order.GIVEN:
            return (place.stop + 1,)
        return (stop for stop in range(len(self._request.stops)) if not place.visited & 1 << stop)

    def _stayed(self, frontier: _Frontier) -> _Frontier:
        after: _Frontier = defaultdict(list)
        for place, paths in frontier.items():
            for step in self._stays_at(self._request.stops[place.stop], place.day):
                after[place._replace(day=step.day)] += [path.then(step) for path in paths]
        return after

    def _returned(self, frontier: _Frontier, home: str) -> _Frontier:
        after: _Frontier = defaultdict(list)
        for place, paths in frontier.items():
            for step in self._journeys_from(place, home):
                last_day = max(place.day, step.day)  # over the date line, one arrives on the day before
                after[place._replace(day=last_day, late=None)] += [path.then(step) for path in paths]
        return after

    def _journeys_from(self, place: _Place, there: str) -> list[_Step]:
        """Where every journey can be reached, only those that none beats are of interest."""
        here = self._request.origin if place.stop < 0 else self._request.stops[place.stop].city
        if place.late is not None:
            offers = self._usable.transports(here, there, place.day)
            return [self._journey(offer) for offer in offers if place.late.leaves_time_for(offer)]
        key = here, there, place.day
        if key not in self._journeys:
            self._journeys[key] = self._unbeaten_steps(map(self._journey, self._usable.transports(*key)))
        return self._journeys[key]

    def _stays_at(self, stop: Stop, check_in: date) -> list[_Step]:
        key = stop, check_in
        if key not in self._stays:
            self._stays[key] = self._unbeaten_steps(map(self._stay, self._usable.hotels(stop, check_in)))
        return self._stays[key]

    def _journey(self, offer: Transport) -> _Step:
        can_miss_the_next_day = (offer.arrives + AFTER_A_FLIGHT).date() > offer.arrives.date()
        late = _Late(offer.arrives, isinstance(offer, FlightOffer)) if can_miss_the_next_day else None
        return _Step(offer, self._weigh(offer), cents(offer.price), offer.arrives.date(), late)

    def _stay(self, offer: HotelOffer) -> _Step:
        return _Step(offer, self._weigh(offer), cents(offer.price), offer.check_out, None)

    def _unbeaten_steps(self, steps: Iterable[_Step]) -> list[_Step]:
        alike: dict[tuple[date, _Late | None], list[_Step]] = defaultdict(list)
        for step in steps:
            alike[step.day, step.late].append(step)
        return [step for group in alike.values() for step in self._front(group)]

    def _unbeaten(self, frontier: _Frontier) -> _Frontier:
        affordable = {place: [path for path in paths if self._is_affordable(path)] for place, paths in frontier.items()}
        return {place: self._front(paths) for place, paths in affordable.items() if paths}

    def _is_affordable(self, path: Path) -> bool:
        return self._most_cents is None or path.cents <= self._most_cents

    def _front(self, choices: list[_Ranked]) -> list[_Ranked]:
        """Of paths or steps to one place: the best, and with a budget every worse one that is cheaper than all better ones."""
        if self._most_cents is None:
            return [min(choices, key=lambda choice: choice.rank)]
        best: list[_Ranked] = []
        for choice in sorted(choices, key=lambda choice: choice.rank):
            if not best or choice.cents < best[-1].cents:
                best.append(choice)
        return best


class Usable:
    """The offers of a market that a request can use, if it keeps to `wishes`."""

    def __init__(self, request: TripRequest, market: Market, wishes: frozenset[Wish]) -> None:
        self._request = without(request, ALL_WISHES - wishes)
        self._market = market

    @property
    def departure_days(self) -> tuple[date, ...]:
        depart, window = self._request.depart, self._request.window
        days = self._market.departure_days if depart is None else tuple({depart} & set(self._market.departure_days))
        return days if window is None else tuple(day for day in days if window.first <= day <= window.last)

    def transports(self, here: str, there: str, day: date) -> tuple[Transport, ...]:
        offered = self._market.journeys.get((here, there, day), ())
        return tuple(offer for offer in offered if self._can_be_taken(offer))

    def hotels(self, stop: Stop, check_in: date) -> tuple[HotelOffer, ...]:
        fewest, most = self._request.stars
        offered = self._market.stays.get((stop.city, stop.nights, check_in), ())
        return tuple(offer for offer in offered if offer.left >= self._request.rooms and fewest <= offer.stars <= most)

    def ends_in_time(self, day: date) -> bool:
        return self._request.window is None or day <= self._request.window.last

    def _can_be_taken(self, offer: Transport) -> bool:
        is_wanted = keeps_hours(self._request, offer) and keeps_weekdays(self._request, offer)
        can_be_had = can_be_boarded(offer, self._request.travellers, self._market.now)
        return is_wanted and can_be_had and self._is_quick_enough(offer)

    def _is_quick_enough(self, offer: Transport) -> bool:
        if isinstance(offer, FlightOffer):
            return offer.is_direct or self._request.direct is not Direct.REQUIRED
        return is_sensible_train(offer)
