"""How often the words of a step are read as Recipe2Plan's annotators read them; precision, recall and F1 over all recipes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from benchmarks.recipes.official import pairs
from sagagraph.domains.recipes.text import beliefs_of

GPT_4O: Final = {"concurrency": 76.12, "dependencies": 91.12, "objects": 90.34}
"""F1 in per cent, as the paper reports it."""

Facts = Mapping[str, set[Any]]


def agreement(believed: set[Any], annotated: set[Any]) -> tuple[float, float, float]:
    """Return precision, recall and F1; what nobody said was never wrong."""
    common = len(believed & annotated)
    precision = common / len(believed) if believed else 1.0
    recall = common / len(annotated) if annotated else 1.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def measured() -> dict[str, tuple[float, float, float]]:
    recipes = {recipe["recipe"]: recipe["steps"] for pair in pairs().values() for recipe in pair}
    believed: dict[str, set[Any]] = {name: set() for name in GPT_4O}
    annotated: dict[str, set[Any]] = {name: set() for name in GPT_4O}
    for name, steps in recipes.items():
        beliefs = beliefs_of([step["text"] for step in steps])
        for step, belief in zip(steps, beliefs, strict=True):
            place = name, step["step"]
            ours = {"concurrency": [0] * belief.is_alone, "dependencies": belief.after, "objects": belief.uses}
            theirs = {"concurrency": [0] * step["parallel"], "dependencies": step["prequisites"], "objects": step["physical"]}
            for what in GPT_4O:
                believed[what] |= {(place, each) for each in ours[what]}
                annotated[what] |= {(place, each) for each in theirs[what]}
    return {what: agreement(believed[what], annotated[what]) for what in GPT_4O}
