"""Convergence: executors decide one variable each, in an order along the rules; decided variables are locked; five outcomes (CAAF
section 6).

After a value is proposed, the loop checks whether the rest can still be satisfied. If so the value is locked, as `const` in the
schema that executors see from then on; if not, the executor gets a gradient: the nearest value with which it can, computed, never
a model's opinion. So locks never contradict each other, and an obedient executor needs at most two attempts. Everything except
the executor is a pure function of its arguments.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from flint import fmpq

from sagagraph.harness.judging.check import RuleVerdict, check, exact, shown
from sagagraph.harness.loop.decomposition import Task, object_schema, order_of
from sagagraph.harness.proof.explain import Explanation, Status, explain, value_json
from sagagraph.harness.proof.relaxations import relaxation
from sagagraph.harness.proof.search import Budget, solve
from sagagraph.harness.proof.system import Point, inside, system_of
from sagagraph.harness.registry.harness import Harness, Value, Variable

_BOXES = 400


@dataclass(frozen=True, slots=True)
class Gradient:
    """Gradient. `boundary`: the nearest value that helps, on the variable's step if one of its steps does; None if no value does.
    `allowed`: all values that help, if they can be listed.
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
    """Return the nearest value of a variable with which all rules of the harness can be kept, while other variables are still
    open.
    """
    variable = harness.variables[dimension]
    if variable.values or not isinstance(now, fmpq):
        allowed = tuple(each for each in variable.values if is_satisfiable(fixed(harness, {dimension: each})))
        far: dict[Value, fmpq] = {each: abs(each - now) for each in allowed if isinstance(each, fmpq) and isinstance(now, fmpq)}
        nearest = min(allowed, key=lambda each: far.get(each, fmpq(0)), default=None)
        return Gradient(rule_id, dimension, "to a set" if allowed else "none", nearest, now, variable.unit, allowed)
    start = inside(now, (variable.low, variable.high))
    moved = fixed(harness, {dimension: start})
    if is_satisfiable(moved):
        boundary: fmpq | None = start
    else:
        found = relaxation(moved, "parameter", dimension, _BOXES)
        boundary = None if found is None else _on_step(moved, dimension, found.to, start)
    direction = "none" if boundary is None else "up" if boundary > now else "down"
    return Gradient(rule_id, dimension, direction, boundary, now, variable.unit)


def _on_step(harness: Harness, name: str, to: fmpq, start: fmpq) -> fmpq:
    """Round away from its old value to the variable's step, if that still helps."""
    step = harness.variables[name].step or (fmpq(1) if harness.variables[name].kind == "integer" else None)
    if step is None:
        return to
    rounded = fmpq((to / step).ceil() if to > start else (to / step).floor()) * step
    return rounded if is_satisfiable(harness.with_values({name: rounded})) else to


def is_satisfiable(harness: Harness) -> bool:
    """Tell whether an artifact that passes is found quickly."""
    return solve(system_of(harness), Budget(_BOXES)).witness is not None


def fixed(harness: Harness, values: Mapping[str, Value]) -> Harness:
    """Return the harness with some decided variables fixed at these values."""
    locked = {name: replace(each, value=values[name]) for name, each in harness.decided.items() if name in values}
    return replace(harness, variables={**harness.variables, **locked})


MOST_ATTEMPTS: Final = 3


class End(StrEnum):
    SUCCESS = "SUCCESS"
    FAILED_PARADOX = "FAILED_PARADOX"
    """Proven; a person has to decide."""
    NO_CONVERGENCE = "NO_CONVERGENCE"
    """Attempts were used up though it is satisfiable: `witness` is an artifact that passes."""
    UNDECIDED = "UNDECIDED"
    HARNESS_ERROR = "HARNESS_ERROR"


@dataclass(frozen=True, slots=True)
class Slice:
    """Slice: all that an executor sees, which is its variable and schema, values of its ancestors and its last gradient. Nothing
    of the request.
    """

    variable: str
    unit: str
    schema: Mapping[str, Any]
    context: Mapping[str, Any]
    gradient: Mapping[str, Any] | None = None
    said: str = ""
    description: str = ""


Executor = Callable[[Slice, str], Awaitable[Any]]
"""Function that answers a slice with `{variable: value}`. The text names the attempt: no attempt is asked for twice in a saga."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Attempt. `verdict`: locked, refused (its form or a lock), or moved (a gradient was given)."""

    variable: str
    number: int
    proposed: Any
    verdict: str
    gradient: Gradient | None = None


