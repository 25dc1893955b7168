"""Reading: recipes in plain words, a step a line. A time that a line does not say is asked for, never made up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from sagagraph.domains.recipes.parsing import document_of, parse_meal
from sagagraph.domains.recipes.text.beliefs import Belief, beliefs_of
from sagagraph.errors import InvalidInputError

_UNIT: Final = r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)"
_TIME: Final = re.compile(rf"(\d+)\s*({_UNIT})\b", re.IGNORECASE)
_ASIDE: Final = re.compile(r"\(([^()]*)\)\s*[.!]?\s*$")
_WITHIN: Final = re.compile(rf"\bwithin (\d+\s*{_UNIT})\b(?: of step (\d+))?", re.IGNORECASE)
_NUMBER: Final = re.compile(r"^\s*(?:step\s*)?(\d+)\s*[.):]\s*|^\s*[-*•]\s*", re.IGNORECASE)
_FIELD: Final = "FILE"


def read_meal(text: str) -> dict[str, Any]:
    """Read recipes, a blank line between them: a name and then the steps, a line each, as in `Whisk the eggs (5 min).`

    Lines may be numbered from 1. What stands in brackets at the end of a step, or else in the step, is its time; `within 2 min of
    step 3` is a time constraint. `alone`, `by hand` and `in one go` in the brackets correct what the words are taken to mean.
    Returns the general form of a meal.

    Raises:
        InvalidInputError: names the line, and what to add to it.
    """
    blocks = [block.splitlines() for block in re.split(r"\n\s*\n", text.strip())]
    return document_of(parse_meal([_recipe([line.strip() for line in block]) for block in blocks]))


def _recipe(lines: Sequence[str]) -> dict[str, Any]:
    if len(lines) < 2:
        raise InvalidInputError("write the recipe's name, and then each step on a line of its own", field=_FIELD)
    steps = [_NUMBER.sub("", line) for line in lines[1:]]
    heated: float | None = None
    documents: list[dict[str, Any]] = []
    for number, (step, belief) in enumerate(zip(steps, beliefs_of([_ASIDE.sub("", step) for step in steps]), strict=True)):
        heated = belief.temperature or heated
        documents.append(_document(number, step, belief, heated))
    return {"recipe": re.sub(r"\W+", "-", lines[0]).strip("-"), "steps": documents}


def _document(number: int, text: str, belief: Belief, heated: float | None) -> dict[str, Any]:
    aside = _ASIDE.search(text)
    remark = aside[1].casefold() if aside else ""
    within = _WITHIN.search(text)
    said = _TIME.findall(_WITHIN.sub("", remark)) or _TIME.findall(_WITHIN.sub("", text))
    if not said:
        raise InvalidInputError("say how long it takes, as in (5 min)", field=f"step {number + 1}, {text!r}")
    alone = "alone" in remark or (belief.is_alone and "by hand" not in remark)
    before = _constrained(number, within[2], belief) if within else None
    return {
        "step": number,
        "text": _ASIDE.sub("", text).strip(),
        "time": " ".join(said[-1]),
        "parallel": int(alone),
        "interrupt": int(not alone and belief.is_divisible and "one go" not in remark and within is None),
        "prequisites": sorted({*belief.after, *([] if before is None else [before])}),
        "time_constraint": {} if within is None or before is None else {str(before): within[1]},
        "physical": {name: _use(name, belief, heated) for name in belief.objects},
    }


def _constrained(number: int, named: str | None, belief: Belief) -> int:
    """Return the step that this one follows in time: the one that is named, or else the last one that it goes on with."""
    before = int(named) - 1 if named else max(belief.after, default=number - 1)
    if not 0 <= before < number:
        raise InvalidInputError(
            "`within` needs an earlier step: name it, as in within 2 min of step 1", field=f"step {number + 1}"
        )
    return before


def _use(name: str, belief: Belief, heated: float | None) -> dict[str, Any]:
    if name != "oven" or heated is None:
        return {"require": {}}
    if belief.temperature is not None:
        return {"require": {}, "update": {"temperature": belief.temperature}}
    return {"require": {"temperature": heated}}
