"""Case: what the checks look at: a plan, its problem, what became known, and what had been done by then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from sagagraph.domains.reunion.parsing import ParsedPlan
from sagagraph.domains.reunion.plan import Journey, Work
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.facts import unjudged
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.history import History
from sagagraph.domains.reunion.rules.facts.simulation import Simulation
from sagagraph.domains.reunion.rules.facts.unjudged import Trace
from sagagraph.domains.reunion.times import text_of
from sagagraph.validators.verdict import Violation

Check = Callable[["Case"], Iterator[Violation]]


@dataclass(frozen=True)
class Case:
    world: Circumstances
    plan: ParsedPlan
    history: History | None = None
    """None: nothing has been done yet."""

    @property
    def problem(self) -> ReunionProblem:
        return self.world.problem

    @cached_property
    def journeys(self) -> tuple[tuple[int, Journey], ...]:
        return tuple((index, act) for index, act in self.plan.actions.items() if isinstance(act, Journey))

    @cached_property
    def works(self) -> tuple[tuple[int, Work], ...]:
        """Return the actions of existing tasks."""
        works = ((index, act) for index, act in self.plan.actions.items() if isinstance(act, Work))
        return tuple((index, work) for index, work in works if work.task in self.world.tasks)

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        unknown = (unjudged.of_unknown(act, self.world) for act in self.plan.actions.values())
        return (
            *(unjudged.of_broken(each, self.world) for each in self.plan.broken),
            *(each for each in unknown if each is not None),
            *(unjudged.of_lost(act) for act in (self.history.lost if self.history else ())),
        )

    @cached_property
    def simulation(self) -> Simulation:
        return Simulation(self.world, self.plan.actions, self.traces)

    @cached_property
    def changes(self) -> tuple[int, ...]:
        """The moments, in order, when whereabouts, availability or work may change."""
        changes = {at for act in self.plan.actions.values() for at in (act.start, act.end)} | set(self.world.moments)
        changes |= {since for course in self.simulation.courses.values() for since, _ in course.stays}
        return tuple(sorted(changes | {trace.start for trace in self.traces if trace.start is not None}))

    def first_end(self, task: str) -> int | None:
        """Return when it was first completed; None: never."""
        return min((work.end for _, work in self.works if work.task == task), default=None)

    def is_accounted_for(self, task: str) -> bool:
        """Tell whether its absence is reported elsewhere, or cannot be determined."""
        required = not self.world.tasks[task].optional
        return required or any(each.task == task or each.other_tasks for each in self.traces)


def clock(*moments: int) -> tuple[str, ...]:
    return tuple(text_of(moment) for moment in moments)


def listed(names: tuple[str, ...] | list[str] | frozenset[str]) -> str:
    return " and ".join(sorted(names))
