"""Random days: first a plan, then the problem that permits it exactly, so that the plan is right by construction."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import Any

from sagagraph.domains.reunion.times import text_of
from tests.domains.reunion.plans import Json, plan_of, task, travel

PLACES = ("A", "B", "C", "D")
OVEN = "Z"
"""Where only the cook is, beside what must be watched."""
BEGINS = 480


@dataclass
class Being:
    """A person or a vehicle: where it is, and from when on it is free."""

    name: str
    place: str
    home: str
    free: int
    acts: bool = False


@dataclass
class Day:
    """`problem` and `plan` as JSON; `actions` are the plan's."""

    rng: Random
    people: dict[str, Being] = field(default_factory=dict)
    vehicles: dict[str, Being] = field(default_factory=dict)
    drivers: dict[str, list[str]] = field(default_factory=dict)
    roads: dict[tuple[str, str], float] = field(default_factory=dict)
    actions: list[Json] = field(default_factory=list)
    tasks: list[Json] = field(default_factory=list)
    goals: list[tuple[str, str, int]] = field(default_factory=list)
    unlocked: dict[str, str] = field(default_factory=dict)

    @property
    def plan(self) -> Json:
        return plan_of(*self.actions)

    def minutes(self, here: str, there: str) -> int:
        return -int(-self.roads[min(here, there), max(here, there)] // 1)


def random_day(seed: int) -> Day:
    """Two crews and a cook; journeys, tasks done by some of those who stand together, and later what permits it all."""
    day = Day(Random(seed))
    for here, there in combinations((*PLACES, OVEN), 2):
        day.roads[here, there] = day.rng.choice([10, 12.5, 19.8, 25, 30])
    for crew in ("1", "2"):
        _add_crew(day, crew)
    for _ in range(day.rng.randint(3, 7)):
        _add_action(day)
    _add_cook(day)
    return day


def problem_of(day: Day) -> Json:
    """The narrowest: everybody available just in time, tasks open just then, as many seats as are used."""
    return {
        "name": "random day",
        "places": {place: f"place {place}" for place in (*PLACES, OVEN)},
        "travel_minutes": [[here, there, minutes] for (here, there), minutes in day.roads.items()],
        "people": [_person(day, being) for being in day.people.values()],
        "vehicles": [_vehicle(day, being) for being in day.vehicles.values()],
        "tasks": day.tasks,
        "goals": [{"people": [name], "place": place, "by": text_of(by)} for name, place, by in day.goals],
    }


def _add_crew(day: Day, crew: str) -> None:
    """A vehicle, a driver and a rider at one place; and journeys and a task, so that there is one of each."""
    place = day.rng.choice(PLACES)
    driver, rider, car = f"driver {crew}", f"rider {crew}", f"car {crew}"
    for name in (driver, rider):
        day.people[name] = Being(name, place, place, BEGINS + day.rng.randint(0, 20))
    day.vehicles[car] = Being(car, place, place, BEGINS + day.rng.randint(0, 20))
    day.drivers[car] = [driver]
    _ride(day, car, [rider])
    _do_task(day, [driver, rider])
    _ride(day, car, [rider])


def _add_action(day: Day) -> None:
    car = day.rng.choice(list(day.vehicles))
    (driver,) = day.drivers[car]
    here = [name for name in day.people if name != driver and day.people[name].place == day.vehicles[car].place]
    company = [name for name in here if day.rng.random() < 0.6]
    if day.rng.random() < 0.5 and day.people[driver].place == day.vehicles[car].place:
        _ride(day, car, company)
    else:
        place = day.people[driver].place
        _do_task(day, [driver, *(name for name in company if day.people[name].place == place)])


def _ride(day: Day, car: str, riders: list[str]) -> None:
    (driver,) = day.drivers[car]
    aboard = [day.vehicles[car], *(day.people[name] for name in (driver, *riders))]
    here = aboard[0].place
    there = day.rng.choice([place for place in PLACES if place != here])
    start = max(each.free for each in aboard) + day.rng.choice([0, 0, 5])
    end = start + day.minutes(here, there) + day.rng.choice([0, 0, 4])
    day.actions.append(travel(car, driver, f"{here}-{there}", text_of(start), text_of(end), *riders))
    _occupy(aboard, there, end)


def _do_task(day: Day, who: list[str]) -> None:
    workers = [day.people[name] for name in who]
    start = max(each.free for each in workers) + day.rng.choice([0, 0, 5])
    needed = day.rng.randint(3, 15)
    end = start + needed + day.rng.choice([0, 0, 4])
    name, place = f"task {len(day.tasks)}", workers[0].place
    stated = place if day.rng.random() < 0.5 else None
    day.actions.append(task(name, ",".join(who), text_of(start), text_of(end), stated))
    own = place if day.rng.random() < 0.8 else None
    before = [each["name"] for each in day.tasks if _end_of(day, each["name"]) <= start]
    day.tasks.append(
        {
            "name": name,
            "place": own,
            "minutes": needed,
            "people": len(who),
            "who": sorted(who),
            "window": [text_of(start), text_of(end)],
            "after": before[-1:],
        }
    )
    _occupy(workers, place, end)


def _add_cook(day: Day) -> None:
    """Watches the oven, does something else beside it, and leaves in a car that a task unlocks."""
    day.people["cook"] = Being("cook", OVEN, OVEN, BEGINS)
    day.vehicles["rental"] = Being("rental", OVEN, OVEN, BEGINS)
    day.drivers["rental"] = ["cook"]
    day.unlocked["rental"] = "unlock"
    day.actions += [
        task("roast", "cook", "08:30", "10:30"),
        task("unlock", "cook", "08:40", "08:50"),
        travel("rental", "cook", f"{OVEN}-A", "10:30", text_of(630 + day.minutes("A", OVEN))),
    ]
    day.tasks += [
        {"name": "roast", "place": OVEN, "minutes": 120, "attention": "watched"},
        {"name": "unlock", "place": OVEN, "minutes": 10},
    ]
    _occupy([day.people["cook"], day.vehicles["rental"]], "A", 630 + day.minutes("A", OVEN))
    day.goals += [(each.name, each.place, each.free) for each in day.people.values()]


def _occupy(beings: list[Being], place: str, until: int) -> None:
    for each in beings:
        each.place, each.free = place, until


def _end_of(day: Day, name: str) -> int:
    return max(minutes_of(act["end"]) for act in day.actions if act.get("task") == name)


def _person(day: Day, being: Being) -> Json:
    exits = day.rng.choice([0, 10])
    first = min((minutes_of(act["start"]) for act in day.actions if being.name in names_in(act)), default=BEGINS)
    return {"name": being.name, "place": being.home, "from": text_of(first - exits), "exit_minutes": exits}


def _vehicle(day: Day, being: Being) -> Json:
    trips = [act for act in day.actions if act.get("vehicle") == being.name]
    rental = {"unlocked_by": day.unlocked[being.name]} if being.name in day.unlocked else {"from": trips[0]["start"]}
    seats = max(len(names_in(act)) for act in trips)
    return {"name": being.name, "place": being.home, "seats": seats, "drivers": day.drivers[being.name], **rental}


def names_in(act: Json) -> list[str]:
    named: list[Any] = act["who"] if act["do"] == "task" else [act["driver"], *act["riders"]]
    return named


def minutes_of(text: str) -> int:
    return int(text[:2]) * 60 + int(text[3:])
