"""Mending: plans repaired after events, judged by the validator, as JSON and in words."""

from __future__ import annotations

from pathlib import Path

from sagagraph.domains.recipes.commands.cooking import Json, end, say, tell_conflict
from sagagraph.domains.recipes.events import parse_events
from sagagraph.domains.recipes.files import meal_in
from sagagraph.domains.recipes.parsing import check_legible, parse_plan
from sagagraph.domains.recipes.plan import Plan, makespan
from sagagraph.domains.recipes.planning.repair import Repaired, Stuck, repair
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.errors import InvalidInputError, PlannerError
from sagagraph.files import json_file
from sagagraph.planning.budget import Budget


def mend(file: Path, plan: Path, event: list[Path], seconds: float, out: Path | None, *, pair: str, as_json: bool) -> int:
    meal = meal_in(file, pair)
    files = [json_file(each, "--event") for each in event]
    events = parse_events(meal, [each for said in files for each in (said if isinstance(said, list) else [said])])
    if not events:
        raise InvalidInputError("say what has happened", field="--event")
    said = json_file(plan, "PLAN")
    parsed = parse_plan(said)
    check_legible(parsed, "PLAN")
    verdict = validate_plan(meal, said)
    if not verdict.is_valid:
        raise InvalidInputError(f"is not right before these events: {verdict.violations[0].message}", field="PLAN")
    old = tuple(sorted(parsed.rows.values(), key=lambda row: row.start))
    answer = repair(meal, old, events, Budget.of(seconds))
    if answer is None:
        raise PlannerError(f"no plan was found in {seconds:g} s; give it more: --seconds")
    if isinstance(answer, Stuck):
        return tell_conflict(answer.conflict, out, as_json=as_json)
    if not as_json:
        _tell(answer)
    return end(answer.meal, _repaired_json(old, answer), out, as_json=as_json)


def _repaired_json(old: Plan, answer: Repaired) -> Json:
    ends, was = makespan(answer.plan), {(row.recipe, row.step): row.start for row in reversed(old)}
    now = {(row.recipe, row.step): row.start for row in reversed(answer.plan)}
    return {
        "makespan_s": ends,
        "lower_bound_s": min(answer.lower_bound, ends),
        "status": "optimal" if answer.lower_bound >= ends else "feasible",
        "plan": [list(row) for row in answer.plan],
        "waste": [list(row) for row in answer.waste],
        "again": [list(key) for key in answer.again],
        "passed": list(answer.passed),
        "edit_radius": {"steps": sum(now[key] != start for key, start in was.items()), "delay_s": ends - makespan(old)},
    }


def _tell(answer: Repaired) -> None:
    for sentence in answer.passed:
        say(f"Can no longer be kept: {sentence}.")
    for recipe, number in answer.again:
        say(f"Is made again: {answer.meal.steps[recipe, number]}: {answer.meal.steps[recipe, number].text}")
