"""Conditions `c_ij` under which an operation depends on others (SagaLLM section 3.2.2, equations 2 and 3).

A condition is a typed expression tree over upstream outcomes. It is data: nothing in it is ever evaluated as text.
It is asked only when all the operations it names have settled, so it is always true or false. `kind` tells its forms apart in
JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, PlainSerializer, TypeAdapter


class Outcome(Protocol):
    """What a condition may know of a settled upstream operation."""

    @property
    def succeeded(self) -> bool: ...
    @property
    def failed(self) -> bool: ...
    @property
    def error_code(self) -> str | None: ...
    @property
    def output(self) -> Any: ...


class Comparison(StrEnum):
    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    IN = "in"


@dataclass(frozen=True, slots=True)
class Succeeded:
    operation: str
    kind: Literal["succeeded"] = "succeeded"


@dataclass(frozen=True, slots=True)
class Failed:
    """The operation was definitely refused (with one of `codes`, where any are given) and holds nothing."""

    operation: str
    codes: tuple[str, ...] = ()
    kind: Literal["failed"] = "failed"


@dataclass(frozen=True, slots=True)
class OutputIs:
    """The operation succeeded, and the value at `path` of its output compares with `value`.

    A missing value, a value of another type, and NaN compare false with everything, `!=` included.
    """

    operation: str
    path: tuple[str | int, ...]
    comparison: Comparison
    value: Any
    kind: Literal["output"] = "output"


@dataclass(frozen=True, slots=True)
class All:
    conditions: tuple[Condition, ...]
    kind: Literal["all"] = "all"


@dataclass(frozen=True, slots=True)
class AnyOf:
    conditions: tuple[Condition, ...]
    kind: Literal["any"] = "any"


@dataclass(frozen=True, slots=True)
class Not:
    condition: Condition
    kind: Literal["not"] = "not"


Condition = Annotated[Succeeded | Failed | OutputIs | All | AnyOf | Not, Field(discriminator="kind")]


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
            return outcome.succeeded and _compares(value_at(outcome.output, path), comparison, value)
        case All(conditions):
            return all(holds(each, outcomes) for each in conditions)
        case AnyOf(conditions):
            return any(holds(each, outcomes) for each in conditions)
        case Not(inner):
            return not holds(inner, outcomes)


def value_at(output: Any, path: tuple[str | int, ...]) -> Any:
    """The value at `path` of a JSON value, or None where there is none."""
    for step in path:
        if isinstance(output, Mapping):
            output = output.get(step)
        elif isinstance(output, list | tuple) and isinstance(step, int) and -len(output) <= step < len(output):
            output = output[step]
        else:
            return None
    return output


def _compares(found: Any, comparison: Comparison, value: Any) -> bool:
    match comparison:
        case Comparison.IN:
            return isinstance(value, list | tuple) and any(_compares(found, Comparison.EQUAL, each) for each in value)
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


def _are_alike(left: Any, right: Any) -> bool:
    """Both are numbers, or of one type: true is no number, and what is not a number compares with nothing."""
    if left is None or right is None or _is_nan(left) or _is_nan(right):
        return False
    if isinstance(left, bool) or isinstance(right, bool):
        return isinstance(left, bool) and isinstance(right, bool)
    return (isinstance(left, int | float) and isinstance(right, int | float)) or type(left) is type(right)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def _with_kinds(condition: Condition | None) -> Any:
    return condition and _ADAPTER.dump_python(condition, mode="json")


_ADAPTER: TypeAdapter[Condition] = TypeAdapter(Condition)
StoredCondition = Annotated[Condition | None, PlainSerializer(_with_kinds)]
"""Written with every `kind`, also where other defaults are left out."""
