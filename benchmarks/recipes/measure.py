"""Plans one pair in both settings and has it judged by Recipe2Plan's own evaluator, beside its reference and poorer planners."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import Any

from benchmarks.recipes.agents import closed_loop, critiqued, hasty, open_loop, stepwise
from benchmarks.recipes.heuristic import heuristic
from benchmarks.recipes.official import judged, references
from sagagraph.domains.recipes.plan import Row
from sagagraph.domains.recipes.planning.model import Model, shortest
from sagagraph.domains.recipes.planning.planner import plan_meal
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.request import Meal, parse_meal
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import solver_with

Case = dict[str, Any]


def measured(name: str, pair: Any, seconds: float, *, without: bool) -> Case:
    meal = parse_meal(pair)
    meal = meal.without_time_constraints() if without else meal
    first = _first(meal, seconds)
    began = process_time()
    planned = plan_meal(Situation(meal), Budget.of(seconds))
    took = process_time() - began
    reference = references()[name]["plan_wo_restriction" if without else "plan_w_restriction"]
    rows = [list(row) for row in planned.plan]
    return {
        "pair": name,
        "without": without,
        "makespan": planned.makespan,
        "bound": planned.lower_bound,
        "first_s": round(first, 4),
        "seconds": round(took, 4),
        "pieces": len(rows) - len(meal.steps),
        **{arm: _judged(pair, meal, each, planned.makespan, without=without) for arm, each in _arms(meal, reference).items()},
        "ours": _judged(pair, meal, rows, planned.makespan, without=without),
    }


def _first(meal: Meal, seconds: float) -> float:
    """How long it takes until there is a plan, whatever it is worth."""
    began, situation = process_time(), Situation(meal)
    model = Model(situation, situation.grids[0], situation.latest, splits=False)
    model.cp.minimize(model.makespan)
    solver = solver_with(Budget.of(seconds))
    solver.parameters.stop_after_first_solution = True
    solver.solve(model.cp)
    return process_time() - began


def _arms(meal: Meal, reference: Sequence[Sequence[Any]] | None) -> dict[str, Sequence[Sequence[Any]] | None]:
    situation = Situation(meal)
    unsplit = shortest(situation, situation.grids[0], situation.latest, Budget.of(20), splits=False).plan
    serial = _one_after_the_other(meal)
    greedy = heuristic(meal, looks_back=False)
    algorithm = heuristic(meal)
    agents = {
        "open_loop": open_loop(meal, hasty(meal)).rows,
        "closed_loop": closed_loop(meal, stepwise(meal)).rows,
        "critics": critiqued(meal, hasty(meal)).rows,
    }
    others = {"reference": reference, "unsplit": unsplit, "one_by_one": serial, "greedy": greedy, "heuristic": algorithm}
    return {**others, **agents}


def _one_after_the_other(meal: Meal) -> list[Row] | None:
    """Feasibility first: the best plan of one recipe, and then of the next."""
    rows: list[Row] = []
    for name, steps in meal.recipes.items():
        begin = max((row.end for row in rows), default=0)
        alone = plan_meal(Situation(Meal({name: steps})), Budget.of(20)).plan
        if not alone:
            return None
        rows += [row._replace(start=begin + row.start) for row in alone]
    return rows


def _judged(pair: Any, meal: Meal, rows: Sequence[Sequence[Any]] | None, least: int, *, without: bool) -> Case:
    """Success, progress and R-efficiency as the official evaluator has them; and how far above the optimum."""
    if not rows:
        return {"success": False, "progress": 0.0, "speed": 0.0, "gap": None, "agrees": True}
    theirs = judged(pair, rows, without=without)
    ours = validate_plan(meal, [list(row) for row in rows]).is_valid
    gap = max(start + takes for _step, _recipe, takes, start in rows) / least - 1 if theirs.is_accepted else None
    return {
        "success": theirs.is_accepted,
        "progress": theirs.progress,
        "speed": theirs.speed,
        "gap": gap,
        "agrees": ours is theirs.is_accepted,
    }
