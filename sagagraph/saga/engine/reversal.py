"""Undoing a saga whose pivot has landed: a saga of its own, from the actions' `reverse` and `compensate` (PROTOCOL rule 5)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs
from pydantic import BaseModel

from sagagraph.saga.core.dependencies import undo_order
from sagagraph.saga.core.events import ProbeAnswer
from sagagraph.saga.core.state import Operation, Saga, operation_key
from sagagraph.saga.engine.actions import REVERSING, Action, Guarantees
from sagagraph.saga.engine.call import Call
from sagagraph.saga.engine.probe import Probe
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec, resolve

REVERSAL = "~reversal"
"""Ends the ids of sagas that undo another one."""
_PREFIX = "undo "
Find = Callable[[str, int], Action]


class Undone(BaseModel):
    """The request of a reversing operation: what was asked, what came of it, and under which key."""

    request: Any
    result: Any
    key: str


@dataclass(frozen=True, slots=True)
class ReversalPlan:
    """`operations` undo dependents first; `lasting` can not be undone; `is_possible` is False when the pivot is among them."""

    operations: tuple[OperationSpec, ...]
    lasting: tuple[str, ...]
    is_possible: bool


def reversal_id(saga_id: str) -> str:
    return saga_id + REVERSAL


def plan_reversal(saga: Saga, find: Find) -> ReversalPlan:
    live = [saga.operations[name] for name in undo_order(saga) if is_live(saga.operations[name])]
    undoable = {
        each.id: action for each in live if (action := find(each.spec.action, each.spec.action_version)) and _undo(action)
    }
    specs = tuple(_reversing(saga, each, undoable) for each in live if each.id in undoable)
    lasting = tuple(each.id for each in live if each.id not in undoable)
    return ReversalPlan(specs, lasting, saga.pivot not in lasting)


def reversing_action(action: Action) -> Action:
    """The undoing of `action` as an action of its own; its probe is the original's, read the other way round."""

    async def execute(undone: Undone, call: Call) -> Any:
        undo = _undo(action)
        if undo is None:
            raise TypeError(f"action {action.name!r} can not be undone")
        request, result = action.request_from_json(undone.request), action.result_from_json(undone.result)
        return await _called(undo, request, result, replace(call, operation_key=undone.key))

    async def probe(undone: Undone, call: Call) -> Probe:
        if action.probe is None:
            return Probe.unknown("the action has no probe")
        original = replace(call, idempotency_key=undone.key, operation_key=undone.key)
        said: Probe = await _called(action.probe, action.request_from_json(undone.request), original)
        match said.answer:
            case ProbeAnswer.UNDONE:
                return Probe.landed(said.result)
            case ProbeAnswer.LANDED:
                return Probe.absent()
            case _:
                return Probe.unknown(f"the original is {said.answer.value}")

    return replace(
        action,
        name=action.name + REVERSING,
        kind=ActionKind.RETRIABLE,
        execute=execute,
        probe=probe if action.probe else None,
        compensate=None,
        reverse=None,
        validators=(),
        guarantees=Guarantees(dedup=action.guarantees.dedup),
        request_type=Undone,
        result_type=Any,
        home=action.home + REVERSING,
        needs_body=False,
        _adapters={},
    )


async def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    """One that is no coroutine waits in a thread, as it would have in its own saga."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    answer = await asyncio.to_thread(function, *arguments)
    return await answer if inspect.isawaitable(answer) else answer


def is_live(operation: Operation) -> bool:
    """It stands outside, and the plan counts on it."""
    return operation.succeeded and operation.has_effect and not operation.removed


def _undo(action: Action) -> Callable[..., Any] | None:
    return action.reverse or action.compensate


def _reversing(saga: Saga, operation: Operation, undoable: dict[str, Action]) -> OperationSpec:
    action = reversing_action(undoable[operation.id])
    spec = operation.spec
    request = Undone(request=resolve(spec.inputs, saga.outputs), result=operation.output, key=operation_key(saga.id, operation))
    dependents = tuple(_named(name) for name in sorted(nearest_dependents(saga.dependents, operation.id, undoable)))
    return structs.replace(action.spec(_named(operation.id), request, dependents), policy=spec.policy)


def nearest_dependents(dependents: Mapping[str, tuple[str, ...]], name: str, among: Container[str]) -> set[str]:
    """Those of `among` that depend on `name` with none of them in between; what is further away is waited for through them."""
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


def original_id(reversing_id: str) -> str:
    return reversing_id.removeprefix(_PREFIX)


def _named(name: str) -> str:
    return f"{_PREFIX}{name}"
