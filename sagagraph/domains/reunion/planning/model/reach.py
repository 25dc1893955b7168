"""Reach: how early everybody can be anywhere, at best: nobody waits for anybody, and every seat is free (a delete relaxation).

Anything that is too late even then has no plan. (Bonet and Geffner, "Planning as heuristic search", 2001: the max heuristic, over
time.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from sagagraph.domains.reunion.planning.model.situation import Car, Leg, Situation
from sagagraph.domains.reunion.request import Objective, Task
from sagagraph.domains.reunion.times import whole_minutes

NEVER = 10**9


@dataclass(slots=True)
class Reach:
    """Reach: the earliest moments, by name and place; for tasks, when they end."""

    people: dict[str, dict[str, int]] = field(default_factory=dict)
    cars: dict[str, dict[str, int]] = field(default_factory=dict)
    tasks: dict[str, int] = field(default_factory=dict)


def is_too_late(situation: Situation) -> bool:
    """Tell whether some goal or task cannot be met in time by anybody."""
    reach = reach_of(situation)
    for person in situation.travellers:
        if any(max(person.arrives, reach.people[person.name].get(goal.place, NEVER)) > goal.by for goal in person.goals):
            return True
    return any(
        reach.tasks[task.name] > (NEVER - 1 if task.window.closes is None else task.window.closes)
        for task in situation.tasks
        if not task.optional
    )


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
    """Do one round; return whether anything has become earlier."""
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


METRES: Final = 1000
"""Distances are counted in metres internally."""


def most_journeys(situation: Situation, limit: int, cost: int | None = None) -> int:
    """Return how many journeys a plan has at most that costs at most `cost` in the first objective; `limit` if there may be more.

    A tour is a walk over roads. Each vehicle's longest one is limited by its time; what all tours cost together, by `cost`.
    """
    objective = situation.objectives[0] if situation.objectives else None
    ends = situation.ends
    if cost is not None and objective is Objective.MAKESPAN:
        ends = min(ends, situation.first_moment + cost)
    weigh = weight(objective) if cost is not None else None
    reach = reach_of(situation)
    cheapest = [0]
    for car in situation.cars:
        able = [each for each in situation.travellers if each.name in (car.drivers or ())]
        last = max((ends if each.stays_from is None else each.stays_from for each in able), default=ends)
        tours = _cheapest_tours(situation, car, min(ends, last) - ready(situation, reach, car, car.place), limit, weigh)
        least: dict[int, int] = {}
        for (few, one), (more, other) in product(enumerate(cheapest), enumerate(tours)):
            least[few + more] = min(least.get(few + more, one + other), one + other)
        cheapest = [costs for _, costs in sorted(least.items())[: limit + 1] if weigh is None or costs <= (cost or 0)]
    return len(cheapest) - 1


def weight(objective: Objective | None) -> Callable[[Leg], int] | None:
    """Return what a journey adds to an objective that is a sum over journeys."""
    match objective:
        case Objective.DRIVING_MINUTES:
            return lambda leg: leg.minutes
        case Objective.DISTANCE:
            return lambda leg: round(leg.km * METRES)
        case _:
            return None


def _cheapest_tours(situation: Situation, car: Car, time: int, limit: int, weigh: Callable[[Leg], int] | None) -> list[int]:
    """Return [n]: the least cost of n journeys one after the other; as many as `time` allows, at most `limit`."""
    minutes, costs = {car.place: 0}, {car.place: 0}
    cheapest = [0]
    while len(cheapest) <= limit:
        minutes = _longer(situation, minutes, lambda leg: leg.minutes)
        costs = _longer(situation, costs, weigh or (lambda _: 0))
        if not minutes or min(minutes.values()) > time:
            break
        cheapest.append(min(costs.values()))
    return cheapest


def _longer(situation: Situation, so_far: dict[str, int], weigh: Callable[[Leg], int]) -> dict[str, int]:
    """Return the least costs of tours with one more journey, by where they end."""
    longer: dict[str, int] = {}
    for leg in situation.legs:
        if leg.here in so_far:
            longer[leg.there] = min(longer.get(leg.there, 10**9), so_far[leg.here] + weigh(leg))
    return longer
