"""Every complete trip that can be made of what is on offer: counted, and looked at one by one where there are not too many.

Nothing is left out for being worse than something else: what only looks worse on the way would not be missed otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any, Final

from benchmarks.trips import rules
from benchmarks.trips.supply import Ride, Supply
from sagagraph.domains.travel.offers import HotelOffer

Rank = tuple[int, int, int, tuple[str, ...]]
"""Unwanted changes of plane, price and hardship in cents, price in cents, ids of the offers: the smallest is the best."""
PRICE: Final = 2
"""Where in a rank it stands."""

_Where = tuple[int, date, str]
"""All that the rest of a trip depends on: the next journey, its day, and the journey before it."""
_CENTS_A_MINUTE, _CENTS_AN_ODD_HOUR = 50, 6_000
_NOTHING: Rank = (0, 0, 0, ())


@dataclass(frozen=True, slots=True)
class _Step:
    """A journey, and every hotel that it may lead to."""

    ride: Ride
    ranks: tuple[Rank, ...]
    """Of the journey with each of the hotels; of the journey alone where it leads to no stop."""
    next_day: date


class Trips:
    """All that keep every wish but the budget.

    `by_rule`: no flights on a journey and day on which a train of up to six hours can be had, and no longer trains; that is
    what the planner promises. Otherwise all that is on offer.
    """

    def __init__(self, body: Mapping[str, Any], supply: Supply, *, by_rule: bool) -> None:
        self._body = body
        self._supply = supply
        self._by_rule = by_rule
        self._journeys = len(rules.route_of(body)) - 1
        self._steps: dict[_Where, list[_Step]] = {}
        self._counts: dict[_Where, int] = {}

    @cached_property
    def count(self) -> int:
        return sum(self._count(0, day, None) for day in rules.first_days(self._body))

    def best_within(self, limits: Sequence[int | None]) -> list[Rank | None]:
        """Of all that cost at most so many cents, the one that should be preferred, for each limit: each trip is looked at."""
        best: list[Rank | None] = [None] * len(limits)
        for day in rules.first_days(self._body):
            for rank in self._walk(0, day, None, _NOTHING):
                for n, most in enumerate(limits):
                    leader = best[n]
                    if (leader is None or rank < leader) and (most is None or rank[PRICE] <= most):
                        best[n] = rank
        return best

    @cached_property
    def best_of_any_price(self) -> Rank | None:
        """Without looking at each: whatever led to a place, the rest is the same. Within the budget, it is the best."""
        return self._shortest(lambda rank: rank)

    @cached_property
    def cheapest(self) -> Rank | None:
        return self._shortest(lambda rank: rank[PRICE:])

    def _walk(self, journey: int, day: date, last: Ride | None, so_far: Rank) -> Iterator[Rank]:
        for step in self._onward(journey, day, last):
            for rank in step.ranks:
                if journey + 1 == self._journeys:
                    yield _sum(so_far, rank)
                else:
                    yield from self._walk(journey + 1, step.next_day, step.ride, _sum(so_far, rank))

    def _count(self, journey: int, day: date, last: Ride | None) -> int:
        if journey == self._journeys:
            return 1
        where = _where(journey, day, last)
        if where not in self._counts:
            steps = self._onward(journey, day, last)
            self._counts[where] = sum(len(step.ranks) * self._count(journey + 1, step.next_day, step.ride) for step in steps)
        return self._counts[where]

    def _shortest(self, order: Callable[[Rank], tuple[Any, ...]]) -> Rank | None:
        known: dict[_Where, Rank | None] = {}

        def rest(journey: int, day: date, last: Ride | None) -> Rank | None:
            if journey == self._journeys:
                return _NOTHING
            where = _where(journey, day, last)
            if where not in known:
                known[where] = min(onward(journey, self._onward(journey, day, last)), key=order, default=None)
            return known[where]

        def onward(journey: int, steps: list[_Step]) -> Iterator[Rank]:
            for step in steps:
                after = rest(journey + 1, step.next_day, step.ride)
                if after is not None:
                    yield _sum(min(step.ranks, key=order), after)

        whole = (rest(0, day, None) for day in rules.first_days(self._body))
        return min((rank for rank in whole if rank is not None), key=order, default=None)

    def _onward(self, journey: int, day: date, last: Ride | None) -> list[_Step]:
        where = _where(journey, day, last)
        if where not in self._steps:
            rides = (ride for ride in self._rides(journey, day) if _can_change(last, ride))
            self._steps[where] = [step for ride in rides if (step := self._step(journey, ride)) is not None]
        return self._steps[where]

    def _rides(self, journey: int, day: date) -> list[Ride]:
        fit = [ride for ride in self._supply.rides.get((journey, day), ()) if self._fits(ride)]
        if not self._by_rule:
            return fit
        flights: list[Ride] = [ride for ride in fit if ride.kind == "flight"]
        return [ride for ride in fit if ride.kind == "train" and _is_sensible(ride)] or flights

    def _fits(self, ride: Ride) -> bool:
        is_direct = ride.kind == "train" or not (ride.stops or ride.via)
        return (
            (is_direct or self._body["direct"] != "required")
            and rules.keeps_hours(self._body, ride.departs, ride.arrives)
            and rules.keeps_weekdays(self._body, ride.departs.date(), ride.arrives.date())
            and ride.left >= self._body["travellers"]
            and ride.departs > self._supply.now
        )

    def _step(self, journey: int, ride: Ride) -> _Step | None:
        """None where it leads nowhere: to no hotel, or to an end that is too late."""
        day, ranks = ride.arrives.date(), [self._rank(ride)]
        if journey < len(self._body["stops"]):
            hotels = (hotel for hotel in self._supply.stays.get((journey, day), ()) if self._suits(hotel))
            ranks = [_sum(ranks[0], (0, _cents(hotel), _cents(hotel), (hotel.offer_id,))) for hotel in hotels]
            day += timedelta(days=self._body["stops"][journey]["nights"])
        is_too_late = journey + 1 == self._journeys and not rules.ends_in_time(self._body, day)
        return _Step(ride, tuple(ranks), day) if ranks and not is_too_late else None

    def _suits(self, hotel: HotelOffer) -> bool:
        fewest, most = map(int, self._body["stars"])
        return fewest <= hotel.stars <= most and hotel.left >= int(self._body["rooms"])

    def _rank(self, ride: Ride) -> Rank:
        leaves_early = ride.departs.hour < 7
        comes_at_night = ride.arrives.hour in (23, 0, 1, 2, 3, 4, 5)
        hardship = _CENTS_A_MINUTE * ride.duration_minutes + _CENTS_AN_ODD_HOUR * (leaves_early + comes_at_night)
        changes = ride.kind == "flight" and bool(ride.stops or ride.via) and self._body["direct"] == "preferred"
        return int(changes), _cents(ride) + hardship * self._body["travellers"], _cents(ride), (ride.offer_id,)


def _sum(one: Rank, other: Rank) -> Rank:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3]


def _is_sensible(train: Ride) -> bool:
    return train.duration_minutes <= rules.LONGEST_TRAIN_MINUTES


def _can_change(last: Ride | None, ride: Ride) -> bool:
    return last is None or ride.departs - last.arrives >= timedelta(minutes=rules.minutes_to_change(last.kind, ride.kind))


def _where(journey: int, day: date, last: Ride | None) -> _Where:
    return journey, day, last.offer_id if last else ""


def _cents(offer: Ride | HotelOffer) -> int:
    return int(offer.price * 100)
