"""Trade-offs: what a plan costs those who carry it out, whatever its problem optimises: figures to compare plans by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sagagraph.domains.reunion.planning.measure import measure, waits
from sagagraph.domains.reunion.request import Objective

if TYPE_CHECKING:
    from sagagraph.domains.reunion.plan import ReunionPlan
    from sagagraph.domains.reunion.request import ReunionProblem


@dataclass(frozen=True, slots=True)
class Tradeoffs:
    """Figures of a plan. Less is always better."""

    driving_minutes: int
    kilometres: float | None
    """None if the problem has no distances."""
    ends: int
    """When the last action ends; 0 if nothing is done."""
    spread: int
    """Between the most and the least minutes in actions, among people who act."""
    waiting: int
    """Minutes that people spend away with nothing to do, added up: from when they can take part (those who are there from the
    beginning: from their first action on) until their last action, in no journey and no task, at no place where they are to be.
    To watch is no task: whoever watches may leave."""


def tradeoffs(problem: ReunionProblem, plan: ReunionPlan) -> Tradeoffs:
    return Tradeoffs(
        driving_minutes=round(measure(problem, plan, Objective.DRIVING_MINUTES)),
        kilometres=measure(problem, plan, Objective.DISTANCE) if problem.distance_km else None,
        ends=max((action.end for action in plan.actions), default=0),
        spread=round(measure(problem, plan, Objective.WORKLOAD_BALANCE)),
        waiting=sum(sum(waits(problem, plan, person)) for person in problem.people),
    )
