"""What sentences say on top of a problem that came as a whole: everything else of it stays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, Final

from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.reading.assembly import SEATS
from sagagraph.domains.reunion.reading.facts import (
    CompanyFact,
    Fact,
    GoalFact,
    HoursFact,
    ObjectiveFact,
    PersonFact,
    RoadFact,
    TaskFact,
    VehicleFact,
)
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError

_NO_FIELDS: Final = frozenset({"name", "place", "from_", "lands"})
_ARTICLE: Final = re.compile(r"^(?:the|a|an|our|my)\s+", re.IGNORECASE)
Row = dict[str, Any]


def upon(base: ReunionProblem, facts: Iterable[Fact]) -> ReunionProblem:
    """Raises `InvalidInputError` for what does not fit the problem."""
    problem = base.model_dump(mode="json")
    said = tuple(facts)
    for fact in said:
        if isinstance(fact, PersonFact) and fact.place is not None and _named(fact.name, problem["people"]) is None:
            problem["people"].append({"name": fact.name, "place": _place(fact.place, problem)})
    for fact in said:
        _apply(fact, problem)
    return parse_problem(problem)


def _apply(fact: Fact, problem: Row) -> None:
    match fact:
        case PersonFact():
            _person(fact, problem)
        case VehicleFact():
            _vehicle(fact, problem)
        case TaskFact():
            _task(fact, problem)
        case HoursFact():
            key = _place(fact.place, problem)
            for task in (each for each in problem["tasks"] if each["place"] == key):
                task["window"] = _window(task["window"], fact.opens, fact.closes)
        case GoalFact():
            _goal(fact, problem)
        case RoadFact():
            _road(fact, problem)
        case CompanyFact():
            for person in problem["people"]:
                if not fact.people or any(_plain(name) == _plain(person["name"]) for name in fact.people):
                    person["never_alone"] = fact.is_wanted
        case ObjectiveFact():
            problem["objectives"] = [fact.objective]


def _person(fact: PersonFact, problem: Row) -> None:
    person = _named(fact.name, problem["people"])
    if person is None:
        raise InvalidInputError(f"nobody is called {fact.name}; say where they are, if they are to come too", field="text")
    said = {name: value for name, value in asdict(fact).items() if name not in _NO_FIELDS and value is not None}
    if fact.place is not None:
        said["place"] = _place(fact.place, problem)
    if fact.from_ is not None:
        said["from"] = text_of(fact.from_)
    person |= said


def _vehicle(fact: VehicleFact, problem: Row) -> None:
    vehicle = _named(fact.name, problem["vehicles"])
    if vehicle is None:
        drivers = [_require(name, problem["people"], "nobody") for name in fact.drivers or ()]
        place = _place(fact.place, problem) if fact.place else drivers[0]["place"] if drivers else None
        if place is None:
            raise InvalidInputError(f"say where {fact.name} is", field="text")
        since = drivers[0].get("from") if drivers else None
        vehicle = {"name": fact.name, "seats": SEATS, "place": place, "from": since}
        problem["vehicles"].append(vehicle)
    elif fact.place is not None:
        vehicle["place"] = _place(fact.place, problem)
    if fact.seats is not None:
        vehicle["seats"] = fact.seats
    if fact.drivers is not None:
        vehicle["drivers"] = list(fact.drivers) or None


def _task(fact: TaskFact, problem: Row) -> None:
    task = _named(fact.name, problem["tasks"])
    if task is None:
        task = {"name": fact.name, "window": [None, None]}
        problem["tasks"].append(task)
    if fact.place is not None:
        task["place"] = _place(fact.place, problem)
    if fact.minutes is not None:
        task["minutes"] = fact.minutes
    task["window"] = _window(task["window"], fact.opens, fact.closes)
    if fact.watched:
        task["attention"] = "watched"
    if fact.who:
        task["who"] = list(fact.who)


def _goal(fact: GoalFact, problem: Row) -> None:
    """The first one for these people; where there is none, a new one."""
    people: Any = list(fact.people) or "all"
    place = None if fact.place is None else _place(fact.place, problem)
    by = None if fact.by is None else text_of(fact.by)
    said = {name: value for name, value in (("place", place), ("by", by)) if value is not None}
    for goal in _goals_of(people, problem):
        goal |= said
        return
    first = problem["goals"][0] if problem["goals"] else {}
    if not {"place", "by"} <= {**first, **said}.keys():
        raise InvalidInputError("say where, and by when", field="text")
    problem["goals"].append({"people": people, "place": first.get("place"), "by": first.get("by"), **said})


def _goals_of(people: Any, problem: Row) -> Iterator[Row]:
    yield from (goal for goal in problem["goals"] if goal["people"] == people)
    if people != "all" and len(people) == 1:
        person = _named(people[0], problem["people"])
        yield from () if person is None else person.get("goals", ())


def _road(fact: RoadFact, problem: Row) -> None:
    ends = (_place(fact.here, problem), _place(fact.there, problem))
    for table, amount in (("travel_minutes", fact.minutes), ("distance_km", fact.km)):
        if amount is not None:
            others = [row for row in problem[table] if {row[0], row[1]} != set(ends)]
            problem[table] = [*others, [*ends, round(amount, 6)]]


def _window(before: list[str | None], opens: int | None, closes: int | None) -> list[str | None]:
    said = (opens, closes)
    return [text_of(moment) if moment is not None else old for moment, old in zip(said, before, strict=True)]


def _named(name: str, rows: list[Row]) -> Row | None:
    plain = _plain(name)
    return next((each for each in rows if _plain(each["name"]) == plain), None)


def _require(name: str, rows: list[Row], none: str) -> Row:
    found = _named(name, rows)
    if found is None:
        raise InvalidInputError(f"{none} is called {name}", field="text")
    return found


def _place(said: str, problem: Row) -> str:
    """By its short or full name, by whose house it is, or by words that only its name has; otherwise it is a new one."""
    places: dict[str, str] = problem["places"]
    wanted = _plain(said)
    owner = re.sub(r"'s(?: \w+)?$", "", wanted)
    by_name = [key for key, name in places.items() if wanted in (_plain(key), _plain(name))]
    by_owner = [key for key, name in places.items() if _plain(name).startswith(f"{owner}'s")]
    by_words = [key for key, name in places.items() if set(wanted.split()) <= set(_plain(name).split())]
    for found in (by_name, by_owner, by_words):
        if len(found) == 1:
            return found[0]
    places[said] = said
    return said


def _plain(name: str) -> str:
    return _ARTICLE.sub("", name.strip(" ,.")).casefold()
