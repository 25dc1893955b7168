"""The best way through a market: exact, on whole cents, the same for the same offers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.exchange import most_cents
from sagagraph.domains.travel.market import (
    Market,
    can_be_boarded,
    is_sensible_train,
    journeys_of,
    keeps_hours,
    keeps_weekdays,
)
from sagagraph.domains.travel.offers import FlightOffer, TrainOffer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from decimal import Decimal

    from sagagraph.domains.travel.offers import HotelOffer, Offer, Transport, TransportOffer
    from sagagraph.domains.travel.problem import TripRequest

    Weigh = Callable[[Offer], tuple[int, ...]]
    """What an offer adds to what is to be small; sums are compared from left to right, then the price counts."""

AFTER_A_FLIGHT: Final = timedelta(minutes=90)
FROM_TRAIN_TO_FLIGHT: Final = timedelta(minutes=60)


class Wish(Enum):
    """What a traveller could give up to get a trip at all."""

    WINDOW = "the dates"
    DIRECT = "direct flights only"
    HOURS = "the hours"
    WEEKDAYS = "the weekdays"
    STARS = "the stars"
    BUDGET = "the budget"


ALL_WISHES: Final = frozenset(Wish)


@dataclass(frozen=True)
class Path:
    """Offers in the order of travel, from the origin up to some point of the trip."""

    offers: tuple[Offer, ...] = ()
    ids: tuple[str, ...] = ()
    """Of the offers."""
    cents: int = 0
    weight: tuple[int, ...] = ()

    def then(self, offer: Offer, weight: tuple[int, ...]) -> Path:
        summed = tuple(map(sum, zip(self.weight, weight, strict=True))) if self.weight else weight
        return Path((*self.offers, offer), (*self.ids, offer.offer_id), self.cents + cents(offer.price), summed)

    @property
    def rank(self) -> tuple[tuple[int, ...], int, tuple[str, ...]]:
        return self.weight, self.cents, self.ids


@dataclass(frozen=True)
class _Place:
    """Where and when a path has come to: all that the rest of the trip depends on."""

    day: date
    late: Transport | None = None
    """The journey that brought us, if it ended so late that what leaves early on the next day can be missed."""


_Frontier = dict[_Place, list[Path]]


def cents(amount: Decimal) -> int:
    return int(amount * 100)


def best_path(request: TripRequest, market: Market, weigh: Weigh, wishes: frozenset[Wish] = ALL_WISHES) -> Path | None:
    """The path of least weight, then least price, then first in the alphabet; None where no path keeps the wishes."""
    paths = (path for group in paths_by_last_day(request, market, weigh, wishes).values() for path in group)
    return min(paths, key=lambda path: path.rank, default=None)


def paths_by_last_day(request: TripRequest, market: Market, weigh: Weigh, wishes: frozenset[Wish]) -> Mapping[date, list[Path]]:
    """Every complete path that none beats in both weight and price, by the day on which the trip ends.

    What follows a place depends on the place alone, so worse ways to reach it are dropped as soon as they are seen:
    the number of paths stays small, and none that could become the best is lost.
    """
    usable = Usable(request, market, wishes)
    frontier: _Frontier = {_Place(day): [Path()] for day in market.departure_days}
    for journey in range(len(journeys_of(request))):
        frontier = _unbeaten(_travelled(frontier, journey, usable, weigh), usable)
        if journey < len(request.stops):
            frontier = _unbeaten(_stayed(frontier, journey, usable, weigh), usable)
    ended: dict[date, list[Path]] = defaultdict(list)
    for place, paths in frontier.items():
        if usable.ends_in_time(place.day):
            ended[place.day] += paths
    return ended


def _travelled(frontier: _Frontier, journey: int, usable: Usable, weigh: Weigh) -> _Frontier:
    after: _Frontier = defaultdict(list)
    for place, paths in frontier.items():
        for offer in usable.transports(journey, place.day):
            if place.late is None or offer.departs - place.late.arrives >= change_time(place.late, offer):
                weight = weigh(offer)
                after[_arrival(offer)] += [path.then(offer, weight) for path in paths]
    return after


def _stayed(frontier: _Frontier, stop: int, usable: Usable, weigh: Weigh) -> _Frontier:
    after: _Frontier = defaultdict(list)
    for place, paths in frontier.items():
        for offer in usable.hotels(stop, place.day):
            weight = weigh(offer)
            after[_Place(offer.check_out, place.late)] += [path.then(offer, weight) for path in paths]
    return after


def _arrival(offer: Transport) -> _Place:
    can_miss_the_next_day = (offer.arrives + AFTER_A_FLIGHT).date() > offer.arrives.date()
    return _Place(offer.arrives.date(), offer if can_miss_the_next_day else None)


def change_time(earlier: TransportOffer, later: TransportOffer) -> timedelta:
    if isinstance(earlier, FlightOffer):
        return AFTER_A_FLIGHT
    return FROM_TRAIN_TO_FLIGHT if isinstance(later, FlightOffer) else timedelta(0)


def _unbeaten(frontier: _Frontier, usable: Usable) -> _Frontier:
    kept: _Frontier = {}
    for place, paths in frontier.items():
        best: list[Path] = []
        for path in sorted(filter(usable.is_affordable, paths), key=lambda path: path.rank):
            if not best or path.cents < best[-1].cents:
                best.append(path)
            if not usable.has_budget:  # nobody needs a worse path for being cheaper
                break
        if best:
            kept[place] = best
    return kept


class Usable:
    """The offers of a market that a request can use, if it keeps to `wishes`."""

    def __init__(self, request: TripRequest, market: Market, wishes: frozenset[Wish]) -> None:
        self._request = request
        self._market = market
        self._wishes = wishes
        most = most_cents(request, market.rates) if Wish.BUDGET in wishes else None
        self._most_cents = most if most is None else most - market.fees_cents

    def transports(self, journey: int, day: date) -> tuple[Transport, ...]:
        """Trains where there is a sensible one; flights otherwise; in a repair all that there is."""
        offered = [offer for offer in self._market.journeys.get((journey, day), ()) if self._can_be_taken(offer)]
        trains = tuple(offer for offer in offered if is_sensible_train(offer))
        flights = (offer for offer in offered if isinstance(offer, FlightOffer) and self._is_direct_enough(offer))
        if self._market.is_for_repair:
            return (*(offer for offer in offered if isinstance(offer, TrainOffer)), *flights)
        return trains or tuple(flights)

    def hotels(self, stop: int, check_in: date) -> tuple[HotelOffer, ...]:
        offered = self._market.stays.get((stop, check_in), ())
        return tuple(offer for offer in offered if self._has_room(offer) and self._has_stars(offer))

    @property
    def has_budget(self) -> bool:
        return self._most_cents is not None

    def is_affordable(self, path: Path) -> bool:
        return self._most_cents is None or path.cents <= self._most_cents

    def ends_in_time(self, day: date) -> bool:
        window = self._request.window
        return Wish.WINDOW not in self._wishes or window is None or day <= window.last

    def _can_be_taken(self, offer: Transport) -> bool:
        is_at_its_hour = Wish.HOURS not in self._wishes or keeps_hours(self._request, offer)
        is_on_its_day = Wish.WEEKDAYS not in self._wishes or keeps_weekdays(self._request, offer)
        return is_at_its_hour and is_on_its_day and can_be_boarded(offer, self._request.travellers, self._market.now)

    def _is_direct_enough(self, offer: FlightOffer) -> bool:
        must = Wish.DIRECT in self._wishes and self._request.direct == "required"
        return offer.is_direct or not must

    def _has_room(self, offer: HotelOffer) -> bool:
        return offer.left >= self._request.rooms

    def _has_stars(self, offer: HotelOffer) -> bool:
        fewest, most = self._request.stars
        return Wish.STARS not in self._wishes or fewest <= offer.stars <= most
