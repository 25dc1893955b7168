"""What one clause says of people: where and when they are, how they get about, where they have to be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from sagagraph.domains.reunion.reading.facts import Fact, GoalFact, PersonFact, VehicleFact
from sagagraph.domains.reunion.reading.quantities import COUNT, number, times, without_times

_NO_PLACE: Final = (
    r"(?!(?:with|and|from|by|for|has|have|who|after|before|until|needs?|rents?|takes?|must|is|are|at|on the way)\b)"
)
PLACE: Final = rf"(?:the |an? )?(?P<place>{_NO_PLACE}[\w'&.-]+(?: {_NO_PLACE}[\w'&.-]+){{0,5}})"
_AT: Final = rf"(?:(?:at|in|into|on|near) {PLACE})?"
_BE: Final = r"(?:is|are|was|will be|stays?|staying|waits?|waiting|lives?|be)"
_OWN_HOUSE: Final = re.compile(r"(?:her|his|their|its) (?:own )?(?:house|home|place|flat|apartment)", re.IGNORECASE)
_CAR: Final = r"(?:car|van|minivan|suv|pick-?up truck|truck|bus|minibus|taxi|[a-z]+-seater)"

_LANDS: Final = re.compile(
    rf"(?:is |are |will )?(?:lands?|landing|arrives?|arriving|flies in|fly in|gets? in|touch(?:es)? down|comes? in|coming in)"
    rf"(?: by plane)?(?: from (?!the airport)[\w ]+?)?(?: {_AT})?",
    re.IGNORECASE,
)
_ARRIVES_ONLY: Final = re.compile(r"arriv", re.IGNORECASE)
_RENTS: Final = re.compile(
    rf"(?:will |has to |have to |must |is to )?(?:rents?|renting|is renting) a ?(?:rental )?{_CAR}(?: there)?{_AT}", re.IGNORECASE
)
_NEEDS_RIDE: Final = re.compile(
    r"(?:needs?|wants?|has to have|have to have) (?:a )?(?:ride|lift|pick-?up|rides|picking up|collecting)"
    rf"(?: (?:from|at) {PLACE})?(?: by \w+)?",
    re.IGNORECASE,
)
_IS_FETCHED: Final = re.compile(
    r"(?:needs? to|must|has to|have to|should|is to) be (?:picked up|collected|fetched)(?: by \w+)?"
    rf"(?: (?:from|at) {PLACE})?(?: by \w+)?",
    re.IGNORECASE,
)
_DRIVES_FROM: Final = re.compile(
    rf"(?:is |will )?(?:drives?|driving|comes? by car|coming by car)(?: (?:up|over|down))? from {PLACE}", re.IGNORECASE
)
_DRIVES: Final = re.compile(
    rf"(?:can |is able to |will )?drives?(?: (?P<there>home|there|back)| (?:a|her|his|their|the) (?P<car>[\w -]*{_CAR}))?",
    re.IGNORECASE,
)
_LEAVES: Final = re.compile(rf"(?:leaves?|leaving|sets? off|setting off|starts?|departs?)(?: (?:from )?{PLACE})?", re.IGNORECASE)
_NO_DRIVER: Final = re.compile(
    r"(?:can ?not|can't|does not|doesn't|do not|don't|won't|will not)(?: be able to)? drive", re.IGNORECASE
)
_HAS_CAR: Final = re.compile(
    rf"(?:has|have|brings?|comes? with|with|owns?) (?:a|an|her|his|their|the)? ?(?:own )?(?P<car>[\w -]*?{_CAR})"
    rf"(?: (?:with|for|of) (?P<seats>{COUNT}) (?:seats|people|passengers))?{_AT.replace('(?:(?:at', '(?: (?:at')}",
    re.IGNORECASE,
)
_SEATS_IN_NAME: Final = re.compile(rf"({COUNT})-seater", re.IGNORECASE)
_GOAL: Final = re.compile(
    r"(?:must|has to|have to|needs? to|should|wants? to|is to|are to|to|will|would like to)?"
    rf" ?(?:be|arrive|get) (?:at|in|to) {PLACE}",
    re.IGNORECASE,
)
_IS_AT: Final = re.compile(rf"{_BE}(?: (?:the host|hosting|the hostess))?(?: waiting| staying)? (?:at|in) {PLACE}", re.IGNORECASE)
_IS_AT_HOME: Final = re.compile(rf"{_BE} (?P<place>home)", re.IGNORECASE)
_FREE_FROM: Final = re.compile(rf"{_BE} (?:there|available|free|ready)|can (?:start|leave)", re.IGNORECASE)
_PREFERS: Final = re.compile(
    r"(?:prefers?|would (?:rather|like to|prefer to)|wants? to)(?: (?:to )?(?:ride|drive|go|travel|come))?"
    r"(?: with)? (?P<whom>[A-Z][\w'-]*)"
)
_IS_HOST: Final = re.compile(r"(?:is|are)(?: the| our)? (?:host|hosts|hostess)|hosts?(?: us| everybody)?", re.IGNORECASE)


def read_predicate(people: tuple[str, ...], rest: str) -> list[Fact] | None:
    """What `rest` says of each of `people`; None where it is nothing that is known here."""
    said = times(rest)
    plain = without_times(rest).strip(" ,")
    for form, read in _FORMS:
        match = form.fullmatch(plain)
        if match:
            return [fact for name in people for fact in read(name, match, said)]
    return None


def from_of(said: dict[str, int]) -> int | None:
    return next((said[how] for how in ("from", "at", "after", "since", "around", "about") if how in said), None)


def by_of(said: dict[str, int]) -> int | None:
    return next((said[how] for how in ("by", "before", "until", "till", "at", "around", "about") if how in said), None)


def place_in(match: re.Match[str], owner: str) -> str | None:
    """`her house` is its owner's."""
    place = match.groupdict().get("place")
    if place is None:
        return None
    return f"{owner}'s house" if _OWN_HOUSE.fullmatch(place) else place


