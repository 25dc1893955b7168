"""Where the trip starts, which cities it visits and for how long, and where it ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.nights import find_durations
from sagagraph.domains.travel.reading.partial import PartialStop, Question, unknown_city
from sagagraph.domains.travel.reading.passage import Passage, pattern
from sagagraph.domains.travel.reading.places import Mention, find_mentions
from sagagraph.domains.travel.reading.revision import on_the_way, unclear_place, without_legs
from sagagraph.domains.travel.reading.roles import Role, roles_of
from sagagraph.domains.travel.reading.unread import left_unread
from sagagraph.domains.travel.reading.visits import Visit, give_nights, total_nights, with_loose_nights

if TYPE_CHECKING:
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
_ADDED: Final = pattern(r"\b(?:add|adding|another|also|as well|additionally|plus|too)\b")
_SWAPPED: Final = pattern(r"\b(?:swap|switch|exchange)")
_ENDS: Final = {"origin": Role.ORIGIN, "return_to": Role.RETURN}
_IN_ORDER: Final = pattern(r"\brespectively\b")


@dataclass(frozen=True)
class Route:
    """None: nothing is said about it."""

    origin: str | None = None
    stops: tuple[PartialStop, ...] | None = None
    return_to: str | None = None
    one_way: bool | None = None
    unread: tuple[str, ...] = ()
    """What is left when all of it is understood."""
    total_nights: int | None = None
    """Of all stops together."""
    doubts: tuple[Question, ...] = ()


def read_route(passage: Passage, cities: Gazetteer, known: PartialRequest, *, asked: str | None) -> Route:
    """`asked`: the field of the question that the text may be the answer to."""
    one_way = True if passage.has(_ONE_WAY) else False if passage.has(_ROUND_TRIP) else None
    rest = passage
    for words in (_ONE_WAY, _ROUND_TRIP):
        for match in rest.matches(words):
            rest = rest.without(*match.span())
    durations = find_durations(rest)
    mentions = find_mentions(durations.rest, cities)
    visits = [Visit(*pair) for pair in zip(mentions, roles_of(durations.rest, mentions), strict=True)]
    if asked in _ENDS and [visit.role for visit in visits] == [Role.BARE]:
        visits[0].role = _ENDS[asked]
    loose, rest = (given := give_nights(visits, durations.meaning, durations.rest)).meaning, given.rest
    visits, legs = without_legs(visits, known, passage)
    unclear = None if passage.has(_ADDED) else unclear_place(visits, known, passage, asked=asked, is_leg=bool(legs))
    is_added = passage.has(_ADDED) or on_the_way(visits, known, passage)
    if unclear is not None and not is_added:
        return Route(one_way=one_way, unread=legs, doubts=(unclear,))
    route = _assembled(visits, known, is_added=is_added, is_swap=passage.has(_SWAPPED))
    stops = route.stops if route.stops is not None else known.stops
    is_answer = not mentions and known.stops != ()
    stops = with_loose_nights(stops, loose, is_in_order=passage.has(_IN_ORDER), is_answer=is_answer)
    total = total_nights(stops, loose)
    if stops and route.return_to is not None and route.return_to == stops[-1].city:
        route, one_way = replace(route, return_to=None), True
    return replace(
        route,
        stops=None if stops == known.stops else stops,
        one_way=one_way,
        total_nights=total,
        unread=(*route.unread, *legs, *_not_left_out(visits, stops, known), *left_unread(_without_cities(rest, mentions))),
    )


def _not_left_out(visits: list[Visit], stops: tuple[PartialStop, ...], known: PartialRequest) -> tuple[str, ...]:
    """Where planes change is not for a wish to say yet."""
    stays = {stop.city for stop in (*stops, *known.stops)}
    return tuple(f"without {visit.mention.said}" for visit in visits if visit.role is Role.LEFT_OUT and visit.city not in stays)


def _without_cities(passage: Passage, mentions: tuple[Mention, ...]) -> Passage:
    for mention in mentions:
        passage = passage.without(mention.start, mention.end)
    return passage


def _assembled(visits: list[Visit], known: PartialRequest, *, is_added: bool, is_swap: bool) -> Route:
    replaced = _replaced(visits, known, is_swap=is_swap)
    if replaced is not None:
        return replaced
    visits = [visit for visit in _with_alternatives_as_one(visits) if visit.role is not Role.REPLACED]
    doubts: list[Question] = []
    origin = _origin(visits, doubts)
    return_to = _return(visits, doubts)
    going = _by_way([visit for visit in visits if _is_on_the_way(visit, origin)])
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


def _replaced(visits: list[Visit], known: PartialRequest, *, is_swap: bool) -> Route | None:
    """`Rome instead of Paris`, `change Paris to Rome`: for the same nights, unless others are said."""
    old = [visit for visit in visits if visit.role is Role.REPLACED]
    new = [visit for visit in visits if visit.role is not Role.REPLACED]
    if len(old) != 1 or len(new) != 1 or new[0].city is None:
        return None
    if old[0].city == known.origin is not None and any(stop.city == new[0].city for stop in known.stops):
        return Route(unread=(f"{old[0].mention.said} and {new[0].mention.said}",))
    if old[0].city == known.origin is not None:
        return Route(origin=new[0].city)
    if all(stop.city != old[0].city for stop in known.stops):
        return None
    is_there = any(stop.city == new[0].city for stop in known.stops)
    if new[0].city == known.origin or (is_there and not is_swap):
        return Route(unread=(f"{old[0].mention.said} and {new[0].mention.said}",))
    swapped = {old[0].city: new[0].city, new[0].city: old[0].city}
    if is_there:
        by_city = {stop.city: stop for stop in known.stops}
        return Route(stops=tuple(by_city[swapped.get(stop.city, stop.city)] for stop in known.stops))
    stops = tuple(new[0].stop.lasting(new[0].nights or stop.nights) if stop.city == old[0].city else stop for stop in known.stops)
    return Route(stops=stops)


def _with_alternatives_as_one(visits: list[Visit]) -> list[Visit]:
    """`Paris or Rome` is a place that is not known yet."""
    joined: list[Visit] = []
    for visit in visits:
        if visit.role is Role.ALTERNATIVE and joined:
            earlier = joined.pop()
            said = f"{earlier.mention.said} or {visit.mention.said}"
            mention = Mention(earlier.mention.start, visit.mention.end, said, None, said)
            has_nights = earlier.has_nights or visit.has_nights
            joined.append(Visit(mention, earlier.role, earlier.nights or visit.nights, has_nights))
        else:
            joined.append(visit)
    return joined


def _origin(visits: list[Visit], doubts: list[Question]) -> str | None:
    """`from Paris` after `to Paris` says nothing new."""
    reached: set[str | None] = set()
    origins: list[Mention] = []
    for visit in visits:
        if visit.role is Role.ORIGIN and visit.city not in reached:
            origins.append(visit.mention)
        if visit.role in (Role.NEXT, Role.PLACE):
            reached.add(visit.city)
    unknown = next((mention for mention in origins if mention.city is None), None)
    if unknown is not None:
        doubts.append(unknown_city("origin", unknown.unknown, unknown.candidates))
        return None
    named = list(dict.fromkeys(mention.city for mention in origins if mention.city))
    if len(named) > 1:
        doubts.append(Question(field="origin", text=f"Where does the trip start: {' or '.join(named)}?"))
        return None
    return named[0] if named else None


def _return(visits: list[Visit], doubts: list[Question]) -> str | None:
    """`back to Berlin for a night` is a stop."""
    returns = [visit.mention for visit in visits if visit.role is Role.RETURN and not visit.has_nights]
    if not returns:
        return None
    if returns[-1].city is None:
        doubts.append(unknown_city("return_to", returns[-1].unknown, returns[-1].candidates))
    return returns[-1].city


def _by_way(going: list[Visit]) -> list[Visit]:
    """`to Paris via Reykjavik` comes to Reykjavik first."""
    ordered: list[Visit] = []
    for visit in going:
        follows = ordered and ordered[-1].role in (Role.NEXT, Role.BARE) and visit.role is Role.VIA
        ordered.insert(len(ordered) - 1 if follows else len(ordered), visit)
    return ordered


def _is_on_the_way(visit: Visit, origin: str | None) -> bool:
    match visit.role:
        case Role.ORIGIN | Role.LEFT_OUT:
            return False
        case Role.RETURN:
            return visit.has_nights
        case Role.NEXT | Role.VIA:
            return True
        case _:
            return visit.city is None or visit.city != origin


def _unclear_order(going: list[Visit], *, has_origin: bool) -> Question | None:
    """A mere list of cities may begin with the start of the trip."""
    cities = list(dict.fromkeys(visit.mention.said for visit in going))
    is_between = any(visit.role is Role.BETWEEN for visit in going)
    is_list = all(visit.role in (Role.BARE, Role.COMMA) and not visit.has_nights for visit in going)
    if len(cities) > 1 and (is_between or (is_list and not has_origin)):
        return Question(
            field="stops", text=f"{', '.join(cities)}: where does the trip start, and in which order are the others visited?"
        )
    return None


def _in_order(going: list[Visit], doubts: list[Question]) -> list[PartialStop]:
    """A city that is mentioned again is the same stop, unless one travels there again."""
    stops: list[PartialStop] = []
    for visit in going:
        same = [n for n, stop in enumerate(stops) if visit.city is not None and stop.city == visit.city]
        travels_again = visit.role in (Role.NEXT, Role.VIA) and same != [len(stops) - 1]
        if not same or (travels_again and not _completes(visit, stops, same)):
            stops.append(visit.stop)
        elif visit.has_nights:
            _set_nights(stops, same, visit, doubts)
    return stops


def _completes(visit: Visit, stops: list[PartialStop], same: list[int]) -> bool:
    return visit.has_nights and any(stops[n].nights is None for n in same)


def _set_nights(stops: list[PartialStop], same: list[int], visit: Visit, doubts: list[Question]) -> None:
    n = next((n for n in same if stops[n].nights is None), same[0])
    before = stops[n].nights
    if before is not None and before != visit.nights:
        doubts.append(Question(field=f"stops[{n}].nights", text=f"How many nights in {visit.city}: {before} or {visit.nights}?"))
    stops[n] = stops[n].lasting(visit.nights if before in (None, visit.nights) else None)


def _merged(
    said: list[PartialStop], going: list[Visit], known: tuple[PartialStop, ...], *, is_added: bool
) -> tuple[PartialStop, ...] | None:
    """What is said now, put together with the stops that were said before."""
    if not said:
        return None
    known_cities = {stop.city for stop in known}
    fresh = [stop for stop in said if stop.city not in known_cities]
    travels = any(visit.role in (Role.NEXT, Role.VIA) for visit in going)
    is_whole = travels and {stop.city for stop in said} == known_cities
    if known and (is_added or (not fresh and not is_whole)):
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
