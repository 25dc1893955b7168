"""Case: what the checks look at: a plan, its problem, what became known, and what had been done by then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from sagagraph.domains.reunion.parsing import ParsedPlan
from sagagraph.domains.reunion.plan import Journey, Work
from sagagraph.domains.reunion.rules.facts import unjudged
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.history import History
from sagagraph.domains.reunion.rules.facts.simulation import Simulation
from sagagraph.domains.reunion.rules.facts.unjudged import Trace
from sagagraph.domains.reunion.times import text_of
from sagagraph.validators.verdict import Violation

Check = Callable[["Case"], Iterator[Violation]]


class Case:
    """`history` None: nothing has been done yet. `traces`: of what cannot be judged. `about`: the actions to be judged, if not
    all; `journeys` and `works` (of existing tasks) are these.
    """

    def __init__(
        self,
        world: Circumstances,
        plan: ParsedPlan,
        history: History | None = None,
        *,
        traces: tuple[Trace, ...] | None = None,
        about: Iterable[int] | None = None,
    ) -> None:
        self.world = world
        self.problem = world.problem
        self.plan = plan
        self.history = history
        acts = [(index, plan.actions[index]) for index in (plan.actions if about is None else about)]
        self.journeys = [(index, act) for index, act in acts if isinstance(act, Journey)]
        self.works = [(index, act) for index, act in acts if isinstance(act, Work) and act.task in world.tasks]
        self.traces = self._found_traces() if traces is None else traces

    def _found_traces(self) -> tuple[Trace, ...]:
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
        changes = {at for act in self.plan.actions.values() for at in (act.start, act.end)} | self.world.moments()
        changes |= {since for course in self.simulation.courses.values() for since, _ in course.stays}
        return tuple(sorted(changes | {trace.start for trace in self.traces if trace.start is not None}))

    def is_rerouted(self, index: int) -> bool | None:
        """Tell whether the journey goes elsewhere than it first did; None: not known."""
        return self.history.is_rerouted(index) if self.history else None

    def first_end(self, task: str) -> int | None:
        """Return when it was first completed; None: never."""
        works = (act for act in self.plan.actions.values() if isinstance(act, Work) and act.task == task)
        return min((work.end for work in works if task in self.world.tasks), default=None)


def clock(*moments: int) -> tuple[str, ...]:
    return tuple(text_of(moment) for moment in moments)


def listed(names: Iterable[str]) -> str:
    return " and ".join(sorted(names))
