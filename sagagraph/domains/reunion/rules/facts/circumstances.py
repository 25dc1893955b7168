"""Circumstances at a moment, by the problem and what became known until then: who takes part, what can be driven, and how long it
takes.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sagagraph.domains.reunion.events import Added, Cancelled, Delayed, Event, MayReroute, RoadClosed, TravelFactor
from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.request import Person, PersonGoal, ReunionProblem
from sagagraph.domains.reunion.rules.facts.course import Subject
from sagagraph.domains.reunion.times import whole_minutes


class Slowing(Struct, frozen=True, array_like=True):
    """Slowing at one of its ends in [at, until). `is_beyond`: the vehicle has passed that already."""

    at: int
    until: int | None
    factor: float
    is_beyond: bool


class Way(Struct, frozen=True, array_like=True):
    """Way of one journey. `minutes` None: there is no direct way."""

    start: int
    minutes: float | None
    closed_at: int | None = None
    """Since when, if it is closed as they set out."""
    slowings: tuple[Slowing, ...] = ()
    diverted: tuple[int, float] | None = None
    """When, under way, they might go to their present destination, and the minutes that it took from then on."""

    def needed(self, *, rerouted: bool | None = None) -> int | None:
        """Return the whole minutes needed, with all delays; None if there is no direct way.

        `rerouted`: whether it was redirected while under way; None: unknown, so that the shorter time counts.
        """
        diverted = None
        if rerouted is not False and self.diverted is not None:
            at, left = self.diverted
            diverted = self._slowed_under_way(at - self.start + whole_minutes(left), after=at)
        if rerouted and diverted is not None:
            return diverted
        return min((each for each in (self._slowed(), diverted) if each is not None), default=None)

    def _slowed(self) -> int | None:
        minutes = self.minutes
        if minutes is None or self.closed_at is not None:
            return None
        for each in self.slowings:
            minutes *= each.factor if each.at <= self.start and (each.until is None or self.start < each.until) else 1
        return self._slowed_under_way(whole_minutes(minutes), after=self.start)

    def _slowed_under_way(self, needed: int, *, after: int) -> int:
        """Apply T_new = T_elapsed + factor · (T_total − T_elapsed), for each event in turn (SagaLLM 5.3)."""
        for each in self.slowings:
            if not each.is_beyond and after < each.at < self.start + needed:
                elapsed = each.at - self.start
                needed = whole_minutes(elapsed + each.factor * (needed - elapsed))
        return needed


class Circumstances:
    """Circumstances. `events` in the order of `at`. `people`: everybody who takes part at any time."""

    def __init__(self, problem: ReunionProblem, events: tuple[Event, ...] = ()) -> None:
        self.problem = problem
        self.events = events
        self.people = {each.name: each for each in problem.people}
        self.people |= {each.person.name: each.person for each in events if isinstance(each, Added)}
        self.vehicles = {vehicle.name: vehicle for vehicle in problem.vehicles}
        self._minutes = problem.minutes
        self.tasks = {task.name: task for task in problem.tasks}
        self.subjects = {name: self._subject(person) for name, person in self.people.items()}
        self.vehicle_subjects = {
            each.name: Subject(each.name, each.place, is_vehicle=True, since=each.from_) for each in problem.vehicles
        }

    def _subject(self, person: Person) -> Subject:
        extra, mine = whole_minutes(person.exit_minutes), [each for each in self.events if _is_about(each, person.name)]
        return Subject(
            person.name,
            person.place,
            since=person.available,
            delays=tuple((each.at, each.from_ + extra) for each in mine if isinstance(each, Delayed)),
            added=next((each.at for each in mine if isinstance(each, Added)), None),
            cancelled=next((each.at for each in reversed(mine) if isinstance(each, Cancelled)), None),
        )

    def moments(self) -> set[int]:
        """Return the moments at which availability may change."""
        known = {each.since for each in self.subjects.values()} | {event.at for event in self.events}
        known |= {since for each in self.subjects.values() for _known, since in each.delays}
        return {moment for moment in known if moment is not None}

    def takes_part(self, name: str, at: int) -> bool:
        """Tell whether they are known then, and have not cancelled."""
        return name in self.subjects and self.subjects[name].takes_part(at)

    def goals(self) -> Iterator[tuple[str, PersonGoal]]:
        """Return (person, goal) of everybody who has not cancelled; those who were added have the later goals of `"all"`."""
        coming = {name: each for name, each in self.subjects.items() if each.cancelled is None}
        for goal in self.problem.goals:
            for name in coming if goal.people == "all" else goal.people:
                if name in coming and coming[name].takes_part(goal.by):
                    yield name, goal
        for name in coming:
            yield from ((name, goal) for goal in self.people[name].goals)

    def way(self, journey: Journey) -> Way:
        """Return the road as the journey finds it."""
        start, ends = journey.start, (journey.from_, journey.to)
        minutes = self._minutes.get(ends)
        if not self.events:
            return Way(start, minutes)
        closures = (each for each in self.events if isinstance(each, RoadClosed) and {each.from_, each.to} == {*ends})
        closed = (each.at for each in closures if each.at <= start and (each.until is None or start < each.until))
        slow = (each for each in self.events if isinstance(each, TravelFactor) and each.place in ends)
        under_way = (
            (each.at, each.minutes_left[journey.to])
            for each in reversed(self.events)
            if isinstance(each, MayReroute) and each.vehicle == journey.vehicle and start < each.at < journey.end
            if journey.to in each.minutes_left
        )
        slowings = (Slowing(each.at, each.until, each.factor, journey.vehicle in each.passed) for each in slow)
        return Way(start, minutes, next(closed, None), tuple(slowings), next(under_way, None))


def _is_about(event: Event, name: str) -> bool:
    if isinstance(event, Added):
        return event.person.name == name
    return isinstance(event, Delayed | Cancelled) and event.person == name
