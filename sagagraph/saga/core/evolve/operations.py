"""Operations: how a journalled fact changes one of them. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from sagagraph.saga.core import events as e
from sagagraph.saga.core.doubt.settling import UNKNOWN_SENDER, is_settled_by
from sagagraph.saga.core.state import Operation, Undo, UndoCall
from sagagraph.saga.core.status import OperationStatus
from sagagraph.workflow.values import Json

# -- forward ---------------------------------------------------------------------------------------------------------


def attempt_started(operation: Operation, event: e.AttemptStarted, at: float) -> Operation:
    first = operation.attempts == 0 or event.generation != operation.generation
    return replace(
        operation,
        status=OperationStatus.STARTED,
        generation=event.generation,
        attempts=event.attempt,
        total_attempts=operation.total_attempts + 1,
        lost=0 if is_settled_by(operation, e.ProbeAnswer.ABSENT) else operation.lost,
        in_flight=True,
        claiming=event.claim,
        claims=operation.claims + event.claim,
        first_call_at=at if first else operation.first_call_at,
        begun_at=operation.begun_at or at,
        deadline=max(event.deadline, 0.0 if first else operation.deadline),
        probe=None,
        unknown_probes=0,
    )


def operation_doubted(operation: Operation, event: e.OperationDoubted, at: float) -> Operation:
    """Count a call that may have been made as one that was lost, though not against the policy."""
    if operation.status is OperationStatus.SUCCEEDED:
        undo = _undo_of(operation)
        counted = undo.attempts + 1
        first_call_at = undo.first_call_at or event.since
        doubted = replace(undo, attempts=counted, allowed_from=counted, lost=undo.lost + 1, first_call_at=first_call_at)
        in_doubt = replace(_undoing(operation, doubted), in_flight=False, doubted=False, unknown_probes=0)
        return replace(in_doubt, senders=_joined(operation, UNKNOWN_SENDER))
    total = operation.total_attempts + 1
    return replace(
        _in_doubt(operation),
        doubted=False,
        attempts=operation.attempts + 1,
        total_attempts=total,
        allowed_from=total,
        senders=_joined(operation, UNKNOWN_SENDER),
        first_call_at=operation.first_call_at if operation.attempts else event.since,
        begun_at=operation.begun_at or at,
        deadline=max(event.deadline, operation.deadline),
        given_up=operation.given_up or event.given_up,
        removed=operation.removed or event.removed,
    )


def operation_succeeded(operation: Operation, event: e.OperationSucceeded, at: float) -> Operation:
    return replace(
        operation,
        status=OperationStatus.SUCCEEDED,
        in_flight=False,
        claiming=False,
        output=event.output,
        verdicts=event.verdicts,
        via=event.via,
        fault=None,
        hold="",
        ended_at=at,
    )


def operation_rejected(operation: Operation, event: e.OperationRejected, at: float) -> Operation:
    landed = e.OperationSucceeded(event.operation, event.output, event.via, event.verdicts)
    return replace(operation_succeeded(operation, landed, at), rejected=True, removed=True, fault=event.fault)


def attempt_refused(operation: Operation, event: e.AttemptRefused, _at: float) -> Operation:
    return replace(
        operation,
        status=OperationStatus.PLANNED,
        generation=operation.generation + 1,
        attempts=0,
        lost=0,
        senders=(),
        deadline=0.0,
        in_flight=False,
        claiming=False,
        fault=event.fault,
        not_before=event.retry_at,
    )


def operation_failed(operation: Operation, event: e.OperationFailed, at: float) -> Operation:
    return replace(
        operation,
        status=OperationStatus.FAILED,
        in_flight=False,
        claiming=False,
        fault=event.fault,
        via=event.via,
        hold="",
        ended_at=at,
    )


def attempt_lost(operation: Operation, event: e.AttemptLost, at: float) -> Operation:
    return replace(_left(_in_doubt(operation), event.sender, at), fault=event.fault, not_before=event.retry_at)


def calls_ended(operation: Operation, event: e.CallsEnded, at: float) -> Operation:
    senders = tuple(each for each in operation.senders if each not in event.senders)
    return replace(operation, senders=senders, quiet_since=at)


def _left(operation: Operation, sender: str, at: float) -> Operation:
    """Return an operation whose call has ended without an answer, or goes on at `sender` without anybody waiting for it."""
    if operation.spec.guarantees.settles_s is None:
        return operation
    return replace(operation, senders=_joined(operation, sender)) if sender else replace(operation, quiet_since=at)


def _joined(operation: Operation, sender: str) -> tuple[str, ...]:
    if operation.spec.guarantees.settles_s is None or sender in operation.senders:
        return operation.senders
    return (*operation.senders, sender)


def operation_probed(operation: Operation, event: e.OperationProbed, _at: float) -> Operation:
    unknown = operation.unknown_probes + (event.answer is e.ProbeAnswer.UNKNOWN)
    return replace(operation, probe=event.answer, probed_at=event.asked_at, unknown_probes=unknown, not_before=event.retry_at)


def operation_given_up(operation: Operation, event: e.OperationGivenUp, _at: float) -> Operation:
    if event.fault:
        operation = replace(operation, fault=event.fault)
    return replace(operation, status=OperationStatus.IN_DOUBT, in_flight=False, claiming=False, given_up=True, not_before=0.0)


def operation_held(operation: Operation, event: e.OperationHeld, _at: float) -> Operation:
    return replace(
        operation,
        status=OperationStatus.HELD,
        in_flight=False,
        claiming=False,
        hold=event.reason,
        lost=operation.lost + (operation.status in _SETTLED),
    )


_SETTLED = frozenset({OperationStatus.SUCCEEDED, OperationStatus.FAILED, OperationStatus.VOIDED})
"""Held nevertheless, because a probe contradicted them: they are in doubt again."""


def operation_skipped(operation: Operation, event: e.OperationSkipped, at: float) -> Operation:
    return replace(operation, status=OperationStatus.SKIPPED, hold=event.reason, ended_at=at)


def _in_doubt(operation: Operation) -> Operation:
    return replace(
        operation,
        status=OperationStatus.IN_DOUBT,
        lost=operation.lost + 1,
        in_flight=False,
        claiming=False,
        probe=None,
        unknown_probes=0,
    )


# -- back ------------------------------------------------------------------------------------------------------------


def void_started(operation: Operation, event: e.VoidStarted, at: float) -> Operation:
    undo = operation.undo or Undo(UndoCall.VOID, first_call_at=at)
    return _undoing(operation, replace(undo, attempts=event.attempt))


def compensation_started(operation: Operation, event: e.CompensationStarted, at: float) -> Operation:
    undo = _undo_of(operation)
    if undo.call is not UndoCall.COMPENSATION:
        undo = Undo(UndoCall.COMPENSATION)
    lost = 0 if is_settled_by(operation, e.ProbeAnswer.LANDED) else undo.lost
    first_call_at = undo.first_call_at or at
    begun = replace(undo, generation=event.generation, attempts=event.attempt, lost=lost, first_call_at=first_call_at)
    return _undoing(operation, begun)


def _undoing(operation: Operation, undo: Undo) -> Operation:
    return replace(operation, status=OperationStatus.COMPENSATING, in_flight=True, undo=undo, probe=None)


def compensation_refused(operation: Operation, event: e.CompensationRefused, _at: float) -> Operation:
    undo = _undo_of(operation)
    return replace(operation, in_flight=False, fault=event.fault, not_before=event.retry_at, undo=_next_generation(undo))


def _next_generation(undo: Undo) -> Undo:
    return replace(undo, generation=undo.generation + 1, lost=0, first_call_at=0.0)


def compensation_lost(operation: Operation, event: e.CompensationLost, at: float) -> Operation:
    undo = _undo_of(operation)
    return replace(
        _left(operation, event.sender, at),
        in_flight=False,
        fault=event.fault,
        not_before=event.retry_at,
        probe=None,
        undo=replace(undo, lost=undo.lost + 1),
    )


def operation_voided(operation: Operation, event: e.OperationVoided, at: float) -> Operation:
    return undone(operation, OperationStatus.VOIDED, event.output, event.via, at)


def operation_compensated(operation: Operation, event: e.OperationCompensated, at: float) -> Operation:
    return undone(operation, OperationStatus.COMPENSATED, event.output, event.via, at)


def undone(operation: Operation, status: OperationStatus, output: Json, via: e.Via, at: float) -> Operation:
    return replace(operation, status=status, in_flight=False, undo_output=output, via=via, hold="", ended_at=at)


def compensation_failed(operation: Operation, event: e.CompensationFailed, _at: float) -> Operation:
    undo = _undo_of(operation)
    if operation.status is OperationStatus.COMPENSATED:  # a probe contradicted its acknowledgement: it is in doubt again
        undo = replace(undo, lost=undo.lost + 1)
    return replace(
        operation,
        status=OperationStatus.COMPENSATION_FAILED,
        in_flight=False,
        fault=event.fault,
        hold=event.fault.message,
        undo=undo,
    )


def _undo_of(operation: Operation) -> Undo:
    return operation.undo or Undo(UndoCall.COMPENSATION)


# -- a new worker, a new plan, a person -----------------------------------------------------------------------------


def taken_over(operation: Operation, before: str) -> Operation:
    """Return what a new worker may assume: calls under way are in doubt, and what waited for somebody may be looked at again.

    `before`: the worker whose calls those are; it may still be alive.
    """
    if operation.in_flight:
        operation = replace(operation, senders=_joined(operation, before))
    match operation.status:
        case OperationStatus.STARTED:
            return replace(_looked_at_again(_in_doubt(operation)), allowed_from=operation.total_attempts)
        case OperationStatus.IN_DOUBT | OperationStatus.HELD:
            return replace(_looked_at_again(operation), status=_reopened(operation), allowed_from=operation.total_attempts)
        case OperationStatus.COMPENSATING | OperationStatus.COMPENSATION_FAILED:
            undo = _undo_of(operation)
            lost = undo.lost + 1 if operation.in_flight else undo.lost
            return replace(
                _looked_at_again(operation),
                status=OperationStatus.COMPENSATING,
                in_flight=False,
                undo=replace(undo, lost=lost, allowed_from=undo.attempts),
            )
        case _:
            return operation


def restored(operation: Operation, at: float) -> Operation:
    """Return what may be assumed when a restored saga is taken at `at`: whatever comes next may have been done already."""
    if not operation.has_effect:
        return operation
    match operation.status:
        case OperationStatus.PLANNED | OperationStatus.SUCCEEDED:
            return replace(operation, doubted=True)
        case OperationStatus.IN_DOUBT | OperationStatus.HELD if operation.lost:
            latest = at + operation.spec.policy.timeout_s  # of a call that no journal shows
            senders = _joined(operation, UNKNOWN_SENDER)
            return replace(operation, lost=operation.lost + 1, deadline=max(operation.deadline, latest), senders=senders)
        case OperationStatus.IN_DOUBT | OperationStatus.HELD:
            return replace(operation, doubted=True)
        case OperationStatus.COMPENSATING | OperationStatus.COMPENSATION_FAILED:
            undo = _undo_of(operation)
            return replace(operation, undo=replace(undo, lost=undo.lost + 1), senders=_joined(operation, UNKNOWN_SENDER))
        case _:
            return operation


def reconsidered(operation: Operation) -> Operation:
    """Look once more at what was held: going back allows what going forward did not (a void, a claim)."""
    if operation.status is not OperationStatus.HELD:
        return operation
    return replace(_looked_at_again(operation), status=_reopened(operation), allowed_from=operation.total_attempts)


def _reopened(operation: Operation) -> OperationStatus:
    """Reopen a hold: after a definite refusal it is tried again; otherwise it is still in doubt."""
    return OperationStatus.IN_DOUBT if operation.lost else OperationStatus.PLANNED


def _looked_at_again(operation: Operation) -> Operation:
    return replace(operation, probe=None, unknown_probes=0, claims=0, not_before=0.0, hold="")


def removed(operation: Operation) -> Operation:
    """Remove an operation: what a validator had rejected, or what had not begun, does not concern the new plan."""
    removed = replace(reconsidered(operation), removed=True, rejected=False)
    if removed.status is OperationStatus.PLANNED and not removed.doubted:
        return replace(removed, status=OperationStatus.SKIPPED, hold="a later plan does without it")
    return removed


def resolved(operation: Operation, event: e.OperationResolved, at: float) -> Operation:
    match event.resolution:
        case e.Resolution.COMPENSATED:
            return undone(operation, OperationStatus.COMPENSATED, event.output, e.Via.PERSON, at)
        case e.Resolution.LANDED:
            output = operation.output if event.output is None else event.output
            undo = operation.undo and replace(_next_generation(operation.undo), allowed_from=operation.undo.attempts)
            return replace(operation, status=OperationStatus.SUCCEEDED, output=output, via=e.Via.PERSON, hold="", undo=undo)
        case e.Resolution.FAILED:
            fault = operation.fault or e.Fault("failed", event.because or f"{event.by} says so")
            return replace(operation, status=OperationStatus.FAILED, fault=fault, via=e.Via.PERSON, hold="", ended_at=at)
        case e.Resolution.ABSENT:
            return replace(
                operation,
                status=OperationStatus.PLANNED,
                generation=operation.generation + 1,
                attempts=0,
                lost=0,
                senders=(),
                deadline=0.0,
                allowed_from=operation.total_attempts,
                given_up=False,
                doubted=False,
                hold="",
                not_before=0.0,
                undo=None,
            )
