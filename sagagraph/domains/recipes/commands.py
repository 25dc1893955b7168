"""`sagagraph recipes`: meals, read, planned and repaired, as JSON and in words. Only `plan` and `repair` load OR-Tools."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from sagagraph.cli import options as o
from sagagraph.cli import render
from sagagraph.cli.telling import tell
from sagagraph.domains.recipes.events import parse_events
from sagagraph.domains.recipes.model_reading import read_recipes
from sagagraph.domains.recipes.plan import Cooked, Plan, clock, makespan, moved, parse_plan, planned
from sagagraph.domains.recipes.request import FIELD, Meal, meal_in, pairs_in, parse_meal, shipped_in
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.domains.recipes.text import described
from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.files import json_file, text_file, write_json
from sagagraph.planning.budget import Budget
from sagagraph.planning.entry import Case

if TYPE_CHECKING:
    from sagagraph.domains.recipes.planning.wishes import Conflict

recipes = o.verbs("Recipes: several dishes at once, with few hands.")

File = Annotated[Path, typer.Argument(metavar="FILE.json", help="Recipes in Recipe2Plan's form, or the name of a shipped pair.")]
Several = Annotated[Path | None, typer.Argument(metavar="[FILE.json]", help="A file with several pairs.")]
Words = Annotated[Path, typer.Argument(metavar="FILE.txt", help="A name, and then each step on a line of its own.")]
Pair = Annotated[str, typer.Option("--pair", metavar="NAME", help="Which pair of a file with several.")]
Without = Annotated[bool, typer.Option("--without-time-constraints", help="No step must follow another within a time.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE.json", help="Write what `--json` prints to this file too.")]


@recipes.command("plan")
def plan_command(
    options: o.Unstored, file: File, pair: Pair = "", without: Without = False, seconds: o.Seconds = 30.0, out: Out = None
) -> None:
    """Plan a meal that is complete as early as possible, with a bound that no plan goes below."""
    with needing("recipes"):
        from sagagraph.domains.recipes.planning.planner import plan_or_explain
        from sagagraph.domains.recipes.planning.situation import Situation
        from sagagraph.domains.recipes.planning.wishes import Conflict
    meal = meal_in(file, pair, without=without)
    found = plan_or_explain(Situation(meal), Budget.of(seconds))
    _end_with(
        found if isinstance(found, Conflict) else planned(meal, found.plan, found.lower_bound), out, as_json=options.as_json
    )


@recipes.command("begin")
def begin_command(options: o.Stored, file: File, saga_id: o.NewSagaId = None, yes: o.Yes = False) -> None:
    """Plan a meal and, after approval, cook it."""
    from sagagraph.cli import beginning

    names = [] if file.exists() else shipped_in(file.name)
    text, given = (" and ".join(names).replace("-", " "), None) if names else (None, file)
    o.end(beginning.begin(options, "recipes", text, given, saga_id, approved=yes))


@recipes.command("serve")
def serve_command(options: o.Stored, saga: o.SagaId) -> None:
    """End the meal: dinner is on the table, and nothing can be thrown away any more."""
    from sagagraph.cli import beginning
    from sagagraph.domains.recipes.domain import served

    o.end(beginning.told(options, "recipes", saga, served))


@recipes.command("repair")
def repair_command(
    options: o.Stored,
    meal: Annotated[str, typer.Argument(metavar="FILE.json|SAGA", help="A meal, with its plan; or one that is being cooked.")],
    plan: Annotated[Path | None, typer.Argument(metavar="[PLAN.json]")] = None,
    event: o.Events = None,
    pair: Pair = "",
    seconds: o.Seconds = 30.0,
    out: Out = None,
    yes: o.Yes = False,
) -> None:
    """Repair a plan after events: what was done is kept, and what can no longer be used is made again."""
    told = Case(Path(meal), plan or Path(), tuple(event or ())).read_events()
    if not told:
        raise InvalidInputError("say what has happened", field="--event")
    with needing("recipes"):
        from sagagraph.domains.recipes.domain import reported
        from sagagraph.domains.recipes.planning.repair import first_answer, repair
    if plan is None:
        from sagagraph.cli import beginning

        if len(told) > 1:  # each event is known on top of the plan that was made for those before
            raise InvalidInputError("report one event at a time to a meal that is being cooked", field="--event")
        o.end(beginning.told(options, "recipes", meal, lambda saga: reported(saga, told[0]), approved=yes))
    known = meal_in(Path(meal), pair)
    old = _right_plan(known, plan)
    cooked, events, began = planned(known, old), parse_events(known, told), perf_counter()
    first = first_answer(cooked, events)
    took = perf_counter() - began
    if first is not None and not options.as_json:
        at = clock(makespan(first.plan))
        said = f"If everything else simply waits, the meal is complete at {at}. Looking for a better plan."
        render.stderr.print(said, markup=False)
    answer = repair(cooked, events, Budget.of(seconds))
    more: dict[str, Any] = {"seconds": round(perf_counter() - began, 4), "first": None}
    if first is not None:
        more["first"] = {"seconds": round(took, 4), "makespan_s": makespan(first.plan), **_edit_radius(old, first)}
    if isinstance(answer, Cooked):
        more |= {"waste": answer.waste, "again": answer.again, "passed": answer.passed, "edit_radius": _edit_radius(old, answer)}
    _end_with(answer, out, as_json=options.as_json, **more)


def _edit_radius(old: Plan, new: Cooked) -> dict[str, int]:
    return {"steps": moved(old, new.plan), "delay_s": makespan(new.plan) - makespan(old)}


def _right_plan(meal: Meal, file: Path) -> Plan:
    said = json_file(file, "PLAN")
    verdict = validate_plan(meal, said)
    if not verdict.is_valid:
        raise InvalidInputError(f"is not valid before these events: {verdict.violations[0].message}", field="PLAN")
    return tuple(sorted(parse_plan(said).rows.values(), key=lambda row: row.start))


@recipes.command("validate")
def validate_command(
    options: o.Unstored, file: File, plan: Annotated[Path, typer.Argument(metavar="PLAN.json")], without: Without = False
) -> None:
    """Judge a plan, as `sagagraph validate recipes` does."""
    from sagagraph.cli import judging

    case = Case(file, plan, without_time_constraints=without)
    o.end(judging.judge(options, "recipes", case))


@recipes.command("pairs")
def pairs_command(options: o.Unstored, file: Several = None) -> None:
    """List the pairs in a file, or those that come with SagaGraph."""
    told, lines = [], []
    for name, meal in ((name, parse_meal(document)) for name, document in pairs_in(file).items()):
        steps = meal.steps.values()
        work, limits = sum(step.duration for step in steps), sum(len(step.within) for step in steps)
        told.append({"pair": name, "recipes": list(meal.recipes), "steps": len(steps), "work_s": work, "limits": limits})
        lines.append(f"{name}: {len(steps)} steps, {work} s in all, {limits} time constraints")
    _end({"pairs": told}, lines, None, as_json=options.as_json)


@recipes.command("bench")
def bench_command(options: o.Unstored, file: Several = None, without: Without = False, seconds: o.Seconds = 10.0) -> None:
    """Plan every pair of a file, or of those that come with SagaGraph; prints how soon each is complete, and whether no plan is
    earlier.
    """
    with needing("recipes"):
        from sagagraph.domains.recipes.planning.planner import plan_meal
        from sagagraph.domains.recipes.planning.situation import Situation
    told, lines = [], []
    for name, document in pairs_in(file).items():
        meal, began = parse_meal(document), perf_counter()
        found = plan_meal(Situation(meal.without_time_constraints() if without else meal), Budget.of(seconds))
        took, is_proven = round(perf_counter() - began, 3), found.makespan == found.lower_bound
        told.append({"pair": name, "makespan_s": found.makespan, "lower_bound_s": found.lower_bound, "seconds": took})
        lines.append(f"{name}: {clock(found.makespan)} ({'no plan is earlier' if is_proven else 'not proven'}), {took:g} s")
    _end({"pairs": told}, lines, None, as_json=options.as_json)


@recipes.command("read")
def read_command(options: o.Unstored, file: Words, out: Out = None) -> None:
    """Read recipes in plain words: what runs unattended, what comes after what, what needs the oven."""
    from sagagraph.registry import model_of

    meal, remarks = asyncio.run(read_recipes(text_file(file, FIELD), model_of(options.settings)))
    for remark in remarks:
        render.stderr.print(remark, markup=False)
    lines = [line for name, steps in meal.recipes.items() for line in (name, *(f"  {described(step)}" for step in steps))]
    _end(meal.document(), lines, out, as_json=options.as_json)


def _end_with(answer: Cooked | Conflict, out: Path | None, *, as_json: bool, **more: Any) -> NoReturn:
    document: dict[str, Any]
    if not isinstance(answer, Cooked):
        document = {"makespan_s": None, "lower_bound_s": None, "status": "infeasible", "plan": [], "verdict": "INVALID"}
        document |= {"conflict": [asdict(wish) for wish in answer.wishes], "is_irreducible": answer.is_irreducible}
        told = "This cannot be cooked. These cannot" if answer.is_irreducible else "No plan was found. Perhaps these cannot"
        _end(document, [f"{told} all be kept:", *(f"- {each.sentence}" for each in answer.wishes)], out, as_json=as_json)
    ends, bound, rows = makespan(answer.plan), answer.lower_bound, [list(row) for row in answer.plan]
    status, verdict = "optimal" if bound >= ends else "feasible", validate_plan(answer.meal, rows)
    document = {"makespan_s": ends, "lower_bound_s": min(bound, ends), "status": status, "plan": rows, **more}
    document["verdict"] = verdict.verdict.value
    if not verdict.is_valid:
        document["violations"] = [each.model_dump(mode="json") for each in verdict.violations]
    lines = [f"{line[0].upper()}{line[1:]}" for line in answer.told]
    for row, step in ((row, answer.meal.steps[row.key]) for row in answer.plan):
        how = (", goes on alone" if step.is_autonomous else "") + (", a part" if row.duration < step.duration else "")
        lines.append(f"{clock(row.start)}  {row.recipe} {row.step}: {step.text} ({clock(row.duration)}{how})")
    proof = "no plan is earlier" if status == "optimal" else f"at least {clock(bound)}"
    _end(document, [*lines, f"{clock(ends)}  complete ({proof})"], out, as_json=as_json)


def _end(document: dict[str, Any], lines: list[str], out: Path | None, *, as_json: bool) -> NoReturn:
    if out is not None:
        write_json(out, document, "--out")
    tell(document, lines, as_json=as_json)
    raise typer.Exit(0 if document.get("verdict", "VALID") == "VALID" else 1)
