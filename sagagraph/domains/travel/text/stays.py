"""Stays: the cities of a sentence, what each is for by the words around it, and for how many nights."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.partial import PartialStop, with_nights
from sagagraph.domains.travel.request import LONGEST_STAY
from sagagraph.language.calendar import Expression
from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number
from sagagraph.language.passage import LEAD
from sagagraph.language.people import Company
from sagagraph.language.places import Place
from sagagraph.language.quantities import NIGHTS, Quantity

if TYPE_CHECKING:
    import re
    from collections.abc import Container

    from sagagraph.language.passage import Found, Passage


class Role(Enum):
    """Role of a city in a sentence; the words are examples."""

    ORIGIN = "from"
    RETURN = "back to"
    LEFT_LAST = "back from"
    NEXT = "to, then, →"
    VIA = "via"
    PLACE = "in, visit"
    LISTED = "and"
    COMMA = ","
    ALTERNATIVE = "or"
    BETWEEN = "between"
    BEFORE = "before"
    AFTER = "after"
    LEFT_OUT = "without"
    REPLACED = "instead of"
    BARE = ""


WHERE: Final = (Role.BARE, Role.PLACE, Role.NEXT, Role.LISTED, Role.COMMA, Role.VIA)
"""Of a city to stay in, as far as the words before it tell."""
_SAYS: Final = Forms(__file__, "stays")
_OUT: Final = re.compile(r"\s+out\b(?! of\b(?! (?:it|the|our)\b))")
_ROLES: Final = Forms(__file__, "stays.roles")
_LEADS: Final = tuple((Role[name.partition(" ")[0].upper()], _ROLES[name]) for name in _ROLES)
"""The words between a city and the one before it decide; the first that fit."""


@dataclass(frozen=True)
class Stay:
    """Stay: how many nights, and where in the text."""

    start: int
    end: int
    nights: int | None
    """None: not said exactly."""
    kind: str = ""
    """`total` of the whole trip, `each` of every stop, `listed`: one of several with the same unit."""
    said: str = ""
    change: int | None = None
    """How many nights more, or, below zero, fewer than before."""
    about: int | None = None
    """What can be assumed, where it is not said exactly: the upper end, or three for a few."""
    unit: str = ""


@dataclass
class Visit:
    """Visit: a city where it is mentioned."""

    start: int
    end: int
    place: Place
    role: Role
    nights: int | None = None
    has_nights: bool = False
    """Something is said about the nights, be it exact or not."""
    changed: Stay | None = None
    """Where it is said how many more or fewer they are."""

    def stays(self, stay: Stay) -> None:
        self.nights, self.has_nights = stay.nights, True
        self.changed = stay if stay.change is not None else None

    @property
    def city(self) -> str | None:
        return self.place.city

    @property
    def stop(self) -> PartialStop:
        return PartialStop(nights=self.nights, **asdict(self.place))


# -- roles ---------------------------------------------------------------------------------------------------------------


def find_visits(passage: Passage) -> list[Visit]:
    visits, at = [], 0
    for found in passage.find(_SAYS.place):
        place = found.get("place", Place)
        if place is not None:
            is_out = _OUT.match(passage.text, found.end) is not None  # `leave Ghent out`
            lead = passage.text[max(at, found.start - 60) : found.start] + "out " * is_out
            role = next((role for role, words in _LEADS if words.search(lead)), Role.BARE)
            visits.append(Visit(found.start, found.end, place, role))
            at = found.end
    _correct_roles(visits, passage.text)
    return visits


def _correct_roles(visits: list[Visit], text: str) -> None:
    """Correct roles by the words around a city: in `Boston to Paris`, those after it."""
    into = next((n for n, visit in enumerate(visits) if _leads_to(visit, _SAYS.into, text)), None)
    for n, visit in enumerate(visits):
        if visit.role is Role.ORIGIN and into is not None and n > into and _leads_to(visit, _SAYS.out_of, text):
            visit.role = Role.LEFT_LAST
    reached: set[str | None] = set()
    named = [visit.city for visit in visits]
    origins = sum(visit.role is Role.ORIGIN for visit in visits)
    for visit in visits:
        if visit.role is Role.ORIGIN and visit.city in reached - {None}:
            visit.role = Role.LEFT_LAST
        elif visit.role is Role.ORIGIN and max(origins, named.count(visit.city)) > 1 and _leads_to(visit, _SAYS.lives, text):
            visit.role = Role.PLACE  # somebody else does
        reached |= {visit.city} if visit.role in (Role.NEXT, Role.PLACE) else set()
    if not has_role(Role.ORIGIN, visits):
        for n, (visit, following) in enumerate(pairwise(visits)):
            is_led = visit.role is Role.COMMA or _leads_to(visit, _SAYS.leads, text)
            is_again = visit.role is Role.COMMA and following.city in named[:n]  # `Easter in Rome, Leeds to Rome`
            is_first = visit.role is Role.BARE or (n == 0 and is_led) or is_again
            joint = _SAYS.pair if len(visits) == 2 else _SAYS.link  # `boston lisbon`, `Boston/Lisbon`
            if is_first and joint.fullmatch(text, visit.end, following.start):
                visit.role = Role.ORIGIN
                break
    if visits and visits[0].role is Role.LEFT_LAST and _SAYS.return_from.search(text, 0, visits[0].start):
        visits[0].role = Role.ORIGIN
    if len(visits) == 2 and visits[1].role is Role.LEFT_LAST and _SAYS.returns_from.search(text, 0, visits[1].start):
        visits[1].role = Role.ORIGIN  # `Prague, return from Leeds`
    for before, visit in pairwise(visits):
        if visit.role is Role.NEXT and before.role is Role.LEFT_LAST and _SAYS.link.fullmatch(text, before.end, visit.start):
            visit.role = Role.RETURN
    if not has_role(Role.ORIGIN, visits) and len(visits) > 1 and visits[0].role is not Role.NEXT:
        ends = {visit.city for visit in visits if visit.role is Role.RETURN} | ({visits[-1].city} if len(visits) > 2 else set())
        if visits[0].city is not None and visits[0].city in ends:
            visits[0].role = Role.ORIGIN
    going = [visit for visit in visits if visit.role in WHERE]
    for n, visit in enumerate(going[:-1]):
        if text[visit.end :].lstrip().startswith("?") and visit.city not in [each.city for each in going[n + 1 :]]:
            visit.role = Role.LEFT_OUT  # `Ghent? The kids would like Copenhagen more.`


def _leads_to(visit: Visit, words: re.Pattern[str], text: str) -> bool:
    return words.search(text, max(0, visit.start - 3 * LEAD), visit.start) is not None


def has_role(role: Role, visits: list[Visit]) -> bool:
    return any(visit.role is role for visit in visits)


def corrected(visits: list[Visit], text: str, known: Container[str | None]) -> list[Visit]:
    """Correct `Lisbon for 5 nights. Actually make that Porto`: the city that is said last, in the place of the one before it."""
    left: list[Visit] = []
    for visit in visits:
        if left and left[-1].role is not Role.RETURN and _SAYS.meant_after.match(text, visit.end):
            left[-1].place = visit.place  # `from Maastricht? From Cologne rather`
            continue
        is_meant = _leads_to(visit, _SAYS.meant, text)
        if is_meant and visit.role is Role.ORIGIN:
            left = [each for each in left if each.role is not Role.ORIGIN]
        if is_meant and (either := [each for each in left if each.role is Role.ALTERNATIVE]):
            left.remove(either[-1])
        before = [each for each in left if each.role in WHERE] if is_meant and visit.role is not Role.ORIGIN else []
        if not before:
            left.append(visit)
        elif before[-1].city in known:
            before[-1].role = Role.REPLACED
            left.append(visit)
        else:
            visit.role, visit.nights = before[-1].role, visit.nights or before[-1].nights
            visit.has_nights = visit.has_nights or before[-1].has_nights
            left[left.index(before[-1])] = visit
    return left


# -- nights --------------------------------------------------------------------------------------------------------------


def tag_nights(passage: Passage) -> None:
    """Tag what else means nights in a request for a trip: weekends, and numbers beside a city."""
    passage.tag("span", _SAYS.day_out, lambda _: Quantity((Decimal(0),), "night"))
    dates = passage.values(Expression)
    if len(dates) < 2 and not any(each.is_range for each in dates) and not passage.has(_SAYS.weekdays):
        passage.tag("span", _SAYS.weekend, lambda found: Quantity((Decimal(3 if found["long"] else 2),), "night"))
    passage.tag("span", _SAYS.package, _package)
    for n in "1234" if passage.has(_SAYS.nights_elsewhere) else "123":
        passage.tag("span", _SAYS[f"count {n}"], _nights_beside, "count")


def _package(found: Found) -> Quantity | None:
    """Read packages: `5 days and 4 nights` are four nights; `4 days, 2 nights` are two durations."""
    spans = {each.unit: each for each in found.values(Quantity) if each.count is not None and not each.change}
    days, nights = spans.get("day"), spans.get("night")
    return nights if days and nights and (days.count or 0) - (nights.count or 0) in (0, 1) else None


def _nights_beside(found: Found) -> Quantity | None:
    company = found.get("company", Company)
    if company is not None:
        is_number = _SAYS.for_a_number.fullmatch(found.passage.said(found["count"])) is not None
        return Quantity((Decimal(company.count),), "night") if is_number and company.count and not company.is_more else None
    counts = [number.count for number in found.values(Number)]
    if counts == [1] and found.values(Number)[0].is_word and not found.led_by(_SAYS.before_one):
        return None
    if counts and (counts[0] is None or counts[0] > LONGEST_STAY):
        return None
    return Quantity((Decimal(counts[0] or 0) if counts else Decimal(2),), "night")


def find_stays(passage: Passage, *, has_days: bool = False) -> list[Stay]:
    """Find stays. `has_days`: it is said when the trip is, so that `in two weeks` says how long it lasts."""
    return [stay for found in passage.find(_SAYS.stay) for stay in _stays_of(found, has_days=has_days)]


def take_stays(passage: Passage) -> None:
    """Take all cities and stays."""
    passage.take(_SAYS.place)
    passage.take(_SAYS.stay, lambda found: _stays_of(found) != [])


def _stays_of(found: Found, *, has_days: bool = True) -> list[Stay]:
    """Return several stays for a list with one unit; none if it is not a stay: `in two weeks`, `a week later`."""
    span = found.get("span", Quantity)
    within = found.led_by(_SAYS.within)
    if span is None or span.unit not in NIGHTS or span.change in ("later", "earlier"):
        return []
    if within and not (has_days and within[0].strip().lower() in ("in", "within")):
        return []
    kind = "total" if found["trip"] or found["total"] or within else "each" if found["each"] or found["apiece"] else ""
    counts: list[int | None] = [count * NIGHTS[span.unit] for count in span.counts]
    about = max(span.counts, default=3) * NIGHTS[span.unit]
    if span.link == "or" or span.bound == "least" or not counts:
        counts = [None]
    kind = kind or ("listed" if len(counts) > 1 else "")
    delta = span.delta * NIGHTS[span.unit]
    change = delta if delta and span.change and not span.bound else None
    return [Stay(found.start, found.end, nights, kind, found.said, change, about, span.unit) for nights in counts]


def give_nights(visits: list[Visit], stays: list[Stay], text: str) -> list[Stay]:
    """Give each stay to the city beside it; return those that are beside none, or are for several."""
    origins = {each.city for each in visits if each.role is Role.ORIGIN and each.city is not None}
    places = [each for each in visits if _can_be_stayed_in(each, origins) and each.role in WHERE]
    first = stays[0] if stays and not any(each.kind for each in stays) else None
    if first and 1 < len(places) == len(stays) and (places[0].end <= first.start or _visit_beside(first, visits, origins, text)):
        for place, stay in zip(places, stays, strict=True):
            place.stays(stay)  # `Paris for our honeymoon! 8 nights from 6 June, then 4 nights in Nice`
        return []
    loose = []
    for stay in stays:
        visit = None if stay.kind else _visit_beside(stay, visits, origins, text)
        if visit is not None and _is_of_all(stay, places, stays):
            loose.append(replace(stay, kind="total", nights=stay.nights or stay.about))
        elif visit is None:
            loose.append(stay)
        else:
            visit.stays(stay)
    return loose


def _visit_beside(stay: Stay, visits: list[Visit], origins: Container[str | None], text: str) -> Visit | None:
    """Read `3 nights in Paris` or `Paris (3 nights)`; `Paris 3 nights Rome 2 nights` is read in the order of its cities."""
    after = next((visit for visit in visits if visit.start >= stay.end), None)
    before = next((visit for visit in reversed(visits) if visit.end <= stay.start), None)
    if after and (after.role is Role.ORIGIN or not _SAYS.up_to_city.fullmatch(text, stay.end, after.start)):
        after = None
    if before and not (_can_be_stayed_in(before, origins) and _SAYS.after_city.fullmatch(text, before.end, stay.start)):
        before = None
    if after is None or before is None:
        return after or before
    is_apart = "," in text[before.end : stay.start] or before.role is Role.LEFT_LAST
    return after if is_apart or before.has_nights or _SAYS.in_city.match(text, stay.end) else before


def _is_of_all(stay: Stay, places: list[Visit], stays: list[Stay]) -> bool:
    """Tell whether the only duration is that of a list of cities: `10 days in Berlin and Cologne`, `Tokyo and Kyoto, 10 days`."""
    if len(stays) > 1 or len(places) < 2:
        return False
    if places[0].start >= stay.end:
        is_listed = places[-1].role is Role.LISTED or len(places) > 2
        return is_listed and places[1].role in (Role.LISTED, Role.COMMA)
    return places[-1].end <= stay.start and places[-1].role in (Role.LISTED, Role.COMMA)


def _can_be_stayed_in(visit: Visit, origins: Container[str | None]) -> bool:
    """Tell whether one can stay there: not where the trip starts, even if that is named once more as its end."""
    return visit.role not in (Role.ORIGIN, Role.LEFT_OUT) and visit.city not in origins


def with_loose_nights(
    stops: tuple[PartialStop, ...], loose: list[Stay], *, named: Container[str | None], is_answer: bool
) -> tuple[PartialStop, ...]:
    """Assign nights that are beside no city: to the only stop, to each, or to all in order.

    `named`: the cities of which the sentence says nothing else. `is_answer`: there are none, so the nights are for the stops
    that were asked about.
    """
    each = next((stay.nights for stay in loose if stay.kind == "each"), None)
    if each is not None:
        return tuple(stop.lasting(each) if is_answer or stop.nights is None or stop.city in named else stop for stop in stops)
    open_stops = [n for n, stop in enumerate(stops) if stop.nights is None]
    if len(stops) == 1 and len({stay.nights for stay in loose}) == 1 and (open_stops or is_answer):
        return (stops[0].lasting(loose[0].nights),)
    parts = [stay for stay in loose if stay.kind != "total"]
    taken = sum(stop.nights or 0 for stop in stops)
    is_part = len(parts) > 1 or all(stay.kind == "listed" or (stay.nights or 0) < taken for stay in parts)
    is_complete = len(parts) == len(open_stops) and is_part
    if is_complete or (is_answer and len(parts) <= len(open_stops)):
        return with_nights(stops, dict(zip(open_stops, (stay.nights for stay in parts), strict=False)))
    return stops
