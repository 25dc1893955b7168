"""Route: where a trip starts, which cities it visits and for how long, and where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.text.partial import PartialStop, Question, unknown_city
from sagagraph.domains.travel.wording import count_text
from sagagraph.language.numbers import Number
from sagagraph.language.passage import form
from sagagraph.language.places import Place
from sagagraph.language.quantities import NIGHTS, Quantity

if TYPE_CHECKING:
    import re

    from sagagraph.domains.travel.text.partial import PartialRequest
    from sagagraph.domains.travel.text.slots import Said
    from sagagraph.language.passage import Found, Passage


class Role(Enum):
    """What a city is for in a sentence; the words are examples."""

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
    LEFT_OUT = "without"
    REPLACED = "instead of"
    BARE = ""


_THE: Final = r"(?: (?:the|beautiful|lovely|sunny|city of|downtown|central))*\s*$"
_LEADS: Final[tuple[tuple[Role, re.Pattern[str]], ...]] = tuple(
    (role, form(words + _THE))
    for role, words in (
        (Role.REPLACED, r"\b(?:instead of|rather than|in place of|replac(?:e|ing)|(?:change|swap|switch)(?: out)?)"),
        (
            Role.LEFT_OUT,
            r"\b(?:without|skip(?:ping)?|drop(?:ping)?|remove|except|avoid(?:ing)?|not|no|never|don't|do not)(?: (?:going|go|fly"
            r"|flying|changing|change|stop|stops|stopping|stopover|a|any|planes|flights?|want))*(?: (?:via|through|over|in|to))?",
        ),
        (Role.LEFT_LAST, r"\b(?:back|return(?:ing|s)?|home) (?:again )?from"),
        (
            Role.ORIGIN,
            r"\b(?:start|begin|depart|leav)\w* (?:(?:from|in|at) )?(?:and|&) (?:end|return|finish)\w* (?:in|at|from|to)",
        ),
        (
            Role.RETURN,
            r"\b(?:back(?: (?:home|again))* (?:to|in)|return(?:ing|s)?(?: home)? to|home (?:to|in)"
            r"|(?:end|finish)(?:ing|s)?(?: up)? in|back)",
        ),
        (
            Role.ORIGIN,
            r"\b(?:from|leav(?:e|es|ing)|depart(?:s|ing|ure)?|out of|(?:start|begin)(?:s|ing|ning)?(?: (?:in|at|from))?"
            r"|(?:based|live|living|am|are|i'm|we're|home is)(?: in)?|ex)(?:\s*:)?",
        ),
        (Role.ALTERNATIVE, r"\bor(?: to)?"),
        (Role.BETWEEN, r"\bbetween"),
        (Role.VIA, r"\b(?:via|through|(?:stopping|stopover|with a stop)(?: over)? (?:in|at))"),
        (Role.NEXT, r"(?:\b(?:to|then|next|onwards?|after that|afterwards|into)|→|-|/)"),
        (Role.PLACE, r"\b(?:in|at|visit(?:ing)?|see(?:ing)?|explor(?:e|ing)|for|over|stop(?:ping)?(?: (?:in|at|over))?)"),
        (Role.LISTED, r"(?:\b(?:and|plus|with|also)|&|\+)"),
        (Role.COMMA, r","),
    )
)
"""The words between a city and the one before it decide; the first that fit."""
_INTO: Final = form(r"\binto $")
_OUT_OF: Final = form(r"\b(?:out of|home from|leav\w+ from) $")
"""Into one city and out of another: the second is where the trip is left."""
_RETURN_FROM: Final = form(r"\s*return from\b")
_HOME_TO: Final = form(r"\s*(?:home )?to\s+")
_LINK: Final = form(r"\s*(?:to|→|-)\s*(?:the )?")

_ADDED: Final = form(r"\b(?:add|adding|another|also|as well|additionally|plus|too)\b")
_SWAPPED: Final = form(r"\b(?:swap|switch|exchange)")
_IN_ORDER: Final = form(r"\brespectively\b")
_STARTS_ANEW: Final = form(
    r"\b(?:start\w*|begin\w*|actually|instead|rather|sorry|i mean|meant|correction|home is|based|live|living|am in|are in)\b"
)
_REPLACES: Final = form(
    r"\b(?:instead|rather|actually|(?:what|how) about|make (?:it|that)|chang\w+|switch\w*|better|prefer\w*|sorry|i mean|meant"
    r"|correction)\b|^\W*no\b"
)
_BACK: Final = form(r"\b(?:back|return\w*|home|way back)\b")
_WHERE: Final = (Role.BARE, Role.PLACE, Role.NEXT, Role.LISTED, Role.COMMA, Role.VIA)

# -- nights --------------------------------------------------------------------------------------------------------------

_WEEKEND: Final = form(r"\b(?:(?:a|the) )?(?P<long>long )?weekend\b")
_OVERNIGHT: Final = form(r"\bovernight stay\b|\bfor the night\b")
_PACKAGE: Final = form(r"{span:a}\s*(?:,|/|and|-)*\s*{span:b}")
_COUNTS: Final = tuple(
    form(words)
    for words in (
        r"(?<![\w.,])(?P<count>{n}|a couple)(?= (?:in|at) {place:_})",
        r"{place:_}\s*\(\s*(?P<count>{n})\s*\)",
        r"{place:_}\s*[:=x]\s*(?P<count>{n})(?!\w)",
        r"{place:_}\s(?P<count>{n})(?=\s*(?:[,;)→]|and\b|then\b|$))",
    )
)
_STAY: Final = form(
    r"(?P<total>\btotal(?: of|:)?\s*)?(?P<each>\b(?:each|every)(?: (?:city|stop|place))? (?:for )?)?{span}"
    r"(?P<trip>[\s-]*(?:in total|total|altogether|overall|all together|in all\b|trip|vacation|holidays?|journey|tour|getaway|break)\b)?"
    r"(?P<apiece>\s*(?:(?:in )?(?:each|both|every|all)\b(?: (?:of them|city|stop|place|cities))?|apiece\b"
    r"|per (?:city|stop|place)\b|everywhere\b))?"
)
_WITHIN: Final = form(r"\b(?:in|within) $")
_UP_TO_CITY: Final = form(r"\s*(?:(?:in|at|for|to|near|around|exploring|visiting|of|stay in|staying in) )*(?:the )?\s*")
_IN_CITY: Final = form(r"\s*(?:in|at)\b")
_AFTER_CITY: Final = form(
    r"(?:[\s,:;(=-]|\b(?:for|stay|staying|spend|spending|there|where|we|i|i'll|we'll|will|would|like|want|to|about|around|roughly"
    r"|over|x|and (?:stay|spend)(?:ing)?)\b)*"
)
_JOINS: Final = form(r"\s*(?:and|&|\+|plus)\s*(?:then\s*)?")
_PLACE: Final = form(r"{place}")


@dataclass(frozen=True)
class Stay:
    """How many nights, and where that stands."""

    start: int
    end: int
    nights: int | None
    """None: not said exactly."""
    kind: str = ""
    """`total` of the whole trip, `each` of every stop, `listed`: one of several with the same unit."""


@dataclass
class Visit:
    """A city where it is mentioned."""

    start: int
    end: int
    place: Place
    role: Role
    nights: int | None = None
    has_nights: bool = False
    """Something is said about the nights, be it exact or not."""

    def stays(self, nights: int | None) -> None:
        self.nights, self.has_nights = nights, True

    @property
    def city(self) -> str | None:
        return self.place.city

    @property
    def stop(self) -> PartialStop:
        place = self.place
        return PartialStop(
            said=place.said, city=place.city, nights=self.nights, unknown=place.unknown, candidates=place.candidates
        )


def tag_nights(passage: Passage) -> None:
    """What else means nights in a wish for a trip: weekends, and numbers beside a city."""
    passage.tag("span", _OVERNIGHT, lambda _: Quantity((Decimal(1),), "night"))
    passage.tag("span", _WEEKEND, lambda found: Quantity((Decimal(3 if found["long"] else 2),), "night"))
    passage.tag("span", _PACKAGE, _package)
    for words in _COUNTS:
        passage.tag("span", words, _nights_beside, "count")


def _package(found: Found) -> Quantity | None:
    """`5 days and 4 nights` are four nights; `4 days, 2 nights` are two durations."""
    spans = {each.unit: each for each in found.values(Quantity) if each.count is not None and not each.change}
    days, nights = spans.get("day"), spans.get("night")
    return nights if days and nights and (days.count or 0) - (nights.count or 0) in (0, 1) else None


def _nights_beside(found: Found) -> Quantity | None:
    counts = [number.count for number in found.values(Number)]
    if counts and (counts[0] is None or found.values(Number)[0].is_thousands):
        return None
    return Quantity((Decimal(counts[0] or 0) if counts else Decimal(2),), "night")


def _stays(passage: Passage) -> list[Stay]:
    stays = []
    for found in passage.find(_STAY):
        span = found.get("span", Quantity)
        if span is None or span.unit not in NIGHTS or (found.led_by(_WITHIN) and not found["apiece"]) or span.change in ("later", "earlier"):
            continue
        kind = "total" if found["trip"] or found["total"] else "each" if found["each"] or found["apiece"] else ""
        counts: list[int | None] = [count * NIGHTS[span.unit] for count in span.counts]
        if span.link == "or" or not counts or span.bound == "least":
            counts = [None] if span.bound != "least" or not counts else counts
        stays += [Stay(found.start, found.end, nights, kind or ("listed" if len(counts) > 1 else "")) for nights in counts]
    return stays


# -- roles ---------------------------------------------------------------------------------------------------------------


def _visits(passage: Passage) -> list[Visit]:
    visits, at = [], 0
    for found in passage.find(_PLACE):
        place = found.get("place", Place)
        if place is not None:
            lead = passage.text[max(at, found.start - 60) : found.start]
            role = next((role for role, words in _LEADS if words.search(lead)), Role.BARE)
            visits.append(Visit(found.start, found.end, place, role))
            at = found.end
    _correct_roles(visits, passage.text)
    return visits


def _correct_roles(visits: list[Visit], text: str) -> None:
    """Where the words before a city do not tell, those around it do: in `Boston to Paris`, the ones after it."""
    into = next((n for n, visit in enumerate(visits) if _INTO.search(text, 0, visit.start)), None)
    for n, visit in enumerate(visits):
        if visit.role is Role.ORIGIN and into is not None and n > into and _OUT_OF.search(text, 0, visit.start):
            visit.role = Role.LEFT_LAST
    if not _has(Role.ORIGIN, visits):
        for n, (visit, following) in enumerate(zip(visits, visits[1:], strict=False)):
            is_first = visit.role is Role.BARE or (n == 0 and visit.role is Role.COMMA)
            if is_first and _LINK.fullmatch(text, visit.end, following.start):
                visit.role = Role.ORIGIN
                break
    for before, visit in zip(visits, visits[1:], strict=False):
        if visit.role is Role.NEXT and before.role is Role.LEFT_LAST and _HOME_TO.fullmatch(text, before.end, visit.start):
            visit.role = Role.RETURN
    if visits and visits[0].role is Role.LEFT_LAST and _RETURN_FROM.match(text):
        visits[0].role = Role.ORIGIN
    if not _has(Role.ORIGIN, visits) and len(visits) > 1 and visits[0].role in (Role.BARE, Role.COMMA):
        ends = {visit.city for visit in visits if visit.role is Role.RETURN} | ({visits[-1].city} if len(visits) > 2 else set())
        if visits[0].city is not None and visits[0].city in ends:
            visits[0].role = Role.ORIGIN


def _has(role: Role, visits: list[Visit]) -> bool:
    return any(visit.role is role for visit in visits)


# -- reading -------------------------------------------------------------------------------------------------------------


def read_route(passage: Passage, said: Said, known: PartialRequest, *, asked: str | None, whole: Passage) -> list[str]:
    """Returns what of it is not understood. `asked`: the field of the question that the text may be the answer to.

    `whole`: the sentence before anything was taken from it.
    """
    visits, stays = _visits(passage), _stays(passage)
    if asked in ("origin", "return_to") and [visit.role for visit in visits] == [Role.BARE]:
        visits[0].role = Role.ORIGIN if asked == "origin" else Role.RETURN
    loose = _give_nights(visits, stays, passage.text)
    visits, unread = _without_legs(visits, known, whole)
    passage.take(_PLACE)
    passage.take(_STAY)
    is_added = whole.has(_ADDED)
    if not is_added:
        unclear = _unclear_place(visits, known, whole, asked=asked, is_leg=bool(unread))
        is_added = bool(known.stops) and _has(Role.VIA, visits) and whole.has(_BACK)
        if unclear is not None and not is_added:
            said.doubts.append(unclear)
            return unread
    stops = _assemble(visits, said, known, unread, is_added=is_added, is_swap=whole.has(_SWAPPED))
    now = known.stops if stops is None else stops
    now = _with_loose_nights(now, loose, is_in_order=whole.has(_IN_ORDER), is_answer=not visits and known.stops != ())
    totals = {stay.nights for stay in loose if stay.kind not in ("each", "listed") and stay.nights is not None}
    if len(totals) == 1 and len(now) > 1 and any(stop.nights is None for stop in now):
        said.fields["total_nights"] = totals.pop()
    if now and now[-1].city is not None and said.fields.get("return_to") == now[-1].city:
        said.fields |= {"return_to": None, "one_way": True}
    if now != known.stops:
        said.fields["stops"] = now
    stay_in = {stop.city for stop in (*now, *known.stops)}
    left_out = [visit.place.said for visit in visits if visit.role is Role.LEFT_OUT and visit.city not in stay_in]
    return [*unread, *(f"without {name}" for name in left_out)]


def _give_nights(visits: list[Visit], stays: list[Stay], text: str) -> list[Stay]:
    """Each stay to the city beside it; returns those that stand beside none, or are for several."""
    loose = []
    for stay in stays:
        visit = None if stay.kind else _visit_beside(stay, visits, text)
        if visit is not None and _is_shared(stay, visit, visits, stays, text):
            loose.append(Stay(stay.start, stay.end, stay.nights, "total"))
        elif visit is None:
            loose.append(stay)
        else:
            visit.stays(stay.nights)
    return loose


def _visit_beside(stay: Stay, visits: list[Visit], text: str) -> Visit | None:
    """`3 nights in Paris` or `Paris (3 nights)`; `Paris 3 nights Rome 2 nights` is read in the order of its cities."""
    after = next((visit for visit in visits if visit.start >= stay.end), None)
    before = next((visit for visit in reversed(visits) if visit.end <= stay.start), None)
    if after and not _UP_TO_CITY.fullmatch(text, stay.end, after.start):
        after = None
    if before and not (_can_be_stayed_in(before, visits) and _AFTER_CITY.fullmatch(text, before.end, stay.start)):
        before = None
    if after is None or before is None:
        return after or before
    is_apart = "," in text[before.end : stay.start]
    return after if is_apart or before.has_nights or _IN_CITY.match(text, stay.end) else before


def _is_shared(stay: Stay, visit: Visit, visits: list[Visit], stays: list[Stay], text: str) -> bool:
    """`10 days in Berlin and Cologne` may be ten in all: nobody says how long in Cologne."""
    following = next((each for each in visits if each.start >= visit.end), None)
    if visit.start < stay.end or following is None or following.role is not Role.LISTED:
        return False
    has_own = any(each.start >= visit.end for each in stays)
    return bool(_JOINS.fullmatch(text, visit.end, following.start)) and not has_own and following.city not in (None, visit.city)


def _can_be_stayed_in(visit: Visit, visits: list[Visit]) -> bool:
    """Not where the trip starts, even where it is named once more as its end."""
    origins = {each.city for each in visits if each.role is Role.ORIGIN and each.city is not None}
    return visit.role not in (Role.ORIGIN, Role.LEFT_OUT) and visit.city not in origins


def _with_loose_nights(
    stops: tuple[PartialStop, ...], loose: list[Stay], *, is_in_order: bool, is_answer: bool
) -> tuple[PartialStop, ...]:
    """Nights that are said beside no city: of the only stop, of each, or of all in their order.

    `is_answer`: no city is named, so they are for the stops that were asked about.
    """
    each = next((stay.nights for stay in loose if stay.kind == "each"), None)
    if each is not None:
        return tuple(stop if stop.nights is not None and not is_answer else stop.lasting(each) for stop in stops)
    open_stops = [n for n, stop in enumerate(stops) if stop.nights is None]
    if len(stops) == 1 and len(loose) == 1 and (open_stops or is_answer):
        return (stops[0].lasting(loose[0].nights),)
    parts = [stay for stay in loose if stay.kind != "total"]
    is_complete = len(parts) == len(open_stops) and (is_in_order or all(stay.kind == "listed" for stay in parts))
    if is_complete or (is_answer and len(parts) <= len(open_stops)):
        given = dict(zip(open_stops, (stay.nights for stay in parts), strict=False))
        return tuple(stop.lasting(given.get(n, stop.nights)) for n, stop in enumerate(stops))
    return stops


# -- a route that is known already ---------------------------------------------------------------------------------------


def _without_legs(visits: list[Visit], known: PartialRequest, whole: Passage) -> tuple[list[Visit], list[str]]:
    """`a train from Paris to Rome` of somebody who stays in Paris is no trip that starts there: left out, and named."""
    stays = {stop.city for stop in known.stops}
    starts = [visit for visit in visits if visit.role is Role.ORIGIN and visit.city in stays and visit.city != known.origin]
    if known.origin is None or not starts or whole.has(_STARTS_ANEW) or any(visit.has_nights for visit in visits):
        return visits, []
    left_out = [*starts, *(each for each in visits if each.role is Role.NEXT and each.city in {*stays, known.origin})]
    return [visit for visit in visits if visit not in left_out], [f"from {' to '.join(visit.place.said for visit in left_out)}"]


def _unclear_place(
    visits: list[Visit], known: PartialRequest, whole: Passage, *, asked: str | None, is_leg: bool
) -> Question | None:
    """One more city, of which nobody said whether it takes another's place."""
    stays = list(dict.fromkeys(stop.city for stop in known.stops if stop.city is not None))
    if not stays or any(stop.city is None for stop in known.stops) or asked == "stops":
        return None
    if len(visits) != 1 or visits[0].role not in _WHERE or visits[0].city in (*stays, known.origin):
        return None
    visit = visits[0]
    if visit.city is None:
        return unknown_city("stops", visit.place.unknown, visit.place.candidates)
    if len(stays) == 1 and visit.role is not Role.VIA and not is_leg and whole.has(_REPLACES):
        return None
    what = visit.city if visit.nights is None else f"{count_text(visit.nights, 'night')} in {visit.city}"
    candidates = (*(f"{what} instead of {city}" for city in stays), f"also add {what}")
    text = f"{what}: instead of {' or '.join(stays)}, or in addition (“add”)?"
    return Question(field="stops", text=text, candidates=candidates)


