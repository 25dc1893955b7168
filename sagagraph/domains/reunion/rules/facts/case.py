"""Case from which slices are selected: a plan, its problem, what became known, and what had been done by then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.parsing import ParsedPlan, parse_plan
from sagagraph.domains.reunion.plan import Journey, Work
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.facts import unjudged
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.history import History
from sagagraph.domains.reunion.rules.facts.simulation import Simulation
from sagagraph.domains.reunion.rules.facts.unjudged import Trace
from sagagraph.domains.reunion.times import text_of


@dataclass(frozen=True)
class Case:
    """Case. `history` None: nothing has been done yet."""

    world: Circumstances
    plan: ParsedPlan
    history: History | None = None

    @classmethod
    def of(cls, problem: ReunionProblem, plan: object, events: tuple[Event, ...]) -> Case:
        """Return the case of a plan, whatever it is; `events` in the order of `at`."""
        return cls(Circumstances(problem, events), parse_plan(problem, plan))

    @property
    def problem(self) -> ReunionProblem:
        return self.world.problem

    @cached_property
    def journeys(self) -> list[tuple[int, Journey]]:
        return [(index, act) for index, act in self.plan.actions.items() if isinstance(act, Journey)]

    @cached_property
    def works(self) -> list[tuple[int, Work]]:
        """Return the work on existing tasks."""
        acts = self.plan.actions.items()
        return [(index, act) for index, act in acts if isinstance(act, Work) and act.task in self.world.tasks]

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """Return the traces of what cannot be judged."""
        unknown = (unjudged.of_unknown(act, self.world) for act in self.plan.actions.values())
        return (
            *(unjudged.of_broken(each, self.world) for each in self.plan.broken),
            *(each for each in unknown if each is not None),
            *(unjudged.of_lost(act, is_restated=stated) for act, stated in (self.history.lost if self.history else ())),
        )

    @cached_property
    def simulation(self) -> Simulation:
        return Simulation(self.world, self.plan.actions, self.traces)

    @cached_property
    def changes(self) -> tuple[int, ...]:
        """Return the moments, in order, at which whereabouts, availability or work may change."""
        changes = {at for act in self.plan.actions.values() for at in (act.start, act.end)} | self.world.moments()
        courses = (*self.simulation.people.values(), *self.simulation.vehicles.values())
        changes |= {since for course in courses for since, _ in course.stays}
        return tuple(sorted(changes | {trace.start for trace in self.traces if trace.start is not None}))

    @cached_property
    def first_ends(self) -> dict[str, int]:
        """Return when each task was first completed."""
        return {work.task: work.end for _, work in sorted(self.works, key=lambda each: -each[1].end)}


def clock(*moments: int) -> tuple[str, ...]:
    return tuple(text_of(moment) for moment in moments)


def listed(names: Iterable[str]) -> str:
    return " and ".join(sorted(names))
