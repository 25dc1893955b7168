"""Planner: the earliest moment at which a meal can be complete, a plan that is, and a bound that proves it.

A plan without splitting comes first: it is found at once. Where the bound leaves room below it, steps are split as well, on the
grid of the data, and then on the finest, on which the proof is made (docs/recipes.md, "How plans are found").
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Final

from sagagraph.domains.recipes.plan import Plan, makespan
from sagagraph.domains.recipes.planning.model import Answer, calmest, shortest
from sagagraph.planning.cp_sat import interrupted

if TYPE_CHECKING:
    from sagagraph.domains.recipes.planning.situation import Situation
    from sagagraph.domains.recipes.request import Meal
    from sagagraph.planning.budget import Budget

_CALM_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Planned:
    plan: Plan | None
    """None: there is none, or none was found in time."""
    makespan: int
    lower_bound: int
    is_infeasible: bool = False
    """It is proven that there is none."""

    @property
    def is_optimal(self) -> bool:
        return self.plan is not None and self.makespan == self.lower_bound


def plan_meal(situation: Situation, budget: Budget) -> Planned:
    """Plan what is left of a meal."""
    floor = makespan_bound(situation.meal) if not situation.past else 0
    kinds = [(situation.grids[0], False), *((grid, True) for grid in situation.grids)]
    best, how, answer = None, kinds[0], Answer(None, 0)
    for place, (grid, splits) in enumerate(kinds):
        latest = situation.latest if best is None else makespan(best) - situation.grids[-1]
        share = budget.part(budget.left / (len(kinds) - place))
        answer = shortest(situation, grid, latest, share, splits=splits)
        if answer.plan is not None:
            best, how = answer.plan, (grid, splits)
        if best is not None and makespan(best) <= floor:
            break
    is_proven = answer.is_impossible and situation.is_exact
    bound = max(floor, answer.bound) if situation.is_exact else floor
    if best is None:
        return Planned(None, 0, bound, is_infeasible=is_proven)
    ends, (grid, splits) = makespan(best), how
    plan = calmest(situation, best, grid, ends, budget.part(_CALM_S)) if splits else best
    return Planned(plan, ends, ends if is_proven else min(bound, ends))


def makespan_bound(meal: Meal) -> int:
    """What no plan goes below: the longest chain of steps, and the work of a cook and of each object if all could be split."""
    before = {key: [each.key for each in meal.before(step)] for key, step in meal.steps.items()}
    order = [meal.steps[key] for key in TopologicalSorter(before).static_order()]
    heads, tails = dict.fromkeys(before, 0), dict.fromkeys(before, 0)
    for step in order:
        heads[step.key] = max((heads[key] + meal.steps[key].duration for key in before[step.key]), default=0)
    for step in reversed(order):
        for key in before[step.key]:
            tails[key] = max(tails[key], tails[step.key] + step.duration)
    chain = max(heads[step.key] + step.duration + tails[step.key] for step in order)
    works = [[step for step in order if name in step.uses and not step.uses[name].update] for name in meal.objects]
    by_hand = [step for step in order if not step.is_autonomous]
    works += [by_hand] if meal.cooks == 1 else []
    split = (interrupted((heads[step.key], step.duration, tails[step.key]) for step in work) for work in works)
    return max(chain, -(-sum(step.duration for step in by_hand) // meal.cooks), *split)
