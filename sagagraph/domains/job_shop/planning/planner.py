"""Planner: schedules what is left, with the least makespan and a lower bound.

Rules make a first schedule; exchanging neighbours improves it; CP-SAT proves small problems; exchanges use the rest of the time.
(What each is worth: docs/adr/0019-job-shops.md.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sagagraph.domains.job_shop.planning.bound import makespan_bound
from sagagraph.domains.job_shop.planning.dispatching import first_schedule
from sagagraph.domains.job_shop.planning.model import shortest
from sagagraph.domains.job_shop.planning.tabu import improved
from sagagraph.planning.cp_sat import Status

if TYPE_CHECKING:
    from sagagraph.domains.job_shop.planning.workload import Starts, Workload
    from sagagraph.planning.budget import Budget

MOST_MODELLED: Final = 5_000
"""Tasks: models of more than these take longer to build and hold more memory than they are worth."""
_AT_FIRST: Final = 0.1
_MODEL_SHARE: Final = 0.3
"""Of the time that is left; exchanges find better schedules of what is too large for a proof."""


@dataclass(frozen=True, slots=True)
class Planned:
    starts: Starts
    makespan: int
    lower_bound: int


def status_of(makespan: int, lower_bound: int) -> Status:
    return Status.OPTIMAL if makespan == lower_bound else Status.FEASIBLE


def plan(workload: Workload, budget: Budget) -> Planned:
    """Plan a schedule; there is always one, however little time there is."""
    best, bound = first_schedule(workload, budget), makespan_bound(workload)
    best = improved(workload, best, budget.part(budget.left * _AT_FIRST), bound, rounds=1)
    if len(workload.tasks) <= MOST_MODELLED:
        best, bound = shortest(workload, best, bound, budget.part(budget.left * _MODEL_SHARE))
    best = improved(workload, best, budget, bound)
    return Planned(best, workload.ends(best), bound)
