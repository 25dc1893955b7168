"""Planner: the best plan in the order of the problem's objectives, with a proof of its quality, or that there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sagagraph.domains.reunion.plan import Act, ReunionPlan
from sagagraph.domains.reunion.planning.bound import driving_bound
from sagagraph.domains.reunion.planning.measure import measure
from sagagraph.domains.reunion.planning.model.reach import METRES, is_too_late
from sagagraph.domains.reunion.planning.model.search import roles_of
from sagagraph.domains.reunion.planning.solving import (
    MOST_JOURNEYS,
    Attained,
    Setting,
    Solved,
    Unsolved,
    is_impossible,
    plain,
    questions_of,
    solve,
    sought,
)
from sagagraph.domains.reunion.planning.teamwork import Teamwork
from sagagraph.domains.reunion.request import Objective, ReunionProblem
from sagagraph.planning.budget import Budget

MANY: Final = 10
"""More people than these are planned in teams: as a whole they take too long."""
TOO_MANY: Final = 25
"""More people than these are not planned as a whole at all."""
TEAMS_SHARE: Final = 0.8
"""Of the time, where there are fewer: the rest is for planning as a whole what teams have found no plan for."""
BOUND_SHARE: Final = 0.1


def plan(problem: ReunionProblem, budget: Budget, setting: Setting = plain, before: tuple[Act, ...] = ()) -> Solved | Unsolved:
    """Plan everything that is not begun in the setting; `before` is what has begun, and belongs to the plan."""
    problem = sought(problem)
    usual, free = questions_of(problem, setting)
    if is_too_late(free.outlook(MOST_JOURNEYS)):
        return Unsolved(is_proof=True)
    if len(problem.people) > MANY:
        share = 1 if len(problem.people) > TOO_MANY else TEAMS_SHARE
        made = _in_teams(problem, budget.part(budget.left * share), setting, before)
        if made is not None:
            return made
    if len(problem.people) > TOO_MANY:
        return Unsolved(is_proof=False)
    answer = solve(problem, usual, budget, before=before)
    if isinstance(answer, Unsolved) and not is_impossible(problem, setting, budget):
        return solve(problem, free, budget, before=before)
    return answer if isinstance(answer, Solved) else Unsolved(is_proof=True)


def _in_teams(problem: ReunionProblem, budget: Budget, setting: Setting, before: tuple[Act, ...]) -> Solved | None:
    """Plan in teams. The plan is proven best only if it reaches a bound that holds for every plan."""
    least = bound_of(problem, budget, setting, before)
    made = Teamwork(problem, budget, setting, before).plan(least)
    return None if made is None else judged(problem, made[0], least, made[1])


def bound_of(problem: ReunionProblem, budget: Budget, setting: Setting, before: tuple[Act, ...]) -> float:
    """Return a lower bound of the first objective over all plans, including history."""
    situation = setting(problem, 0, is_free=False)
    if not situation.objectives:
        return 0
    objective = situation.objectives[0]
    least = driving_bound(situation, objective, budget.part(budget.left * BOUND_SHARE))
    begun = measure(problem, ReunionPlan.model_construct(problem=problem.name, actions=before), objective) if least else 0
    return begun + (least / METRES if objective is Objective.DISTANCE else least)


def judged(problem: ReunionProblem, made: ReunionPlan, least: float, seconds: float) -> Solved:
    """Judge by the lower bound of the first objective."""
    attained = (
        Attained(objective, measure(problem, made, objective), 0 if number else least)
        for number, objective in enumerate(problem.objectives)
    )
    return Solved(made, tuple(attained), seconds)


def alternatives(problem: ReunionProblem, known: Solved, most: int, budget: Budget) -> tuple[Solved, ...]:
    """Return up to `most` other plans, the best first, each with other roles than all before it."""
    others: list[Solved] = []
    while len(others) < most and budget.left:
        roles = tuple(roles_of(each.plan.actions) for each in (known, *others))
        answers = (solve(problem, replace(question, known=roles), budget) for question in questions_of(problem, plain))
        other = next((answer for answer in answers if isinstance(answer, Solved)), None)
        if other is None:
            break
        others.append(other)
    return tuple(others)
