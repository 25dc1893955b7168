"""CP-SAT: how all planners run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

if TYPE_CHECKING:
    from sagagraph.planning.budget import Budget


def solver_with(budget: Budget) -> cp_model.CpSolver:
    """One worker with a fixed seed: equal questions get equal answers, unless the time runs out before the proof."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = budget.seed
    solver.parameters.max_time_in_seconds = budget.left
    if budget.effort is not None:
        solver.parameters.max_deterministic_time = budget.effort
    return solver
