"""Conditions `c_ij` in words, and what decided them."""

from __future__ import annotations

import json
from typing import Any

from sagagraph.saga.core.state import Saga
from sagagraph.workflow.condition import All, AnyOf, Condition, Failed, Not, OutputIs, Succeeded, operations_named, value_at
from sagagraph.workflow.operation import OperationSpec


def in_words(spec: OperationSpec) -> str:
    """Return `succeeded(T1) and not failed(T2: sold_out)`; without an explicit condition, that every dependency succeeded."""
    if spec.condition is not None:
        return _words(spec.condition)
    return " and ".join(f"succeeded({name})" for name in spec.depends_on)


def _words(condition: Condition) -> str:
    match condition:
        case Succeeded(operation):
            return f"succeeded({operation})"
        case Failed(operation, codes):
            return f"failed({operation}: {', '.join(codes)})" if codes else f"failed({operation})"
        case OutputIs(operation, path, comparison, value):
            where = ".".join([operation, *(str(each) for each in path)])
            return f"{where} {comparison.value} {json.dumps(value)}"
        case All(conditions):
            return _joined(conditions, " and ", "true")
        case AnyOf(conditions):
            return _joined(conditions, " or ", "false")
        case Not(inner):
            return f"not ({_words(inner)})"


def _joined(conditions: tuple[Condition, ...], word: str, empty: str) -> str:
    parts = [f"({_words(each)})" if isinstance(each, All | AnyOf) else _words(each) for each in conditions]
    return word.join(parts) or empty


def evidence(saga: Saga, spec: OperationSpec) -> dict[str, Any]:
    """Return what decided a condition: the outcomes of the operations it names, and the values that it compares."""
    named = spec.depends_on if spec.condition is None else tuple(sorted(operations_named(spec.condition)))
    found: dict[str, Any] = {}
    for name in named:
        upstream = saga.operations[name]
        found[name] = {"status": upstream.status.value, "error_code": upstream.error_code}
        if upstream.rejected:
            found[name]["rejected"] = True
    values = _values(saga, spec.condition) if spec.condition is not None else {}
    return {"operations": found, "values": values} if values else {"operations": found}


def _values(saga: Saga, condition: Condition) -> dict[str, Any]:
    match condition:
        case OutputIs(operation, path, _, _):
            where = ".".join([operation, *(str(each) for each in path)])
            return {where: value_at(saga.operations[operation].output, path)}
        case All(conditions) | AnyOf(conditions):
            return {where: value for each in conditions for where, value in _values(saga, each).items()}
        case Not(inner):
            return _values(saga, inner)
        case _:
            return {}
