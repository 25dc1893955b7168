"""`evolve(saga, entry)`: what a journalled fact changes. Pure, total over well-formed journals, and never asks why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from immutables import Map
from msgspec.structs import replace

from sagagraph.errors import JournalError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.evolve.amended import amendment_begun, amendment_ended, saga_amended
from sagagraph.saga.core.evolve.index import index_of, is_fatal, with_changed, with_planned
from sagagraph.saga.core.evolve.membership import planned_operation, with_operations, with_removed, with_replaced
from sagagraph.saga.core.evolve.operations import (
    attempt_lost,
    attempt_refused,
    attempt_started,
    compensation_failed,
    compensation_lost,
    compensation_refused,
    compensation_started,
    operation_compensated,
    operation_failed,
    operation_given_up,
    operation_held,
    operation_probed,
    operation_rejected,
    operation_skipped,
    operation_succeeded,
    operation_voided,
    reconsidered,
    resolved,
    taken_over,
    undone,
    void_started,
)
from sagagraph.saga.core.state import AcceptedPlan, Operation, PlanState, Saga, Stage
from sagagraph.saga.core.status import OperationStatus


def fold(saga_id: str, entries: Iterable[e.Entry]) -> Saga:
    """The state after `entries`. Raises `JournalError` for a journal with a gap, or without its beginning."""
    saga: Saga | None = None
    for entry in entries:
        saga = begin(saga_id, entry) if saga is None else _changed(saga, entry)[0]
    if saga is None:
        raise JournalError(f"saga {saga_id!r}: its journal is empty", saga_id=saga_id)
    return replace(saga, index=index_of(saga))


def begin(saga_id: str, entry: e.Entry) -> Saga:
    event = entry.event
    if entry.version != 1 or not isinstance(event, e.SagaBegun):
        raise JournalError(f"saga {saga_id!r}: its journal does not begin with SagaBegun", saga_id=saga_id)
    stage = Stage.RUNNING if event.driver is e.Driver.BODY else Stage.PLANNING
    return Saga(
        id=saga_id,
        driver=event.driver,
        domain=event.domain,
        request=event.request,
        stage=stage,
        version=1,
        epoch=entry.epoch,
        begun_at=entry.at,
        last_at=entry.at,
        plan=PlanState(approved_in_advance_by=event.approved_by),
    )


def evolve(saga: Saga, entry: e.Entry) -> Saga:
    """Raises `JournalError` for an entry that can not come next."""
    changed, before = _changed(saga, entry)
    if before is not None:
        return replace(changed, index=with_changed(changed, before))
    if changed.operations is saga.operations and changed.stage is saga.stage:
        return changed
    if isinstance(entry.event, e.OperationPlanned) and changed.pivot == saga.pivot:
        return replace(changed, index=with_planned(changed, changed.operations[entry.event.operation.id]))
    return replace(changed, index=index_of(changed))


def _changed(saga: Saga, entry: e.Entry) -> tuple[Saga, Operation | None]:
    """The saga after `entry`, with its index as it was; and, where just one operation has changed, what that was before."""
    if entry.version != saga.version + 1 or entry.epoch < saga.epoch:
        raise JournalError(
            f"saga {saga.id!r}: after version {saga.version} of epoch {saga.epoch} its journal goes on with "
            f"version {entry.version} of epoch {entry.epoch}",
            saga_id=saga.id,
        )
    event = entry.event
    change = _OF_ONE_OPERATION.get(type(event))
    if change is None:
        changed = _OF_THE_SAGA[type(event)](saga, event, entry.at)
        return replace(changed, version=entry.version, epoch=entry.epoch, last_at=entry.at), None
    before = _affected(saga, event)
    operations = saga.operations.set(before.id, change(before, event, entry.at))
    return replace(saga, operations=operations, version=entry.version, epoch=entry.epoch, last_at=entry.at), before


def _affected(saga: Saga, event: Any) -> Operation:
    """The operation of the event, which must be one to which it can have happened."""
    operation, kind = planned_operation(saga, event.operation), type(event)
    if kind in _END_A_CALL and not operation.total_attempts:
        what = "a call"
    elif kind in _END_AN_UNDO and operation.undo is None:
        what = "an undo"
    else:
        return operation
    raise JournalError(
        f"saga {saga.id!r}: version {saga.version + 1} of its journal is {kind.__name__}: "
        f"{what} of operation {operation.id!r} ends that never started",
        saga_id=saga.id,
        operation_id=operation.id,
    )


_END_A_CALL = frozenset(
    {e.OperationSucceeded, e.OperationRejected, e.AttemptRefused, e.OperationFailed, e.AttemptLost, e.OperationGivenUp}
)
_END_AN_UNDO = frozenset({e.CompensationRefused, e.CompensationLost, e.OperationCompensated})


# -- the saga and its plan -------------------------------------------------------------------------------------------


def _begun_again(saga: Saga, _event: e.SagaBegun, _at: float) -> Saga:
    raise JournalError(f"saga {saga.id!r}: its journal begins twice", saga_id=saga.id)


def _lease_taken(saga: Saga, event: e.LeaseTaken, _at: float) -> Saga:
    operations = saga.operations
    for name, operation in operations.items():
        if operation.waits_for_person and not event.looks_again:
            continue
        changed = taken_over(operation)
        if changed is not operation:
            operations = operations.set(name, changed)
    return replace(saga, operations=operations, body_fault=None, reversal_hold="")


def _plan_proposed(saga: Saga, event: e.PlanProposed, _at: float) -> Saga:
    plan = replace(
        saga.plan,
        hash=event.plan_hash,
        content=event.plan,
        cost=event.cost,
        verdict=None,
        proposals=saga.plan.proposals + 1,
        alternatives=event.alternatives,
        reasons=event.reasons,
        approved_by=None,
    )
    return replace(saga, stage=Stage.PLANNING, plan=plan)


def _plan_judged(saga: Saga, event: e.PlanJudged, _at: float) -> Saga:
    return replace(saga, plan=replace(saga.plan, verdict=event.verdict))


def _plan_found_infeasible(saga: Saga, event: e.PlanFoundInfeasible, _at: float) -> Saga:
    return replace(saga, stage=Stage.INFEASIBLE, plan=replace(saga.plan, infeasible=event.reasons))


def _request_changed(saga: Saga, event: e.RequestChanged, _at: float) -> Saga:
    """Without operations, planning begins anew; otherwise what stands is fitted to the new wishes."""
    plan = replace(saga.plan, approved_in_advance_by=event.approved_by)
    if not plan.version:
        fresh = PlanState(approved_in_advance_by=event.approved_by)
        return replace(saga, stage=Stage.PLANNING, request=event.request, plan=fresh)
    plan = replace(plan, revisable=True, disruption=f"{event.by} wishes for something else")
    return replace(saga, stage=Stage.RUNNING, request=event.request, plan=plan)


def _plan_disrupted(saga: Saga, event: e.PlanDisrupted, _at: float) -> Saga:
    if event.operation is not None:
        planned_operation(saga, event.operation)
    return replace(saga, plan=replace(saga.plan, disruption=event.cause))


def _repair_given_up(saga: Saga, event: e.RepairGivenUp, _at: float) -> Saga:
    """Wishes that could not be met are forgotten, with the leave that was given for them; what had failed is looked at again."""
    is_beyond_repair = any(map(is_fatal, saga.operations.values()))
    plan = replace(saga.plan, revisable=not is_beyond_repair, disruption="", infeasible=event.reasons)
    if accepted := plan.accepted:
        plan = replace(plan, hash=accepted.hash, content=accepted.content, cost=accepted.cost)
        if accepted.request != saga.request:
            plan = replace(plan, revisable=True, approved_in_advance_by="")
        saga = replace(saga, request=accepted.request)
    return replace(saga, stage=Stage.RUNNING, plan=plan)


def _approval_asked(saga: Saga, _event: e.ApprovalAsked, _at: float) -> Saga:
    return replace(saga, stage=Stage.AWAITING_APPROVAL)


def _plan_approved(saga: Saga, event: e.PlanApproved, _at: float) -> Saga:
    return replace(saga, stage=Stage.PLANNING, plan=replace(saga.plan, approved_by=event.by))


def _plan_rejected(saga: Saga, event: e.PlanRejected, _at: float) -> Saga:
    return replace(saga, stage=Stage.REJECTED, turned_back_by=event.reason or f"rejected by {event.by}")


def _plan_accepted(saga: Saga, event: e.PlanAccepted, _at: float) -> Saga:
    plan = replace(
        saga.plan,
        version=event.plan_version,
        accepted=AcceptedPlan(saga.request, saga.plan.hash, saga.plan.content, saga.plan.cost),
        revisable=event.revisable,
        disruption="",
        infeasible=(),
    )
    saga = with_removed(replace(saga, stage=Stage.RUNNING, plan=plan), event.removed)
    return with_replaced(with_operations(saga, event.operations), event.replaced)


def _operation_planned(saga: Saga, event: e.OperationPlanned, _at: float) -> Saga:
    return with_operations(saga, (event.operation,))


# -- people and the end ----------------------------------------------------------------------------------------------


def _cancel_requested(saga: Saga, event: e.CancelRequested, _at: float) -> Saga:
    saga = replace(_consumed(saga, event.request), cancel_by=event.by)
    pivot = saga.pivot_operation
    return saga if pivot is None else _put(saga, reconsidered(pivot))


def _operation_resolved(saga: Saga, event: e.OperationResolved, at: float) -> Saga:
    return _consumed(_put(saga, resolved(planned_operation(saga, event.operation), event, at)), event.request)


def _request_refused(saga: Saga, event: e.RequestRefused, _at: float) -> Saga:
    return _consumed(saga, event.request)


def _consumed(saga: Saga, request: int | None) -> Saga:
    return saga if request is None else replace(saga, last_request=max(request, saga.last_request))


def _saga_turned_back(saga: Saga, event: e.SagaTurnedBack, _at: float) -> Saga:
    operations = saga.operations
    for name, operation in operations.items():
        changed = reconsidered(operation)
        if changed is not operation:
            operations = operations.set(name, changed)
    return replace(saga, stage=Stage.COMPENSATING, turned_back_by=event.cause, operations=operations)


def _body_completed(saga: Saga, event: e.BodyCompleted, _at: float) -> Saga:
    return replace(with_removed(saga, event.removed), body_completed=True, body_fault=None)


def _body_failed(saga: Saga, event: e.BodyFailed, _at: float) -> Saga:
    return replace(saga, body_fault=event.fault)


def _saga_committed(saga: Saga, event: e.SagaCommitted, _at: float) -> Saga:
    return replace(saga, stage=Stage.COMMITTED, unverified=event.unverified)


def _saga_compensated(saga: Saga, event: e.SagaCompensated, at: float) -> Saga:
    operations = saga.operations
    for name, operation in operations.items():
        if operation.status is OperationStatus.PLANNED:
            never = replace(operation, status=OperationStatus.SKIPPED, hold="the saga ended before it", ended_at=at)
            operations = operations.set(name, never)
    return replace(saga, stage=Stage.COMPENSATED, unverified=event.unverified, operations=operations)


def _reversal_begun(saga: Saga, event: e.ReversalBegun, _at: float) -> Saga:
    return replace(saga, stage=Stage.REVERSING, reversal=event.saga)


def _reversal_held(saga: Saga, event: e.ReversalHeld, _at: float) -> Saga:
    return replace(saga, reversal_hold=event.reason)


def _cancel_refused(saga: Saga, _event: e.CancelRefused, _at: float) -> Saga:
    return replace(saga, cancel_by=None)


def _saga_reversed(saga: Saga, event: e.SagaReversed, at: float) -> Saga:
    operations: Map[str, Operation] = saga.operations
    for name, output in event.outputs.items():
        operation = undone(planned_operation(saga, name), OperationStatus.COMPENSATED, output, e.Via.REPLY, at)
        operations = operations.set(name, operation)
    return replace(saga, stage=Stage.COMPENSATED, residue=event.residue, operations=operations)


def _fields_redacted(saga: Saga, event: e.FieldsRedacted, _at: float) -> Saga:
    return replace(saga, redacted=tuple(dict.fromkeys((*saga.redacted, *event.fields))))


def _put(saga: Saga, operation: Operation) -> Saga:
    return replace(saga, operations=saga.operations.set(operation.id, operation))


_OF_THE_SAGA: dict[type, Callable[[Saga, Any, float], Saga]] = {
    e.SagaBegun: _begun_again,
    e.LeaseTaken: _lease_taken,
    e.PlanProposed: _plan_proposed,
    e.PlanJudged: _plan_judged,
    e.PlanFoundInfeasible: _plan_found_infeasible,
    e.ApprovalAsked: _approval_asked,
    e.PlanApproved: _plan_approved,
    e.PlanRejected: _plan_rejected,
    e.PlanAccepted: _plan_accepted,
    e.RequestChanged: _request_changed,
    e.PlanDisrupted: _plan_disrupted,
    e.RepairGivenUp: _repair_given_up,
    e.OperationPlanned: _operation_planned,
    e.CancelRequested: _cancel_requested,
    e.OperationResolved: _operation_resolved,
    e.RequestRefused: _request_refused,
    e.SagaTurnedBack: _saga_turned_back,
    e.BodyCompleted: _body_completed,
    e.BodyFailed: _body_failed,
    e.SagaCommitted: _saga_committed,
    e.SagaCompensated: _saga_compensated,
    e.ReversalBegun: _reversal_begun,
    e.ReversalHeld: _reversal_held,
    e.CancelRefused: _cancel_refused,
    e.SagaReversed: _saga_reversed,
    e.AmendmentBegun: amendment_begun,
    e.AmendmentEnded: amendment_ended,
    e.SagaAmended: saga_amended,
    e.FieldsRedacted: _fields_redacted,
}
_OF_ONE_OPERATION: dict[type, Callable[[Operation, Any, float], Operation]] = {
    e.AttemptStarted: attempt_started,
    e.OperationSucceeded: operation_succeeded,
    e.OperationRejected: operation_rejected,
    e.AttemptRefused: attempt_refused,
    e.OperationFailed: operation_failed,
    e.AttemptLost: attempt_lost,
    e.OperationProbed: operation_probed,
    e.OperationGivenUp: operation_given_up,
    e.OperationHeld: operation_held,
    e.OperationSkipped: operation_skipped,
    e.VoidStarted: void_started,
    e.OperationVoided: operation_voided,
    e.CompensationStarted: compensation_started,
    e.CompensationRefused: compensation_refused,
    e.CompensationLost: compensation_lost,
    e.OperationCompensated: operation_compensated,
    e.CompensationFailed: compensation_failed,
}
