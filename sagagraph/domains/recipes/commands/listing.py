"""Listing: the pairs of a file, or of the recipes that come with SagaGraph."""

from __future__ import annotations

from pathlib import Path

from sagagraph.cli import render
from sagagraph.domains.recipes.files import pairs_in
from sagagraph.domains.recipes.parsing import parse_meal


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
