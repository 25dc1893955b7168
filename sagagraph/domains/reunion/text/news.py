"""News: what happens on a day, as somebody would report it (`James's flight is two hours late`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.text.facts import Fact
from sagagraph.domains.reunion.text.places import plain
from sagagraph.domains.reunion.text.reader import read
from sagagraph.domains.reunion.text.values import When, tagged
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError
from sagagraph.language.clock import Lasting
from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number
from sagagraph.language.passage import Passage

_SAYS: Final = Forms(__file__, "news")

FACTOR: Final = 3
"""How many times as long everything takes where nobody says it."""
_NOON: Final = 12 * 60
_BARE: Final = re.compile(r"\D*\d{1,2}")
_COMMON: Final = frozenset({"the", "at", "in", "of", "a", "is", "to", "from"})


def is_over(text: str) -> bool:
    return _SAYS.over.match(text) is not None


def event_in(text: str, problem: ReunionProblem, now: int, *, under_way: bool = False) -> dict[str, Any] | None:
    """Return the event; None if the text reports none. `now`: when it becomes known, unless the text says so. Once the day is
    `under_way`, another time at which somebody comes is news, too.

    Raises:
        InvalidInputError: it is news, but does not say until when, or where; or there is more in it than one event.
    """
    event = _event_in(text, problem, now, under_way=under_way)
    names = [*(each.name for each in problem.people), *(each.name for each in problem.vehicles)]
    told = read(text, names).facts if event else ()
    if event and (len(_subjects(text, names)) > 1 or any(_is_besides(each, event.get("person", "")) for each in told)):
        raise InvalidInputError("That is more than one thing: say what happened by itself, and then the rest.", field="text")
    return event


def _subjects(text: str, names: Iterable[str]) -> set[str]:
    """Return whom and what its clauses begin with."""
    starts = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return {plain(each) for each in re.findall(rf"(?:^|[,.;!] |\band )(?:the )?({starts})\b(?! and\b)", text, re.IGNORECASE)}


def _is_besides(fact: Fact, person: str) -> bool:
    """Tell whether it is more than where the person whom the event is about is, and from when."""
    if fact.table != "people" or not person:
        return fact.table in ("goals", "tasks")
    return fact.values.get("drives") is False if plain(fact.name) == plain(person) else fact.values != {}


def _event_in(text: str, problem: ReunionProblem, now: int, *, under_way: bool) -> dict[str, Any] | None:
    passage = tagged(re.sub(r"\bto(?= \d)", "until", re.sub(r"-(?=hour|minute)", " ", text)))
    first = passage.first(_SAYS.known_at)
    moment = first.get("when", When) if first else None
    passage.take(_SAYS.known_at)
    known = {"at": text_of(moment.minutes if moment else now)}
    told = ((each.name for each in rows) for rows in (problem.vehicles, problem.people))
    vehicle, person = (next(iter(named_in(passage.said(), names)), None) for names in told)
    if passage.has(_SAYS.closed):
        return {
            **known,
            **_lasts(passage),
            "event": "road_closed",
            **_places(passage.said(), problem.places, ("from", "to"), "Which road: from where to where?"),
        }
    if passage.has(_SAYS.broken) and vehicle:
        return {**known, **_lasts(passage), "event": "vehicle_down", "vehicle": vehicle}
    is_late = passage.has(_SAYS.late) or (under_way and passage.has(_SAYS.comes) and passage.has(_SAYS.until))
    if is_late and person:
        before = next(each.from_ for each in problem.people if each.name == person)
        return {**known, "event": "delayed", "person": person, "from": text_of(_later(passage, before, person))}
    if under_way and person and passage.has(_SAYS.came):
        raise InvalidInputError(f"Since when is {person} there? Say it like “{person} arrives at 13:10”.", field="text")
    if passage.has(_SAYS.slow) and (not person or passage.has(_SAYS.road_to)):
        return {
            **known,
            **_lasts(passage),
            "event": "travel_factor",
            **_places(passage.said(), problem.places, ("place",), f"Where is that: {', '.join(problem.places.values())}?"),
            "factor": _factor(passage),
        }
    meeting = {goal.place for goal in problem.goals}
    is_elsewhere = any(each.name == person and each.place not in meeting for each in problem.people)
    if not person or not (passage.has(_SAYS.out) or (is_elsewhere and passage.has(_SAYS.stays_home))):
        return None
    if passage.has(_SAYS.sick) and (not is_elsewhere or passage.has(_SAYS.cannot_do)):
        raise InvalidInputError(f"Is {person} out of it altogether? Then say “{person} does not come”.", field="text")
    if passage.has(_SAYS.flight) and not passage.has(_SAYS.stays_away):
        if passage.has(_SAYS.until):
            return {**known, "event": "delayed", "person": person, "from": text_of(_later(passage, now, person))}
        raise InvalidInputError(f"When does {person} come then? Say a time, or that {person} does not come at all.", field="text")
    return {**known, "event": "cancelled", "person": person}


def _lasts(passage: Passage) -> dict[str, str]:
    """Return until when, if that is said."""
    times = [each.minutes for each in passage.values(When) if each.how in ("until", "till")]
    return {"until": text_of(times[0])} if times else {}


def _later(passage: Passage, before: int | None, person: str) -> int:
    """Return, for a bare `4`, the time that comes after `before`, on the same day. `An hour later` needs to know than when."""
    for found in passage.find(_SAYS.until):
        minutes = next(each.minutes for each in found.values(When))
        is_evening = minutes <= (before or 0) and minutes < _NOON and _BARE.fullmatch(found.said)
        return minutes + _NOON if is_evening else minutes
    for amount in passage.values(Lasting):
        if amount.minutes and before is not None:
            return before + round(amount.minutes)
    raise InvalidInputError(f"Until when is {person} delayed?", field="text")


def _factor(passage: Passage) -> float:
    said = passage.first(_SAYS.times)
    if said is None and any(each.minutes for each in passage.values(Lasting)):
        raise InvalidInputError("How many times as long does it take then? Say it like “twice as long”.", field="text")
    number = said.get("n", Number) if said else None
    return float(number.value) if number and number.value else 2.0 if said else float(FACTOR)


def _places(text: str, places: Mapping[str, str], names: tuple[str, ...], question: str) -> dict[str, str]:
    found = places_in(text, places)
    if len(found) != len(names):
        raise InvalidInputError(question, field="text")
    return dict(zip(names, found, strict=True))


def places_in(text: str, places: Mapping[str, str]) -> list[str]:
    """Find places by their short or full names, and by words that only one of them has."""
    said = _words(text)
    by_name = [short for short, name in places.items() if {short.casefold()} <= said or _words(name) <= said]
    left = said - _COMMON.union(*(_words(places[each]) | {each.casefold()} for each in by_name))
    return [*by_name, *(short for short, name in places.items() if short not in by_name and _words(name) & left)]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{2,}", text.casefold()))


def named_in(text: str, names: Iterable[str]) -> list[str]:
    """Return the names that are in the text, without those that are a part of another one there."""
    plain = text.replace("'", "")
    found = [name for name in names if re.search(rf"\b{re.escape(name.replace(chr(39), ''))}s?(?!\w)", plain, re.IGNORECASE)]
    return [name for name in found if not any(name != other and name.casefold() in other.casefold() for other in found)]
