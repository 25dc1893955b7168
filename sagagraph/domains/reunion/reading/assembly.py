"""Facts put together: the JSON of a problem as far as it is known, and what was taken for granted on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

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
from sagagraph.domains.reunion.reading.places import Places
from sagagraph.domains.reunion.times import text_of

SEATS: Final = 5
RENTAL: Final = "rental car"
_F = TypeVar("_F", bound=Fact)


@dataclass(frozen=True, slots=True)
class Assembly:
    problem: dict[str, Any]
    """What is not known is None or not there."""
    notes: tuple[str, ...]


def assemble(facts: tuple[Fact, ...]) -> Assembly:
    notes: list[str] = []
    people = _of(facts, PersonFact)
    names = list(dict.fromkeys(each.name for each in people))
    places = Places(names)
    people += _landing_with_others(people, notes)
    for each in people:
        if each.lands and each.place:
            places.lands_at(each.place)
    goals = list(_goals(_of(facts, GoalFact), places))
    tasks = list(_tasks(facts, places, goals, notes))
    listed = [_person(name, people, facts, places) for name in names]
    vehicles = list(_vehicles(_of(facts, VehicleFact), listed, places, notes))
    rentals = [_renting(each) for each in vehicles if each.get("unlocked_by")]
    roads = _of(facts, RoadFact)
    problem = {
        "name": next((each.event for each in reversed(_of(facts, GoalFact)) if each.event), "reunion").lower(),
        "travel_minutes": _rows(((each, each.minutes) for each in roads), places),
        "distance_km": _rows(((each, each.km) for each in roads), places),
        "people": [*_with_places_on_roads(listed, roads, places)],
        "vehicles": vehicles,
        "tasks": [*rentals, *tasks],
        "goals": [each for each in goals if each["people"] == "all"],
        "objectives": [each.objective for each in _of(facts, ObjectiveFact)][-1:] or ["driving_minutes"],
    }
    return Assembly({**problem, "places": places.described()}, tuple(notes))


def _of(facts: Iterable[Fact], kind: type[_F]) -> list[_F]:
    return [each for each in facts if isinstance(each, kind)]


def _last(values: Iterable[Any]) -> Any:
    """What was said last; None where nothing was."""
    return next((each for each in reversed(list(values)) if each is not None), None)


def _landing_with_others(people: list[PersonFact], notes: list[str]) -> list[PersonFact]:
    """Who lands nobody said where lands where all others do."""
    known = {each.name: each.place for each in people if each.place}
    airports = {each.place for each in people if each.lands and each.place}
    strays = [each for each in people if each.lands and each.name not in known] if len(airports) == 1 else []
    notes += [f"{each.name} lands at {min(map(str, airports))}" for each in strays]
    return [PersonFact(each.name, place, lands=True) for each in strays for place in airports]


def _goals(said: list[GoalFact], places: Places) -> Iterator[dict[str, Any]]:
    """One for everybody, which several facts may say; those of single people each for itself."""
    shared = [each for each in said if not each.people]
    if shared:
        yield _goal("all", shared, places)
    for names in dict.fromkeys(each.people for each in said if each.people):
        yield _goal(names, [each for each in said if each.people == names], places)


def _goal(people: str | tuple[str, ...], said: list[GoalFact], places: Places) -> dict[str, Any]:
    place, by = _last(each.place for each in said), _last(each.by for each in said)
    return {"people": people, "place": place and places.key(place), "by": None if by is None else text_of(by)}


def _person(name: str, people: list[PersonFact], facts: tuple[Fact, ...], places: Places) -> dict[str, Any]:
    said = [each for each in people if each.name == name]
    place, since = _last(each.place for each in said), _last(each.from_ for each in said)
    goals = [{key: goal[key] for key in ("place", "by")} for goal in _own_goals(name, facts, places)]
    known = {
        "place": place and places.key(place),
        "from": None if since is None else text_of(since),
        "drives": _last(each.drives for each in said),
        "prefers": _last(each.prefers for each in said),
        "goals": goals or None,
        "never_alone": _is_accompanied(name, _of(facts, CompanyFact)) or None,
    }
    return {"name": name, **{key: value for key, value in known.items() if value is not None}}


def _is_accompanied(name: str, said: list[CompanyFact]) -> bool:
    return bool(_last(each.is_wanted for each in said if not each.people or name in each.people))


def _own_goals(name: str, facts: tuple[Fact, ...], places: Places) -> Iterator[dict[str, Any]]:
    return (goal for goal in _goals(_of(facts, GoalFact), places) if goal["people"] == (name,))


def _with_places_on_roads(people: list[dict[str, Any]], roads: list[RoadFact], places: Places) -> Iterator[dict[str, Any]]:
    """Nobody said where Grandma is, but how far it is to Grandma: she is at her house."""
    ends = {places.key(end) for road in roads for end in (road.here, road.there)}
    for person in people:
        house = f"{person['name']}'s house"
        yield {**person, "place": house} if person.get("place") is None and house in ends else person


def _vehicles(
    said: list[VehicleFact], people: list[dict[str, Any]], places: Places, notes: list[str]
) -> Iterator[dict[str, Any]]:
    """One that nobody said the place of is where its driver is."""
    where = {person["name"]: (person.get("place"), person.get("from")) for person in people}
    for name in dict.fromkeys(each.name for each in said):
        of_it = [each for each in said if each.name == name]
        drivers, place, seats = (_last(getattr(each, kind) for each in of_it) for kind in ("drivers", "place", "seats"))
        if seats is None:
            notes.append(f"{name} has {SEATS} seats")
        driver_place, since = where.get(drivers[0], (None, None)) if drivers else (None, None)
        known = {
            "place": places.key(place) if place else driver_place,
            "from": since,
            "drivers": list(drivers) if drivers else None,
            "unlocked_by": "rent a car" if name == RENTAL else None,
        }
        is_rental = name == RENTAL
        kept = {key: value for key, value in known.items() if value is not None and not (is_rental and key == "from")}
        yield {"name": name, "seats": seats or SEATS, **kept}


def _renting(vehicle: dict[str, Any]) -> dict[str, Any]:
    return {"name": vehicle["unlocked_by"], "place": vehicle.get("place"), "minutes": 0, "who": vehicle["drivers"]}


def _tasks(facts: tuple[Fact, ...], places: Places, goals: list[dict[str, Any]], notes: list[str]) -> Iterator[dict[str, Any]]:
    said = _of(facts, TaskFact)
    shared = goals[0] if goals and goals[0]["people"] == "all" else {}
    for name in dict.fromkeys(_task_name(each.name, said) for each in said):
        of_it = [each for each in said if _task_name(each.name, said) == name]
        place = _last(each.place for each in of_it)
        is_errand = any(each.is_errand for each in of_it)
        key = places.key(place) if place else None if is_errand else shared.get("place")
        opens, closes = _window(of_it, _of(facts, HoursFact), key, places)
        if closes is None and not is_errand and shared.get("by"):
            closes = shared["by"]
            notes.append(f"{name} is done by {closes}")
        if not place and key:
            notes.append(f"{name} is done at {places.described()[key]}")
        minutes = _last(each.minutes for each in of_it)
        known: dict[str, Any] = {"place": key, "minutes": 0 if minutes is None and is_errand else minutes}
        known["window"] = [opens, closes] if opens or closes else None
        known["attention"] = "watched" if any(each.watched for each in of_it) else None
        known["who"] = list(_last(each.who or None for each in of_it) or ()) or None
        yield {"name": name, **{each: value for each, value in known.items() if value is not None}}


def _task_name(said: str, tasks: list[TaskFact]) -> str:
    """`the turkey` is `Turkey`, as it was called first."""
    norm = said.lower().removeprefix("the ")
    return next(each.name.lower().removeprefix("the ") for each in tasks if each.name.lower().removeprefix("the ") == norm)


def _window(said: list[TaskFact], hours: list[HoursFact], key: str | None, places: Places) -> tuple[str | None, str | None]:
    there = [each for each in hours if key is not None and places.key(each.place) == key]
    opens = _last([*(each.opens for each in there), *(each.opens for each in said)])
    closes = _last([*(each.closes for each in there), *(each.closes for each in said)])
    return (None if opens is None else text_of(opens), None if closes is None else text_of(closes))


def _rows(amounts: Iterable[tuple[RoadFact, float | None]], places: Places) -> list[list[Any]]:
    """What was said last of a pair, in either direction."""
    rows: dict[frozenset[str], list[Any]] = {}
    for road, amount in amounts:
        here, there = places.key(road.here), places.key(road.there)
        if amount is not None and here != there:
            rows[frozenset((here, there))] = [here, there, round(amount, 6)]
    return list(rows.values())
