"""Situation of a planner: who and what is where from when on, what is left to do, and how long roads take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sagagraph.domains.reunion.request import Attention
from sagagraph.domains.reunion.times import is_dated, whole_minutes

if TYPE_CHECKING:
    from sagagraph.domains.reunion.request import Objective, Person, PersonGoal, ReunionProblem, Task


MIDNIGHT = 24 * 60
"""Clock times end there."""


@dataclass(frozen=True, slots=True)
class Company:
    """Of one who is not to wait alone, before `until` at any place but `refuge`: their last goal."""

    refuge: str
    until: int
    from_first_action: bool
    """They were there from the beginning, and have not acted yet: what comes before their first action is no waiting."""


@dataclass(frozen=True, slots=True)
class Traveller:
    name: str
    place: str
    free: int
    """The first minute in which they can take part."""
    arrives: int = 0
    """From when on they are at the place: what they do there may last longer."""
    goals: tuple[PersonGoal, ...] = ()
    prefers: tuple[str, ...] = ()
    has_come: bool = False
    """At a stated time: they wait before their first action too."""
    is_expected: bool = False
    """They are still to come, and may be late."""
    stays_from: int | None = None
    """When their last goal is due: they set out for nowhere from then on. None: they may."""
    worked: int = 0
    """Minutes in actions that have begun before."""
    company: Company | None = None
    """None: they may wait alone."""


@dataclass(frozen=True, slots=True)
class Car:
    name: str
    place: str
    free: int
    capacity: int
    """How many of the people can be in it, a driver among them."""
    drivers: tuple[str, ...] | None
    """None: it brings its own."""
    unlocked_by: str | None = None
    """The task that has to be done before it moves, where it is not done yet."""
    down: tuple[tuple[int, int], ...] = ()
    """`[from, until)`: no journey begins in these."""


@dataclass(frozen=True, slots=True)
class Leg:
    """A road as journeys find it that begin in `[opens, closes)`."""

    here: str
    there: str
    minutes: int
    km: float
    opens: int
    closes: int


@dataclass(frozen=True, slots=True)
class Watch:
    """A watched task that is under way: somebody has to be at `place` until `end`."""

    place: str
    end: int


@dataclass(frozen=True, slots=True)
class Shift:
    """Work that is under way, which is no watching."""

    people: tuple[str, ...]
    place: str | None
    end: int


@dataclass(frozen=True, slots=True)
class Situation:
    """Times are minutes as in files; nothing begins before `begins`, and nothing is of use after `ends`."""

    begins: int
    ends: int
    places: tuple[str, ...]
    travellers: tuple[Traveller, ...]
    cars: tuple[Car, ...]
    legs: tuple[Leg, ...]
    tasks: tuple[Task, ...]
    """Those that are not done yet."""
    objectives: tuple[Objective, ...]
    done: Mapping[str, int] = field(default_factory=dict)
    """When tasks end that have begun before."""
    watches: tuple[Watch, ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()
    shifts: tuple[Shift, ...] = ()
    departed: frozenset[str] = frozenset()
    """Vehicles that have set out before."""
    ended: int = 0
    """When the last action ends that has begun before."""
    first_moment: int = 0
    last_moment: int = 0
    """The earliest and the latest that the problem states: what measures count from."""


def situation_of(problem: ReunionProblem, *, journeys: int, is_free: bool = False) -> Situation:
    """Return the situation before anything has happened. `journeys` is the most there are, which bounds how late the last can
    end.

    `is_free`: what is available from the beginning is available before the earliest stated moment, and nobody need stay.
    """
    moments = tuple(moments_of(problem)) or (0,)
    longest = max((minutes for _, _, minutes, _ in roads_of(problem)), default=0)
    room = sum(whole_minutes(task.minutes) for task in problem.tasks) + journeys * longest
    start = max(min(moments) - room, 0) if is_free else min(moments)
    return Situation(
        begins=start,
        ends=last_useful_moment(problem, journeys),
        places=tuple(problem.places),
        travellers=travellers_of(problem, start, stay=not is_free),
        cars=tuple(
            Car(each.name, each.place, _or(each.from_, start), each.seats, drivers_of(problem, each.name), each.unlocked_by)
            for each in problem.vehicles
        ),
        legs=tuple(Leg(here, there, minutes, km, start, _FAR) for here, there, minutes, km in roads_of(problem)),
        tasks=problem.tasks,
        objectives=problem.objectives,
        apart=problem.apart,
        first_moment=min(moments),
        last_moment=max(moments),
    )


_FAR = 10**9


def travellers_of(problem: ReunionProblem, start: int, *, stay: bool) -> tuple[Traveller, ...]:
    return tuple(_traveller(problem, each, start, stay=stay) for each in problem.people)


def _traveller(problem: ReunionProblem, person: Person, start: int, *, stay: bool) -> Traveller:
    goals = (*person.goals, *(goal for goal in problem.goals if goal.people == "all" or person.name in goal.people))
    free = _or(person.available, start)
    last = max((goal.by for goal in goals), default=None)
    return Traveller(
        person.name,
        person.place,
        free,
        free,
        goals,
        person.prefers,
        has_come=person.from_ is not None,
        is_expected=person.from_ is not None,
        stays_from=last if stay else None,
        company=_company(person, goals),
    )


def _company(person: Person, goals: tuple[PersonGoal, ...]) -> Company | None:
    if not person.never_alone or not goals:
        return None
    last = max(goals, key=lambda goal: goal.by)
    return Company(last.place, last.by, from_first_action=person.from_ is None)


def drivers_of(problem: ReunionProblem, vehicle: str) -> tuple[str, ...] | None:
    """Those it names, without whom `drives` forbids it."""
    named = next(each.drivers for each in problem.vehicles if each.name == vehicle)
    if named is None:
        return None
    forbidden = {each.name for each in problem.people if each.drives is False}
    return tuple(name for name in named if name not in forbidden)


def roads_of(problem: ReunionProblem) -> Iterator[tuple[str, str, int, float]]:
    """From, to, minutes and kilometres of every direction in which one can drive; a pair that is listed twice: the last row."""
    minutes: dict[tuple[str, str], int] = {}
    km: dict[tuple[str, str], float] = {}
    for road in problem.travel_minutes:
        minutes[road.here, road.there] = whole_minutes(road.amount)
        if not road.one_way:
            minutes[road.there, road.here] = whole_minutes(road.amount)
    for road in problem.distance_km:
        km[road.here, road.there] = road.amount
        if not road.one_way:
            km[road.there, road.here] = road.amount
    yield from ((here, there, taken, km.get((here, there), 0.0)) for (here, there), taken in minutes.items() if here != there)


def moments_of(problem: ReunionProblem) -> Iterator[int]:
    """Return all moments that the problem states."""
    for person in problem.people:
        yield from (moment for moment in (person.from_, *(goal.by for goal in person.goals)) if moment is not None)
    yield from (vehicle.from_ for vehicle in problem.vehicles if vehicle.from_ is not None)
    for task in problem.tasks:
        yield from (moment for moment in (task.window.opens, task.window.closes) if moment is not None)
    yield from (goal.by for goal in problem.goals)


def last_useful_moment(problem: ReunionProblem, journeys: int) -> int:
    """What ends later can be left out, or done earlier: all is due then, or everybody has been free for long enough."""
    due = [goal.by for goal in problem.goals] + [goal.by for person in problem.people for goal in person.goals]
    closing = [task.window.closes for task in problem.tasks if not task.optional or task.window.closes is not None]
    if due + closing and None not in closing:
        return max(moment for moment in due + closing if moment is not None)
    last = max((*moments_of(problem), *(person.available or 0 for person in problem.people)), default=0)
    longest = max((minutes for _, _, minutes, _ in roads_of(problem)), default=0)
    enough = last + sum(whole_minutes(task.minutes) for task in problem.tasks) + journeys * longest
    return enough if is_dated(last) else min(enough, MIDNIGHT)


def is_watched(task: Task) -> bool:
    return task.attention is Attention.WATCHED


def _or(moment: int | None, otherwise: int) -> int:
    return otherwise if moment is None else max(moment, otherwise)
