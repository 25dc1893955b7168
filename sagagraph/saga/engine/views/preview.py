"""Preview of a cancel: what it would undo, cost and leave. It reads the journal and the actions, and changes nothing."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from sagagraph.errors import UnknownActionError
from sagagraph.saga.core.dependencies import is_closed, undo_order
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.engine.actions import Find, UndoCost
from sagagraph.saga.engine.reversal import plan_reversal
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import resolve


@dataclass(frozen=True, slots=True)
class UndoneOperation:
    """An operation that would be undone. `certain` is False if it is in doubt: it will be sealed, and undone if it had landed."""

    id: str
    action: str
    certain: bool
    fee: float
    currency: str | None


@dataclass(frozen=True, slots=True)
class CancelPreview:
    """Preview of a cancel. `undo` is in the order of execution; `fees` is the sum of the certain fees, in `currency`."""

    saga_id: str
    possible: bool
    undo: tuple[UndoneOperation, ...]
    fees: float
    currency: str | None
    residue: tuple[str, ...]


async def preview_cancel(saga: Saga, find: Find) -> CancelPreview:
    live = [saga.operations[name] for name in undo_order(saga) if _is_open(saga.operations[name])]
    reversing = saga.pivot_has_landed
    lasting = plan_reversal(saga, find).lasting if reversing else _without_compensation(live)
    residue = [f"{name}: cannot be undone" for name in lasting]
    undone: list[UndoneOperation] = []
    for operation in live:
        if operation.id in lasting:
            continue
        cost = await _cost(saga, operation, find)
        certain = operation.status is OperationStatus.SUCCEEDED
        undone.append(UndoneOperation(operation.id, operation.spec.action, certain, cost.amount, cost.currency))
        if cost.residue:
            residue.append(f"{operation.id}: {cost.residue}")
    possible = saga.stage not in (Stage.REJECTED, Stage.INFEASIBLE) and not (reversing and saga.pivot in lasting)
    fees = sum(each.fee for each in undone if each.certain)
    currency = next((each.currency for each in undone if each.currency), None)
    return CancelPreview(saga.id, possible, tuple(undone), fees, currency, tuple(residue))


def _is_open(operation: Operation) -> bool:
    return operation.has_effect and not is_closed(operation)


def _without_compensation(live: list[Operation]) -> tuple[str, ...]:
    return tuple(each.id for each in live if each.succeeded and each.spec.kind is not ActionKind.COMPENSATABLE)


async def _cost(saga: Saga, operation: Operation, find: Find) -> UndoCost:
    try:
        action = find(operation.spec.action, operation.spec.action_version)
    except UnknownActionError as exc:
        return UndoCost(residue=str(exc))
    if action.undo_cost is None or not operation.succeeded:
        return UndoCost()
    request = action.request_from_json(resolve(operation.spec.inputs, saga.outputs))
    cost = action.undo_cost(request, action.result_from_json(operation.output))
    known: UndoCost = await cost if inspect.isawaitable(cost) else cost
    return known
