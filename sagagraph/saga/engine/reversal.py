"""Reversal: the operations that undo those of another saga, from the actions' `reverse` and `compensate`
(docs/protocol.md rule 5)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from sagagraph.saga.core.amendments import Amendment
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.dependencies import undo_order
from sagagraph.saga.core.events import ProbeAnswer
from sagagraph.saga.core.reversals import REVERSING, Undone, is_live, nearest_dependents, reversing_id
from sagagraph.saga.core.state import Operation, Saga, operation_key
from sagagraph.saga.engine.actions import Action, Find
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.engine.calling.threads import in_thread
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec, resolve


@dataclass(frozen=True, slots=True)
class ReversalPlan:
    """A plan of undoing: `operations` undo dependents first; `lasting` ones cannot be undone."""

    operations: tuple[OperationSpec, ...]
    lasting: tuple[str, ...]


def plan_reversal(saga: Saga, find: Find) -> ReversalPlan:
    live = [saga.operations[name] for name in undo_order(saga) if is_live(saga.operations[name])]
    undoable = {
        each.id: action for each in live if (action := find(each.spec.action, each.spec.action_version)) and _undo(action)
    }
    specs = tuple(_reversing(saga, each, undoable) for each in live if each.id in undoable)
    lasting = tuple(each.id for each in live if each.id not in undoable)
    return ReversalPlan(specs, lasting)


def undoing_specs(
    amendment: Amendment, dropped: Collection[str], prefix: str, after: str, actions: Mapping[str, Action]
) -> Iterator[OperationSpec]:
    """Return what undoes `dropped` operations of the parent, dependents first, once `after` has committed; ids begin with
    `prefix`.
    """
    stands = amendment.by_id
    dependents = {each.id: each.below for each in amendment.stands}
    for name in dropped:
        each = stands[name]
        request = Undone(request=each.request, result=each.result, key=each.key)
        below = sorted(nearest_dependents(dependents, name, dropped))
        needs = (after, *(f"{prefix} {dependent}" for dependent in below))
        yield reversing_action(actions[each.action]).spec(f"{prefix} {name}", request, needs)


def _reversing(saga: Saga, operation: Operation, undoable: dict[str, Action]) -> OperationSpec:
    action = reversing_action(undoable[operation.id])
    spec = operation.spec
    request = Undone(request=resolve(spec.inputs, saga.outputs), result=operation.output, key=operation_key(saga.id, operation))
    dependents = tuple(reversing_id(name) for name in sorted(nearest_dependents(saga.dependents, operation.id, undoable)))
    policy = structs.replace(spec.policy, catch=())  # whoever handles its failure has no part in undoing it
    return structs.replace(action.spec(reversing_id(operation.id), request, dependents), policy=policy)


def reversing_action(action: Action) -> Action:
    """Make the undoing of `action` an action itself; its probe is the original's with the answers exchanged."""

    async def execute(undone: Undone, call: Call) -> Any:
        undo = _undo(action)
        if undo is None:
            raise TypeError(f"action {action.name!r} cannot be undone")
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
            case ProbeAnswer.ABSENT if action.guarantees.settles is not None:  # it did land, so it is undone
                return Probe.landed(said.result)
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
        guarantees=replace(action.guarantees, void=None, deadline=False, refusals_final=False),
        fails_on=(),
        request_type=Undone,
        result_type=Any,
        home=action.home + REVERSING,
        needs_body=False,
        locks=None,
        read_again=False,
        _adapters={},
    )


def _undo(action: Action) -> Callable[..., Any] | None:
    return action.reverse or action.compensate


async def _called(function: Callable[..., Any], *arguments: object) -> Any:
    """Call a function; one that is not a coroutine runs in a thread, as it would have in its own saga."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    answer = await in_thread(function, *arguments)
    return await answer if inspect.isawaitable(answer) else answer