def _replaced(visits: list[Visit], said: Said, known: PartialRequest, unread: list[str], *, is_swap: bool) -> bool:
    """`Rome instead of Paris`, `change Paris to Rome`: for the same nights, unless others are said."""
    old = [visit for visit in visits if visit.role is Role.REPLACED]
    new = [visit for visit in visits if visit.role is not Role.REPLACED]
    stays = {stop.city: stop for stop in known.stops}
    if len(old) != 1 or len(new) != 1 or new[0].city is None or old[0].city not in {*stays, known.origin}:
        return False
    before, after = old[0].city, new[0].city
    is_there, is_origin = after in stays, before == known.origin
    if (is_there and (is_origin or not is_swap)) or after == known.origin:
        unread.append(f"{old[0].place.said} and {new[0].place.said}")
    elif is_origin:
        said.fields["origin"] = after
    elif is_there:
        swapped = {before: after, after: before}
        said.fields["stops"] = tuple(stays[swapped.get(stop.city, stop.city)] for stop in known.stops)
    else:
        said.fields["stops"] = tuple(
            new[0].stop.lasting(new[0].nights or stop.nights) if stop.city == before else stop for stop in known.stops
        )
    return True


# -- a route from its cities ---------------------------------------------------------------------------------------------


def _assemble(
    visits: list[Visit], said: Said, known: PartialRequest, unread: list[str], *, is_added: bool, is_swap: bool
) -> tuple[PartialStop, ...] | None:
    """The stops; None: nothing is said about them."""
    if _replaced(visits, said, known, unread, is_swap=is_swap):
        return said.fields.get("stops")
    visits = [visit for visit in _with_alternatives_as_one(visits) if visit.role is not Role.REPLACED]
    origin = said.fields["origin"] = _origin(visits, said)
    returns = [visit.place for visit in visits if visit.role is Role.RETURN and not visit.has_nights]
    if returns:  # `back to Berlin for a night` is a stop
        said.fields["return_to"] = returns[-1].city
        if returns[-1].city is None:
            said.doubts.append(unknown_city("return_to", returns[-1].unknown, returns[-1].candidates))
    going = _by_way([visit for visit in visits if _is_on_the_way(visit, origin)])
    unclear = _unclear_order(going, has_origin=(origin or known.origin) is not None)
    if unclear is not None:
        said.doubts.append(unclear)
        return None
    stops = _in_order(going, said)
    if stops and stops[-1].city is not None and stops[-1].city == origin and stops[-1].nights is None:
        said.fields["return_to"] = stops.pop().city
    merged = _merged(stops, going, known.stops, is_added=is_added)
    left_out = {visit.city for visit in visits if visit.role is Role.LEFT_OUT}
    if left_out:
        merged = tuple(stop for stop in (known.stops if merged is None else merged) if stop.city not in left_out)
    return merged


