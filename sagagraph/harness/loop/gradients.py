"""Gradients: which variable should move which way, and exactly how far; computed, never a model's opinion (CAAF section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from sagagraph.harness.judging.check import exact, shown
from sagagraph.harness.proof.explain import value_json
from sagagraph.harness.proof.relaxations import relaxation
from sagagraph.harness.proof.rounding import significant
from sagagraph.harness.proof.search import Budget, solve
from sagagraph.harness.proof.system import system_of
from sagagraph.harness.registry.harness import Harness, Value

_BOXES = 400


@dataclass(frozen=True, slots=True)
class Gradient:
    """`boundary`: the nearest value that helps, on the variable's step where one of its steps does; None where no value of it
    does. `allowed`: all values that help, where they are counted.
    """

    rule: str
    dimension: str
    direction: str
    """up, down, to a set, or none"""
    boundary: Value | None
    now: Value
    unit: str
    allowed: tuple[Value, ...] = ()

    def json(self) -> dict[str, Any]:
        boundary = None if self.boundary is None else value_json(self.boundary)
        said = {"rule": self.rule, "dimension": self.dimension, "direction": self.direction, "boundary": boundary,
                "now": value_json(self.now), "unit": self.unit, "provenance": "computed"}  # fmt: skip
        return {**said, "allowed": [value_json(each) for each in self.allowed]} if self.allowed else said

    def in_words(self) -> str:
        if self.boundary is None:
            return f"{self.rule}: no value of {self.dimension} helps while the others stay"
        if self.allowed:
            return f"{self.rule}: choose {self.dimension} among {', '.join(str(value_json(each)) for each in self.allowed)}"
        there = f"{value_json(self.boundary)} {self.unit}"
        return f"{self.rule}: move {self.dimension} {self.direction}, from {value_json(self.now)} to {there}"


def towards(harness: Harness, rule_id: str, dimension: str, now: Value) -> Gradient:
    """Return the nearest value of a variable with which all rules of the harness can be kept, whatever is still open."""
    variable = harness.variables[dimension]
    if variable.values or not isinstance(now, fmpq):
        allowed = tuple(each for each in variable.values if is_satisfiable(fixed(harness, {dimension: each})))
        far: dict[Value, fmpq] = {each: abs(each - now) for each in allowed if isinstance(each, fmpq) and isinstance(now, fmpq)}
        nearest = min(allowed, key=lambda each: far.get(each, fmpq(0)), default=None)
        return Gradient(rule_id, dimension, "to a set" if allowed else "none", nearest, now, variable.unit, allowed)
    inside = now if variable.low is None else max(now, variable.low)
    inside = inside if variable.high is None else min(inside, variable.high)
    moved = fixed(harness, {dimension: inside})
    if is_satisfiable(moved):
        boundary: fmpq | None = inside
    else:
        found = relaxation(moved, "parameter", dimension, _BOXES)
        boundary = None if found is None else _on_step(moved, dimension, found.to, inside)
    direction = "none" if boundary is None else "up" if boundary > now else "down"
    return Gradient(rule_id, dimension, direction, boundary, now, variable.unit)


def _on_step(harness: Harness, name: str, to: fmpq, start: fmpq) -> fmpq:
    """Round away from where it was to the variable's step, or to what JSON can write as a number, if that still helps."""
    step = harness.variables[name].step or (fmpq(1) if harness.variables[name].kind == "integer" else None)
    if step is not None:
        rounded = fmpq((to / step).ceil() if to > start else (to / step).floor()) * step
    else:
        rounded = to if exact(shown(to)) == to else significant(to, 12, upwards=to > start)
    return rounded if is_satisfiable(harness.with_values({name: rounded})) else to


def is_satisfiable(harness: Harness) -> bool:
    """Tell whether an artifact that passes is found quickly."""
    return solve(system_of(harness), Budget(_BOXES)).witness is not None


def fixed(harness: Harness, values: Mapping[str, Value]) -> Harness:
    """Return the harness with some decided variables locked at these values."""
    locked = {name: replace(each, value=values[name]) for name, each in harness.decided.items() if name in values}
    return replace(harness, variables={**harness.variables, **locked})
