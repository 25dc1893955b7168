"""Regions: where rules hold over one or two decided numbers, for a picture. Every point is judged; it proves nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from flint import fmpq

from sagagraph.harness.judging.check import check, shown
from sagagraph.harness.proof.system import significant
from sagagraph.harness.registry.harness import Harness, Value, Variable

_ALONG: Final = 120
"""Steps along a number line; between two that differ, the boundary is bisected down to six digits, or to whole numbers."""
_ACROSS: Final = 32
"""Cells along either side of a plane."""
_HALVINGS: Final = 24


def region_of(harness: Harness) -> dict[str, Any] | None:
    """Return a number line, or a plane, of what each rule allows; None unless there are one or two bounded numbers to decide.

    On a line, `allowed` has the stretches where a rule holds; in a plane, `fails` has how many rules fail in each cell, in rows
    from the least value of the second variable upwards.
    """
    axes = [each for each in harness.decided.values() if each.is_number and each.low is not None and each.high is not None]
    if len(axes) != len(harness.decided) or not 1 <= len(axes) <= 2 or any(each.low == each.high for each in axes):
        return None
    lines = [_steps(each.low or fmpq(0), each.high or fmpq(0), _ALONG if len(axes) == 1 else _ACROSS) for each in axes]
    said: dict[str, Any] = {
        "variables": [{"name": each.name, "unit": each.unit, "low": shown(each.low), "high": shown(each.high)} for each in axes]
    }
    if len(axes) == 1:
        stretches = {rule.id: _stretches(harness, axes[0], lines[0], rule.id) for rule in harness.rules}
        return {**said, "allowed": {rule: list(each) for rule, each in stretches.items()}}
    one, other = axes
    middles = [[(low + high) / 2 for low, high in pairwise(line)] for line in lines]
    fails = [[len(check(harness, {one.name: x, other.name: y}).failed) for x in middles[0]] for y in middles[1]]
    return {**said, "fails": fails}


def _steps(low: fmpq, high: fmpq, count: int) -> list[fmpq]:
    return [low + (high - low) * number / count for number in range(count + 1)]


def _stretches(harness: Harness, axis: Variable, points: list[fmpq], rule: str) -> Iterator[tuple[Any, Any]]:
    """Yield the stretches of the line on which a rule holds; of an integer, from whole number to whole number."""
    name, is_whole = axis.name, axis.kind == "integer"
    if is_whole:
        points = sorted(whole for whole in {fmpq(each.floor()) for each in points} if not axis.excludes(whole))
    alone = harness.with_rules((harness.rule(rule),))
    holds = [_holds(alone, {name: each}) for each in points]
    begun = points[0] if any(holds[:1]) else None
    for before, after, held, holding in zip(points, points[1:], holds, holds[1:], strict=False):
        if held is holding:
            continue
        last, first = _edge(alone, name, before, after, held=held, is_whole=is_whole)
        if begun is not None:
            yield shown(begun), shown(last)
        begun = None if held else first
    if begun is not None:
        yield shown(begun), shown(points[-1])


def _edge(harness: Harness, name: str, low: fmpq, high: fmpq, *, held: bool, is_whole: bool) -> tuple[fmpq, fmpq]:
    """Return where one side of a boundary ends and the other begins: neighbours, or the same number."""
    for _ in range(int((high - low).ceil()).bit_length() if is_whole else _HALVINGS):
        middle = fmpq(((low + high) / 2).floor()) if is_whole else (low + high) / 2
        low, high = (middle, high) if _holds(harness, {name: middle}) is held else (low, middle)
    return (low, high) if is_whole else (significant(low, 6), significant(low, 6))


def _holds(harness: Harness, artifact: Mapping[str, Value]) -> bool:
    return not check(harness, artifact).failed