def _with_alternatives_as_one(visits: list[Visit]) -> list[Visit]:
    """`Paris or Rome` is a place that is not known yet."""
    joined: list[Visit] = []
    for visit in visits:
        if visit.role is Role.ALTERNATIVE and joined:
            earlier = joined.pop()
            named = f"{earlier.place.said} or {visit.place.said}"
            has_nights = earlier.has_nights or visit.has_nights
            place = Place(named, None, named)
            visit = Visit(earlier.start, visit.end, place, earlier.role, earlier.nights or visit.nights, has_nights)  # noqa: PLW2901
        joined.append(visit)
    return joined


def _origin(visits: list[Visit], said: Said) -> str | None:
    """`from Paris` after `to Paris` says nothing new."""
    reached: set[str | None] = set()
    origins: list[Place] = []
    for visit in visits:
        if visit.role is Role.ORIGIN and visit.city not in reached:
            origins.append(visit.place)
        if visit.role in (Role.NEXT, Role.PLACE):
            reached.add(visit.city)
    unknown = next((place for place in origins if place.city is None), None)
    named = list(dict.fromkeys(place.city for place in origins if place.city))
    if unknown is not None:
        said.doubts.append(unknown_city("origin", unknown.unknown, unknown.candidates))
    elif len(named) > 1:
        said.ask("origin", f"Where does the trip start: {' or '.join(named)}?")
    elif named:
        return named[0]
    return None


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
    cities = list(dict.fromkeys(visit.place.said for visit in going))
    is_list = all(visit.role in (Role.BARE, Role.COMMA) and not visit.has_nights for visit in going)
    if len(cities) > 1 and (_has(Role.BETWEEN, going) or (is_list and not has_origin)):
        text = f"{', '.join(cities)}: where does the trip start, and in which order are the others visited?"
        return Question(field="stops", text=text)
    return None


