"""CP-SAT: how all planners run it, and how good its answers are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum
from heapq import heappop, heappush
from math import inf

from ortools.sat.python import cp_model

from sagagraph.planning.budget import Budget


class Status(StrEnum):
    OPTIMAL = "optimal"
    """No plan is better in the objectives."""
    FEASIBLE = "feasible"
    """The time ran out before the proof: see the bounds."""


def solver_with(budget: Budget) -> cp_model.CpSolver:
    """Return a solver with one worker and a fixed seed: equal questions get equal answers, unless the time runs out before the
    proof.
    """
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = budget.seed
    solver.parameters.max_time_in_seconds = budget.left
    if budget.effort is not None:
        solver.parameters.max_deterministic_time = budget.effort
    return solver


def proven_bound(solver: cp_model.CpSolver) -> int:
    """Return a bound that no answer goes below in the aim, in whole numbers; after any search, even one that found nothing."""
    return math.ceil(solver.best_objective_bound - 1e-6)


def interrupted(tasks: Iterable[tuple[int, int, int]]) -> int:
    """Return the least makespan of (head, duration, tail), all in one unit of time, with interruptions: the longest tail goes
    first.
    """
    coming = sorted(tasks, reverse=True)
    waiting: list[tuple[int, int]] = []
    now = latest = 0
    while coming or waiting:
        if not waiting:
            now = max(now, coming[-1][0])
        while coming and coming[-1][0] <= now:
            _head, duration, tail = coming.pop()
            heappush(waiting, (-tail, duration))
        tail, left = heappop(waiting)
        worked = int(min(left, (coming[-1][0] if coming else inf) - now))
        now += worked
        if worked < left:
            heappush(waiting, (tail, left - worked))
        else:
            latest = max(latest, now - tail)
    return latest
