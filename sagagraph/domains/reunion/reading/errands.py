"""What clauses say of other things than people: the occasion, what is to be done or fetched, opening hours, vehicles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from sagagraph.domains.reunion.reading.facts import Fact, GoalFact, HoursFact, ObjectiveFact, PersonFact, TaskFact, VehicleFact
from sagagraph.domains.reunion.reading.predicates import PLACE, by_of, from_of, place_in
from sagagraph.domains.reunion.reading.quantities import COUNT, durations, number, times, without_durations, without_times

_EVENTS: Final = (
    r"(?:dinner|lunch|breakfast|brunch|meal|wedding|ceremony|party|birthday|reunion|funeral|concert|barbecue|picnic|meeting|tea)"
)
_FETCH: Final = r"(?:pick(?:ed)? up|collect(?:ed)?|fetch(?:ed)?|b(?:uy|ought)|g[eo]t|drop(?:ped)? off|bring|brought)"
_MUST: Final = r"(?:must|has to|have to|needs? to|should|is to|are to)"
_THING: Final = r"(?!it\b|that\b|this\b)(?:the |an? |some |our )?(?P<thing>[\w'-]+(?: [\w'-]+){0,3}?)"
_WHERE: Final = rf"(?: (?:at|from|in) {PLACE})"

_EVENT: Final = re.compile(
    rf"(?:the |our |a )?(?P<event>(?:[\w'-]+ )*?{_EVENTS})(?: (?:is|starts?|begins?|takes place|will be))?{_WHERE}?",
    re.IGNORECASE,
)
_ALL_AT: Final = re.compile(
    rf"(?:{_MUST}|will|to)? ?(?:all )?"
    rf"(?:(?:be |meet |are |is |arrive |gather )?(?:at|in) {PLACE}|(?:be|come|arrive) (?P<home>home))",
    re.IGNORECASE,
)
_TAKES: Final = re.compile(
    rf"{_THING} (?:takes?|needs?|lasts?|requires?)(?: of)?(?: (?:in|on) the (?:oven|stove|grill))?"
    rf"(?: of work| to (?:cook|make|prepare|roast))?{_WHERE}?",
    re.IGNORECASE,
)
_IN_OVEN: Final = re.compile(
    rf"{_THING} (?:is|goes|has to be|must be|must go|cooks?|roasts?)(?: for)?(?: in(?:to)? the oven)?(?: for)?", re.IGNORECASE
)
_WATCH: Final = re.compile(
    rf"(?:{_MUST} )?(?:watch(?:es)?|stays? with|keeps? an eye on|looks? after|attends?(?: to)?)"
    rf" (?:the )?(?P<thing>it|[\w'-]+(?: [\w'-]+)?)(?: all the time)?",
    re.IGNORECASE,
)
_BE_THERE: Final = re.compile(
    rf"{_MUST} (?:always )?(?:be|stay) (?:at home|home|there|in the house)(?: all the time| meanwhile| then)?", re.IGNORECASE
)
_WATCHED: Final = re.compile(
    rf"{_THING} {_MUST} be (?:watched|attended|looked after)(?: all the time)?"
    rf"|{_THING.replace('thing', 'other')} needs? (?:watching|somebody there)",
    re.IGNORECASE,
)
_IS_FETCHED: Final = re.compile(rf"{_THING} {_MUST} be {_FETCH}{_WHERE}", re.IGNORECASE)
_FETCHES: Final = re.compile(rf"(?:please )?(?:{_MUST} )?{_FETCH} {_THING}{_WHERE}(?: on the way)?", re.IGNORECASE)
_FETCH_PERSON: Final = re.compile(rf"(?:please )?(?:{_MUST} )?(?:pick up|collect|fetch|get) (?P<who>[A-Z][\w'-]*){_WHERE}?")
_HOURS: Final = re.compile(rf"{PLACE} (?:is )?(?P<verb>opens?|open|closes?|shuts?|closed)", re.IGNORECASE)
_TAXI: Final = re.compile(
    rf"(?:an? |the )?(?:taxi|vehicle|cab|car|shuttle|driver) (?P<name>[\w'-]+)"
    rf"(?: (?:waits?|is|stands|starts?))?(?: (?:at|in) {PLACE})?"
    rf"(?:,? (?:with|and takes?|takes?|for) (?P<seats>{COUNT}) (?:seats?|passengers?|people|riders?))?(?: each)?",
    re.IGNORECASE,
)
_TAXI_SEATS: Final = re.compile(
    rf"(?:it )?(?:takes?|with|has|for) (?P<seats>{COUNT}) (?:seats?|passengers?|people|riders?)(?: each)?", re.IGNORECASE
)
_LEAST: Final = re.compile(
    r".*\b(?:least|shortest|smallest|fewest|as few|as little|minimi[sz]e(?: the)?)\b"
    r".*?\b(?P<what>distance|km|kilomet\w+|driving|time)\b.*",
    re.IGNORECASE,
)
_MORE_MINUTES: Final = re.compile(r"(?:it |that )?takes?", re.IGNORECASE)


def read_everybody(rest: str) -> list[Fact] | None:
    """`everybody must be at the church by 3 pm`"""
    said = times(rest)
    match = _ALL_AT.fullmatch(without_times(rest).strip(" ,"))
    return [GoalFact((), match["home"] or match["place"], by_of(said))] if match and said else None


def read_somebody(rest: str, last_task: str | None) -> list[Fact] | None:
    """`someone must watch it`, `somebody has to pick up the clothes at the tailor`"""
    plain = without_times(rest).strip(" ,")
    if _BE_THERE.fullmatch(plain):
        return [TaskFact(last_task, watched=True)] if last_task else None
    match = _WATCH.fullmatch(plain)
    if match:
        named = last_task if match["thing"].lower() == "it" else match["thing"]
        return [TaskFact(named, watched=True)] if named else None
    return _fetching(rest, ())


def read_thing(rest: str, last: Fact | None) -> list[Fact] | None:
    """A clause about no person."""
    said = times(rest)
    plain = without_times(rest).strip(" ,")
    for form, read in _FORMS:
        match = form.fullmatch(without_durations(plain) if form in _LASTING else plain)
        if match and (found := list(read(match, said, durations(plain)))):
            return found
    return _of_the_last(plain, said, last) or _fetching(rest, ())


def read_doing(people: tuple[str, ...], rest: str) -> list[Fact] | None:
    """`Chris picks up the gift at the shop`: what is to be done, and by whom."""
    return _fetching(re.sub(r"^(pick|collect|fetch|get|drop|bring)s\b", r"\1", re.sub(r"^buys\b", "buy", rest)), people)


def _fetching(rest: str, who: tuple[str, ...]) -> list[Fact] | None:
    said, took = times(rest), durations(rest)
    plain = without_durations(without_times(rest)).strip(" ,")
    plain = re.sub(r"\s*\b(?:which|that)? ?takes?$", "", plain)
    person = _FETCH_PERSON.fullmatch(plain)
    if person:
        return [PersonFact(person["who"], place_in(person, person["who"]), drives=False)]
    match = _FETCHES.fullmatch(plain)
    return list(_errand(match, said, took, who)) if match else None


Read = Callable[[re.Match[str], dict[str, int], list[float]], Iterator[Fact]]


def _errand(match: re.Match[str], said: dict[str, int], took: list[float], who: tuple[str, ...] = ()) -> Iterator[Fact]:
    opens, closes = (
        said.get("after", said.get("from")),
        next((said[how] for how in ("by", "before", "until") if how in said), None),
    )
    yield TaskFact(match["thing"], match["place"], _whole(took), opens, closes, is_errand=True, who=who)


def _event(match: re.Match[str], said: dict[str, int], _took: list[float]) -> Iterator[Fact]:
    if said or match["place"]:
        yield GoalFact((), match["place"], by_of(said), match["event"])


def _takes(match: re.Match[str], said: dict[str, int], took: list[float]) -> Iterator[Fact]:
    if took:
        yield TaskFact(
            match["thing"], match.groupdict().get("place"), _whole(took), said.get("after"), said.get("by", said.get("before"))
        )


def _watched(match: re.Match[str], _said: dict[str, int], _took: list[float]) -> Iterator[Fact]:
    yield TaskFact(match["thing"] or match["other"], watched=True)


def _hours(match: re.Match[str], said: dict[str, int], _took: list[float]) -> Iterator[Fact]:
    if said:
        is_opening = match["verb"].lower().startswith("open")
        until = said.get("until", said.get("till"))
        yield HoursFact(match["place"], from_of(said) if is_opening else None, until if is_opening else by_of(said))


def _taxi(match: re.Match[str], _said: dict[str, int], _took: list[float]) -> Iterator[Fact]:
    if match["place"]:
        yield VehicleFact(match["name"], match["place"], int(number(match["seats"])) if match["seats"] else None, ())


def _least(match: re.Match[str], _said: dict[str, int], _took: list[float]) -> Iterator[Fact]:
    is_distance = match["what"].lower().startswith(("distance", "km", "kilom"))
    yield ObjectiveFact("distance" if is_distance else "driving_minutes")


def _of_the_last(plain: str, said: dict[str, int], last: Fact | None) -> list[Fact] | None:
    """A clause that goes on about what the one before was about."""
    seats = _TAXI_SEATS.fullmatch(plain)
    if seats and isinstance(last, VehicleFact):
        return [VehicleFact(last.name, seats=int(number(seats["seats"])))]
    took = durations(plain)
    if isinstance(last, TaskFact) and took and _MORE_MINUTES.fullmatch(without_durations(plain)):
        return [TaskFact(last.name, minutes=_whole(took))]
    closing = re.fullmatch(r"(?:it |which )?(?:opens?|closes?|shuts?)", plain, re.IGNORECASE)
    place = getattr(last, "place", None)
    if closing and said and place:
        is_opening = "open" in plain.lower()
        return [HoursFact(place, from_of(said) if is_opening else None, None if is_opening else by_of(said))]
    return None


def _whole(took: list[float]) -> int | None:
    return round(took[0]) if took else None


_FORMS: Final[tuple[tuple[re.Pattern[str], Read], ...]] = (
    (_LEAST, _least),
    (_EVENT, _event),
    (_HOURS, _hours),
    (_WATCHED, _watched),
    (_IS_FETCHED, _errand),
    (_TAXI, _taxi),
    (_TAKES, _takes),
    (_IN_OVEN, _takes),
)
_LASTING: Final = frozenset({_TAKES, _IN_OVEN, _IS_FETCHED})
"""Forms that are looked for in what is left without durations."""