def _in_order(going: list[Visit], said: Said) -> list[PartialStop]:
    """A city that is mentioned again is the same stop, unless one travels there again."""
    stops: list[PartialStop] = []
    for visit in going:
        same = [n for n, stop in enumerate(stops) if visit.city is not None and stop.city == visit.city]
        travels_again = visit.role in (Role.NEXT, Role.VIA) and same != [len(stops) - 1]
        completes = visit.has_nights and any(stops[n].nights is None for n in same)
        if not same or (travels_again and not completes):
            stops.append(visit.stop)
        elif visit.has_nights:
            n = next((n for n in same if stops[n].nights is None), same[0])
            before = stops[n].nights
            if before is not None and before != visit.nights:
                said.ask(f"stops[{n}].nights", f"How many nights in {visit.city}: {before} or {visit.nights}?")
            stops[n] = stops[n].lasting(visit.nights if before in (None, visit.nights) else None)
    return stops


def _merged(
    said: list[PartialStop], going: list[Visit], known: tuple[PartialStop, ...], *, is_added: bool
) -> tuple[PartialStop, ...] | None:
    """What is said now, put together with the stops that were said before."""
    if not said:
        return None
    before = {stop.city: stop for stop in known if stop.city is not None}
    now = {stop.city: stop for stop in reversed(said) if stop.nights is not None}
    fresh = [stop for stop in said if stop.city not in before]
    travels = _has(Role.NEXT, going) or _has(Role.VIA, going)
    is_whole = travels and {stop.city for stop in said} == before.keys()
    if known and (is_added or (not fresh and not is_whole)):
        return (*(stop.lasting(now[stop.city].nights) if stop.city in now else stop for stop in known), *fresh)
    gap = next((n for n, stop in enumerate(known) if stop.city is None), None)
    if gap is not None and len(said) == 1:
        return (*known[:gap], said[0].lasting(said[0].nights or known[gap].nights), *known[gap + 1 :])
    return tuple(
        stop.lasting(before[stop.city].nights) if stop.nights is None and stop.city in before else stop for stop in said
    )
