"""Cooking: the planner's answers, judged by the validator, as JSON and in words. Only these commands load OR-Tools."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from sagagraph.cli import render
from sagagraph.domains.recipes.files import meal_in
from sagagraph.domains.recipes.planning.conflict import Conflict, explain
from sagagraph.domains.recipes.planning.planner import Planned, plan_meal
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.request import Meal
from sagagraph.domains.recipes.rules.case import clock
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.errors import PlannerError
from sagagraph.files import write_json
from sagagraph.planning.budget import Budget

Json = dict[str, Any]


def plan(file: Path, seconds: float, out: Path | None, *, pair: str, without: bool, as_json: bool) -> int:
    meal = meal_in(file, pair)
    meal = meal.without_time_constraints() if without else meal
    planned = plan_meal(Situation(meal), Budget.of(seconds))
    if planned.is_infeasible:
        return tell_conflict(explain(Situation(meal), Budget.of(seconds)), out, as_json=as_json)
    if planned.plan is None:
        raise PlannerError(f"no plan was found in {seconds:g} s; give it more: --seconds")
    return end(meal, _planned_json(planned), out, as_json=as_json)


def _planned_json(planned: Planned) -> Json:
    status = "optimal" if planned.is_optimal else "feasible"
    rows = [list(row) for row in planned.plan or ()]
    return {"makespan_s": planned.makespan, "lower_bound_s": planned.lower_bound, "status": status, "plan": rows}


def end(meal: Meal, document: Json, out: Path | None, *, as_json: bool) -> int:
    verdict = validate_plan(meal, document["plan"])
    document["verdict"] = verdict.verdict.value
    if not verdict.is_valid:
        document["violations"] = [each.model_dump(mode="json") for each in verdict.violations]
    if out is not None:
        write_json(out, document, "--out")
    if as_json:
        render.print_json(document)
    else:
        _tell(meal, document)
    return 0 if verdict.is_valid else 1


def tell_conflict(conflict: Conflict, out: Path | None, *, as_json: bool) -> int:
    wishes = [asdict(wish) for wish in conflict.wishes]
    nothing: Json = {"makespan_s": None, "lower_bound_s": None, "status": "infeasible", "plan": [], "verdict": "INVALID"}
    document = {**nothing, "conflict": wishes, "is_irreducible": conflict.is_irreducible}
    if out is not None:
        write_json(out, document, "--out")
    if as_json:
        render.print_json(document)
        return 1
    say("This cannot be cooked. These cannot all be kept:")
    for wish in conflict.wishes:
        say(f"- {wish.sentence}")
    return 1


def _tell(meal: Meal, document: Json) -> None:
    for number, recipe, duration, start in document["plan"]:
        step = meal.steps[recipe, number]
        alone = ", goes on alone" if step.is_autonomous else ""
        part = ", a part" if duration < step.duration else ""
        say(f"{clock(start)}  {recipe} {number}: {step.text} ({clock(duration)}{alone}{part})")
    proof = "no plan is earlier" if document["status"] == "optimal" else f"at least {clock(document['lower_bound_s'])}"
    say(f"{clock(document['makespan_s'])}  complete ({proof})")


def say(words: str) -> None:
    render.stdout.print(words, markup=False, highlight=False)