Read = Callable[[str, re.Match[str], dict[str, int]], Iterator[Fact]]


def _lands(name: str, match: re.Match[str], said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name, place_in(match, name), from_of(said), lands=not _ARRIVES_ONLY.search(match[0]))


def _rents(name: str, match: re.Match[str], _said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name, drives=True)
    yield VehicleFact("rental car", place_in(match, name), drivers=(name,))


def _rides(name: str, match: re.Match[str], _said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name, place_in(match, name), drives=False)


def _drives_from(name: str, match: re.Match[str], said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name, place_in(match, name), from_of(said), drives=True)
    yield VehicleFact(f"{name}'s car", place_in(match, name), drivers=(name,))


def _drives(name: str, match: re.Match[str], said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name, from_=from_of(said), drives=True)
    if match["car"] or match["there"]:
        yield VehicleFact(f"{name}'s car", seats=_seats(match["car"] or ""), drivers=(name,))


def _leaves(name: str, match: re.Match[str], said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name, place_in(match, name), from_of(said))


def _does_not_drive(name: str, _match: re.Match[str], _said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name, drives=False)


def _has_car(name: str, match: re.Match[str], said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name, place_in(match, name), from_of(said), drives=True)
    seats = int(number(match["seats"])) if match["seats"] else _seats(match["car"])
    yield VehicleFact(f"{name}'s car", place_in(match, name), seats, (name,))


def _goal(name: str, match: re.Match[str], said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name)
    yield GoalFact((name,), place_in(match, name), by_of(said))


def _is_at(name: str, match: re.Match[str], said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name, place_in(match, name), from_of(said))


def _free_from(name: str, _match: re.Match[str], said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name, from_=from_of(said))


def _prefers(name: str, match: re.Match[str], _said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name, prefers=match["whom"])


def _is_host(name: str, _match: re.Match[str], _said: dict[str, int]) -> Iterator[Fact]:
    yield PersonFact(name)


def _seats(car: str) -> int | None:
    said = _SEATS_IN_NAME.search(car)
    return int(number(said[1])) if said else None


_FORMS: Final[tuple[tuple[re.Pattern[str], Read], ...]] = (
    (_RENTS, _rents),
    (_NEEDS_RIDE, _rides),
    (_IS_FETCHED, _rides),
    (_DRIVES_FROM, _drives_from),
    (_NO_DRIVER, _does_not_drive),
    (_HAS_CAR, _has_car),
    (_GOAL, _goal),
    (_IS_HOST, _is_host),
    (_FREE_FROM, _free_from),
    (_IS_AT_HOME, _is_at),
    (_IS_AT, _is_at),
    (_LANDS, _lands),
    (_PREFERS, _prefers),
    (_DRIVES, _drives),
    (_LEAVES, _leaves),
)
"""The first one that fits the whole of a clause without its times says what it means."""
