"""`sagagraph recipes`: meals, read, planned and repaired, as JSON and in words. Only `plan` and `repair` load OR-Tools."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from sagagraph.cli import options as o
from sagagraph.cli import render
from sagagraph.domains.recipes.plan import clock, makespan, parse_plan
from sagagraph.domains.recipes.request import FIELD, Meal, Step, meal_in, pairs_in, parse_meal
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.domains.recipes.text import read_meal
from sagagraph.errors import InvalidInputError, PlannerError
from sagagraph.extras import needing
from sagagraph.files import json_file, text_file, write_json
from sagagraph.planning.budget import Budget

if TYPE_CHECKING:
    from sagagraph.domains.recipes.planning.conflict import Conflict

recipes = o.verbs("Recipes: several dishes at once, with few hands.")

File = Annotated[Path, typer.Argument(metavar="FILE.json", help="As Recipe2Plan has them, or the name of a shipped pair.")]
Pair = Annotated[str, typer.Option("--pair", metavar="NAME", help="Of a file with several pairs, this one.")]
Without = Annotated[bool, typer.Option("--without-time-constraints", help="No step must follow another within a time.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE.json", help="Write what `--json` prints to this file too.")]


@recipes.command("plan")
def plan_command(
    file: File,
    pair: Pair = "",
    without: Without = False,
    seconds: o.Seconds = 30.0,
    out: Out = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """Plan a meal: complete as early as possible, and what no plan is earlier than."""
    with needing("recipes"):
        from sagagraph.domains.recipes.planning.conflict import explain
        from sagagraph.domains.recipes.planning.planner import plan_meal
        from sagagraph.domains.recipes.planning.situation import Situation
    meal = meal_in(file, pair)
    meal = meal.without_time_constraints() if without else meal
    planned = plan_meal(Situation(meal), Budget.of(seconds))
    if planned.is_infeasible:
        _tell_conflict(explain(Situation(meal), Budget.of(seconds)), out, as_json=as_json)
    if planned.plan is None:
        raise PlannerError(f"no plan was found in {seconds:g} s; give it more: --seconds")
    document = {
        "makespan_s": planned.makespan,
        "lower_bound_s": planned.lower_bound,
        "status": "optimal" if planned.is_optimal else "feasible",
        "plan": [list(row) for row in planned.plan],
    }
    _tell_plan(meal, document, out, as_json=as_json)


@recipes.command("repair")
def repair_command(
    file: File,
    plan: Annotated[Path, typer.Argument(metavar="PLAN.json")],
    event: o.Events = None,
    pair: Pair = "",
    seconds: o.Seconds = 30.0,
    out: Out = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """Repair a plan after events: what was done stands, and what can no longer be kept is made again."""
    with needing("recipes"):
        from sagagraph.domains.recipes.planning.conflict import Conflict
        from sagagraph.domains.recipes.planning.events import parse_events
        from sagagraph.domains.recipes.planning.repair import repair
    meal = meal_in(file, pair)
    files = [json_file(each, "--event") for each in event or []]
    events = parse_events(meal, [each for said in files for each in (said if isinstance(said, list) else [said])])
    if not events:
        raise InvalidInputError("say what has happened", field="--event")
    said = json_file(plan, "PLAN")
    parsed = parse_plan(said)
    parsed.check_legible("PLAN")
    verdict = validate_plan(meal, said)
    if not verdict.is_valid:
        raise InvalidInputError(f"is not right before these events: {verdict.violations[0].message}", field="PLAN")
    old = tuple(sorted(parsed.rows.values(), key=lambda row: row.start))
    answer = repair(meal, old, events, Budget.of(seconds))
    if answer is None:
        raise PlannerError(f"no plan was found in {seconds:g} s; give it more: --seconds")
    if isinstance(answer, Conflict):
        _tell_conflict(answer, out, as_json=as_json)
    for sentence in answer.passed if not as_json else ():
        _say(f"Can no longer be kept: {sentence}.")
    for step in (answer.meal.steps[key] for key in answer.again if not as_json):
        _say(f"Is made again: {step}: {step.text}")
    ends, was, now = makespan(answer.plan), *({row.key: row.start for row in reversed(each)} for each in (old, answer.plan))
    document = {
        "makespan_s": ends,
        "lower_bound_s": min(answer.lower_bound, ends),
        "status": "optimal" if answer.lower_bound >= ends else "feasible",
        "plan": [list(row) for row in answer.plan],
        "waste": [list(row) for row in answer.waste],
        "again": [list(key) for key in answer.again],
        "passed": list(answer.passed),
        "edit_radius": {"steps": sum(now[key] != start for key, start in was.items()), "delay_s": ends - makespan(old)},
    }
    _tell_plan(answer.meal, document, out, as_json=as_json)


@recipes.command("pairs")
def pairs_command(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE.json]", help="A file with several pairs.")] = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """List the pairs in a file, or those that come with SagaGraph."""
    told = []
    for name, meal in ((name, parse_meal(document)) for name, document in pairs_in(file).items()):
        steps = meal.steps.values()
        work, limits = sum(step.duration for step in steps), sum(len(step.within) for step in steps)
        told.append({"pair": name, "recipes": list(meal.recipes), "steps": len(steps), "work_s": work, "limits": limits})
    if as_json:
        render.print_json({"pairs": told})
    for each in told if not as_json else ():
        _say(f"{each['pair']}: {each['steps']} steps, {each['work_s']} s in all, {each['limits']} time constraints")


@recipes.command("read")
def read_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.txt", help="A name, and then each step on a line of its own.")],
    out: Out = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """Read recipes in plain words: what goes on alone, what comes after what, what needs the oven."""
    meal = read_meal(text_file(file, FIELD))
    _write(meal.document(), out, as_json=as_json)
    for recipe, steps in meal.recipes.items() if not as_json else ():
        _say(recipe)
        for step in steps:
            _say(f"  {step.number + 1}. {step.text}: {', '.join(_understood(step))}")


def _understood(step: Step) -> list[str]:
    how = "goes on alone" if step.is_autonomous else "may be interrupted" if step.is_interruptible else "in one go"
    after = [f"after {', '.join(str(number + 1) for number in step.after)}"] if step.after else []
    within = [f"within {clock(limit)} of {number + 1}" for number, limit in step.within.items()]
    uses = []
    for name, use in step.uses.items():
        heat = use.update.get("temperature", use.require.get("temperature"))
        uses.append(name if heat is None else f"{name} {'to' if use.update else 'at'} {heat:g} °F")
    return [clock(step.duration), how, *after, *within, *uses]


def _tell_plan(meal: Meal, document: dict[str, Any], out: Path | None, *, as_json: bool) -> None:
    verdict = validate_plan(meal, document["plan"])
    document["verdict"] = verdict.verdict.value
    if not verdict.is_valid:
        document["violations"] = [each.model_dump(mode="json") for each in verdict.violations]
    _write(document, out, as_json=as_json)
    for number, recipe, duration, start in document["plan"] if not as_json else ():
        step = meal.steps[recipe, number]
        alone = ", goes on alone" if step.is_autonomous else ""
        part = ", a part" if duration < step.duration else ""
        _say(f"{clock(start)}  {recipe} {number}: {step.text} ({clock(duration)}{alone}{part})")
    proof = "no plan is earlier" if document["status"] == "optimal" else f"at least {clock(document['lower_bound_s'])}"
    if not as_json:
        _say(f"{clock(document['makespan_s'])}  complete ({proof})")
    raise typer.Exit(0 if verdict.is_valid else 1)


def _tell_conflict(conflict: Conflict, out: Path | None, *, as_json: bool) -> NoReturn:
    nothing: dict[str, Any] = {
        "makespan_s": None,
        "lower_bound_s": None,
        "status": "infeasible",
        "plan": [],
        "verdict": "INVALID",
    }
    wishes = [asdict(wish) for wish in conflict.wishes]
    _write({**nothing, "conflict": wishes, "is_irreducible": conflict.is_irreducible}, out, as_json=as_json)
    if not as_json:
        _say("This cannot be cooked. These cannot all be kept:")
        for wish in conflict.wishes:
            _say(f"- {wish.sentence}")
    raise typer.Exit(1)


def _write(document: dict[str, Any], out: Path | None, *, as_json: bool) -> None:
    if out is not None:
        write_json(out, document, "--out")
    if as_json:
        render.print_json(document)


def _say(words: str) -> None:
    render.stdout.print(words, markup=False, highlight=False)
