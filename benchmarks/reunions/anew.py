"""Planning anew: the yardstick for repairs."""

from __future__ import annotations

from typing import Final

from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.model.search import Unsolved
from sagagraph.domains.reunion.planning.planner import plan as plan_anew
from sagagraph.domains.reunion.planning.progress import standing
from sagagraph.domains.reunion.planning.repair import Repaired, repair, told
from sagagraph.domains.reunion.planning.solving import Solved
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.planning.budget import Budget

ANEW_SHARE: Final = 0.7
"""Of the time, for planning anew: the rest is for a repair if nothing is found."""


def recompute(problem: ReunionProblem, plan: ReunionPlan, events: tuple[Event, ...], budget: Budget) -> Repaired | Unsolved:
    """Plan everything that has not begun from scratch, as if nothing had been promised."""
    stands = next(standing(problem, plan, events))
    part = budget.part(budget.left * ANEW_SHARE)
    answer = plan_anew(stands.problem, part, stands.setting, tuple(stands.history.values()))
    if isinstance(answer, Solved):
        return told(plan, answer)
    return answer if answer.is_proof else repair(problem, plan, events, budget)
