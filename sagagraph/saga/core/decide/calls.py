"""Calls: what follows from a reply, a refusal, no answer, a probe's answer, or evidence from a superseded worker. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.dependencies import comes_after_pivot
from sagagraph.saga.core.doubt.in_doubt import PAUSED, attempts_left, is_alone, remembers_key
from sagagraph.saga.core.doubt.settling import is_final
from sagagraph.saga.core.events import Events
from sagagraph.saga.core.next_steps import next_steps
from sagagraph.saga.core.state import Operation, Saga, Stage, UndoCall, operation_key, undo_key, void_key
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.core.steps import Verify
from sagagraph.validators.verdict import Verdict, VerdictStatus
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.values import Json

LONGEST_WAIT_S = 3600.0
"""However long a provider asks to be left alone, it is asked again after an hour."""


def action_replied(saga: Saga, command: c.ActionReplied, now: float) -> Events:
    operation = saga.operations[command.operation]
    if not operation.in_flight:
        return ()
    return _judged(saga, operation, command.output, command.verdicts, e.Via.REPLY, now)


def _judged(saga: Saga, operation: Operation, output: Json, verdicts: tuple[Verdict, ...], via: e.Via, now: float) -> Events:
    """Judge an operation that landed; the validators say whether its output counts (an outage of theirs is no violation)."""
    recorded = tuple(each.model_dump(mode="json", exclude_defaults=True) for each in verdicts)
    landed = e.OperationSucceeded(operation.id, output, via, recorded)
    if saga.stage is not Stage.RUNNING or operation.given_up or all(each.is_valid for each in verdicts):
        return (landed,)
    invalid = [each for each in verdicts if each.verdict is VerdictStatus.INVALID]
    if not invalid:
        fault = e.Fault("unjudged", "; ".join(each.reason for each in verdicts if not each.is_valid))
        retry_at = _retry_at(operation, now, operation.unknown_probes + 1)
        if operation.in_flight:
            return (e.AttemptLost(operation.id, fault, retry_at, recorded),)
        return (e.OperationProbed(operation.id, e.ProbeAnswer.UNKNOWN, fault.message, retry_at, now, recorded),)
    fault = e.Fault("rejected", "; ".join(v.message for each in invalid for v in each.violations))
    if operation.spec.kind is ActionKind.READ_ONLY:
        return (e.OperationFailed(operation.id, fault, via, recorded),)
    if operation.spec.kind is ActionKind.COMPENSATABLE:
        return (e.OperationRejected(operation.id, output, fault, via, recorded),)
    return (e.AttemptLost(operation.id, fault, now, recorded), e.OperationHeld(operation.id, f"its output was {fault.message}"))


def action_refused(saga: Saga, command: c.ActionRefused, now: float) -> Events:
    """Decide on a refusal, which is definite only if no earlier call of this generation can still land
    (docs/protocol.md rule 3a).

    A temporary refusal ("too many requests") is not recorded: it says nothing about an earlier call.
    """
    operation = saga.operations[command.operation]
    if not operation.in_flight:
        return ()
    is_final = operation.spec.guarantees.refusals_final and not command.transient
    sealed = operation.lost == 0 or is_final or not operation.has_effect
    if not sealed and command.transient:
        return action_lost(saga, c.ActionLost(operation.id, command.fault, command.draw, command.after_s), now)
    if not sealed and comes_after_pivot(saga, operation.id):  # nothing is given up there: it is probed, or held (rule 5)
        return action_lost(saga, c.ActionLost(operation.id, command.fault, command.draw), now)
    if not sealed:
        reason = f"refused ({command.fault.code}), but an earlier call of it may still land"
        return (e.OperationGivenUp(operation.id, reason, command.fault),)
    if saga.stage is not Stage.RUNNING or operation.removed:
        return (e.OperationFailed(operation.id, command.fault),)
    retry_at = _retry_at(operation, now, operation.total_attempts, command.draw, command.after_s)
    again = e.AttemptRefused(operation.id, command.fault, retry_at)
    may_retry = command.transient and attempts_left(replace(operation, fault=command.fault), now)
    if may_retry and not operation.given_up:
        return (again,)
    if comes_after_pivot(saga, operation.id):
        return (again, e.OperationHeld(operation.id, f"refused after the pivot: {command.fault.message}"))
    if command.transient and operation.spec.policy.retry.holds and not operation.given_up:
        return (again, e.OperationHeld(operation.id, f"refused again and again: {command.fault.message}"))
    return (e.OperationFailed(operation.id, command.fault),)


def _retry_at(operation: Operation, now: float, attempt: int, draw: float = 0.0, after_s: float = 0.0) -> float:
    """Return when it may be tried again: after the back-off, and not before the provider allows it, within reason."""
    return now + max(operation.spec.policy.backoff.delay_s(attempt, draw), min(after_s, LONGEST_WAIT_S))


def action_lost(saga: Saga, command: c.ActionLost, now: float) -> Events:
    operation = saga.operations[command.operation]
    if not operation.in_flight:
        return ()
    retry_at = _retry_at(operation, now, operation.attempts, command.draw, command.after_s)
    return (e.AttemptLost(operation.id, command.fault, retry_at, sender=command.sender),)


def calls_ended(saga: Saga, command: c.CallsEnded, _now: float) -> Events:
    operation = saga.operations.get(command.operation)
    senders = tuple(each for each in command.senders if operation is not None and each in operation.senders)
    return (e.CallsEnded(command.operation, senders),) if senders else ()


def action_paused(saga: Saga, command: c.ActionPaused, now: float) -> Events:
    """Decide on a pause: what the action did before may have landed; going forward it waits for whoever brings what it needs."""
    operation = saga.operations[command.operation]
    if not operation.in_flight:
        return ()
    lost = e.AttemptLost(operation.id, e.Fault(PAUSED, command.reason), now)
    going_on = saga.stage is Stage.RUNNING and not operation.given_up and not operation.removed
    return (lost, e.OperationHeld(operation.id, command.reason)) if going_on else (lost,)


def probe_answered(saga: Saga, command: c.ProbeAnswered, now: float) -> Events:
    operation = saga.operations[command.operation]
    again_at = _probe_again_at(operation, command, now)
    asked_at = now if command.asked_at is None else min(command.asked_at, now)
    recorded = e.OperationProbed(operation.id, command.answer, command.detail, again_at, asked_at)
    if operation.status is OperationStatus.COMPENSATING:
        if command.answer is e.ProbeAnswer.UNDONE:
            return (e.OperationCompensated(operation.id, command.output, e.Via.PROBE),)
        return (recorded,)
    if operation.status is not OperationStatus.IN_DOUBT:
        return ()
    going_on = saga.stage is Stage.RUNNING and not operation.given_up and not operation.removed
    final = is_alone(operation) or remembers_key(operation, now) or is_final(operation, asked_at)
    match command.answer:
        case e.ProbeAnswer.LANDED if going_on or final:
            return _judged(saga, operation, command.output, command.verdicts, e.Via.PROBE, now)
        case e.ProbeAnswer.UNDONE if final:
            return (e.OperationVoided(operation.id, command.output, e.Via.PROBE),)
        case _:
            return (recorded,)


def _probe_again_at(operation: Operation, command: c.ProbeAnswered, now: float) -> float:
    if command.answer is not e.ProbeAnswer.UNKNOWN:
        return operation.not_before
    return _retry_at(operation, now, operation.unknown_probes + 1, command.draw, command.after_s)


def action_missing(saga: Saga, command: c.ActionMissing, _now: float) -> Events:
    """Hold the operation, naming the missing action, until a process that has the action comes."""
    operation = saga.operations[command.operation]
    if operation.status in (OperationStatus.SUCCEEDED, OperationStatus.COMPENSATING):
        return (e.CompensationFailed(operation.id, e.Fault("unknown_action", command.reason)),)
    return (e.OperationHeld(operation.id, command.reason),)


def undo_replied(saga: Saga, command: c.UndoReplied, _now: float) -> Events:
    operation = saga.operations[command.operation]
    if operation.status is not OperationStatus.COMPENSATING or operation.undo is None:
        return ()
    if operation.undo.call is UndoCall.VOID:
        return (e.OperationVoided(operation.id, command.output),)
    return (e.OperationCompensated(operation.id, command.output),)


def undo_refused(saga: Saga, command: c.UndoRefused, now: float) -> Events:
    operation = saga.operations[command.operation]
    undo = operation.undo
    if not operation.in_flight or undo is None:
        return ()
    policy = operation.spec.policy
    retry_at = _retry_at(operation, now, undo.attempts, command.draw, command.after_s)
    if undo.lost:  # an earlier call may have landed: this refusal says nothing about it
        return (e.CompensationLost(operation.id, command.fault, retry_at),)
    if command.transient and undo.attempts - undo.allowed_from < policy.compensation.max_attempts:
        return (e.CompensationRefused(operation.id, command.fault, retry_at),)
    return (
        e.CompensationRefused(operation.id, command.fault, now),
        e.CompensationFailed(operation.id, command.fault),
    )


def undo_lost(saga: Saga, command: c.UndoLost, now: float) -> Events:
    operation = saga.operations[command.operation]
    if not operation.in_flight or operation.undo is None:
        return ()
    retry_at = _retry_at(operation, now, operation.undo.attempts, command.draw, command.after_s)
    return (e.CompensationLost(operation.id, command.fault, retry_at, command.sender),)


def evidence_found(saga: Saga, command: c.EvidenceFound, now: float) -> Events:
    """Take an acknowledgement for a reply, as long as it is about the call that is in doubt."""
    operation = saga.operations.get(command.operation)
    if operation is None or operation.in_flight:
        return ()
    undo = operation.undo
    if command.call is c.CallKind.ACTION:
        expected = operation.status is OperationStatus.IN_DOUBT and command.key == operation_key(saga.id, operation)
        if not expected:
            return ()
        answer = c.ProbeAnswered(operation.id, e.ProbeAnswer.LANDED, command.output)
        return tuple(
            replace(event, via=e.Via.EVIDENCE) if isinstance(event, e.OperationSucceeded) else event
            for event in probe_answered(saga, answer, now)
        )
    if operation.status is not OperationStatus.COMPENSATING or undo is None:
        return ()
    is_of_this_void = undo.call is UndoCall.VOID and command.key == void_key(saga.id, operation)
    if command.call is c.CallKind.VOID and is_of_this_void:
        return (e.OperationVoided(operation.id, command.output, e.Via.EVIDENCE),)
    if undo.call is UndoCall.COMPENSATION and command.key == undo_key(saga.id, operation, undo.generation):
        return (e.OperationCompensated(operation.id, command.output, e.Via.EVIDENCE),)
    return ()


def verified(saga: Saga, command: c.Verified, now: float) -> Events:
    """Apply rule 9: a probe that contradicts the journal keeps the saga open; a probe without an answer leaves it unverified."""
    expected = Stage.RUNNING if command.committing else Stage.COMPENSATING
    if saga.stage is not expected or (command.committing and saga.cancel_by):
        return ()
    if not any(isinstance(step, Verify) for step in next_steps(saga, now)):
        return ()  # something was planned or began while the probes were out
    faults = tuple(_contradictions(saga, command))
    if faults:
        return faults
    unknown = tuple(name for name, answer in command.answers.items() if answer is e.ProbeAnswer.UNKNOWN)
    unverified = (*command.unverified, *unknown)
    return (e.SagaCommitted(unverified) if command.committing else e.SagaCompensated(unverified),)


def read_again(saga: Saga, command: c.ReadAgain, _now: float) -> Events:
    """Apply rule 12: a reading that has changed fails, and with it the plan that rests on it; the pivot does not start."""
    pivot = saga.pivot_operation
    if saga.stage is not Stage.RUNNING or pivot is None or pivot.status is not OperationStatus.PLANNED:
        return ()
    changed = [each for each, output in command.outputs.items() if output != saga.operations[each].output]
    unlike = e.Fault("changed", "it says something else than before")
    faults = {**command.faults, **dict.fromkeys(changed, unlike)}
    if not faults:
        return (e.ReadingsConfirmed(tuple(command.outputs)),)
    failed = tuple(e.OperationFailed(name, fault, e.Via.PROBE) for name, fault in faults.items())
    return (*failed, e.OperationSkipped(pivot.id, f"what it rests on does not hold any more: {', '.join(faults)}"))


def _contradictions(saga: Saga, command: c.Verified) -> list[e.Event]:
    found: list[e.Event] = []
    for name, answer in command.answers.items():
        operation = saga.operations[name]
        live = operation.status is OperationStatus.SUCCEEDED
        allowed = {e.ProbeAnswer.LANDED} if live else {e.ProbeAnswer.ABSENT, e.ProbeAnswer.UNDONE}
        if answer in allowed | {e.ProbeAnswer.UNKNOWN}:
            continue
        reason = f"the last check found it {answer.value}, the journal says {operation.status.value}"
        if broken := _broken_promise(operation, answer):
            reason = f"{reason}: {broken}"
        if operation.status is OperationStatus.COMPENSATED and operation.undo is not None:
            found.append(e.CompensationFailed(name, e.Fault("contradicted", reason)))
        else:
            found.append(e.OperationHeld(name, reason))
    return found


def _broken_promise(operation: Operation, answer: e.ProbeAnswer) -> str:
    """Return what was said and is not so, as a clause; empty if no promise was believed."""
    terms = operation.spec.guarantees
    if answer is e.ProbeAnswer.MULTIPLE:
        named = "dedup" if terms.dedup_s is not None else "settles" if terms.settles_s is not None else ""
        return f"its provider does not keep {named!r}" if named else ""
    match operation.status:
        case OperationStatus.FAILED if operation.via is e.Via.PROBE:
            named = "settles" if terms.settles_s is not None else "deadline"
            return f"its provider does not keep {named!r}"
        case OperationStatus.FAILED if operation.fault is not None:
            return f"{operation.fault.code!r} said that nothing had happened"
        case OperationStatus.VOIDED:
            return "its provider does not keep 'void'"
        case OperationStatus.COMPENSATED if operation.undo is not None and operation.undo.call is UndoCall.COMPENSATION:
            return "its compensation said that it was undone"
    return ""
