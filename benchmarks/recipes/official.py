"""Recipe2Plan's own data and evaluator, from the folder that SAGAGRAPH_DATA names; they are no part of SagaGraph."""

from __future__ import annotations

import copy
import json
import logging
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import chdir
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sagagraph.domains.recipes.plan import clock


@dataclass(frozen=True, slots=True)
class Judged:
    is_accepted: bool
    """All rows were executed, and all recipes are complete."""
    says: str
    progress: float
    speed: float
    """R-efficiency, 1 for that of the reference; 0 where there is no reference."""


def folder() -> Path:
    return Path(os.environ["SAGAGRAPH_DATA"], "recipe2plan")


@cache
def pairs() -> dict[str, Any]:
    read = json.loads((folder() / "data" / "cooking.json").read_text())
    return {"_".join(each["recipe"] for each in pair): pair for pair in read}


@cache
def references() -> dict[str, Any]:
    """By pair: `plan_wo_restriction` and `plan_w_restriction`, rows or null."""
    found: dict[str, Any] = json.loads((folder() / "data" / "plan.json").read_text())
    return found


@cache
def _evaluator() -> Any:
    place = str(folder() / "evaluation")
    sys.path.insert(0, place)
    try:
        from evaluator import Evaluator  # type: ignore[import-not-found]
    finally:
        sys.path.remove(place)
    logging.getLogger("physical_objects").setLevel(logging.ERROR)
    return Evaluator


def judged(pair: Any, rows: Iterable[Sequence[Any]], *, without: bool = False) -> Judged:
    """`without` time constraints."""
    evaluator = _evaluator()(copy.deepcopy(pair), ignore_time_constraints=without)  # it changes the pair
    lines = [f"Step({step}, {recipe}, {clock(duration)}, {clock(start)})" for step, recipe, duration, start in rows]
    is_right, says = evaluator.evaluate_execution("\n".join(lines))
    is_known = "_".join(each["recipe"] for each in pair) in references()
    with chdir(folder() / "evaluation"):  # it reads ../data/plan.json
        speed = float(evaluator.evaluate_complete_speed()) if is_known else 0.0
    is_complete = evaluator.evaluate_complete_goal_ratio() == 1
    return Judged(bool(is_right and is_complete), str(says), float(evaluator.evaluate_progress()), speed)
