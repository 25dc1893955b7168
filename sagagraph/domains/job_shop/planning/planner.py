"""Planner: schedules what is left, with the least makespan and a lower bound.

Dispatching rules make a first schedule; exchanging neighbours improves it; CP-SAT proves small problems; exchanges use the rest
of the time. (What each is worth: docs/adr/0019-job-shops.md.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ortools.sat.python import cp_model

from sagagraph.domains.job_shop.planning.dispatching import first_schedule
from sagagraph.domains.job_shop.planning.path_relinking import searched
from sagagraph.domains.job_shop.planning.tabu_search import IS_COMPILED
from sagagraph.domains.job_shop.planning.workload import Starts, Workload, makespan_bound
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import Status, proven_bound, solver_with

_TASKS_A_SECOND: Final = 5_000
"""Approximate number of tasks that are modelled."""


@dataclass(frozen=True, slots=True)
class Model:
    workload: Workload
    cp: cp_model.CpModel
    starts: tuple[cp_model.IntVar, ...]
    makespan: cp_model.IntVar


@dataclass(frozen=True, slots=True)
class Answer:
    starts: Starts
    value: int
    bound: int
    """Lower bound of every answer to the same question."""


def modelled(workload: Workload, latest: int) -> Model:
    """Model all schedules that end by `latest`."""
    cp = cp_model.CpModel()
    heads, tails = workload.heads, workload.tails
    starts = tuple(
        cp.new_int_var(heads[n], latest - tails[n] - task.duration, f"job {task.job} step {task.step}")
        for n, task in enumerate(workload.tasks)
    )
    makespan = cp.new_int_var(workload.begun_until, latest, "makespan")
    for n, task in enumerate(workload.tasks):
        if workload.follows[n]:
            cp.add(starts[n] >= starts[n - 1] + workload.tasks[n - 1].duration)
        cp.add(makespan >= starts[n] + task.duration)
    for places in workload.on_machine.values():
        durations = ((n, workload.tasks[n].duration) for n in places)
        cp.add_no_overlap(cp.new_fixed_size_interval_var(starts[n], took, f"task {n}") for n, took in durations)
    return Model(workload, cp, starts, makespan)


def least(model: Model, aim: cp_model.LinearExprT, known: Starts, budget: Budget) -> Answer | None:
    """Minimise `aim`, starting from a known schedule. None: time ran out before anything was found."""
    for variable, start in zip(model.starts, known, strict=True):
        model.cp.add_hint(variable, start)
    model.cp.add_hint(model.makespan, model.workload.ends(known))
    model.cp.minimize(aim)
    solver = solver_with(budget)
    status = solver.solve(model.cp)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    value = round(solver.objective_value)
    bound = value if status == cp_model.OPTIMAL else proven_bound(solver)
    return Answer(tuple(solver.value(each) for each in model.starts), value, bound)


def is_time_for(workload: Workload, budget: Budget) -> bool:
    """Tell whether there is time to make a model at all."""
    return budget.left > len(workload.tasks) / _TASKS_A_SECOND


def shortest(workload: Workload, known: Starts, bound: int, budget: Budget) -> tuple[Starts, int]:
    """Return a schedule no longer than the known one, and a lower bound."""
    if workload.ends(known) == bound or not is_time_for(workload, budget):
        return known, bound
    model = modelled(workload, workload.ends(known))
    model.cp.add(model.makespan >= bound)
    answer = least(model, model.makespan, known, budget)
    return (known, bound) if answer is None else (answer.starts, max(bound, answer.bound))


MOST_MODELLED: Final = 5_000
"""Tasks: models of more than these take too long to build, and too much memory."""
_PROVABLE: Final = 150
"""Tasks: of more than these, a proof is rarely found in seconds, and the searches need the time."""
_MODEL_SHARE: Final = 0.3
"""Share of the time for a proof, at most."""
_UNCOMPILED_SHARE: Final = 0.8
"""The same where searches are not compiled, for then CP-SAT finds the better schedules."""


@dataclass(frozen=True, slots=True)
class Planned:
    starts: Starts
    makespan: int
    lower_bound: int


def status_of(makespan: int, lower_bound: int) -> Status:
    return Status.OPTIMAL if makespan == lower_bound else Status.FEASIBLE


def makespan_in_words(makespan: int, lower_bound: int) -> str:
    proof = "proven to be the least" if makespan == lower_bound else f"at least {lower_bound}"
    return f"makespan {makespan} ({proof})"


def plan(workload: Workload, budget: Budget) -> Planned:
    """Plan a schedule; there is always one, however little time there is."""
    best, bound = first_schedule(workload, budget), makespan_bound(workload)
    if len(workload.tasks) <= (_PROVABLE if IS_COMPILED else MOST_MODELLED):
        share = _MODEL_SHARE if IS_COMPILED else _UNCOMPILED_SHARE
        best, bound = shortest(workload, best, bound, budget.part(budget.left * share))
    best = searched(workload, best, budget, bound)
    return Planned(best, workload.ends(best), bound)
