"""Measures of a plan in each objective: arithmetic on its stated times. Less is always better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sagagraph.domains.reunion.plan import Journey, Work
from sagagraph.domains.reunion.request import LONG_WAIT, Attention, Objective
from sagagraph.errors import InvalidInputError

if TYPE_CHECKING:
    from sagagraph.domains.reunion.plan import ReunionPlan
    from sagagraph.domains.reunion.request import Person, ReunionProblem


def measure(problem: ReunionProblem, plan: ReunionPlan, objective: Objective) -> float:
    """Kilometres (vehicles', empty ones too; a pair without a distance counts as none), or minutes.

    `makespan` counts from the earliest moment that the problem states to the latest end; `workload_balance` is the longest less
    the shortest sum of minutes in actions among people who act; `latest_departure` adds up, over vehicles that set out, how long
    before the latest moment that the problem states they first do. `fresh_food`: minutes that food stands before
    the last goal at its place is due; `waiting`: minutes that people wait, what a wait is longer than half an hour twice;
    `unused_rentals`: vehicles that are rented and never driven. `robustness` is not measured here.
    """
    journeys = [action for action in plan.actions if isinstance(action, Journey)]
    moments = tuple(_moments(problem)) or (0,)
    match objective:
        case Objective.DISTANCE:
            km = _kilometres(problem)
            return round(sum(km.get((each.from_, each.to), 0.0) for each in journeys), 3)
        case Objective.DRIVING_MINUTES:
            return sum(each.end - each.start for each in journeys)
        case Objective.MAKESPAN:
            return max((action.end for action in plan.actions), default=min(moments)) - min(moments)
        case Objective.WORKLOAD_BALANCE:
            return _spread(plan)
        case Objective.LATEST_DEPARTURE:
            first = {each.vehicle: each.start for each in sorted(journeys, key=lambda each: -each.start)}
            return sum(max(0, max(moments) - start) for start in first.values())
        case Objective.FRESH_FOOD:
            return sum(_stands(problem, each) for each in plan.actions if isinstance(each, Work))
        case Objective.WAITING:
            every = (wait for person in problem.people for wait in waits(problem, plan, person))
            return sum(wait + max(0, wait - LONG_WAIT) for wait in every)
        case Objective.UNUSED_RENTALS:
            done = {each.task for each in plan.actions if isinstance(each, Work)}
            driven = {each.vehicle for each in journeys}
            return sum(each.unlocked_by in done and each.name not in driven for each in problem.vehicles)
        case Objective.ROBUSTNESS:
            raise ValueError("what a plan survives is no arithmetic on its times: the model counts it, and rules judge it")


def waits(problem: ReunionProblem, plan: ReunionPlan, person: Person) -> Iterator[int]:
    """Yield how long each wait between the actions of one person is, where these do not overlap."""
    watched = {task.name for task in problem.tasks if task.attention is Attention.WATCHED}
    own = [each for each in plan.actions if person.name in each.people and not (each.do == "task" and each.task in watched)]
    shared = (goal for goal in problem.goals if goal.people == "all" or person.name in goal.people)
    destinations = {goal.place for goal in (*person.goals, *shared)}
    place, free = person.place, person.available
    for action in sorted(own, key=lambda each: (each.start, each.end)):
        if free is not None and place not in destinations:
            yield max(0, action.start - free)
        free = action.end if free is None else max(free, action.end)
        place = action.to if isinstance(action, Journey) else action.place or place


def _stands(problem: ReunionProblem, work: Work) -> int:
    """Minutes from when it is ready until it is eaten, if it is food."""
    task = next((each for each in problem.tasks if each.name == work.task and each.food), None)
    goals = (*problem.goals, *(goal for person in problem.people for goal in person.goals))
    meals = [goal.by for goal in goals if task is not None and goal.place == task.place]
    return max(0, max(meals) - work.end) if meals else 0


def check_distances(problem: ReunionProblem) -> None:
    """
    Raises:
        InvalidInputError: `distance` is an objective, and a road has none.
    """
    if Objective.DISTANCE not in problem.objectives:
        return
    km = _kilometres(problem)
    for road in problem.travel_minutes:
        for here, there in ((road.here, road.there), *(() if road.one_way else ((road.there, road.here),))):
            if here != there and (here, there) not in km:
                why = f"{here} to {there} has none, and distance is an objective"
                raise InvalidInputError(why, field="distance_km")


def _spread(plan: ReunionPlan) -> float:
    work: dict[str, int] = {}
    for action in plan.actions:
        for name in set(action.people):
            work[name] = work.get(name, 0) + action.end - action.start
    return max(work.values(), default=0) - min(work.values(), default=0)


def _kilometres(problem: ReunionProblem) -> dict[tuple[str, str], float]:
    km = {}
    for road in problem.distance_km:
        km[road.here, road.there] = road.amount
        if not road.one_way:
            km[road.there, road.here] = road.amount
    return km


def _moments(problem: ReunionProblem) -> Iterator[int]:
    """Beginnings, openings and closings, and when goals are due."""
    due = [goal.by for goal in (*problem.goals, *(goal for person in problem.people for goal in person.goals))]
    begin = [*(each.from_ for each in problem.people), *(each.from_ for each in problem.vehicles)]
    windows = [moment for task in problem.tasks for moment in (task.window.opens, task.window.closes)]
    yield from (moment for moment in (*due, *begin, *windows) if moment is not None)


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