@dataclass(frozen=True, slots=True)
class Run:
    end: End
    artifact: Mapping[str, Any] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    explanation: Explanation | None = None
    witness: Point | None = None
    reason: str = ""


async def converge(
    harness: Harness,
    executor: Executor,
    *,
    attempts: int = MOST_ATTEMPTS,
    decomposed: Callable[[], Awaitable[tuple[Task, ...]]] | None = None,
) -> Run:
    """Run the loop to one of its outcomes. `decomposed`: gives the tasks, if they are not to follow the rules.

    Raises what executors raise; every other fault is an outcome.
    """
    harness = harness.inside
    found = explain(harness)
    if found.status is Status.PARADOX:
        return Run(End.FAILED_PARADOX, explanation=found)
    if not found.is_readable:
        return Run(End.HARNESS_ERROR, reason=found.reason)
    locks: dict[str, Value] = {}
    tried: list[Attempt] = []
    tasks = order_of(harness) if decomposed is None else await decomposed()
    for task, name in [(each, name) for each in tasks for name in each.expected_schema]:
        value = await _settle(harness, task, name, locks, tried, executor, attempts)
        if value is None:
            end = End.NO_CONVERGENCE if found.witness is not None else End.UNDECIDED
            reason = f"{name} was not settled in {attempts} attempts"
            return Run(end, _shown(locks), tuple(tried), witness=found.witness, reason=reason)
        locks[name] = value
    end = End.SUCCESS if check(harness, locks).verdict is RuleVerdict.PASS else End.UNDECIDED
    return Run(end, _shown(locks), tuple(tried), witness=found.witness)


async def _settle(
    harness: Harness,
    task: Task,
    name: str,
    locks: Mapping[str, Value],
    tried: list[Attempt],
    executor: Executor,
    attempts: int,
) -> Value | None:
    """Ask for one variable until its value leaves the rest satisfiable; None if attempts are used up."""
    last: Gradient | None = None
    context = {each: shown(locks[each]) for each in task.context_keys if each in locks}
    schema = _schema(harness, name, {each: locks[each] for each in context})
    for number in range(1, attempts + 1):
        variable = harness.variables[name]
        seen = Slice(name, variable.unit, schema, context, description=task.description)
        if last is not None:
            seen = replace(seen, gradient=last.json(), said=last.in_words())
        proposed = await executor(seen, f"{name}-{number}")
        value = _read(proposed, name, variable, locks)
        if value is None:
            tried.append(Attempt(name, number, proposed, "refused", last))
            continue
        stated = {**locks, name: value}
        judged = check(harness, stated)
        is_whole = harness.decided.keys() <= stated.keys()
        if judged.verdict is RuleVerdict.PASS if is_whole else is_satisfiable(fixed(harness, stated)):
            tried.append(Attempt(name, number, proposed, "locked"))
            return value
        failing = [each.rule for each in judged.rules if each.verdict is RuleVerdict.FAIL]
        last = towards(fixed(harness, locks), failing[0] if failing else harness.rules[0].id, name, value)
        tried.append(Attempt(name, number, proposed, "moved", last))
    return None


def _schema(harness: Harness, name: str, locks: Mapping[str, Value]) -> dict[str, Any]:
    """Return the JSON schema of an executor's answer: its variable, and locked variables as constants."""
    properties: dict[str, Any] = {each: {"const": shown(value)} for each, value in locks.items()}
    variable = harness.variables[name]
    kinds = {"integer": "integer", "boolean": "boolean", "string": "string"}
    asked: dict[str, Any] = {"type": kinds.get(variable.kind, "number")}
    if variable.choices:
        asked["enum"] = [shown(each) for each in variable.choices]
    for key, end in (("minimum", variable.low), ("maximum", variable.high)):
        if end is not None:
            asked[key] = value_json(end)
    return {"title": name, **object_schema({**properties, name: asked}, [name])}


def _read(proposed: Any, name: str, variable: Variable, locks: Mapping[str, Value]) -> Value | None:
    """Return the value; None if the answer has another form, leaves the domain, or edits what is locked."""
    if not isinstance(proposed, Mapping) or name not in proposed or proposed.keys() - {name, *locks}:
        return None
    if any(exact(proposed[each]) != locks[each] for each in proposed.keys() & locks.keys()):
        return None
    value = exact(proposed[name])
    kinds = {"boolean": bool, "string": str}
    return value if isinstance(value, kinds.get(variable.kind, fmpq)) and not variable.excludes(value) else None


def _shown(locks: Mapping[str, Value]) -> dict[str, Any]:
    return {name: shown(value) for name, value in locks.items()}
