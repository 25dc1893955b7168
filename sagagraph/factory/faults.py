"""Faults on purpose: what an action of a workflow is made to do wrong, and when (ALAS A.10)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from sagagraph.errors import InvalidInputError, Refused
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action
from sagagraph.workflow.values import Json


class FaultKind(StrEnum):
    TIMEOUT = "timeout"
    """The effect is there, and the answer is lost."""
    FAILURE = "failure"
    """It is refused: nothing happened."""
    VIOLATION = "violation"
    """It answers, and with something that breaks its schema: `returns`."""


class Fault(Struct, frozen=True, forbid_unknown_fields=True):
    """Fault at the attempts `first` to `last` of an action, from 1."""

    action: str
    fault: FaultKind
    first: int = 1
    last: int = 1
    code: str = "injected"
    returns: Json = None


def read_faults(value: Json) -> tuple[Fault, ...]:
    try:
        return msgspec.convert(value, tuple[Fault, ...])
    except msgspec.ValidationError as exc:
        raise InvalidInputError(str(exc), field="--faults") from exc


def with_faults(actions: Mapping[str, Action], faults: Iterable[Fault]) -> dict[str, Action]:
    """Return the actions with these faults in them. Raises `InvalidInputError` for one of an action that there is not."""
    made = dict(actions)
    for each in faults:
        if each.action not in made:
            raise InvalidInputError(f"there is no action {each.action!r}", field="--faults")
        made[each.action] = replace(made[each.action], execute=_failing(made[each.action].execute, each))
    return made


def _failing(execute: Callable[..., Any], fault: Fault) -> Callable[..., Any]:
    async def call_it(request: Any, call: Call) -> Any:
        is_due = fault.first <= call.attempt <= fault.last
        if is_due and fault.fault is FaultKind.FAILURE:
            raise Refused("refused on purpose", code=fault.code)
        answer = execute(request, call)
        answer = await answer if inspect.isawaitable(answer) else answer
        if is_due and fault.fault is FaultKind.TIMEOUT:
            raise TimeoutError("the answer was lost on purpose")
        return fault.returns if is_due else answer

    return call_it
