"""Planner: the earliest moment at which a meal can be complete, with a proof; or why it cannot be cooked.

A plan without splitting comes first: it is found at once. If the bound leaves room for improvement, steps are split as well, on
the grid of the data, and then on the finest, on which the proof is made (docs/recipes.md, "How plans are found").
"""

from __future__ import annotations

from dataclasses import replace
from graphlib import TopologicalSorter
from typing import Final

from sagagraph.domains.recipes.planning.model import Planned, calmest, shortest
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.planning.wishes import Conflict, left_out, wishes_of
from sagagraph.errors import PlannerError
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import interrupted

_CALM_S: Final = 1.0
_EACH_S: Final = 3.0
"""Seconds for each question of an explanation."""


def plan_or_explain(situation: Situation, budget: Budget) -> Planned | Conflict:
    """Return a plan of what is left of a meal, or why there is none. Raises `PlannerError` if neither is found in time."""
    planned = plan_meal(situation, budget)
    if not planned.plan and not planned.is_infeasible:
        raise PlannerError("no plan was found in time; give it more: --seconds")
    return explain(situation, budget) if planned.is_infeasible else planned


def plan_meal(situation: Situation, budget: Budget) -> Planned:
    """Plan what is left of a meal."""
    floor = makespan_bound(situation)
    coarse, finest = situation.grids
    kinds = list(dict.fromkeys(((coarse, False), (coarse, True), (finest, True), (situation.exact, True))))
    best, how, answer = Planned((), 0), kinds[0], Planned((), 0)
    for place, (grid, splits) in enumerate(kinds):
        if best.plan and (best.makespan <= floor or grid < finest):
            break
        latest = best.makespan - finest if best.plan else situation.latest
        answer = shortest(situation, grid, latest, budget.part(budget.left / (len(kinds) - place)), splits=splits)
        best, how = (answer, (grid, splits)) if answer.plan else (best, how)
    if not best.plan:
        return Planned((), floor, is_infeasible=answer.is_infeasible)
    is_exact = situation.is_exact and how[0] >= finest
    plan = calmest(situation, best.plan, how[0], best.makespan, budget.part(_CALM_S)) if how[1] else best.plan
    is_proven = is_exact and answer.is_infeasible
    bound = best.makespan if is_proven else max(floor, answer.lower_bound) if is_exact else floor
    return Planned(plan, min(bound, best.makespan))


def makespan_bound(situation: Situation) -> int:
    """Return a bound that no plan goes below: the longest chain of steps, and the work of a cook and of each object if all could
    be split.
    """
    meal, left = situation.meal, situation.left
    before = {key: [each.key for each in meal.before(step)] for key, step in meal.steps.items()}
    order = [meal.steps[key] for key in TopologicalSorter(before).static_order()]
    heads, tails = dict.fromkeys(before, 0), dict.fromkeys(before, 0)
    for step in order:
        ends = (heads[key] + left(meal.steps[key]) for key in before[step.key])
        heads[step.key] = max((situation.ended(step), *((situation.since, *ends) if left(step) > 0 else ())))
    for step in reversed(order):
        for key in before[step.key]:
            tails[key] = max(tails[key], tails[step.key] + left(step))
    chain = max(heads[step.key] + left(step) + tails[step.key] for step in order)
    works = [[step for step in order if name in step.uses and not step.uses[name].update] for name in meal.objects]
    by_hand = [step for step in order if not step.is_autonomous]
    works += [by_hand] if meal.cooks == 1 else []
    to_do = ([step for step in work if left(step) > 0] for work in works)
    split = (interrupted((heads[step.key], left(step), tails[step.key]) for step in work) for work in to_do)
    return max(chain, situation.since + -(-sum(left(step) for step in by_hand) // meal.cooks), *split)


def explain(situation: Situation, budget: Budget) -> Conflict:
    """Explain why there is no plan: leave out one wish after the other as long as there is still no plan without it."""
    kept, is_sure = [], situation.is_exact and situation.slice(situation.exact) == 1
    for wish in wishes_of(situation.meal):
        without = replace(situation, meal=left_out(situation.meal, wish))
        answer = shortest(without, without.exact, without.latest, budget.part(_EACH_S), splits=True)
        if answer.is_infeasible:
            situation = without
        else:
            kept.append(wish)
            is_sure = is_sure and bool(answer.plan)
    return Conflict(tuple(kept), is_sure)
