"""What can happen on a day that was planned: as buttons, and as somebody would tell it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sagagraph.domains.reunion.day import DayPlan, ReunionRequest, as_json, parse_request
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError
from sagagraph.planning.page import Disruption
from sagagraph.saga.core.state import Saga, Stage

_HOUR: Final = 60
_DELAY: Final = 2 * _HOUR
_FACTOR: Final = 3
_NOON: Final = 12 * _HOUR
_COUNTS: Final = {"twice": 2.0, "double": 2.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0}
_TIME = r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s*(?P<half>am|pm|a\.m\.|p\.m\.)?"
_AT: Final = re.compile(rf"^\s*(?:it is|at)\s+{_TIME}\b[,:.]?\s*", re.IGNORECASE)
_UNTIL: Final = re.compile(rf"\b(?:until|till|to|at)\s+{_TIME}(?!\w)", re.IGNORECASE)
_BY: Final = re.compile(
    r"\bby\s+(?P<count>\d+|an?|one|two|three|four|half an)\s*(?P<unit>hours?|h|minutes?|min)\b", re.IGNORECASE
)
_HOW_LATE: Final = re.compile(
    r"\b(?P<count>\d+|an?|one|two|three|four|half an)[ -]?(?P<unit>hours?|h|minutes?|min)[ -](?:late|later|delay(?:ed)?)\b",
    re.IGNORECASE,
)
_LATE: Final = re.compile(r"\b(?:delay(?:ed)?|late|later|postponed)\b", re.IGNORECASE)
_SLOW: Final = re.compile(r"\b(?:accident|traffic|jam|times as long|twice as long|snow|storm)\b", re.IGNORECASE)
_TIMES: Final = re.compile(r"\b(?P<count>\d+(?:\.\d+)?|two|three|four|five)\s*times\b|\b(?P<word>twice|double)\b", re.IGNORECASE)
_OUT: Final = re.compile(
    r"\b(?:can(?:not| ?not|'t) (?:come|make it)|is(?:n't| not) coming|(?:has |is )?cancel+ed|is (?:ill|sick)|drops? out)\b",
    re.IGNORECASE,
)
_BROKEN: Final = re.compile(r"\b(?:breaks? down|broke(?:n)? down|is broken|out of order|does(?:n't| not) start)\b", re.IGNORECASE)
_CLOSED: Final = re.compile(r"\broad\b.*\b(?:closed|blocked)\b|\b(?:closed|blocked)\b.*\broad\b", re.IGNORECASE)
_OVER: Final = re.compile(r"^\W*(?:the )?day is over\W*$", re.IGNORECASE)


def disruptions(saga: Saga) -> tuple[Disruption, ...]:
    return tuple(_offered(Day(saga))) if _is_open(saga) else ()


def disruption_in(text: str, saga: Saga) -> Disruption | None:
    if not _is_open(saga):
        return None
    day = Day(saga)
    if _OVER.match(text):
        return day.over()
    at = _AT.match(text)
    rest = text[at.end() :] if at else text
    known_at = day.now if at is None else _moment(at, after=0)
    event = _event_in(rest, day, known_at)
    return None if event is None else day.after(text, event)


def _is_open(saga: Saga) -> bool:
    return saga.stage in (Stage.AWAITING_APPROVAL, Stage.RUNNING) and saga.plan.content is not None


class Day:
    """What is known of an open day."""

    def __init__(self, saga: Saga) -> None:
        self.request = parse_request(saga.request)
        self.plan = DayPlan.model_validate(saga.plan.content)

    @property
    def problem(self) -> ReunionProblem:
        return self.request.problem

    @property
    def now(self) -> int:
        """When something becomes known of which nobody says when: after all that is known, and not before the day begins."""
        return max(self.request.known_until or 0, self.plan.begins or 0)

    def after(self, words: str, event: Mapping[str, Any]) -> Disruption:
        told = {"problem": as_json(self.problem), "events": [*(as_json(each) for each in self.request.events), dict(event)]}
        wanted = parse_request({**as_json(self.request), **told})
        return Disruption(words, words, as_json(wanted))

    def over(self) -> Disruption:
        words = "The day is over"
        ended: ReunionRequest = self.request.model_copy(update={"is_over": True})
        return Disruption(words, words, as_json(ended))


def _offered(day: Day) -> Iterator[Disruption]:
    at = text_of(day.now)
    for person in day.problem.people:
        if person.from_ is not None and person.from_ >= day.now:
            late = text_of(person.from_ + _DELAY)
            event = {"at": at, "event": "delayed", "person": person.name, "from": late}
            yield day.after(f"{person.name} is delayed until {late}", event)
    for place in _busiest(day):
        slow: dict[str, Any] = {"at": at, "event": "travel_factor", "place": place, "factor": _FACTOR}
        yield day.after(f"Accident at {day.problem.places[place]}: everything there takes three times as long", slow)
    for vehicle in day.problem.vehicles[:2]:
        yield day.after(f"{vehicle.name} breaks down", {"at": at, "event": "vehicle_down", "vehicle": vehicle.name})
    if day.plan.plan.actions:
        yield day.over()


def _busiest(day: Day) -> list[str]:
    """The place where most people begin."""
    begins = [person.place for person in day.problem.people]
    return sorted(set(begins), key=lambda place: (-begins.count(place), place))[:1]


def _event_in(text: str, day: Day, at: int) -> dict[str, Any] | None:
    known = {"at": text_of(at)}
    if _CLOSED.search(text):
        return {**known, "event": "road_closed", **_road(text, day)}
    if _BROKEN.search(text) and (vehicle := _named(text, [each.name for each in day.problem.vehicles])):
        return {**known, "event": "vehicle_down", "vehicle": vehicle}
    person = _named(text, [each.name for each in day.problem.people])
    if _LATE.search(text) and person:
        return {**known, "event": "delayed", "person": person, "from": text_of(_later(text, day, person))}
    if _SLOW.search(text) and not person:
        return {**known, "event": "travel_factor", "place": _place(text, day), "factor": _factor(text)}
    if _OUT.search(text) and person:
        return {**known, "event": "cancelled", "person": person}
    return None


def _later(text: str, day: Day, person: str) -> int:
    before = next(each.from_ for each in day.problem.people if each.name == person) or day.now
    if until := _UNTIL.search(text):
        return _moment(until, after=before)
    if by := _BY.search(text) or _HOW_LATE.search(text):
        return before + _minutes(by["count"].lower(), by["unit"].lower())
    raise InvalidInputError(f"Until when is {person} delayed?", field="text")


def _minutes(count: str, unit: str) -> int:
    words = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4}
    hours = unit.startswith("h")
    if count == "half an":
        return _HOUR // 2
    return (words.get(count) or int(count)) * (_HOUR if hours else 1)


def _moment(said: re.Match[str], *, after: int) -> int:
    """Of `4`, the one that comes later than `after`, on the same day."""
    hour, minute, half = int(said["hour"]), int(said["minute"] or 0), (said["half"] or "").lower()
    moment = hour * _HOUR + minute
    if moment > 24 * _HOUR or minute >= _HOUR:
        raise InvalidInputError(f"{said.group().strip()!r} is no time of day", field="text")
    if half.startswith("p") and hour < 12:
        return moment + _NOON
    if half.startswith("a") and hour == 12:
        return moment - _NOON
    return moment + _NOON if not half and not said["minute"] and moment <= after and hour < 12 else moment


def _factor(text: str) -> float:
    said = _TIMES.search(text)
    if said is None:
        return float(_FACTOR)
    count = (said["count"] or said["word"]).lower()
    return _COUNTS.get(count) or float(count)


def _place(text: str, day: Day) -> str:
    found = _places(text, day)
    if len(found) != 1:
        raise InvalidInputError(f"Where is that: {', '.join(day.problem.places.values())}?", field="text")
    return found[0]


def _road(text: str, day: Day) -> dict[str, str]:
    ends = _places(text, day)
    if len(ends) != 2:
        raise InvalidInputError("Which road: from where to where?", field="text")
    return {"from": ends[0], "to": ends[1]}


def _places(text: str, day: Day) -> list[str]:
    """By their short or full names; otherwise by a word that only one of them has."""
    said = _words(text)
    by_name = [short for short, name in day.problem.places.items() if {short.casefold()} <= said or _words(name) <= said]
    if by_name:
        return by_name
    return [short for short, name in day.problem.places.items() if _words(name) & said - _COMMON]


_COMMON: Final = frozenset({"the", "at", "in", "of", "a", "is", "to", "from"})


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _named(text: str, names: list[str]) -> str | None:
    """The longest name that is in the text."""
    found = [name for name in names if re.search(rf"\b{re.escape(name)}(?:'s)?(?!\w)", text, re.IGNORECASE)]
    return max(found, key=len, default=None)
