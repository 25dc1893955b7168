"""Simulation: where everybody is at every moment, by a plan's stated times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.course import Course, Step
from sagagraph.domains.reunion.rules.facts.unjudged import Trace


class Simulation:
    """Simulation. `people` and `vehicles`: everybody's course. `sites`: where each task's action is; None if that cannot
    be said.
    """

    def __init__(self, world: Circumstances, actions: Mapping[int, Act], traces: Sequence[Trace] = ()) -> None:
        self.world = world
        self.actions = actions
        self._traces = traces
        self.people = {name: self._course(name, is_vehicle=False) for name in world.people}
        self.vehicles = {name: self._course(name, is_vehicle=True) for name in world.vehicles}
        self.sites: dict[int, str | None] = {}
        for index, act in sorted(actions.items(), key=self._order):
            if isinstance(act, Journey):
                self._travel(index, act)
            else:
                self._work(index, act)

    def _course(self, name: str, *, is_vehicle: bool) -> Course:
        excuses = (each.excuse(name, is_vehicle=is_vehicle) for each in self._traces)
        who = (self.world.vehicle_subjects if is_vehicle else self.world.subjects)[name]
        return Course(who, tuple(each for each in excuses if each is not None))

    def _order(self, numbered: tuple[int, Act]) -> tuple[int, bool, int, int]:
        """Order actions. Of those that begin together, watching comes first: its people may leave at once."""
        index, act = numbered
        return act.start, not self._is_watched(act), act.end, index

    def _is_watched(self, act: Act) -> bool:
        if isinstance(act, Journey):
            return False
        return act.task not in self.world.tasks or self.world.tasks[act.task].is_watched

    def _travel(self, index: int, journey: Journey) -> None:
        place = journey.from_ if journey.from_ in self.world.problem.places else None
        step = Step(index, journey.start, journey.end, journey.from_, journey.to, place)
        for course in self._present(journey.people, journey.start):
            course.take(step)
        if journey.vehicle in self.vehicles:
            self.vehicles[journey.vehicle].take(step)

    def _work(self, index: int, work: Work) -> None:
        workers = self._present(work.who, work.start)
        own = self.world.tasks[work.task].place if work.task in self.world.tasks else None
        stated = work.place if work.place in self.world.problem.places else None
        site = stated or own or _meeting_place(workers, work.start)
        self.sites[index] = own or site
        is_misplaced = stated is not None and own not in (None, stated)
        stands = tuple(dict.fromkeys(place for place in (site, own) if place is not None))
        place = None if is_misplaced else site
        step = Step(index, work.start, work.end, work.task, None, place, stands, self._is_watched(work))
        for course in workers:
            course.take(step)

    def _present(self, names: Iterable[str], at: int) -> list[Course]:
        """Return those who take part; a name that stands for nobody then is reported as such, and only that."""
        known = (self.people[name] for name in dict.fromkeys(names) if name in self.people)
        return [course for course in known if course.who.takes_part(at)]


def _meeting_place(workers: Sequence[Course], at: int) -> str | None:
    """Return where the people are who do a task that can be done anywhere: where most of them may be, the first of them before
    others.
    """
    places = dict.fromkeys(place for each in workers for place in sorted(each.places))
    return max(places, key=lambda place: sum(each.may_stand_at(place, at) for each in workers), default=None)


# -- at a moment -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Whereabouts of one subject. `places`: one, or several if the plan contradicts itself; none on the way."""

    name: str
    is_vehicle: bool
    places: tuple[str, ...]
    journey: Journey | None
    """The journey that they are on, `elapsed` minutes of it."""
    elapsed: int
    tasks: tuple[str, ...]
    is_available: bool


def whereabouts(simulation: Simulation, at: int) -> Iterator[Whereabouts]:
    """Yield the whereabouts of all people and vehicles that take part at that moment."""
    for course in (*simulation.people.values(), *simulation.vehicles.values()):
        if course.who.takes_part(at):
            step = course.journey_at(at)
            journey = None if step is None else simulation.actions[step.index]
            works = (each for each in course.steps if each.to is None and not each.is_watched)
            yield Whereabouts(
                name=course.who.name,
                is_vehicle=course.who.is_vehicle,
                places=() if step else tuple(sorted(course.places_at(at))),
                journey=journey if isinstance(journey, Journey) else None,
                elapsed=at - step.start if step else 0,
                tasks=tuple(each.what for each in works if each.start <= at < each.end),
                is_available=course.is_ready(at),
            )


def in_words(found: Whereabouts) -> str:
    """Return `Alex is between B and T, 10 of 30 minutes`."""
    place, way = " or ".join(found.places), found.journey
    if way is not None:
        place = f"between {way.from_} and {way.to}, {found.elapsed} of {way.end - way.start} minutes"
    doing = f", at work on {' and '.join(found.tasks)}" if found.tasks else ""
    if not found.is_available:
        return f"{found.name} is not available yet, and will be at {place}"
    return f"{found.name} is {place if way else f'at {place}'}{doing}"
