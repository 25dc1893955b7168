"""Meals of tests: the paper's example, and small ones at random."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

from sagagraph.domains.recipes.request import Meal, parse_meal

Json = dict[str, Any]
IS_FULL = os.environ.get("SAGAGRAPH_EXPLORE") == "full"
"""Whether `make proof` runs the complete forms."""
NEEDS_DATA = pytest.mark.skipif("SAGAGRAPH_DATA" not in os.environ, reason="SAGAGRAPH_DATA names no folder of benchmark data")


def step(time: str | float, *after: int, kind: str = "", within: dict[int, str] | None = None, **uses: Json) -> Json:
    """`kind`: a for autonomous, i for interruptible."""
    return {
        "text": "",
        "time": time,
        "parallel": int("a" in kind),
        "interrupt": int("i" in kind),
        "prequisites": list(after),
        "time_constraint": {str(number): limit for number, limit in (within or {}).items()},
        "physical": {name: {"require": {}, **use} for name, use in uses.items()},
    }


def recipe(name: str, *steps: Json) -> Json:
    return {"recipe": name, "steps": [{"step": number, **each} for number, each in enumerate(steps)]}


def heat(degrees: float) -> Json:
    return {"update": {"temperature": degrees}}


def at(degrees: float) -> Json:
    return {"require": {"temperature": degrees}}


PAPER = [
    recipe(
        "Baked-Potato",
        step("10 min", kind="a", oven=heat(425)),
        step("2 min", kind="i"),
        step("5 min", 0, 1, kind="a", oven=at(425)),
        step("1 min", kind="a", microwave={}),
        step("10 min", 2, kind="i"),
        step("1 min", 3, 4, within={3: "2 min"}),
    ),
    recipe(
        "Cheese-Sandwich",
        step("10 min", kind="a", oven=heat(425)),
        step("2 min"),
        step("1 min", 1),
        step("5 min", 0, 2, kind="a", oven=at(425)),
        step("5 min", kind="a", microwave={}),
        step("1 min", 3, 4),
    ),
]
"""The example in the paper, whose plan ends at 0:27."""


def drawn(rng: Random, *, most: int = 3) -> list[Json]:
    """Two recipes of a few short steps, in Recipe2Plan's form."""
    return [recipe(name, *_steps(rng, rng.randint(1, most))) for name in ("Soup", "Pie")]


def _steps(rng: Random, many: int) -> list[Json]:
    steps: list[Json] = []
    heated: dict[int, float] = {}
    for number in range(many):
        after = [other for other in range(number) if rng.random() < 0.5]
        kind = rng.choice(["", "a", "a", "i", "i"])
        uses: dict[str, Json] = {}
        if kind != "i" and rng.random() < 0.4:
            uses["oven"] = heat(rng.choice([350, 450]))
            heated[number] = uses["oven"]["update"]["temperature"]
        elif kind != "i" and heated and rng.random() < 0.7:
            source = rng.choice(sorted(heated))
            after = sorted({*after, source})
            uses["oven"] = at(heated[source])
        elif rng.random() < 0.4:
            uses[rng.choice(["stove", "microwave"])] = {}
        within = {other: f"{rng.choice([0, 30, 60])} sec" for other in after if rng.random() < 0.4}
        steps.append(step(f"{30 * rng.randint(1, 3)} sec", *after, kind=kind, within=within, **uses))
    return steps


def meal_of(document: Any, **changed: Any) -> Meal:
    return parse_meal({"recipes": document, **changed})
