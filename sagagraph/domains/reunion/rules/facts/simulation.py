"""Simulation: where everybody is at every moment, by a plan's stated times, and which of its actions they cannot join."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.request import Attention
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.unjudged import Trace


class Subject(NamedTuple):
    """A person or a vehicle, which may share a name."""

    name: str
    is_vehicle: bool = False


class Obstacle(StrEnum):
    """Why somebody cannot take part in an action: the first that applies counts, in this order."""

    NOT_YET_AVAILABLE = "NOT_YET_AVAILABLE"
    OVERLAP = "OVERLAP"
    CONTINUITY = "CONTINUITY"


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Obstacle to one subject in one action."""

    obstacle: Obstacle
    index: int
    subject: Subject
    place: str | None
    """Where the action is."""
    places: frozenset[str]
    """Where they are; empty: on the way."""
    other: int | None = None
    """The action in which they are at that time."""


@dataclass(slots=True)
class Course:
    """Course of one subject. After a fault it continues from where the plan says that it then is, or may be."""

    stays: list[tuple[int, frozenset[str]]]
    """From when on, where; one of several places where the plan contradicts itself."""
    journeys: list[int] = field(default_factory=list)
    works: list[int] = field(default_factory=list)
    busy: int | None = None
    """The action that ends last, of those so far."""
    acts_from: int | None = None
    """Where the plan has it act before it is available: from then on it counts as available."""

    @property
    def places(self) -> frozenset[str]:
        return self.stays[-1][1]

    def places_at(self, at: int) -> frozenset[str]:
        """Return where it last stood, also while it is on its way."""
        return next(places for since, places in reversed(self.stays) if since <= at)


class Simulation:
    """What can be asked afterwards: `courses`, `hindrances`, `site_of` a task's action, who `may_be_at` a place."""

    def __init__(self, world: Circumstances, actions: Mapping[int, Act], traces: Sequence[Trace] = ()) -> None:
        self.world = world
        self.actions = actions
        self.courses: dict[Subject, Course] = {
            **{Subject(name): Course([(_ALWAYS, frozenset({each.place}))]) for name, each in world.people.items()},
            **{Subject(name, is_vehicle=True): Course([(_ALWAYS, frozenset({v.place}))]) for name, v in world.vehicles.items()},
        }
        self.hindrances: list[Hindrance] = []
        self.sites: dict[int, str | None] = {}
        """Where each task's action is; None where that cannot be said."""
        self._traces = traces
        self._used: set[tuple[int, Subject]] = set()
        for index in sorted(actions, key=self.order):
            act = actions[index]
            if isinstance(act, Journey):
                self._travel(index, act)
            else:
                self._work(index, act)

    def journey_at(self, subject: Subject, at: int) -> int | None:
        """Return the journey it is on, from its start until before its end."""
        course = self.courses[subject]
        return next((n for n in course.journeys if self.actions[n].start <= at < self.actions[n].end), None)

    def leg_at(self, subject: Subject, at: int) -> int | None:
        """The same, where they have left before: who is to leave at that very minute is still there."""
        course = self.courses[subject]
        return next((n for n in course.journeys if self.actions[n].start < at < self.actions[n].end), None)

    def is_ready(self, subject: Subject, at: int) -> bool:
        """Tell whether it is available then, or acts as if it were."""
        if self._is_available(subject, at):
            return True
        early = self.courses[subject].acts_from
        return early is not None and early <= at and (subject.is_vehicle or self.world.takes_part(subject.name, at))

    def is_watched(self, act: Act) -> bool:
        """Tell whether the task is only watched, as an unknown one may be: its people may do something else meanwhile."""
        if not isinstance(act, Work):
            return False
        return act.task not in self.world.tasks or self.world.tasks[act.task].attention is Attention.WATCHED

    def may_be_at(self, name: str, place: str, at: int) -> bool:
        """Tell whether a person is there, available and not travelling, or may have been brought by an unjudged action."""
        subject = Subject(name)
        is_there = self.is_ready(subject, at) and self.journey_at(subject, at) is None
        return is_there and self._may_stand_at(subject, place, at)

    def order(self, index: int) -> tuple[int, bool, int, int]:
        """Of what begins together, what is only watched comes first: its people may leave at once."""
        act = self.actions[index]
        return act.start, not self.is_watched(act), act.end, index

    def _travel(self, index: int, journey: Journey) -> None:
        aboard = self._present(journey.people, journey.start)
        vehicle = Subject(journey.vehicle, is_vehicle=True)
        for subject in [*aboard, *([vehicle] if vehicle in self.courses else [])]:
            course = self.courses[subject]
            self._meet(index, subject, journey.from_ if journey.from_ in self.world.problem.places else None)
            inside = course.busy is not None and self.actions[course.busy].end > journey.end
            arrived = frozenset({journey.to})
            course.stays.append((journey.end, arrived | course.places if inside else arrived))
            course.journeys.append(index)
            self._occupy(course, index)

    def _work(self, index: int, work: Work) -> None:
        workers = self._present(work.who, work.start)
        own = self.world.tasks[work.task].place if work.task in self.world.tasks else None
        stated = work.place if work.place in self.world.problem.places else None
        site = stated or own or self._meeting_place(workers, work.start)
        self.sites[index] = own or site
        is_misplaced = stated is not None and own not in (None, stated)
        for subject in workers:
            course = self.courses[subject]
            self._meet(index, subject, None if is_misplaced else site)
            here = {place for place in (site, own) if place is not None}
            if not here <= course.places:
                course.stays.append((work.start, course.places | here))
            course.works.append(index)
            if not self.is_watched(work):
                self._occupy(course, index)

    def _present(self, names: Iterable[str], at: int) -> list[Subject]:
        """Those who take part; a name that stands for nobody then is reported as such, and nothing else of it."""
        return [Subject(name) for name in dict.fromkeys(names) if self.world.takes_part(name, at)]

    def _meeting_place(self, workers: Sequence[Subject], at: int) -> str | None:
        """Where those are who do what can be done anywhere: where most of them may be, the first of them before others."""
        places = dict.fromkeys(place for each in workers for place in sorted(self.courses[each].places))
        return max(places, key=lambda place: sum(self._may_stand_at(each, place, at) for each in workers), default=None)

    def _may_stand_at(self, subject: Subject, place: str, at: int) -> bool:
        here = self.courses[subject].places_at(at)
        return place in here or any(
            each.may_have_moved(subject.name, is_vehicle=subject.is_vehicle, places=here, to=place, by=at)
            for each in self._traces
        )

    def _meet(self, index: int, subject: Subject, place: str | None) -> None:
        """Return at most one obstacle. `place` None: wherever they are."""
        act, course = self.actions[index], self.courses[subject]
        found = Hindrance(Obstacle.CONTINUITY, index, subject, place, course.places, course.busy)
        busy = None if course.busy is None else self.actions[course.busy]
        in_another = busy is not None and busy.start < act.end and act.start < busy.end
        is_watched = self.is_watched(act)
        on_the_way = is_watched and self.leg_at(subject, act.start) is not None
        if not self._is_available(subject, act.start):
            course.acts_from = act.start if course.acts_from is None else min(course.acts_from, act.start)
            self.hindrances.append(replace(found, obstacle=Obstacle.NOT_YET_AVAILABLE))
        elif in_another and not is_watched:
            self.hindrances.append(replace(found, obstacle=Obstacle.OVERLAP))
        elif on_the_way:
            self.hindrances.append(replace(found, places=frozenset()))
        elif place is not None and place not in course.places and not self._is_excused(subject, place, act.start):
            self.hindrances.append(replace(found, other=None))

    def _is_available(self, subject: Subject, at: int) -> bool:
        """Of vehicles, only what can be said without the rest of the plan."""
        if subject.is_vehicle:
            since = self.world.vehicles[subject.name].from_
            return since is None or since <= at
        if not self.world.takes_part(subject.name, at):
            return False
        since = self.world.available_from(subject.name, at)
        return since is None or since <= at

    def _is_excused(self, subject: Subject, place: str, at: int) -> bool:
        """Tell whether a trace excuses it. Each trace stands for one journey, and moves nobody twice."""
        places = self.courses[subject].places
        for number, trace in enumerate(self._traces):
            moved = trace.may_have_moved(subject.name, is_vehicle=subject.is_vehicle, places=places, to=place, by=at)
            if moved and (number, subject) not in self._used:
                self._used.add((number, subject))
                return True
        return False

    def _occupy(self, course: Course, index: int) -> None:
        if course.busy is None or self.actions[index].end >= self.actions[course.busy].end:
            course.busy = index


