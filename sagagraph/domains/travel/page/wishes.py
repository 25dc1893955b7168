"""Wishes: what was said of a trip, as phrases that the reader understands one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.request import Direct, Hours, Order
from sagagraph.domains.travel.text import PartialRequest
from sagagraph.domains.travel.wording import count_text, day_text, listed
from sagagraph.planning.page import Wish

STOP: Final = re.compile(r"stops\[(\d+)\]")
_STARS: Final = re.compile(r"stars\[(\d+)\]")
"""Of one stop alone."""


def wishes_of(said: PartialRequest) -> Iterator[Wish]:
    if said.origin:
        yield Wish("origin", "From", f"from {said.origin}", removable=False)
    for number, stop in enumerate(said.stops):
        nights = "" if stop.nights is None else f"{count_text(stop.nights, 'night')} in "
        yield Wish(f"stops[{number}]", "Stay", f"{nights}{stop.city or stop.said}", removable=len(said.stops) > 1)
    if said.one_way:
        yield Wish("return_to", "Back", "one way")
    elif said.return_to:
        yield Wish("return_to", "Back", f"back to {said.return_to}")
    yield from _dates(said)
    yield from _party(said)
    yield from _comfort(said)


def _dates(said: PartialRequest) -> Iterator[Wish]:
    if said.first and said.last:
        yield Wish("window", "When", f"between {day_text(said.first)} and {day_text(said.last)}")
    elif said.first or said.last:
        bound = f"not before {day_text(said.first)}" if said.first else f"by {day_text(said.last)}" if said.last else ""
        yield Wish("window", "When", bound)
    if said.depart:
        yield Wish("depart", "Leave", f"leaving on {day_text(said.depart)}")
    if said.not_on:
        yield Wish("not_on", "Not on", f"not on {' or '.join(each.capitalize() for each in said.not_on)}")
    if said.order is Order.ANY:
        yield Wish("order", "Order", "in any order")


def _party(said: PartialRequest) -> Iterator[Wish]:
    if said.travellers:
        yield Wish("travellers", "Who", count_text(said.travellers, "traveller"))
    travellers = said.travellers or 1
    if said.rooms or travellers > 1:
        rooms = said.rooms or -(-travellers // 2)
        yield Wish("rooms", "Rooms", count_text(rooms, "room"), removable=said.rooms is not None)
    amount = said.budget or said.budget_each
    if amount:
        each = " each" if said.budget_each else ""
        yield Wish("budget", "Budget", f"at most {money_text(amount, said.currency or 'USD')}{each}")


def _comfort(said: PartialRequest) -> Iterator[Wish]:
    if said.stars and said.stars != (1, 5):
        yield Wish("stars", "Hotels", _star_hotels(*said.stars))
    for number, stop in enumerate(said.stops):
        if stop.stars is not None:
            yield Wish(f"stars[{number}]", "Hotel", f"{_star_hotels(*stop.stars)} in {stop.city} only")
    if said.direct is Direct.REQUIRED:
        yield Wish("direct", "Flights", "direct flights only")
    elif said.direct is Direct.PREFERRED:
        yield Wish("direct", "Flights", "direct flights when possible")
    if said.insured:
        yield Wish("insured", "Insurance", "insure the fares")
    if said.hours and (limits := [*_limits("leave", said.hours.depart), *_limits("arrive", said.hours.arrive)]):
        yield Wish("hours", "Hours", listed(limits))


def _star_hotels(fewest: int, most: int) -> str:
    return f"{fewest} star hotels" if fewest == most else f"{fewest}-{most} star hotels"


def _limits(verb: str, hours: Hours) -> Iterator[str]:
    if hours.earliest:
        yield f"{verb} after {hours.earliest:%H:%M}"
    if hours.latest:
        yield f"{verb} before {hours.latest:%H:%M}"


_FIELDS: Final = {
    "window": ("first", "last"),
    "budget": ("budget", "budget_each", "currency", "no_limit"),
    "return_to": ("return_to", "one_way"),
}


def has(said: PartialRequest, key: str) -> bool:
    """Tell whether anything is said about it."""
    own = _STARS.fullmatch(key)
    if own is not None:
        return said.stops[int(own[1])].stars is not None
    return any(getattr(said, name) is not None for name in _FIELDS.get(key, (key,)))


def with_stars(said: PartialRequest, city: str, stars: tuple[int, int] | None) -> PartialRequest:
    """Return the request with other stars of the hotels in one city."""
    stops = tuple(stop.model_copy(update={"stars": stars}) if stop.city == city else stop for stop in said.stops)
    return said.model_copy(update={"stops": stops, "unread": ()})


def without(said: PartialRequest, key: str) -> PartialRequest:
    place = STOP.fullmatch(key)
    if place is not None:
        stops = tuple(stop for n, stop in enumerate(said.stops) if n != int(place[1]))
        return said.model_copy(update={"stops": stops, "unread": ()})
    own = _STARS.fullmatch(key)
    if own is not None:
        return with_stars(said, said.stops[int(own[1])].city or "", None)
    cleared = dict.fromkeys(_FIELDS.get(key, (key,)))
    doubts = tuple(doubt for doubt in said.doubts if doubt.field not in cleared)
    return said.model_copy(update={**cleared, "doubts": doubts, "unread": ()})
