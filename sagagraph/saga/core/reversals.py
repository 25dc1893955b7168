"""Reversals: the sagas that undo another saga whose pivot has landed (docs/protocol.md rule 5). Pure."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from sagagraph.saga.core.state import Operation
from sagagraph.workflow.values import Json

REVERSAL = "~reversal"
"""Ends the ids of sagas that undo another one."""
REVERSING = ":undo"
"""Ends the names of the actions that reversals are made of."""
_PREFIX = "undo "


@dataclass(frozen=True, slots=True)
class Undone:
    """Request of a reversing operation: what was asked for, what came of it, and under which key."""

    request: Json
    result: Json
    key: str


def reversal_id(saga_id: str) -> str:
    return saga_id + REVERSAL


def reversing_id(operation_id: str) -> str:
    """Return the id of the operation that undoes this one."""
    return _PREFIX + operation_id


def original_id(reversing_id: str) -> str:
    return reversing_id.removeprefix(_PREFIX)


def is_undoing(operation: Operation) -> bool:
    """Tell whether it undoes an operation of another saga."""
    return operation.spec.action.endswith(REVERSING)


def is_live(operation: Operation) -> bool:
    """Tell whether it stands outside and the plan counts on it."""
    return operation.succeeded and operation.has_effect and not operation.removed


def nearest_dependents(dependents: Mapping[str, tuple[str, ...]], name: str, among: Container[str]) -> set[str]:
    """Return those of `among` that depend on `name` with none of them in between; others are waited for through these."""
    found: set[str] = set()
    seen: set[str] = set()
    frontier = list(dependents.get(name, ()))
    while frontier:
        each = frontier.pop()
        if each in among:
            found.add(each)
        elif each not in seen:
            seen.add(each)
            frontier += dependents.get(each, ())
    return found