_ALWAYS = -(10**9)
"""Before every moment."""


# -- at a moment -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Leg:
    """The road that somebody is on: `elapsed` of its stated `minutes`."""

    from_: str
    to: str
    elapsed: int
    minutes: int
    vehicle: str


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Whereabouts of one subject. `places`: one, or several if the plan contradicts itself; none on the way."""

    name: str
    is_vehicle: bool
    places: tuple[str, ...]
    leg: Leg | None
    tasks: tuple[str, ...]
    is_available: bool


def whereabouts(simulation: Simulation, at: int) -> Iterator[Whereabouts]:
    """Return those of all people and vehicles that take part at that moment."""
    for subject in simulation.courses:
        if subject.is_vehicle or simulation.world.takes_part(subject.name, at):
            yield _of(simulation, subject, at)


def in_words(found: Whereabouts) -> str:
    """Return `Alex is between B and T, 10 of 30 minutes`."""
    place = " or ".join(found.places)
    if found.leg is not None:
        place = f"between {found.leg.from_} and {found.leg.to}, {found.leg.elapsed} of {found.leg.minutes} minutes"
    doing = f", at work on {' and '.join(found.tasks)}" if found.tasks else ""
    if not found.is_available:
        return f"{found.name} is not available yet, and will be at {place}"
    return f"{found.name} is {place if found.leg else f'at {place}'}{doing}"


def _of(simulation: Simulation, subject: Subject, at: int) -> Whereabouts:
    course = simulation.courses[subject]
    index = simulation.journey_at(subject, at)
    journey = None if index is None else simulation.actions[index]
    leg = None
    if isinstance(journey, Journey):
        leg = Leg(journey.from_, journey.to, at - journey.start, journey.end - journey.start, journey.vehicle)
    works = (act for act in map(simulation.actions.__getitem__, course.works) if not simulation.is_watched(act))
    return Whereabouts(
        name=subject.name,
        is_vehicle=subject.is_vehicle,
        places=() if journey else tuple(sorted(course.places_at(at))),
        leg=leg,
        tasks=tuple(work.task for work in works if isinstance(work, Work) and work.start <= at < work.end),
        is_available=simulation.is_ready(subject, at),
    )
