"""Where the trip starts, which cities it visits and for how long, and where it ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.nights import Duration, find_durations
from sagagraph.domains.travel.reading.numerals import COUNT, count_of
from sagagraph.domains.travel.reading.partial import PartialStop, Question, unknown_city
from sagagraph.domains.travel.reading.passage import Passage, pattern
from sagagraph.domains.travel.reading.places import Mention, find_mentions
from sagagraph.domains.travel.reading.roles import Role, roles_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sagagraph.domains.travel.cities import Gazetteer
    from sagagraph.domains.travel.reading.partial import PartialRequest

_ROUND_TRIP: Final = pattern(
    r"\b(?:round[- ]?trip|return (?:trip|flights?|tickets?|journey))\b"
    r"|\band\s+(?:(?:then\s+)?(?:fly\s+|go\s+)?)(?:back|return)(?:\s+(?:home|again))?(?=\s*(?:[,.;!?)]|$|(?:on|by|with|for)\b))"
)
_ONE_WAY: Final = pattern(
    r"\bone[- ]?way\b|\bsingle tickets?\b|\b(?:no|without (?:a )?) ?return\b|\bno way back\b|\bwon't (?:return|come back)\b"
    r"|\bnot (?:coming|going|flying) back\b|\bnot returning\b"
)
_ADDED: Final = pattern(r"\b(?:add|adding|also|as well|additionally|plus|too)\b")
_IN_ORDER: Final = pattern(r"\brespectively\b")

_UP_TO_CITY: Final = pattern(r"\s*(?:(?:in|at|for|to|near|around|exploring|visiting|of|stay in|staying in)\s+)*(?:the\s+)?")
_IN_CITY: Final = pattern(r"\s*(?:in|at)\b")
_AFTER_CITY: Final = pattern(
    r"(?:[\s,:;(=-]|\b(?:for|stay|staying|spend|spending|there|where|we|i|i'll|we'll|will|would|like|want|to|about|around|roughly"
    r"|over|x|and\s+(?:stay|spend)(?:ing)?)\b)*"
)
_NUMBER_BEFORE: Final = pattern(rf"(?<![\w.,])(?P<count>{COUNT})\s+(?:in|at)\s+$")
_NUMBER_AFTER: Final = pattern(
    rf"\s*(?:\(\s*(?P<a>{COUNT})\s*\)|[:=x]\s*(?P<b>{COUNT})\b|\s(?P<c>{COUNT})(?=\s*(?:[,;)→]|and\b|then\b|$)))"
)


@dataclass(frozen=True)
class Route:
    """None: nothing is said about it."""

    origin: str | None = None
    stops: tuple[PartialStop, ...] | None = None
    return_to: str | None = None
    one_way: bool | None = None
    doubts: tuple[Question, ...] = ()


@dataclass
class _Visit:
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
        return PartialStop(said=mention.said, city=mention.city, nights=self.nights, unknown=mention.unknown)


def read_route(passage: Passage, cities: Gazetteer, known: PartialRequest, *, asked: str | None) -> Route:
    """`asked`: the field of the question that the text may be the answer to."""
    one_way = True if passage.has(_ONE_WAY) else False if passage.has(_ROUND_TRIP) else None
    rest = passage
    for words in (_ONE_WAY, _ROUND_TRIP):
        for match in rest.matches(words):
            rest = rest.without(*match.span())
    durations = find_durations(rest)
    mentions = find_mentions(durations.rest, cities)
    visits = [_Visit(*pair) for pair in zip(mentions, roles_of(durations.rest, mentions), strict=True)]
    if asked == "origin" and [visit.role for visit in visits] == [Role.BARE]:
        visits[0].role = Role.ORIGIN
    loose = _give_nights(visits, durations.meaning, durations.rest)
    route = _assembled(visits, known, is_added=passage.has(_ADDED))
    stops = route.stops if route.stops is not None else known.stops
    stops = _with_loose_nights(stops, loose, is_in_order=passage.has(_IN_ORDER) or not visits)
    return replace(route, stops=None if stops == known.stops else stops, one_way=one_way)


# -- nights --------------------------------------------------------------------------------------------------------------------


def _give_nights(visits: list[_Visit], durations: Iterable[Duration], passage: Passage) -> list[Duration]:
    """Each duration to the city beside it. Returns those that stand beside none."""
    loose = []
    for duration in durations:
        visit = None if duration.is_total or duration.is_each else _visit_beside(duration, visits, passage)
        if visit is None:
            loose.append(duration)
        else:
            visit.stays(duration.nights)
    for visit in visits:
        if not visit.has_nights and visit.role not in (Role.ORIGIN, Role.LEFT_OUT):
            count = _number_beside(visit.mention, passage)
            if count is not None:
                visit.stays(count)
    return loose


def _visit_beside(duration: Duration, visits: list[_Visit], passage: Passage) -> _Visit | None:
    """`3 nights in Paris` or `Paris (3 nights)`; `Paris 3 nights Rome 2 nights` is read in the order of its cities."""
    after = next((visit for visit in visits if visit.mention.start >= duration.end), None)
    before = next((visit for visit in reversed(visits) if visit.mention.end <= duration.start), None)
    if after and not _UP_TO_CITY.fullmatch(passage.text, duration.end, after.mention.start):
        after = None
    if before and (
        before.role in (Role.ORIGIN, Role.LEFT_OUT) or not _AFTER_CITY.fullmatch(passage.text, before.mention.end, duration.start)
    ):
        before = None
    if after is None or before is None:
        return after or before
    is_apart = "," in passage.text[before.mention.end : duration.start]
    return after if is_apart or before.has_nights or _IN_CITY.match(passage.text, duration.end) else before


def _number_beside(mention: Mention, passage: Passage) -> int | None:
    """`2 in Cologne`, `Cologne (2)`, `Cologne: 2`."""
    before = passage.lead(_NUMBER_BEFORE, mention.start)
    if before:
        return count_of(before["count"])
    after = passage.trail(_NUMBER_AFTER, mention.end)
    return count_of(after["a"] or after["b"] or after["c"]) if after else None


def _with_loose_nights(stops: tuple[PartialStop, ...], loose: list[Duration], *, is_in_order: bool) -> tuple[PartialStop, ...]:
    """Nights that are said beside no city: of the only stop, of each, or of all in their order."""
    each = next((duration.nights for duration in loose if duration.is_each), None)
    if each is not None:
        return tuple(stop if stop.nights is not None else stop.lasting(each) for stop in stops)
    open_stops = [n for n, stop in enumerate(stops) if stop.nights is None]
    if len(stops) == 1 and len(loose) == 1 and (open_stops or is_in_order):
        return (stops[0].lasting(loose[0].nights),)
    parts = [duration for duration in loose if not duration.is_total]
    is_list = len({duration.start for duration in parts}) == 1 and len(parts) > 1
    if len(parts) == len(open_stops) and (is_list or is_in_order):
        given = dict(zip(open_stops, (duration.nights for duration in parts), strict=True))
        return tuple(stop.lasting(given.get(n, stop.nights)) for n, stop in enumerate(stops))
    return stops


# -- cities --------------------------------------------------------------------------------------------------------------------


def _assembled(visits: list[_Visit], known: PartialRequest, *, is_added: bool) -> Route:
    visits = _with_alternatives_as_one(visits)
    doubts: list[Question] = []
    origin = _origin(visits, doubts)
    return_to = _return(visits, doubts)
    going = [visit for visit in visits if _is_on_the_way(visit, origin)]
    left_out = {visit.city for visit in visits if visit.role is Role.LEFT_OUT}
    unclear = _unclear_order(going, has_origin=(origin or known.origin) is not None)
    if unclear is not None:
        return Route(origin, None, return_to, doubts=(*doubts, unclear))
    said = _in_order(going, doubts)
    if said and said[-1].city is not None and said[-1].city == origin and said[-1].nights is None:
        return_to = said.pop().city
    stops = _merged(said, going, known.stops, is_added=is_added)
    if left_out:
        stops = tuple(stop for stop in (known.stops if stops is None else stops) if stop.city not in left_out)
    return Route(origin, stops, return_to, doubts=tuple(doubts))


def _with_alternatives_as_one(visits: list[_Visit]) -> list[_Visit]:
    """`Paris or Rome` is a place that is not known yet."""
    joined: list[_Visit] = []
    for visit in visits:
        if visit.role is Role.ALTERNATIVE and joined:
            earlier = joined.pop()
            said = f"{earlier.mention.said} or {visit.mention.said}"
            mention = Mention(earlier.mention.start, visit.mention.end, said, None, said)
            has_nights = earlier.has_nights or visit.has_nights
            joined.append(_Visit(mention, earlier.role, earlier.nights or visit.nights, has_nights))
        else:
            joined.append(visit)
    return joined


def _origin(visits: list[_Visit], doubts: list[Question]) -> str | None:
    """`from Paris` after `to Paris` says nothing new."""
    reached: set[str | None] = set()
    origins: list[Mention] = []
    for visit in visits:
        if visit.role is Role.ORIGIN and visit.city not in reached:
            origins.append(visit.mention)
        reached.add(visit.city)
    unknown = next((mention for mention in origins if mention.city is None), None)
    if unknown is not None:
        doubts.append(unknown_city("origin", unknown.unknown))
        return None
    named = list(dict.fromkeys(mention.city for mention in origins if mention.city))
    if len(named) > 1:
        doubts.append(Question(field="origin", text=f"Where does the trip start: {' or '.join(named)}?"))
        return None
    return named[0] if named else None


def _return(visits: list[_Visit], doubts: list[Question]) -> str | None:
    """`back to Berlin for a night` is a stop."""
    returns = [visit.mention for visit in visits if visit.role is Role.RETURN and not visit.has_nights]
    if not returns:
        return None
    if returns[-1].city is None:
        doubts.append(unknown_city("return_to", returns[-1].unknown))
    return returns[-1].city


def _is_on_the_way(visit: _Visit, origin: str | None) -> bool:
    match visit.role:
        case Role.ORIGIN | Role.LEFT_OUT:
            return False
        case Role.RETURN:
            return visit.has_nights
        case Role.NEXT:
            return True
        case _:
            return visit.city is None or visit.city != origin


def _unclear_order(going: list[_Visit], *, has_origin: bool) -> Question | None:
    """A mere list of cities may begin with the start of the trip."""
    cities = list(dict.fromkeys(visit.mention.said for visit in going))
    is_between = any(visit.role is Role.BETWEEN for visit in going)
    is_list = all(visit.role in (Role.BARE, Role.COMMA) and not visit.has_nights for visit in going)
    if len(cities) > 1 and (is_between or (is_list and not has_origin)):
        return Question(
            field="stops", text=f"{', '.join(cities)}: where does the trip start, and in which order are the others visited?"
        )
    return None


def _in_order(going: list[_Visit], doubts: list[Question]) -> list[PartialStop]:
    """A city that is mentioned again is the same stop, unless one travels there again."""
    stops: list[PartialStop] = []
    for visit in going:
        same = [n for n, stop in enumerate(stops) if visit.city is not None and stop.city == visit.city]
        travels_again = visit.role is Role.NEXT and same != [len(stops) - 1]
        if not same or (travels_again and not _completes(visit, stops, same)):
            stops.append(visit.stop)
        elif visit.has_nights:
            _set_nights(stops, same, visit, doubts)
    return stops


def _completes(visit: _Visit, stops: list[PartialStop], same: list[int]) -> bool:
    return visit.has_nights and any(stops[n].nights is None for n in same)


def _set_nights(stops: list[PartialStop], same: list[int], visit: _Visit, doubts: list[Question]) -> None:
    n = next((n for n in same if stops[n].nights is None), same[0])
    before = stops[n].nights
    if before is not None and before != visit.nights:
        doubts.append(Question(field=f"stops[{n}].nights", text=f"How many nights in {visit.city}: {before} or {visit.nights}?"))
    stops[n] = stops[n].lasting(visit.nights if before in (None, visit.nights) else None)


def _merged(
    said: list[PartialStop], going: list[_Visit], known: tuple[PartialStop, ...], *, is_added: bool
) -> tuple[PartialStop, ...] | None:
    """What is said now, put together with the stops that were said before."""
    if not said:
        return None
    known_cities = {stop.city for stop in known}
    fresh = [stop for stop in said if stop.city not in known_cities]
    travels = any(visit.role is Role.NEXT for visit in going)
    if known and (is_added or (not fresh and not travels)):
        return (*(_updated(stop, said) for stop in known), *fresh)
    gap = next((n for n, stop in enumerate(known) if stop.city is None), None)
    if gap is not None and len(said) == 1:
        filled = said[0].lasting(said[0].nights or known[gap].nights)
        return (*known[:gap], filled, *known[gap + 1 :])
    return tuple(_completed(stop, known) for stop in said)


def _updated(stop: PartialStop, said: list[PartialStop]) -> PartialStop:
    again = next((each for each in said if each.city == stop.city and each.nights is not None), None)
    return stop if again is None else stop.lasting(again.nights)


def _completed(stop: PartialStop, known: tuple[PartialStop, ...]) -> PartialStop:
    """With the nights that were said before, where none are said now."""
    before = next((each.nights for each in known if each.city == stop.city and each.city is not None), None)
    return stop if stop.nights is not None else stop.lasting(before)
