"""Listing: the pairs of a file, or of the recipes that come with SagaGraph; and recipes as they were read."""

from __future__ import annotations

from pathlib import Path

from sagagraph.cli import render
from sagagraph.domains.recipes.files import pairs_in
from sagagraph.domains.recipes.parsing import FIELD, parse_meal
from sagagraph.domains.recipes.request import Step
from sagagraph.domains.recipes.rules.case import clock
from sagagraph.domains.recipes.text.reading import read_meal
from sagagraph.files import text_file, write_json


def list_pairs(path: Path | None, *, as_json: bool) -> int:
    told = []
    for name, document in pairs_in(path).items():
        meal = parse_meal(document)
        work = sum(step.duration for step in meal.steps.values())
        limits = sum(len(step.within) for step in meal.steps.values())
        told.append({"pair": name, "recipes": list(meal.recipes), "steps": len(meal.steps), "work_s": work, "limits": limits})
    if as_json:
        render.print_json({"pairs": told})
        return 0
    for each in told:
        words = f"{each['pair']}: {each['steps']} steps, {each['work_s']} s in all, {each['limits']} time constraints"
        render.stdout.print(words, markup=False, highlight=False)
    return 0


def tell_recipes(path: Path, out: Path | None, *, as_json: bool) -> int:
    document = read_meal(text_file(path, FIELD))
    if out is not None:
        write_json(out, document, "--out")
    if as_json:
        render.print_json(document)
        return 0
    for recipe, steps in parse_meal(document).recipes.items():
        render.stdout.print(recipe, markup=False, highlight=False)
        for step in steps:
            render.stdout.print(
                f"  {step.number + 1}. {step.text}: {', '.join(_understood(step))}", markup=False, highlight=False
            )
    return 0


def _understood(step: Step) -> list[str]:
    how = "goes on alone" if step.is_autonomous else "may be interrupted" if step.is_interruptible else "in one go"
    after = [f"after {', '.join(str(number + 1) for number in step.after)}"] if step.after else []
    within = [f"within {clock(limit)} of {number + 1}" for number, limit in step.within.items()]
    uses = []
    for name, use in step.uses.items():
        heat = use.update.get("temperature", use.require.get("temperature"))
        uses.append(name if heat is None else f"{name} {'to' if use.update else 'at'} {heat:g} °F")
    return [clock(step.duration), how, *after, *within, *uses]
