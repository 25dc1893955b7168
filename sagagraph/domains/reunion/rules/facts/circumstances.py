"""Circumstances at a moment, by the problem and what became known until then: who takes part, what can be driven, how long
it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar

from sagagraph.domains.reunion.events import Added, Cancelled, Delayed, Event, MayReroute, RoadClosed, TravelFactor, VehicleDown
from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.request import PersonGoal, ReunionProblem
from sagagraph.domains.reunion.times import whole_minutes

_ForATime = TypeVar("_ForATime", TravelFactor, VehicleDown, RoadClosed)


class Circumstances:
    """`events` in the order of `at`. `people`: everybody who takes part at any time; `added` and `cancelled`: since when."""

    def __init__(self, problem: ReunionProblem, events: tuple[Event, ...] = ()) -> None:
        self.problem = problem
        self.events = events
        self.people = {each.name: each for each in problem.people}
        self.vehicles = {vehicle.name: vehicle for vehicle in problem.vehicles}
        self.tasks = {task.name: task for task in problem.tasks}
        self.added: dict[str, int] = {}
        self.cancelled: dict[str, int] = {}
        for event in events:
            if isinstance(event, Added):
                self.people[event.person.name] = event.person
                self.added[event.person.name] = event.at
            elif isinstance(event, Cancelled):
                self.cancelled[event.person] = event.at

    def moments(self) -> set[int]:
        """The moments at which availability may change."""
        known = {each.available for each in self.people.values()} | {event.at for event in self.events}
        known |= {self._from_of(event) for event in self.events if isinstance(event, Delayed)}
        return {moment for moment in known if moment is not None}

    def takes_part(self, name: str, at: int) -> bool:
        """Tell whether they are known then, and have not cancelled."""
        return name in self.people and self.added.get(name, at) <= at < self.cancelled.get(name, at + 1)

    def available_from(self, name: str, at: int) -> int | None:
        """Return when they become available, as known at `at`; None: from the beginning."""
        for event in reversed(self.events):
            if isinstance(event, Delayed) and event.person == name and event.at <= at:
                return self._from_of(event)
        return self.people[name].available

    def breakdown(self, vehicle: str, at: int) -> VehicleDown | None:
        return next((each for each in self._during(VehicleDown, at) if each.vehicle == vehicle), None)

    def closure(self, here: str, there: str, at: int) -> RoadClosed | None:
        return next((each for each in self._during(RoadClosed, at) if {each.from_, each.to} == {here, there}), None)

    def goals(self) -> Iterator[tuple[str, PersonGoal]]:
        """(person, goal) of everybody who has not cancelled; those who were added have the later ones of all."""
        for goal in self.problem.goals:
            for name in self.people if goal.people == "all" else goal.people:
                if name not in self.cancelled and self.added.get(name, goal.by) <= goal.by:
                    yield name, goal
        for name, person in self.people.items():
            yield from ((name, goal) for goal in person.goals if name not in self.cancelled)

    def needed(self, journey: Journey, *, rerouted: bool | None = None) -> int | None:
        """Return the whole minutes needed, with all delays; None if there is no direct way.

        `rerouted`: whether it was redirected while under way; None: unknown, so that the shorter time counts.
        """
        diverted = None if rerouted is False else self._diverted(journey)
        if rerouted and diverted is not None:
            return diverted
        return min((each for each in (self._slowed(journey), diverted) if each is not None), default=None)

    def _during(self, kind: type[_ForATime], at: int) -> Iterator[_ForATime]:
        for event in self.events:
            if isinstance(event, kind) and event.at <= at and (event.until is None or at < event.until):
                yield event

    @cached_property
    def _roads(self) -> dict[tuple[str, str], float]:
        return {way: road.amount for road in self.problem.travel_minutes for way in road.ways}

    def _slowed(self, journey: Journey) -> int | None:
        minutes = self._roads.get((journey.from_, journey.to))
        if minutes is None or self.closure(journey.from_, journey.to, journey.start):
            return None
        for event in self._during(TravelFactor, journey.start):
            minutes *= event.factor if event.place in (journey.from_, journey.to) else 1
        return self._slowed_under_way(journey, whole_minutes(minutes), after=journey.start)

    def _slowed_under_way(self, journey: Journey, needed: int, *, after: int) -> int:
        """T_new = T_elapsed + factor · (T_total − T_elapsed), for each event in turn (SagaLLM 5.3)."""
        for event in self.events:
            if not isinstance(event, TravelFactor) or journey.vehicle in event.passed:
                continue
            if event.place in (journey.from_, journey.to) and after < event.at < journey.start + needed:
                elapsed = event.at - journey.start
                needed = whole_minutes(elapsed + event.factor * (needed - elapsed))
        return needed

    def _diverted(self, journey: Journey) -> int | None:
        for event in reversed(self.events):
            if isinstance(event, MayReroute) and event.vehicle == journey.vehicle and journey.start < event.at < journey.end:
                left = event.minutes_left.get(journey.to)
                if left is not None:
                    return self._slowed_under_way(journey, event.at - journey.start + whole_minutes(left), after=event.at)
        return None

    def _from_of(self, event: Delayed) -> int:
        return event.from_ + whole_minutes(self.people[event.person].exit_minutes)
