"""Planner: the earliest moment at which a meal can be complete, a plan that is, and a bound that proves it.

A plan without splitting comes first: it is found at once. Where the bound leaves room below it, steps are split as well, on the
grid of the data, and then on the finest, on which the proof is made (docs/recipes.md, "How plans are found").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from sagagraph.domains.recipes.plan import Plan, makespan
from sagagraph.domains.recipes.planning.bound import makespan_bound
from sagagraph.domains.recipes.planning.model import Answer, calmest, shortest

if TYPE_CHECKING:
    from sagagraph.domains.recipes.planning.situation import Situation
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


def plan_meal(situation: Situation, budget: Budget, on_plan: Callable[[], None] = lambda: None) -> Planned:
    """Plan what is left of a meal. `on_plan` is called whenever there is a better plan."""
    floor = makespan_bound(situation.meal) if not situation.past else 0
    attempts = [_Attempt(situation.grids[0], splits=False), *(_Attempt(grid, splits=True) for grid in situation.grids)]
    best: Plan | None = None
    answer, how = Answer(None, 0), attempts[0]
    for place, each in enumerate(attempts):
        latest = situation.latest if best is None else makespan(best) - situation.grids[-1]
        share = budget.part(budget.left / (len(attempts) - place))
        answer = shortest(situation, each.grid, latest, share, splits=each.splits, on_plan=on_plan)
        if answer.plan is not None:
            best, how = answer.plan, each
        if best is not None and makespan(best) <= floor:
            return Planned(_calm(situation, best, how, budget), makespan(best), makespan(best))
    bound = max(floor, answer.bound) if situation.is_exact else floor
    if best is None:
        return Planned(None, 0, bound, is_infeasible=answer.is_impossible and situation.is_exact)
    is_best = answer.is_impossible and situation.is_exact
    bound = makespan(best) if is_best else min(bound, makespan(best))
    return Planned(_calm(situation, best, how, budget), makespan(best), bound)


def _calm(situation: Situation, plan: Plan, how: _Attempt, budget: Budget) -> Plan:
    return calmest(situation, plan, how.grid, budget.part(_CALM_S)) if how.splits else plan


class _Attempt(NamedTuple):
    grid: int
    splits: bool
