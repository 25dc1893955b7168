"""Gradients: which variable should move which way, and exactly how far; computed, never a model's opinion (CAAF section 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from sagagraph.harness.proof.explain import number_json
from sagagraph.harness.proof.relaxations import relaxation
from sagagraph.harness.proof.search import Budget, Search
from sagagraph.harness.proof.system import system_of
from sagagraph.harness.registry.harness import Harness, Value

_BOXES = 400


@dataclass(frozen=True, slots=True)
class Gradient:
    """`boundary`: the nearest value that helps, on the variable's step where one of its steps does; None where no value of it
    does.
    """

    rule: str
    dimension: str
    direction: str
    """up, down, or none"""
    boundary: fmpq | None
    now: fmpq
    unit: str

    def json(self) -> dict[str, Any]:
        boundary = None if self.boundary is None else number_json(self.boundary)
        return {"rule": self.rule, "dimension": self.dimension, "direction": self.direction, "boundary": boundary,
                "now": number_json(self.now), "unit": self.unit, "provenance": "computed"}  # fmt: skip

    def in_words(self) -> str:
        if self.boundary is None:
            return f"{self.rule}: no value of {self.dimension} helps while the others stay"
        there = f"{number_json(self.boundary)} {self.unit}"
        return f"{self.rule}: move {self.dimension} {self.direction}, from {number_json(self.now)} to {there}"


def towards(
    harness: Harness, rule_id: str, dimension: str, now: Value | None, expired: Callable[[], bool] = lambda: False
) -> Gradient:
    """Return the nearest value of a variable with which all rules of the harness can be kept, whatever is still open."""
    variable = harness.variables[dimension]
    start = now if isinstance(now, fmpq) and not isinstance(now, bool) else fmpq(0)
    inside = start if variable.low is None else max(start, variable.low)
    inside = inside if variable.high is None else min(inside, variable.high)
    held = replace(variable, value=inside, is_negotiable=True)
    moved = replace(harness, variables={**harness.variables, dimension: held})
    if _is_satisfiable(moved):
        boundary: fmpq | None = inside
    else:
        found = relaxation(moved, "parameter", dimension, _BOXES, expired)
        boundary = None if found is None else _on_step(moved, dimension, found.to, inside)
    direction = "none" if boundary is None else "up" if boundary > start else "down"
    return Gradient(rule_id, dimension, direction, boundary, start, variable.unit)


def _on_step(harness: Harness, name: str, to: fmpq, start: fmpq) -> fmpq:
    """Round away from where it was to the variable's step, if that still helps."""
    step = harness.variables[name].step or (fmpq(1) if harness.variables[name].kind == "integer" else None)
    if step is None:
        return to
    rounded = fmpq((to / step).ceil() if to > start else (to / step).floor()) * step
    return rounded if _is_satisfiable(harness.with_values({name: rounded})) else to


def _is_satisfiable(harness: Harness) -> bool:
    return Search(system_of(harness), Budget(_BOXES)).run().witness is not None


def fixed(harness: Harness, values: Mapping[str, Value]) -> Harness:
    """Return the harness with some decided variables locked at these values."""
    variables = {name: replace(each, value=values[name]) if each.is_decided and name in values else each
                 for name, each in harness.variables.items()}  # fmt: skip
    return replace(harness, variables=variables)
