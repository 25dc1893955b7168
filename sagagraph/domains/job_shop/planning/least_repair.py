"""Least repairs: by CP-SAT, the lightest of all where few tasks are left, and lighter ones where there are more."""

from __future__ import annotations

from itertools import combinations

from ortools.sat.python import cp_model

from sagagraph.domains.job_shop.planning.planner import Model, least, modelled
from sagagraph.domains.job_shop.planning.stability import UNIT, Standing, as_promised
from sagagraph.domains.job_shop.planning.workload import Starts
from sagagraph.planning.budget import Budget


def lightest_of_all(stands: Standing, known: Starts, budget: Budget) -> tuple[Starts, int]:
    """Return the lightest repair found, no heavier than the known one, and a lower bound of the weight of all."""
    if not budget.left:
        return known, stands.least_weight
    model = modelled(stands.workload, min(stands.latest, stands.promised_end + stands.weight(known) // UNIT))
    late = model.cp.new_int_var(0, max(0, stands.latest - stands.promised_end), "late")
    model.cp.add(late >= model.makespan - stands.promised_end)
    changed = _changed_places(model, stands)
    answer = least(model, UNIT * late + stands.place_weight * sum(changed), known, budget)
    if answer is None:
        return known, stands.least_weight
    found = min(as_promised(stands, answer.starts), answer.starts, known, key=stands.weight)
    return found, max(stands.least_weight, answer.bound)


def _changed_places(model: Model, stands: Standing) -> list[cp_model.IntVar]:
    """Return, for each task that was promised, a variable that is 1 if its place on its machine has changed."""
    workload, cp, starts = stands.workload, model.cp, model.starts
    earlier: list[list[cp_model.LinearExprT]] = [[] for _ in starts]
    for places in workload.on_machine.values():
        for one, other in combinations(places, 2):
            is_first = cp.new_bool_var("")
            cp.add(starts[other] >= starts[one] + workload.tasks[one].duration).only_enforce_if(is_first)
            cp.add(starts[one] >= starts[other] + workload.tasks[other].duration).only_enforce_if(~is_first)
            if not stands.added.intersection((one, other)):
                earlier[other].append(is_first)
                earlier[one].append(~is_first)
    changed = []
    for n, (before, place) in enumerate(zip(earlier, stands.places, strict=True)):
        if n not in stands.added:
            changed.append(cp.new_bool_var(""))
            cp.add(sum(before) == place).only_enforce_if(~changed[-1])
    return changed
