"""Reach: how early everybody can be anywhere, at best: nobody waits for anybody, and every seat is free (a delete relaxation).

What is too late even so has no plan. (Bonet and Geffner, "Planning as heuristic search", 2001: the max heuristic, over time.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sagagraph.domains.reunion.planning.model.situation import is_watched
from sagagraph.domains.reunion.times import whole_minutes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sagagraph.domains.reunion.planning.model.situation import Car, Leg, Situation, Traveller
    from sagagraph.domains.reunion.request import Task

NEVER = 10**9


@dataclass(slots=True)
class Reach:
    """The earliest moments, by name and place; of tasks, when they end."""

    people: dict[str, dict[str, int]] = field(default_factory=dict)
    cars: dict[str, dict[str, int]] = field(default_factory=dict)
    tasks: dict[str, int] = field(default_factory=dict)


def is_too_late(situation: Situation) -> bool:
    """Tell whether some goal or task cannot be met in time by anybody, or somebody is alone on arrival."""
    reach = reach_of(situation)
    if any(_is_left_alone(situation, reach, person) for person in situation.travellers):
        return True
    for person in situation.travellers:
        if any(max(person.arrives, reach.people[person.name].get(goal.place, NEVER)) > goal.by for goal in person.goals):
            return True
    return any(
        reach.tasks[task.name] > (NEVER - 1 if task.window.closes is None else task.window.closes)
        for task in situation.tasks
        if not task.optional
    )


def _is_left_alone(situation: Situation, reach: Reach, person: Traveller) -> bool:
    """They must not wait alone, and can neither leave nor begin a task nor be met by then."""
    company, since = person.company, person.free
    if company is None or company.from_first_action or person.place == company.refuge or since >= company.until:
        return False
    others = (places for name, places in reach.people.items() if name != person.name)
    return not (
        any(ready(situation, reach, car, person.place) <= since for car in situation.cars)
        or any(_may_begin(task, person) for task in situation.tasks)
        or any(places.get(person.place, NEVER) <= since for places in others)
    )


def _may_begin(task: Task, person: Traveller) -> bool:
    return not is_watched(task) and task.place in (None, person.place) and (task.who is None or person.name in task.who)


def reach_of(situation: Situation) -> Reach:
    reach = Reach(
        {each.name: {each.place: each.free} for each in situation.travellers},
        {each.name: {each.place: each.free} for each in situation.cars},
        {task.name: NEVER for task in situation.tasks},
    )
    while _does_more(situation, reach):
        pass
    return reach


def _does_more(situation: Situation, reach: Reach) -> bool:
    """One round; whether anything is earlier than before."""
    changed = False
    for task in situation.tasks:
        changed |= _earlier(reach.tasks, task.name, _end_of(situation, reach, task))
    for car in situation.cars:
        for leg in situation.legs:
            sets_out = ready(situation, reach, car, leg.here)
            changed |= _earlier(reach.cars[car.name], leg.there, _arrival(leg, sets_out))
            for places in reach.people.values():
                start = max(sets_out, places.get(leg.here, NEVER))
                changed |= _earlier(places, leg.there, _arrival(leg, start))
    return changed


def _earlier(moments: dict[str, int], key: str, moment: int) -> bool:
    if moment >= moments.get(key, NEVER):
        return False
    moments[key] = moment
    return True


def _arrival(leg: Leg, ready: int) -> int:
    start = max(ready, leg.opens)
    return start + leg.minutes if start < min(leg.closes, NEVER) else NEVER


def ready(situation: Situation, reach: Reach, car: Car, place: str) -> int:
    """Return when a vehicle can leave: it and a driver are there, and it is unlocked."""
    moment = reach.cars[car.name].get(place, NEVER)
    if car.drivers is not None:
        moment = max(moment, _first(reach, car.drivers, place))
    if car.unlocked_by is not None:
        unlocked = reach.tasks.get(car.unlocked_by, NEVER)
        moment = max(moment, dict(situation.done).get(car.unlocked_by, unlocked))
    for since, until in sorted(car.down):
        moment = until if since <= moment < until else moment
    return moment


def _first(reach: Reach, names: Iterable[str], place: str | None, count: int = 1) -> int:
    """Return when enough of the known people are there; at any place if none is given."""
    known = (reach.people[name] for name in names if name in reach.people)
    moments = sorted(min(each.values()) if place is None else each.get(place, NEVER) for each in known)
    return moments[count - 1] if count <= len(moments) else NEVER


def _end_of(situation: Situation, reach: Reach, task: Task) -> int:
    people = reach.people if task.who is None else task.who
    begins = [_first(reach, people, task.place, task.people), *((task.window.opens,) if task.window.opens is not None else ())]
    optional = {each.name for each in situation.tasks if each.optional}
    begins += [situation.done.get(name, reach.tasks.get(name, 0)) for name in task.after if name not in optional]
    return int(min(NEVER, max(begins) + whole_minutes(task.minutes)))
