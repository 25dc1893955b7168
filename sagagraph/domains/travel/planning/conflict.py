"""Conflict: a smallest set of wishes that cannot be met together, and what would have to give way."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from datetime import date, time
from decimal import Decimal
from itertools import combinations
from typing import Any

from sagagraph.domains.travel.money import PRICE_CURRENCY, as_json_number, money_text
from sagagraph.domains.travel.offers import FlightOffer, Offer
from sagagraph.domains.travel.planning import wishes as w
from sagagraph.domains.travel.planning.market import Market
from sagagraph.domains.travel.planning.measures import Weigh, converted, price_alone, worth
from sagagraph.domains.travel.planning.search import Path, best_path
from sagagraph.domains.travel.request import ANY_STARS, Direct, TripRequest
from sagagraph.domains.travel.wording import count_text, day_text, listed
from sagagraph.planning.domain import Relaxation

_Least = tuple[Relaxation, TripRequest]


def least_change(request: TripRequest, market: Market, wish: w.Wish) -> _Least:
    """Return the least change of a wish with which, all others kept, there is a trip in `market`, and the request with it."""
    match wish:
        case w.Wish.DEPART:
            return _nearest_day(request, market)
        case w.Wish.WINDOW:
            return _earliest_end(request, market)
        case w.Wish.DIRECT:
            return _fewest_changes(request, market)
        case w.Wish.BY:
            other = w.without(request, [wish])
            return _relaxed(request, wish, other, f"there is a trip {w.in_words(other, wish)}", {"by": other.by.value})
        case w.Wish.STARS:
            return _nearest_stars(request, market)
        case w.Wish.BUDGET:
            return _least_budget(request, market)
        case w.Wish.TRAIN_IF:
            other = w.changed(request, train_if=None)
            return _relaxed(request, wish, other, "there is a trip with a train after a later landing", {"train_if": None})
    if wish.weekday is None:
        return _nearest_hour(request, market, wish)
    kept = [day.value for day in request.not_on if day is not wish.weekday]
    sentence = f"there is a trip that travels on {str(wish.weekday).capitalize()}"
    relaxation = Relaxation(w.in_words(request, wish), sentence, needs=f"on {wish.weekday} too", change={"not_on": kept})
    return relaxation, w.without(request, [wish])


def _relaxed(request: TripRequest, wish: w.Wish, other: TripRequest, sentence: str, change: dict[str, Any]) -> _Least:
    """Return the relaxation. `other`: the request as it would have to be."""
    return Relaxation(w.in_words(request, wish), sentence, needs=w.in_words(other, wish), change=change), other


def _nearest_day(request: TripRequest, market: Market) -> _Least:
    def distance(day: date) -> tuple[int, date]:
        return abs((day - asked).days), day

    asked = request.depart or market.departure_days[0]
    others = (day for day in sorted(market.departure_days, key=distance) if _has_trip(w.changed(request, depart=day), market))
    last = request.window.last if request.window else date.max
    day = next((day for day in others if (last - day).days >= request.nights), None)
    if day is None:  # over the date line, a trip may be shorter than its nights: no exact day expresses that
        sentence = "another day of departure has a trip"
        relaxation = Relaxation(w.in_words(request, w.Wish.DEPART), sentence, "any day", {"depart": None})
        return relaxation, w.changed(request, depart=None)
    sentence = f"the nearest day of departure with a trip is {day_text(day)}, not {day_text(asked)}"
    return _relaxed(request, w.Wish.DEPART, w.changed(request, depart=day), sentence, {"depart": day.isoformat()})


def _earliest_end(request: TripRequest, market: Market) -> _Least:
    last = request.window.last if request.window else market.departure_days[-1]
    ends = {offer.arrives.date() for offers in market.journeys.values() for offer in offers}
    ends |= {hotel.check_out for hotels in market.stays.values() for hotel in hotels}
    days = sorted(day for day in ends | set(market.departure_days) if day > last)
    day = days[bisect_left(days, True, key=lambda day: _has_trip(w.ending_by(request, day), market))]
    other = w.ending_by(request, day)
    late = f"{count_text((day - last).days, 'day')} after the window ends on {day_text(last)}"
    sentence = f"the earliest end of the trip is {day_text(day)}, {late}"
    change = other.model_dump(mode="json", include={"window"})
    return _relaxed(request, w.Wish.WINDOW, other, sentence, change)


def _fewest_changes(request: TripRequest, market: Market) -> _Least:
    def is_indirect(offer: Offer) -> tuple[int, ...]:
        return (int(isinstance(offer, FlightOffer) and not offer.is_direct),)

    path = _path(request, market, w.Wish.DIRECT, is_indirect)
    indirect = [offer for offer in path.offers if isinstance(offer, FlightOffer) and not offer.is_direct]
    pairs = listed([f"{offer.origin_city} to {offer.destination_city}" for offer in indirect])
    needs = f"a change of plane from {pairs}"
    sentence = f"direct flights alone do not do: it needs {needs}"
    relaxation = Relaxation("direct flights only", sentence, needs=needs, change={"direct": Direct.PREFERRED.value})
    return relaxation, w.without(request, [w.Wish.DIRECT])


def _nearest_stars(request: TripRequest, market: Market) -> _Least:
    if any(stop.stars is not None for stop in request.stops):
        other = w.without(request, [w.Wish.STARS])
        sentence = f"no trip has hotels with {w.stars_text(request)}: it needs others"
        change = {"stars": list(other.stars), "stops": [stop.model_dump(mode="json") for stop in other.stops]}
        return _relaxed(request, w.Wish.STARS, other, sentence, change)
    fewest, most = request.stars
    wider = sorted(
        ((low, high) for low in range(ANY_STARS[0], fewest + 1) for high in range(most, ANY_STARS[1] + 1)),
        key=lambda stars: (stars[1] - stars[0], -stars[0]),
    )
    stars = next(stars for stars in wider if _has_trip(w.changed(request, stars=stars), market))
    other = w.changed(request, stars=stars)
    everywhere = " everywhere" if len(request.stops) > 1 else ""
    sentence = f"no trip has hotels with {w.stars_text(request)}{everywhere}: it needs {w.stars_text(other)}"
    return _relaxed(request, w.Wish.STARS, other, sentence, {"stars": list(stars)})


def _least_budget(request: TripRequest, market: Market) -> _Least:
    cents = _path(request, market, w.Wish.BUDGET).cents + market.fees_cents
    dollars, asked = Decimal(cents) / 100, request.budget or Decimal(0)
    if worth(request.currency, market.rates) is None:
        costs = f"the cheapest trip costs {money_text(dollars)}"
        sentence = f"no rate for {request.currency} is known, and the budget is in it; {costs}"
        change = {"budget": as_json_number(dollars), "currency": PRICE_CURRENCY}
        in_dollars = w.changed(request, budget=dollars, currency=PRICE_CURRENCY)
        return _relaxed(request, w.Wish.BUDGET, in_dollars, sentence, change)
    other = converted(request, cents, market.rates)
    least = dollars if other is None else other.total
    total, more, budget = (money_text(amount, request.currency) for amount in (least, least - asked, asked))
    sentence = f"the cheapest trip costs {total}, {more} more than the budget of {budget}"
    return _relaxed(request, w.Wish.BUDGET, w.changed(request, budget=least), sentence, {"budget": as_json_number(least)})


def _nearest_hour(request: TripRequest, market: Market, wish: w.Wish) -> _Least:
    """Return the nearest hour at which some journey leaves or arrives; None if only the night is left."""
    hours = [*_hours_beyond(request, market, wish), None]
    nearest = hours[
        bisect_left(hours, True, hi=len(hours) - 1, key=lambda hour: _has_trip(w.with_limit(request, wish, hour), market))
    ]
    other = w.with_limit(request, wish, nearest)
    sentence = f"not every journey can {w.hour_text(request, wish)}: {w.hour_text(other, wish)} would do"
    return _relaxed(request, wish, other, sentence, {"hours": other.hours.model_dump(mode="json")})


def _hours_beyond(request: TripRequest, market: Market, wish: w.Wish) -> list[time]:
    """Return the hours beyond the limit, the nearest first."""
    verb, limit = wish.hour or ("", "")
    asked = w.limit_of(request, wish)
    offers = (offer for offers in market.journeys.values() for offer in offers)
    moments = {(offer.departs if verb == "depart" else offer.arrives).time().replace(second=0, microsecond=0) for offer in offers}
    if limit == "earliest":
        return sorted((moment for moment in moments if asked and moment < asked), reverse=True)
    return sorted(moment for moment in moments if asked and moment > asked)


def _path(request: TripRequest, market: Market, given_up: w.Wish, weigh: Weigh = price_alone) -> Path:
    path = best_path(request, market, weigh, w.ALL_WISHES - {given_up})
    if path is None:
        raise AssertionError(f"giving up {given_up} does not help")
    return path


def _has_trip(request: TripRequest, market: Market) -> bool:
    return best_path(request, market, price_alone) is not None


Wishes = frozenset[w.Wish]


class Conflict:
    """Conflict of a `request` that has no trip in `market`. Dropping a wish never loses a trip: subsets of a feasible set
    are feasible.
    """

    def __init__(self, request: TripRequest, market: Market) -> None:
        self._request = request
        self._market = market
        self._wishes = w.wishes_of(request)
        self._kept: list[Wishes] = []
        self._refused: list[Wishes] = []
        self.wishes = self._smallest_refused()
        """A smallest set that cannot be kept together; empty if there is no trip at all."""

    @property
    def in_words(self) -> tuple[str, ...]:
        return self._named(self.wishes)

    def relaxations(self) -> Iterator[Relaxation]:
        """Return one relaxation for every wish of the conflict."""
        is_helped = any(self._can_do_without({wish}) for wish in self.wishes)
        return (self._relaxation(wish, is_helped=is_helped) for wish in self.wishes)

    def _can_keep(self, wishes: Wishes) -> bool:
        if any(wishes <= kept for kept in self._kept):
            return True
        if any(refused <= wishes for refused in self._refused):
            return False
        is_kept = best_path(self._request, self._market, price_alone, wishes | (w.ALL_WISHES - set(self._wishes))) is not None
        (self._kept if is_kept else self._refused).append(wishes)
        return is_kept

    def _smallest_refused(self) -> tuple[w.Wish, ...]:
        """Try the smallest sets first. A feasible set is filled up, so that its other subsets need no search."""
        for size in range(len(self._wishes) + 1):
            for wishes in combinations(self._wishes, size):
                kept = frozenset(wishes)
                if not self._can_keep(kept):
                    return wishes
                for wish in self._wishes:
                    kept = kept | {wish} if self._can_keep(kept | {wish}) else kept
        raise AssertionError("all wishes together can be kept")  # then nobody asks for a conflict

    def _relaxation(self, wish: w.Wish, *, is_helped: bool) -> Relaxation:
        """Return what would have to go. `is_helped`: some wish suffices alone, so that no more of them is changed together."""
        if self._can_do_without({wish}):
            return least_change(self._request, self._market, wish)[0]
        conceded = self._smallest_concession(wish)
        together, words = self._named(conceded), w.in_words(self._request, wish)
        sentence = (
            f"giving up {words!r} alone does not help: {listed([repr(each) for each in together])} would have to go together"
        )
        needs, change = (None, None) if is_helped else self._least_changes(conceded)
        return Relaxation(words, sentence, needs, change, together)

    def _least_changes(self, wishes: tuple[w.Wish, ...]) -> tuple[str, dict[str, Any]]:
        """Return the least changes of wishes that give way together: each in turn, the budget first, with what was found
        before; the rest of them are given up.
        """
        request, needs, change = self._request, list[str](), dict[str, Any]()
        for place in range(len(wishes) - 1, -1, -1):
            found, other = least_change(w.without(request, wishes[:place]), self._market, wishes[place])
            request = w.as_in(request, other, wishes[place], found.change or ())
            needs.insert(0, found.needs or f"no {found.wish}")
            change |= found.change or {}
        if "hours" in change:  # of all of these wishes
            change["hours"] = request.hours.model_dump(mode="json")
        return listed(needs), change

    def _smallest_concession(self, wish: w.Wish) -> tuple[w.Wish, ...]:
        """Return wishes, including that one, without which there is a trip, and none of which could be kept."""
        others = [each for each in self._wishes if each is not wish]
        for size in range(1, len(others) + 1):
            for more in combinations(others, size):
                if self._can_do_without({wish, *more}) and not self._can_do_without(set(more)):
                    return tuple(each for each in self._wishes if each is wish or each in more)
        raise AssertionError(f"{wish} is in no conflict")

    def _can_do_without(self, wishes: set[w.Wish]) -> bool:
        return self._can_keep(frozenset(self._wishes) - wishes)

    def _named(self, wishes: tuple[w.Wish, ...]) -> tuple[str, ...]:
        return tuple(w.in_words(self._request, wish) for wish in wishes)
