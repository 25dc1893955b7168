"""CP-SAT model of a workload: when each task begins, and the order on each machine where that is settled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ortools.sat.python import cp_model

from sagagraph.planning.cp_sat import proven_bound, solver_with

if TYPE_CHECKING:
    from sagagraph.domains.job_shop.planning.workload import Starts, Workload
    from sagagraph.planning.budget import Budget

_TASKS_A_SECOND: Final = 5_000
"""Are modelled, about."""

Groups = Mapping[int, Sequence[Sequence[int]]]
"""For each machine its tasks: inside a group in any order, one group after the other."""


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


def modelled(workload: Workload, latest: int, groups: Groups | None = None) -> Model:
    """Model all schedules that end by `latest`; without `groups`, every machine's tasks may be in any order."""
    cp = cp_model.CpModel()
    heads, tails = workload.heads, workload.tails
    starts = tuple(
        cp.new_int_var(heads[n], latest - tails[n] - task.duration, f"job {task.job} step {task.step}")
        for n, task in enumerate(workload.tasks)
    )
    makespan = cp.new_int_var(workload.begun_until, latest, "makespan")
    model = Model(workload, cp, starts, makespan)
    for n, task in enumerate(workload.tasks):
        if workload.follows[n]:
            _one_after_the_other(model, n - 1, n)
        cp.add(makespan >= starts[n] + task.duration)
    for row in (groups or {machine: (places,) for machine, places in workload.on_machine.items()}).values():
        for group in row:
            if len(group) > 1:
                cp.add_no_overlap([_interval(model, n) for n in group])
        for first, second in _settled(row):
            _one_after_the_other(model, first, second)
    return model


def _settled(row: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    for before, after in pairwise(row):
        yield from ((first, second) for first in before for second in after)


def _one_after_the_other(model: Model, first: int, second: int) -> None:
    model.cp.add(model.starts[second] >= model.starts[first] + model.workload.tasks[first].duration)


def _interval(model: Model, n: int) -> cp_model.IntervalVar:
    return model.cp.new_fixed_size_interval_var(model.starts[n], model.workload.tasks[n].duration, f"task {n}")


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
