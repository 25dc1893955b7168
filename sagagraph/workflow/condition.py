"""Conditions `c_ij` under which an operation depends on others (SagaLLM section 3.2.2, equations 2 and 3).

A condition is a typed expression tree over upstream outcomes. It is data: nothing in it is ever evaluated as text.
It is evaluated only when all the operations it names have settled, so it is always true or false. In JSON, `kind`
distinguishes its forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from sagagraph.workflow.values import Json


class Outcome(Protocol):
    """Outcome: what a condition may know of a settled upstream operation."""

    @property
    def succeeded(self) -> bool: ...
    @property
    def failed(self) -> bool: ...
    @property
    def error_code(self) -> str | None: ...
    @property
    def output(self) -> Json: ...


class Comparison(StrEnum):
    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    IN = "in"


class Succeeded(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="succeeded"):
    operation: str


class Failed(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="failed"):
    """The operation was definitely refused (with one of `codes`, if any are given) and has no effect."""

    operation: str
    codes: tuple[str, ...] = ()


class OutputIs(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="output"):
    """The operation succeeded, and the value at `path` of its output compares with `value`.

    A missing value, a value of another type, and NaN compare false with everything, `!=` included.
    """

    operation: str
    path: tuple[str | int, ...]
    comparison: Comparison
    value: Json


class All(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="all"):
    conditions: tuple[Condition, ...]


class AnyOf(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="any"):
    conditions: tuple[Condition, ...]


class Not(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="not"):
    condition: Condition


Condition = Succeeded | Failed | OutputIs | All | AnyOf | Not


def operations_named(condition: Condition) -> frozenset[str]:
    match condition:
        case Succeeded(operation) | Failed(operation) | OutputIs(operation):
            return frozenset({operation})
        case All(conditions) | AnyOf(conditions):
            return frozenset().union(*(operations_named(each) for each in conditions))
        case Not(inner):
            return operations_named(inner)


def holds(condition: Condition, outcomes: Mapping[str, Outcome]) -> bool:
    match condition:
        case Succeeded(operation):
            return outcomes[operation].succeeded
        case Failed(operation, codes):
            outcome = outcomes[operation]
            return outcome.failed and (not codes or outcome.error_code in codes)
        case OutputIs(operation, path, comparison, value):
            outcome = outcomes[operation]
            return outcome.succeeded and compares(value_at(outcome.output, path), comparison, value)
        case All(conditions):
            return all(holds(each, outcomes) for each in conditions)
        case AnyOf(conditions):
            return any(holds(each, outcomes) for each in conditions)
        case Not(inner):
            return not holds(inner, outcomes)


def value_at(output: Json, path: tuple[str | int, ...]) -> Json:
    """Return the value at `path` of a JSON value, or None if there is none."""
    for step in path:
        if isinstance(output, Mapping):
            output = output.get(step)
        elif isinstance(output, list | tuple) and isinstance(step, int) and -len(output) <= step < len(output):
            output = output[step]
        else:
            return None
    return output


def compares(found: Json, comparison: Comparison, value: Json) -> bool:
    match comparison:
        case Comparison.IN:
            return isinstance(value, list | tuple) and any(compares(found, Comparison.EQUAL, each) for each in value)
        case Comparison.EQUAL:
            return _are_alike(found, value) and bool(found == value)
        case Comparison.NOT_EQUAL:
            return _are_alike(found, value) and bool(found != value)
    has_order = isinstance(found, int | float | str) and not isinstance(found, bool)
    if not (has_order and _are_alike(found, value)):
        return False
    match comparison:
        case Comparison.LESS:
            return bool(found < value)
        case Comparison.AT_MOST:
            return bool(found <= value)
        case Comparison.MORE:
            return bool(found > value)
        case _:
            return bool(found >= value)


def _are_alike(left: Json, right: Json) -> bool:
    """Tell whether both are numbers, or of one type: true is not a number, and what is not a number compares with nothing."""
    if left is None or right is None or _is_nan(left) or _is_nan(right):
        return False
    if isinstance(left, bool) or isinstance(right, bool):
        return isinstance(left, bool) and isinstance(right, bool)
    return (isinstance(left, int | float) and isinstance(right, int | float)) or type(left) is type(right)


def _is_nan(value: Json) -> bool:
    return isinstance(value, float) and value != value
