"""Scheduling anew: the yardstick for repairs."""

from __future__ import annotations

from sagagraph.domains.job_shop.planning.planner import plan
from sagagraph.domains.job_shop.planning.progress import Stuck
from sagagraph.domains.job_shop.planning.repair import Repaired, standing, told
from sagagraph.domains.job_shop.request import Event, JobShop, Schedule
from sagagraph.planning.budget import Budget


def recompute(problem: JobShop, schedule: Schedule, events: tuple[Event, ...], budget: Budget) -> Repaired | Stuck:
    """Schedule everything that has not begun from scratch, as if nothing had been promised."""
    stands = standing(problem, schedule, events)
    if isinstance(stands, Stuck):
        return stands
    anew = plan(stands.workload, budget)
    return told(stands, schedule, anew.starts, is_least=False)
