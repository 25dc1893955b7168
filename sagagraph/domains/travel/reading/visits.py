"""The cities of a text, each with what it is for and how long one stays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.numerals import COUNT, count_of
from sagagraph.domains.travel.reading.partial import PartialStop
from sagagraph.domains.travel.reading.passage import Passage, Understood, pattern
from sagagraph.domains.travel.reading.roles import Role

if TYPE_CHECKING:
    from sagagraph.domains.travel.reading.nights import Duration
    from sagagraph.domains.travel.reading.places import Mention

_UP_TO_CITY: Final = pattern(r"\s*(?:(?:in|at|for|to|near|around|exploring|visiting|of|stay in|staying in)\s+)*(?:the\s+)?")
_IN_CITY: Final = pattern(r"\s*(?:in|at)\b")
_AFTER_CITY: Final = pattern(
    r"(?:[\s,:;(=-]|\b(?:for|stay|staying|spend|spending|there|where|we|i|i'll|we'll|will|would|like|want|to|about|around|roughly"
    r"|over|x|and\s+(?:stay|spend)(?:ing)?)\b)*"
)
_JOINS: Final = pattern(r"\s*(?:and|&|\+|plus)\s*(?:then\s*)?")
_NUMBER_BEFORE: Final = pattern(rf"(?<![\w.,])(?:(?P<count>{COUNT})|a couple)\s+(?:in|at)\s+$")
_NUMBER_AFTER: Final = pattern(
    rf"\s*(?:\(\s*(?P<a>{COUNT})\s*\)|[:=x]\s*(?P<b>{COUNT})\b|\s(?P<c>{COUNT})(?=\s*(?:[,;)→]|and\b|then\b|$)))"
)


@dataclass
class Visit:
    """A city where it is mentioned."""

    mention: Mention
    role: Role
    nights: int | None = None
    has_nights: bool = False
    """Something is said about the nights, be it exact or not."""

    def stays(self, nights: int | None) -> None:
        self.nights, self.has_nights = nights, True

    @property
    def city(self) -> str | None:
        return self.mention.city

    @property
    def stop(self) -> PartialStop:
        mention = self.mention
        return PartialStop(
            said=mention.said, city=mention.city, nights=self.nights, unknown=mention.unknown, candidates=mention.candidates
        )


def give_nights(visits: list[Visit], durations: tuple[Duration, ...], passage: Passage) -> Understood[list[Duration]]:
    """Each duration to the city beside it. Leaves those that stand beside none, or are for several."""
    loose, rest = [], passage
    for duration in durations:
        is_for_several = duration.is_total or duration.is_each or duration.is_listed
        visit = None if is_for_several else _visit_beside(duration, visits, passage)
        if visit is not None and _is_shared(duration, visit, visits, durations, passage):
            loose.append(replace(duration, is_total=True))
        elif visit is None:
            loose.append(duration)
        else:
            visit.stays(duration.nights)
    for visit in visits:
        if not visit.has_nights and _can_be_stayed_in(visit, visits):
            count = _number_beside(visit.mention, passage)
            if count is not None:
                visit.stays(count_of(count[0]))
                rest = rest.without(*count[1])
    return Understood(loose, rest)


def _visit_beside(duration: Duration, visits: list[Visit], passage: Passage) -> Visit | None:
    """`3 nights in Paris` or `Paris (3 nights)`; `Paris 3 nights Rome 2 nights` is read in the order of its cities."""
    after = next((visit for visit in visits if visit.mention.start >= duration.end), None)
    before = next((visit for visit in reversed(visits) if visit.mention.end <= duration.start), None)
    if after and not _UP_TO_CITY.fullmatch(passage.text, duration.end, after.mention.start):
        after = None
    if before and not (
        _can_be_stayed_in(before, visits) and _AFTER_CITY.fullmatch(passage.text, before.mention.end, duration.start)
    ):
        before = None
    if after is None or before is None:
        return after or before
    is_apart = "," in passage.text[before.mention.end : duration.start]
    return after if is_apart or before.has_nights or _IN_CITY.match(passage.text, duration.end) else before


def _is_shared(duration: Duration, visit: Visit, visits: list[Visit], durations: tuple[Duration, ...], passage: Passage) -> bool:
    """`10 days in Berlin and Cologne` may be ten in all: nobody says how long in Cologne."""
    following = next((each for each in visits if each.mention.start >= visit.mention.end), None)
    if visit.mention.start < duration.end or following is None or following.role is not Role.LISTED:
        return False
    between = passage.text[visit.mention.end : following.mention.start]
    has_own = any(each.start >= visit.mention.end for each in durations) or _number_beside(following.mention, passage) is not None
    return _JOINS.fullmatch(between) is not None and not has_own and following.city not in (None, visit.city)


def total_nights(stops: tuple[PartialStop, ...], loose: list[Duration]) -> int | None:
    """Said of the trip as a whole, and not of each stop."""
    totals = {each.nights for each in loose if not each.is_each and not each.is_listed and each.nights is not None}
    is_open = len(stops) > 1 and any(stop.nights is None for stop in stops)
    return totals.pop() if is_open and len(totals) == 1 else None


def _can_be_stayed_in(visit: Visit, visits: list[Visit]) -> bool:
    """Not where the trip starts, even where it is named once more as its end."""
    origins = {each.city for each in visits if each.role is Role.ORIGIN and each.city is not None}
    return visit.role not in (Role.ORIGIN, Role.LEFT_OUT) and visit.city not in origins


def _number_beside(mention: Mention, passage: Passage) -> tuple[str, tuple[int, int]] | None:
    """`2 in Cologne`, `Cologne (2)`, `Cologne: 2`: the number, and where it stands."""
    before = passage.lead(_NUMBER_BEFORE, mention.start)
    if before:
        return (before["count"], before.span("count")) if before["count"] else ("two", before.span())
    after = passage.trail(_NUMBER_AFTER, mention.end)
    name = after.lastgroup if after else None
    return (after[name], after.span(name)) if after and name else None


def with_loose_nights(
    stops: tuple[PartialStop, ...], loose: list[Duration], *, is_in_order: bool, is_answer: bool
) -> tuple[PartialStop, ...]:
    """Nights that are said beside no city: of the only stop, of each, or of all in their order.

    `is_answer`: no city is named, so they are for the stops that were asked about.
    """
    each = next((duration.nights for duration in loose if duration.is_each), None)
    if each is not None:
        return tuple(stop if stop.nights is not None and not is_answer else stop.lasting(each) for stop in stops)
    open_stops = [n for n, stop in enumerate(stops) if stop.nights is None]
    if len(stops) == 1 and len(loose) == 1 and (open_stops or is_answer):
        return (stops[0].lasting(loose[0].nights),)
    parts = [duration for duration in loose if not duration.is_total]
    is_complete = len(parts) == len(open_stops) and (is_in_order or all(duration.is_listed for duration in parts))
    if is_complete or (is_answer and len(parts) <= len(open_stops)):
        given = dict(zip(open_stops, (duration.nights for duration in parts), strict=False))
        return tuple(stop.lasting(given.get(n, stop.nights)) for n, stop in enumerate(stops))
    return stops
