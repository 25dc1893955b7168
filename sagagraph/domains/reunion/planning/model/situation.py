"""Situation of a planner: who and what is available where and when, what is left to do, and how long roads take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.request import Objective, Person, PersonGoal, ReunionProblem, Task
from sagagraph.domains.reunion.times import is_dated, whole_minutes

MIDNIGHT = 24 * 60
"""The end of clock times."""
_FAR = 10**9


@dataclass(frozen=True, slots=True)
class Company:
    """Company for a person who must not wait alone, before `until` at any place except `refuge`: their last goal."""

    refuge: str
    until: int
    from_first_action: bool
    """They were there from the beginning, and have not acted yet: the time before their first action does not count as
    waiting.
    """


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
    """When their last goal is due: from then on they no longer set out. None: they may."""
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
    """How many people can be in it, the driver included."""
    drivers: tuple[str, ...] | None
    """None: it brings its own."""
    unlocked_by: str | None = None
    """The task that has to be done before it moves, if it is not done yet."""
    down: tuple[tuple[int, int], ...] = ()
    """`[from, until)`: no journey begins in these intervals."""


@dataclass(frozen=True, slots=True)
class Leg:
    """Leg: a road for journeys that begin in `[opens, closes)`."""

    here: str
    there: str
    minutes: int
    km: float
    opens: int
    closes: int


@dataclass(frozen=True, slots=True)
class UnderWay:
    """Work that has begun: its people are there until `end`, or somebody is, if it is watched."""

    people: tuple[str, ...]
    place: str | None
    end: int
    is_watched: bool


@dataclass(frozen=True, slots=True)
class Situation:
    """Situation. Times are minutes as in files; nothing begins before `begins`, and nothing is useful after `ends`."""

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
    """When tasks end that have begun already."""
    under_way: tuple[UnderWay, ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()
    departed: frozenset[str] = frozenset()
    """Vehicles that have set out already."""
    ended: int = 0
    """When the last action that has begun already ends."""
    first_moment: int = 0
    last_moment: int = 0
    """The earliest and the latest moment that the problem states: measures count from them."""


def situation_of(problem: ReunionProblem, journeys: int, *, is_free: bool = False) -> Situation:
    """Return the situation before anything has happened. `journeys` is the most there are, which limits how late the last can
    end.

    `is_free`: what is available from the beginning is available before the earliest stated moment, and nobody has to stay.
    """
    moments = problem.moments or [0]
    roads = list(roads_of(problem))
    longest = max((minutes for _, _, minutes, _ in roads), default=0)
    room = sum(whole_minutes(task.minutes) for task in problem.tasks) + journeys * longest
    start = max(min(moments) - room, 0) if is_free else min(moments)
    return Situation(
        begins=start,
        ends=_last_useful_moment(problem, room),
        places=tuple(problem.places),
        travellers=tuple(_traveller(problem, each, start, stay=not is_free) for each in problem.people),
        cars=tuple(
            Car(each.name, each.place, max(each.from_ or 0, start), each.seats, drivers_of(problem, each.name), each.unlocked_by)
            for each in problem.vehicles
        ),
        legs=tuple(Leg(here, there, minutes, km, start, _FAR) for here, there, minutes, km in roads),
        tasks=problem.tasks,
        objectives=problem.objectives,
        apart=problem.apart,
        first_moment=min(moments),
        last_moment=max(moments),
    )


def _traveller(problem: ReunionProblem, person: Person, start: int, *, stay: bool) -> Traveller:
    goals = problem.goals_of(person)
    free = max(person.available or 0, start)
    last = max(goals, key=lambda goal: goal.by, default=None)
    company = None
    if person.never_alone and last is not None:
        company = Company(last.place, last.by, from_first_action=person.from_ is None)
    return Traveller(
        person.name,
        person.place,
        free,
        free,
        goals,
        person.prefers,
        has_come=person.from_ is not None,
        is_expected=person.from_ is not None,
        stays_from=last.by if stay and last is not None else None,
        company=company,
    )


def _last_useful_moment(problem: ReunionProblem, room: int) -> int:
    """Return the last useful moment: by then everything is due, or everybody has been free long enough, so nothing need end
    later.
    """
    due = [goal.by for goal in problem.every_goal]
    closing = [task.window.closes for task in problem.tasks if not task.optional or task.window.closes is not None]
    if due + closing and None not in closing:
        return max(moment for moment in due + closing if moment is not None)
    last = max((*problem.moments, *(person.available or 0 for person in problem.people)), default=0)
    return last + room if is_dated(last) else min(last + room, MIDNIGHT)


def drivers_of(problem: ReunionProblem, vehicle: str) -> tuple[str, ...] | None:
    """Return the drivers that it names, except those whom `drives` forbids."""
    named = next(each.drivers for each in problem.vehicles if each.name == vehicle)
    if named is None:
        return None
    forbidden = {each.name for each in problem.people if each.drives is False}
    return tuple(name for name in named if name not in forbidden)


def roads_of(problem: ReunionProblem) -> Iterator[tuple[str, str, int, float]]:
    """Return from, to, minutes and kilometres of every direction in which one can drive; of a pair that is listed twice, the last
    row.
    """
    km = problem.kilometres
    for (here, there), minutes in problem.minutes.items():
        if here != there:
            yield here, there, whole_minutes(minutes), km.get((here, there), 0.0)


def is_on(leg: Leg, act: Journey) -> bool:
    return (leg.here, leg.there) == (act.from_, act.to) and leg.opens <= act.start < leg.closes


def journey(vehicle: str, driver: str | None, riders: tuple[str, ...], road: tuple[str, str], when: tuple[int, int]) -> Journey:
    """Build a journey from minutes: the model itself reads only what files contain."""
    return Journey.model_construct(
        vehicle=vehicle, driver=driver, riders=riders, from_=road[0], to=road[1], start=when[0], end=when[1]
    )
