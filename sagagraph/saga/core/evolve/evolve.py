"""Evolve: `evolve(saga, entry)` applies a journalled fact. Pure, and total over well-formed journals; it never asks why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from sagagraph.errors import JournalError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.evolve import operations, sagas
from sagagraph.saga.core.evolve.index import index_of, with_changed, with_planned
from sagagraph.saga.core.evolve.membership import planned_operation
from sagagraph.saga.core.state import Operation, PlanState, Saga, Stage


def fold(saga_id: str, entries: Iterable[e.Entry]) -> Saga:
    """Return the state after `entries`. Raises `JournalError` for a journal with a gap, or without its beginning."""
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
        begun_in=event.store_epoch or 1,
        store_epoch=event.store_epoch or 1,
        plan=PlanState(approved_in_advance_by=event.approved_by),
        provider=event.provider_id,
        provider_url=event.provider_url,
        holder=event.owner,
    )


def evolve(saga: Saga, entry: e.Entry) -> Saga:
    """Return the saga after `entry`. Raises `JournalError` for an entry that cannot come next."""
    changed, before = _changed(saga, entry)
    if before is not None:
        return replace(changed, index=with_changed(changed, before))
    if changed.operations is saga.operations and changed.stage is saga.stage:
        return changed
    if isinstance(entry.event, e.OperationPlanned) and changed.pivot == saga.pivot:
        return replace(changed, index=with_planned(changed, changed.operations[entry.event.operation.id]))
    return replace(changed, index=index_of(changed))


def _changed(saga: Saga, entry: e.Entry) -> tuple[Saga, Operation | None]:
    """Return the saga after `entry`, with its old index, and the earlier form of the operation if just one has changed."""
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
    changed_operations = saga.operations.set(before.id, change(before, event, entry.at))
    return replace(saga, operations=changed_operations, version=entry.version, epoch=entry.epoch, last_at=entry.at), before


def _affected(saga: Saga, event: Any) -> Operation:
    """Return the operation of the event, which must be one to which the event can have happened."""
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


_OF_THE_SAGA: dict[type, Callable[[Saga, Any, float], Saga]] = {
    e.SagaBegun: sagas.begun_again,
    e.ProviderNamed: sagas.provider_named,
    e.SameProviderStated: sagas.same_provider_stated,
    e.LeaseTaken: sagas.lease_taken,
    e.ExceptionsTrusted: sagas.exceptions_trusted,
    e.PlanProposed: sagas.plan_proposed,
    e.ModelAsked: sagas.model_asked,
    e.PlanJudged: sagas.plan_judged,
    e.PlanFoundInfeasible: sagas.plan_found_infeasible,
    e.ApprovalAsked: sagas.approval_asked,
    e.PlanApproved: sagas.plan_approved,
    e.PlanRejected: sagas.plan_rejected,
    e.PlanAccepted: sagas.plan_accepted,
    e.RequestChanged: sagas.request_changed,
    e.PlanDisrupted: sagas.plan_disrupted,
    e.RepairGivenUp: sagas.repair_given_up,
    e.OperationPlanned: sagas.operation_planned,
    e.PrerequisitesAdded: sagas.prerequisites_added,
    e.ReadingsConfirmed: sagas.readings_confirmed,
    e.LocksAwaited: sagas.locks_awaited,
    e.LocksYielded: sagas.locks_yielded,
    e.LocksRetaken: sagas.locks_retaken,
    e.CancelRequested: sagas.cancel_requested,
    e.OperationResolved: sagas.operation_resolved,
    e.RequestRefused: sagas.request_refused,
    e.SagaTurnedBack: sagas.saga_turned_back,
    e.BodyCompleted: sagas.body_completed,
    e.BodyFailed: sagas.body_failed,
    e.SagaCommitted: sagas.saga_committed,
    e.SagaCompensated: sagas.saga_compensated,
    e.ReversalBegun: sagas.reversal_begun,
    e.ReversalHeld: sagas.reversal_held,
    e.CancelRefused: sagas.cancel_refused,
    e.SagaReversed: sagas.saga_reversed,
    e.AmendmentBegun: sagas.amendment_begun,
    e.AmendmentEnded: sagas.amendment_ended,
    e.SagaAmended: sagas.saga_amended,
    e.FieldsRedacted: sagas.fields_redacted,
}
_OF_ONE_OPERATION: dict[type, Callable[[Operation, Any, float], Operation]] = {
    e.AttemptStarted: operations.attempt_started,
    e.OperationDoubted: operations.operation_doubted,
    e.OperationSucceeded: operations.operation_succeeded,
    e.OperationRejected: operations.operation_rejected,
    e.AttemptRefused: operations.attempt_refused,
    e.OperationFailed: operations.operation_failed,
    e.AttemptLost: operations.attempt_lost,
    e.CallsEnded: operations.calls_ended,
    e.OperationProbed: operations.operation_probed,
    e.OperationGivenUp: operations.operation_given_up,
    e.OperationHeld: operations.operation_held,
    e.OperationSkipped: operations.operation_skipped,
    e.VoidStarted: operations.void_started,
    e.OperationVoided: operations.operation_voided,
    e.CompensationStarted: operations.compensation_started,
    e.CompensationRefused: operations.compensation_refused,
    e.CompensationLost: operations.compensation_lost,
    e.OperationCompensated: operations.operation_compensated,
    e.CompensationFailed: operations.compensation_failed,
}
