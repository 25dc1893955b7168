"""Trade-offs: what a plan costs those who carry it out, whatever its problem optimises: figures to compare plans by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.planning.measure import measure
from sagagraph.domains.reunion.request import Attention, Objective

if TYPE_CHECKING:
    from sagagraph.domains.reunion.plan import ReunionPlan, Work
    from sagagraph.domains.reunion.request import Person, ReunionProblem


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
        waiting=sum(_waiting(problem, plan, person) for person in problem.people),
    )


def _waiting(problem: ReunionProblem, plan: ReunionPlan, person: Person) -> int:
    """Between the actions of one person, where these do not overlap."""
    watched = {task.name for task in problem.tasks if task.attention is Attention.WATCHED}
    own = [each for each in plan.actions if person.name in each.people and not (each.do == "task" and each.task in watched)]
    own.sort(key=lambda each: (each.start, each.end))
    destinations = _destinations(problem, person)
    place, free = person.place, person.available
    waited = 0
    for action in own:
        if free is not None and place not in destinations:
            waited += max(0, action.start - free)
        free = action.end if free is None else max(free, action.end)
        place = _place_after(action, place)
    return waited


def _place_after(action: Journey | Work, before: str) -> str:
    return action.to if isinstance(action, Journey) else action.place or before


def _destinations(problem: ReunionProblem, person: Person) -> frozenset[str]:
    shared = (goal for goal in problem.goals if goal.people == "all" or person.name in goal.people)
    return frozenset(goal.place for goal in (*person.goals, *shared))
