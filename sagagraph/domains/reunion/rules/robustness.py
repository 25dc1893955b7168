"""Robustness: which single disturbances a plan survives if everybody does the same in the same order, as soon as they can.

It is judged separately: the plan is played through once for each disturbance, and every rule judges the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sagagraph.domains.reunion.plan import Act, Journey, ReunionPlan, Work
from sagagraph.domains.reunion.request import LATE_MINUTES, MOST_WITH_SLACK, SLOW_ROAD, Objective, ReunionProblem, with_row
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.course import ALWAYS
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.domains.reunion.times import whole_minutes


@dataclass(frozen=True, slots=True)
class Disturbance:
    """Disturbance. `problem`: as it then is. `late`: who begins their first action this much later, though not expected at a
    stated time.
    """

    words: str
    problem: ReunionProblem
    late: str | None = None
    breaks: str = ""
    """What then goes wrong, in words."""


def disturbances(problem: ReunionProblem) -> Iterator[Disturbance]:
    for person in problem.people:
        words = f"{person.name} is {LATE_MINUTES} minutes late"
        if person.from_ is None:
            yield Disturbance(words, problem, person.name)
        else:
            yield Disturbance(words, with_row("people", person.name, from_=person.from_ + LATE_MINUTES)(problem))
    roads = {frozenset((each.here, each.there)): each for each in problem.travel_minutes if each.here != each.there}
    for ends, road in roads.items():
        slow = (
            each.model_copy(update={"amount": SLOW_ROAD * each.amount}) if {each.here, each.there} == ends else each
            for each in problem.travel_minutes
        )
        way = f"{problem.places[road.here]} to {problem.places[road.there]}"
        slowed = problem.model_copy(update={"travel_minutes": tuple(slow)})
        yield Disturbance(f"{way} takes half as long again", slowed)


def not_survived(problem: ReunionProblem, plan: ReunionPlan) -> tuple[Disturbance, ...]:
    """Return the disturbances after which the plan breaks a rule, with the first that it breaks."""
    broken = []
    for each in disturbances(problem):
        played = _Play(each, plan).plan
        verdict = validate_plan(each.problem, played.model_dump(mode="json"))
        if not verdict.is_valid:
            broken.append(Disturbance(each.words, each.problem, each.late, verdict.violations[0].message))
    return tuple(broken)


def slack_told(problem: ReunionProblem, plan: ReunionPlan) -> tuple[str, ...]:
    """Return in words what the plan survives, if that is an objective."""
    if Objective.ROBUSTNESS not in problem.objectives:
        return ()
    if len(problem.people) > MOST_WITH_SLACK:
        return (f"with more than {MOST_WITH_SLACK} people nobody has looked at what happens if somebody is late",)
    broken = not_survived(problem, plan)
    if not broken:
        return (f"it still works out if anybody is {LATE_MINUTES} minutes late, or any road takes half as long again",)
    return tuple(f"if {each.words}, {each.breaks}" for each in broken)


@dataclass(slots=True)
class _Watch:
    place: str
    start: int
    end: int


@dataclass(slots=True)
class _Whereabouts:
    """Whereabouts of one person: since when they are where they are, and from when on they are free."""

    place: str
    since: int
    free: int
    has_acted: bool = False


@dataclass(slots=True)
class _Play:
    """Run of a plan through a disturbance. `plan`: the result."""

    disturbance: Disturbance
    original: ReunionPlan
    plan: ReunionPlan = field(init=False)
    _people: dict[str, _Whereabouts] = field(init=False)
    _vehicles: dict[str, int] = field(init=False, default_factory=dict)
    _tasks: dict[str, int] = field(init=False, default_factory=dict)
    _watches: list[_Watch] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        world = Circumstances(self.disturbance.problem)
        since = {name: ALWAYS if each.available is None else each.available for name, each in world.people.items()}
        self._people = {name: _Whereabouts(each.place, since[name], since[name]) for name, each in world.people.items()}
        acts = sorted(self.original.actions, key=lambda act: (act.start, not _is_watched(world, act), act.end))
        self.plan = self.original.model_copy(update={"actions": tuple(self._played(world, act) for act in acts)})

    def _played(self, world: Circumstances, act: Act) -> Act:
        start = max((act.start, *self._awaited(world, act)))
        if isinstance(act, Journey):
            start = self._relieved(act, start)
        end = start + max(act.end - act.start, _needed(world, act))
        played = act.model_copy(update={"start": start, "end": end})
        self._keep(world, played)
        return played

    def _awaited(self, world: Circumstances, act: Act) -> Iterator[int]:
        for each in (self._people[name] for name in act.people if name in self._people):
            yield each.since if _is_watched(world, act) else each.free
        late = self.disturbance.late
        if late in act.people and late is not None and not self._people[late].has_acted:
            yield act.start + LATE_MINUTES
        if isinstance(act, Journey):
            vehicle = world.vehicles.get(act.vehicle)
            yield self._vehicles.get(act.vehicle, ALWAYS)
            yield self._tasks.get((vehicle and vehicle.unlocked_by) or "", ALWAYS)
        elif act.task in world.tasks:
            yield from (self._tasks.get(name, ALWAYS) for name in world.tasks[act.task].after)

    def _relieved(self, journey: Journey, start: int) -> int:
        """Return when they are relieved: whoever watches something waits until it is over, or somebody else has come."""
        for watch in self._watches:
            if watch.place == journey.from_ and watch.start <= start < watch.end:
                others = (each for name, each in self._people.items() if name not in journey.people)
                relief = (each.since for each in others if each.place == watch.place)
                start = max(start, min((*relief, watch.end)))
        return start

    def _keep(self, world: Circumstances, act: Act) -> None:
        for each in (self._people[name] for name in act.people if name in self._people):
            each.has_acted = True
            if not _is_watched(world, act):
                each.free = act.end
            if isinstance(act, Journey):
                each.place, each.since = act.to, act.end
        if isinstance(act, Journey):
            self._vehicles[act.vehicle] = act.end
            return
        self._tasks.setdefault(act.task, act.end)
        place = act.place or (world.tasks[act.task].place if act.task in world.tasks else None)
        if place is not None and _is_watched(world, act):
            self._watches.append(_Watch(place, act.start, act.end))


def _is_watched(world: Circumstances, act: Act) -> bool:
    return isinstance(act, Work) and act.task in world.tasks and world.tasks[act.task].is_watched


def _needed(world: Circumstances, act: Act) -> int:
    if isinstance(act, Journey):
        return world.way(act).needed() or 0
    return whole_minutes(world.tasks[act.task].minutes) if act.task in world.tasks else 0
