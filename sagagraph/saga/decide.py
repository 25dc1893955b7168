"""`decide(saga, command, now)`: the events that a command causes, or an error that says why it can not be. Pure.

`intent` is its sibling for effects: the event that must be durable before a call goes out (PROTOCOL rule 1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from sagagraph.errors import ConflictError, NotAllowedError, SagaClosedError, UnknownOperationError, WorkflowError
from sagagraph.saga import commands as c
from sagagraph.saga import events as e
from sagagraph.saga.agenda import is_ready_for_repair, next_steps, status_of
from sagagraph.saga.dependency import comes_after_pivot, descendants, is_closed
from sagagraph.saga.model import Operation, Saga, Stage, UndoCall, operation_key, undo_key
from sagagraph.saga.redaction import is_redacted
from sagagraph.saga.settle import PAUSED, attempts_left, deadline_is_over, is_alone, remembers_key
from sagagraph.saga.status import OperationStatus
from sagagraph.saga.step import CallAction, CallCompensation, CallVoid, Verify
from sagagraph.validators.verdict import Verdict, VerdictStatus
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec, rebind, references
from sagagraph.workflow.wellformed import check_workflow

Events = tuple[e.Event, ...]


def decide(saga: Saga, command: c.Command, now: float) -> Events:
    return _DECIDE[type(command)](saga, command, now)


def intent(saga: Saga, step: CallAction | CallVoid | CallCompensation, now: float) -> e.Event:
    """The event to append before the effect of `step` starts."""
    operation = saga.operations[step.operation]
    policy = operation.spec.policy
    match step:
        case CallAction(_, claim):
            return e.AttemptStarted(
                operation.id,
                operation.generation,
                operation.attempts + 1,
                operation_key(saga.id, operation),
                now + policy.timeout_s,
                claim,
            )
        case CallVoid():
            attempt = operation.undo.attempts + 1 if operation.undo else 1
            deadline = now + policy.compensation.timeout_s
            return e.VoidStarted(operation.id, attempt, operation_key(saga.id, operation), deadline)
        case CallCompensation():
            undo = operation.undo if operation.undo and operation.undo.call is UndoCall.COMPENSATION else None
            generation, attempts = (undo.generation, undo.attempts) if undo else (1, 0)
            key = undo_key(saga.id, operation, generation)
            deadline = now + policy.compensation.timeout_s
            return e.CompensationStarted(operation.id, generation, attempts + 1, key, deadline)


# -- answers of calls ------------------------------------------------------------------------------------------------


def _action_replied(saga: Saga, command: c.ActionReplied, now: float) -> Events:
    operation = saga.operations[command.operation]
    if not operation.in_flight:
        return ()
    return _judged(saga, operation, command.output, command.verdicts, e.Via.REPLY, now)


def _judged(saga: Saga, operation: Operation, output: Any, verdicts: tuple[Verdict, ...], via: e.Via, now: float) -> Events:
    """It landed; whether its output counts is for the validators to say (an outage of theirs is no violation)."""
    recorded = tuple(each.model_dump(mode="json", exclude_defaults=True) for each in verdicts)
    landed = e.OperationSucceeded(operation.id, output, via, recorded)
    if saga.stage is not Stage.RUNNING or operation.given_up or all(each.is_valid for each in verdicts):
        return (landed,)
    invalid = [each for each in verdicts if each.verdict is VerdictStatus.INVALID]
    if not invalid:
        fault = e.Fault("unjudged", "; ".join(each.reason for each in verdicts if not each.is_valid))
        retry_at = now + operation.spec.policy.backoff.delay_s(operation.unknown_probes + 1, 0.0)
        if operation.in_flight:
            return (e.AttemptLost(operation.id, fault, retry_at, recorded),)
        return (e.OperationProbed(operation.id, e.ProbeAnswer.UNKNOWN, fault.message, retry_at, now, recorded),)
    fault = e.Fault("rejected", "; ".join(v.message for each in invalid for v in each.violations))
    if operation.spec.kind is ActionKind.READ_ONLY:
        return (e.OperationFailed(operation.id, fault, via, recorded),)
    if operation.spec.kind is ActionKind.COMPENSATABLE:
        return (e.OperationRejected(operation.id, output, fault, via, recorded),)
    return (e.AttemptLost(operation.id, fault, now, recorded), e.OperationHeld(operation.id, f"its output was {fault.message}"))


def _action_refused(saga: Saga, command: c.ActionRefused, now: float) -> Events:
    """A refusal is definite only if no earlier call of this generation can still land (PROTOCOL rule 3a).

    One that is only for now ("too many requests") is recorded by nobody: it says nothing about an earlier call.
    """
    operation = saga.operations[command.operation]
    if not operation.in_flight:
        return ()
    is_final = operation.spec.guarantees.refusals_final and not command.transient
    sealed = operation.lost == 0 or is_final or not operation.has_effect
    if not sealed and command.transient:
        return _action_lost(saga, c.ActionLost(operation.id, command.fault, command.draw), now)
    if not sealed and comes_after_pivot(saga, operation.id):  # nothing is given up there: it is asked about, or held (rule 5)
        return _action_lost(saga, c.ActionLost(operation.id, command.fault, command.draw), now)
    if not sealed:
        reason = f"refused ({command.fault.code}), but an earlier call of it may still land"
        return (e.OperationGivenUp(operation.id, reason, command.fault),)
    if saga.stage is not Stage.RUNNING or operation.removed:
        return (e.OperationFailed(operation.id, command.fault),)
    retry_at = now + operation.spec.policy.backoff.delay_s(operation.total_attempts, command.draw)
    again = e.AttemptRefused(operation.id, command.fault, retry_at)
    may_retry = command.transient and attempts_left(replace(operation, fault=command.fault), now)
    if may_retry and not operation.given_up:
        return (again,)
    if comes_after_pivot(saga, operation.id):
        return (again, e.OperationHeld(operation.id, f"refused after the pivot: {command.fault.message}"))
    return (e.OperationFailed(operation.id, command.fault),)


def _action_lost(saga: Saga, command: c.ActionLost, now: float) -> Events:
    operation = saga.operations[command.operation]
    if not operation.in_flight:
        return ()
    retry_at = now + operation.spec.policy.backoff.delay_s(operation.attempts, command.draw)
    return (e.AttemptLost(operation.id, command.fault, retry_at),)


def _action_paused(saga: Saga, command: c.ActionPaused, now: float) -> Events:
    """What it did before it stopped may have landed; going forward it waits for whoever brings what it needs."""
    operation = saga.operations[command.operation]
    if not operation.in_flight:
        return ()
    lost = e.AttemptLost(operation.id, e.Fault(PAUSED, command.reason), now)
    going_on = saga.stage is Stage.RUNNING and not operation.given_up and not operation.removed
    return (lost, e.OperationHeld(operation.id, command.reason)) if going_on else (lost,)


def _probe_answered(saga: Saga, command: c.ProbeAnswered, now: float) -> Events:
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
    final = is_alone(operation) or remembers_key(operation, now) or _was_sealed_by_deadline(operation, asked_at)
    match command.answer:
        case e.ProbeAnswer.LANDED if going_on or final:
            return _judged(saga, operation, command.output, command.verdicts, e.Via.PROBE, now)
        case e.ProbeAnswer.UNDONE if final:
            return (e.OperationVoided(operation.id, command.output, e.Via.PROBE),)
        case _:
            return (recorded,)


def _was_sealed_by_deadline(operation: Operation, asked_at: float) -> bool:
    return operation.spec.guarantees.deadline and deadline_is_over(operation, asked_at)


def _probe_again_at(operation: Operation, command: c.ProbeAnswered, now: float) -> float:
    if command.answer is not e.ProbeAnswer.UNKNOWN:
        return operation.not_before
    return now + operation.spec.policy.backoff.delay_s(operation.unknown_probes + 1, command.draw)


def _action_missing(saga: Saga, command: c.ActionMissing, _now: float) -> Events:
    """This process can not act on the operation: it waits, named, for one that can."""
    operation = saga.operations[command.operation]
    if operation.status in (OperationStatus.SUCCEEDED, OperationStatus.COMPENSATING):
        return (e.CompensationFailed(operation.id, e.Fault("unknown_action", command.reason)),)
    return (e.OperationHeld(operation.id, command.reason),)


def _undo_replied(saga: Saga, command: c.UndoReplied, _now: float) -> Events:
    operation = saga.operations[command.operation]
    if operation.status is not OperationStatus.COMPENSATING or operation.undo is None:
        return ()
    if operation.undo.call is UndoCall.VOID:
        return (e.OperationVoided(operation.id, command.output),)
    return (e.OperationCompensated(operation.id, command.output),)


def _undo_refused(saga: Saga, command: c.UndoRefused, now: float) -> Events:
    operation = saga.operations[command.operation]
    undo = operation.undo
    if not operation.in_flight or undo is None:
        return ()
    policy = operation.spec.policy
    retry_at = now + policy.backoff.delay_s(undo.attempts, command.draw)
    if undo.lost:  # an earlier call may have landed: this refusal says nothing about it
        return (e.CompensationLost(operation.id, command.fault, retry_at),)
    if command.transient and undo.attempts - undo.allowed_from < policy.compensation.max_attempts:
        return (e.CompensationRefused(operation.id, command.fault, retry_at),)
    return (
        e.CompensationRefused(operation.id, command.fault, now),
        e.CompensationFailed(operation.id, command.fault),
    )


def _undo_lost(saga: Saga, command: c.UndoLost, now: float) -> Events:
    operation = saga.operations[command.operation]
    if not operation.in_flight or operation.undo is None:
        return ()
    retry_at = now + operation.spec.policy.backoff.delay_s(operation.undo.attempts, command.draw)
    return (e.CompensationLost(operation.id, command.fault, retry_at),)


def _evidence_found(saga: Saga, command: c.EvidenceFound, now: float) -> Events:
    """An acknowledgement is as good as a reply, as long as it is about the call that is in doubt."""
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
            for event in _probe_answered(saga, answer, now)
        )
    if operation.status is not OperationStatus.COMPENSATING or undo is None:
        return ()
    is_of_this_void = undo.call is UndoCall.VOID and command.key == operation_key(saga.id, operation)
    if command.call is c.CallKind.VOID and is_of_this_void:
        return (e.OperationVoided(operation.id, command.output, e.Via.EVIDENCE),)
    if undo.call is UndoCall.COMPENSATION and command.key == undo_key(saga.id, operation, undo.generation):
        return (e.OperationCompensated(operation.id, command.output, e.Via.EVIDENCE),)
    return ()


def _verified(saga: Saga, command: c.Verified, now: float) -> Events:
    """Rule 9: a probe that contradicts the journal keeps the saga open; one that can not answer leaves it unverified."""
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


def _contradictions(saga: Saga, command: c.Verified) -> list[e.Event]:
    found: list[e.Event] = []
    for name, answer in command.answers.items():
        operation = saga.operations[name]
        live = operation.status is OperationStatus.SUCCEEDED
        allowed = {e.ProbeAnswer.LANDED} if live else {e.ProbeAnswer.ABSENT, e.ProbeAnswer.UNDONE}
        if answer in allowed | {e.ProbeAnswer.UNKNOWN}:
            continue
        reason = f"the last check found it {answer.value}, the journal says {operation.status.value}"
        if operation.status is OperationStatus.COMPENSATED and operation.undo is not None:
            found.append(e.CompensationFailed(name, e.Fault("contradicted", reason)))
        else:
            found.append(e.OperationHeld(name, reason))
    return found


# -- the driver ------------------------------------------------------------------------------------------------------


def _plan_operation(saga: Saga, command: c.PlanOperation, _now: float) -> Events:
    spec = command.spec
    known = saga.operations.get(spec.id)
    if known is not None:
        _check_same(saga, known, command)
        return ()
    if saga.body_completed:  # what commits has been decided, and may be being checked for the last time
        raise SagaClosedError(f"saga {saga.id!r}: its body has ended; it starts no further operation", saga_id=saga.id)
    if saga.stage is not Stage.RUNNING or saga.cancel_by:
        raise SagaClosedError(f"saga {saga.id!r} is {status_of(saga).value}: it starts no further operation", saga_id=saga.id)
    spec = _placed_around_pivot(saga, spec)
    if unknown := [each for each in spec.depends_on if each not in saga.operations]:
        raise UnknownOperationError(
            f"saga {saga.id!r}: operation {spec.id!r} is to run after {unknown[0]!r}, which it does not have",
            saga_id=saga.id,
            operation_id=unknown[0],
        )
    return (e.OperationPlanned(spec),)


def _check_same(saga: Saga, known: Operation, command: c.PlanOperation) -> None:
    spec = command.spec
    if what := _unlike(known, spec, command.formerly):
        raise ConflictError(f"saga {saga.id!r}: operation {spec.id!r} {what}", saga_id=saga.id, operation_id=spec.id)


def _unlike(known: Operation, spec: OperationSpec, formerly: tuple[tuple[str, int], ...]) -> str:
    journalled = (known.spec.action, known.spec.action_version)
    another = "use another id for another effect"
    if known.removed and not known.rejected:
        return f"was removed from the plan; {another}"
    if known.spec.inputs != spec.inputs:
        if is_redacted(known.spec.inputs):
            return "was redacted: its body can not be run again"
        return f"was journalled with other arguments; {another}"
    if journalled not in ((spec.action, spec.action_version), *formerly):
        name, version = journalled
        return (
            f"was journalled as action {name!r} version {version}; {another}, or say formerly=({f'{name}@{version}'!r},) "
            f"if {spec.action!r} version {spec.action_version} is what became of it"
        )
    return ""


def _placed_around_pivot(saga: Saga, spec: OperationSpec) -> OperationSpec:
    """Rule 5 for a plan that becomes known one operation at a time."""
    pivot = saga.pivot_operation
    if pivot is None or pivot.status in _WITHOUT_EFFECT:
        if spec.kind is ActionKind.RETRIABLE:
            raise WorkflowError(f"saga {saga.id!r}: retriable operation {spec.id!r} does not come after a pivot", saga_id=saga.id)
        return spec
    waits = pivot.status is OperationStatus.PLANNED and not _is_behind_pivot(saga, spec)
    if spec.kind is ActionKind.PIVOT or (spec.kind is ActionKind.COMPENSATABLE and not waits):
        raise WorkflowError(
            f"saga {saga.id!r}: {spec.kind.value} operation {spec.id!r} can not come after the pivot {pivot.id!r}; "
            "run it before the pivot",
            saga_id=saga.id,
            operation_id=spec.id,
        )
    if pivot.id in spec.depends_on or (waits and spec.kind is not ActionKind.RETRIABLE):
        return spec
    return replace(spec, depends_on=(*spec.depends_on, pivot.id))


_WITHOUT_EFFECT = frozenset(
    {OperationStatus.FAILED, OperationStatus.VOIDED, OperationStatus.SKIPPED, OperationStatus.COMPENSATED}
)


def _is_behind_pivot(saga: Saga, spec: OperationSpec) -> bool:
    return any(each == saga.pivot or comes_after_pivot(saga, each) for each in spec.depends_on)


def _complete_body(saga: Saga, command: c.CompleteBody, _now: float) -> Events:
    """What an earlier run of the body did and this one did not ask for is removed, and so compensated (rule 8)."""
    if saga.body_completed or saga.stage is not Stage.RUNNING:
        return ()
    removed = tuple(
        each.id for each in saga.in_order() if each.id not in command.asked and not is_closed(each) and not each.removed
    )
    for name in removed:
        if comes_after_pivot(saga, name) or name == saga.pivot:
            raise ConflictError(
                f"saga {saga.id!r}: its body did not ask for {name!r} again, which can not be undone any more",
                saga_id=saga.id,
                operation_id=name,
            )
    kept = {each for each in descendants(saga, *removed).difference(removed) if not is_closed(saga.operations[each])}
    if kept:
        name = next(each for each in removed if kept & descendants(saga, each))
        raise ConflictError(
            f"saga {saga.id!r}: its body did not ask for {name!r} again, but for {min(kept & descendants(saga, name))!r}, "
            "which depends on it",
            saga_id=saga.id,
            operation_id=name,
        )
    return (e.BodyCompleted(removed),)


def _raise_body(saga: Saga, command: c.RaiseBody, _now: float) -> Events:
    return (e.BodyFailed(command.fault),) if saga.stage is Stage.RUNNING else ()


def _propose_plan(saga: Saga, command: c.ProposePlan, _now: float) -> Events:
    if not is_ready_for_repair(saga):
        _require(saga, Stage.PLANNING)
    return (e.PlanProposed(command.plan_hash, command.plan, command.cost, command.alternatives, command.reasons),)


def _judge_plan(saga: Saga, command: c.JudgePlan, _now: float) -> Events:
    _require(saga, Stage.PLANNING)
    _shown(saga, command.plan_hash)
    return (e.PlanJudged(command.plan_hash, command.verdict, command.shown),)


def _declare_infeasible(saga: Saga, command: c.DeclareInfeasible, _now: float) -> Events:
    _require(saga, Stage.PLANNING)
    if saga.plan.version:
        raise NotAllowedError(f"saga {saga.id!r} has a plan already: its repair can be given up", saga_id=saga.id)
    return (e.PlanFoundInfeasible(command.reasons),)


def _change_request(saga: Saga, command: c.ChangeRequest, _now: float) -> Events:
    is_open = saga.stage in (Stage.PLANNING, Stage.AWAITING_APPROVAL, Stage.RUNNING) and not saga.cancel_by
    if saga.driver is not e.Driver.WORKFLOW or not is_open:
        raise NotAllowedError(f"saga {saga.id!r} is {status_of(saga).value}: its request can not be changed", saga_id=saga.id)
    if saga.pivot_is_open or saga.pivot_has_landed:
        raise NotAllowedError(
            f"saga {saga.id!r}: its pivot {saga.pivot!r} is under way: its request can not be changed any more; cancel it",
            saga_id=saga.id,
            operation_id=saga.pivot,
        )
    if command.request == saga.request:
        return ()
    return (e.RequestChanged(command.request, command.by, command.approved_by),)


def _give_up_repair(saga: Saga, command: c.GiveUpRepair, _now: float) -> Events:
    if not saga.plan.version or not (saga.stage is Stage.PLANNING or is_ready_for_repair(saga)):
        raise NotAllowedError(f"saga {saga.id!r} is {status_of(saga).value}: there is nothing to repair", saga_id=saga.id)
    return (e.RepairGivenUp(command.reasons),)


def _ask_approval(saga: Saga, _command: c.AskApproval, _now: float) -> Events:
    if saga.stage is Stage.AWAITING_APPROVAL:
        return ()
    _require(saga, Stage.PLANNING)
    return (e.ApprovalAsked(str(saga.plan.hash)),)


def _approve_plan(saga: Saga, command: c.ApprovePlan, _now: float) -> Events:
    if saga.plan.approved_by:
        _shown(saga, command.plan_hash)
        return ()
    _require(saga, Stage.AWAITING_APPROVAL)
    return (e.PlanApproved(_shown(saga, command.plan_hash), command.by),)


def _reject_plan(saga: Saga, command: c.RejectPlan, _now: float) -> Events:
    if saga.stage is Stage.REJECTED:
        return ()
    _require(saga, Stage.AWAITING_APPROVAL)
    rejected = e.PlanRejected(_shown(saga, command.plan_hash), command.by, command.reason)
    if not saga.plan.version:
        return (rejected,)
    return (rejected, e.SagaTurnedBack(command.reason or f"its repair was rejected by {command.by}"))


def _shown(saga: Saga, insisted: str | None) -> str:
    shown = str(saga.plan.hash)
    if insisted is not None and insisted != shown:
        raise ConflictError(
            f"saga {saga.id!r} shows plan {shown}, not {insisted}; look at it again before you decide", saga_id=saga.id
        )
    return shown


def _accept_plan(saga: Saga, command: c.AcceptPlan, _now: float) -> Events:
    """A replan is accepted only if what it removes is settled, and what is kept depends on nothing that goes (rules 2 and 8)."""
    if saga.stage not in (Stage.PLANNING, Stage.RUNNING) or saga.cancel_by:
        raise NotAllowedError(f"saga {saga.id!r} is {status_of(saga).value}: it takes no further plan", saga_id=saga.id)
    _check_pivot_allows(saga, command)
    removed = set(command.removed)
    for name in command.removed:
        _check_removable(saga, name, removed, command.replaced)
    if strays := sorted(set(command.replaced) - removed):
        raise ConflictError(f"saga {saga.id!r}: {strays[0]!r} is replaced without being removed", saga_id=saga.id)
    kept = [each.spec for each in saga.in_order() if not each.removed and each.id not in removed]
    gone = {each.id for each in saga.operations.values()} - {spec.id for spec in kept}
    if clash := [spec.id for spec in command.operations if spec.id in gone]:
        raise ConflictError(f"saga {saga.id!r}: {clash[0]!r} was an operation of an earlier plan; use a new id")
    rebound = [rebind(_without(spec, gone - command.replaced.keys()), command.replaced) for spec in kept]
    check_workflow([*rebound, *command.operations], behind_pivot=saga.driver is e.Driver.REVERSAL)
    version = saga.plan.version + 1
    return (e.PlanAccepted(version, command.operations, command.removed, dict(command.replaced), command.revisable),)


def _check_pivot_allows(saga: Saga, command: c.AcceptPlan) -> None:
    """Once the pivot may be live, what it rests on stays, and what comes has no way back either (rule 5)."""
    if not (saga.pivot_is_open or saga.pivot_has_landed):
        return
    comes = [spec.id for spec in command.operations if spec.kind in (ActionKind.COMPENSATABLE, ActionKind.PIVOT)]
    if comes or command.removed:
        name = [*comes, *command.removed][0]
        raise ConflictError(
            f"saga {saga.id!r}: a plan that changes {name!r} comes too late: the pivot {saga.pivot!r} can not be taken back; "
            "cancel the saga",
            saga_id=saga.id,
            operation_id=name,
        )


def _check_removable(saga: Saga, name: str, removed: set[str], replaced: Mapping[str, str]) -> None:
    operation = saga.operations.get(name)
    if operation is None:
        raise UnknownOperationError(f"saga {saga.id!r} has no operation {name!r}", saga_id=saga.id, operation_id=name)
    settled = is_closed(operation) or operation.status is OperationStatus.SUCCEEDED
    kept = _kept_below(saga, name, removed, replaced)
    if settled and not kept:
        return
    why = f"{kept[0]!r} depends on it" if settled else f"it is {operation.status.value}: settle it first"
    raise ConflictError(
        f"saga {saga.id!r}: operation {name!r} can not be removed from the plan: {why}",
        saga_id=saga.id,
        operation_id=name,
    )


def _kept_below(saga: Saga, name: str, removed: set[str], replaced: Mapping[str, str]) -> list[str]:
    """What is kept, may be live, and would go on depending on `name`, because nothing takes its place."""
    if name not in replaced:
        below = (each for each in descendants(saga, name) if each not in removed)
    else:
        below = (each for each in saga.dependents.get(name, ()) if each not in removed and _uses(saga.operations[each], name))
    return [each for each in below if not is_closed(saga.operations[each])]


def _uses(operation: Operation, name: str) -> bool:
    """It has still to be called with something that `name` brought back."""
    return operation.status is not OperationStatus.SUCCEEDED and name in set(references(operation.spec.inputs))


def _without(spec: OperationSpec, gone: set[str]) -> OperationSpec:
    return replace(spec, depends_on=tuple(each for each in spec.depends_on if each not in gone), condition=None)


def _require(saga: Saga, stage: Stage) -> None:
    if saga.stage is not stage:
        raise NotAllowedError(f"saga {saga.id!r} is {status_of(saga).value}, not {stage.value}", saga_id=saga.id)


# -- people ----------------------------------------------------------------------------------------------------------


def _cancel(saga: Saga, command: c.Cancel, _now: float) -> Events:
    if saga.driver is e.Driver.REVERSAL:
        return _refused(command.request, "it undoes another saga, and can only go on")
    match saga.stage:
        case Stage.PLANNING | Stage.AWAITING_APPROVAL:
            cause = f"cancelled by {command.by}"
            return (e.CancelRequested(command.by, command.request), e.SagaTurnedBack(cause))
        case Stage.COMMITTED if saga.redacted:
            return _refused(command.request, "what undoing it would need is redacted")
        case Stage.RUNNING | Stage.COMMITTED if not saga.cancel_by:
            return (e.CancelRequested(command.by, command.request),)
        case _:
            return _refused(command.request, f"the saga is {status_of(saga).value}")


def _begin_reversal(saga: Saga, command: c.BeginReversal, _now: float) -> Events:
    if saga.stage is Stage.REVERSING:
        return ()
    if command.saga is None:
        return (e.CancelRefused(command.reason),)
    return (e.ReversalBegun(command.saga),)


def _hold_reversal(saga: Saga, command: c.HoldReversal, _now: float) -> Events:
    return (e.ReversalHeld(command.reason),) if saga.stage is Stage.REVERSING else ()


def _end_reversal(saga: Saga, command: c.EndReversal, _now: float) -> Events:
    return (e.SagaReversed(command.outputs, command.residue),) if saga.stage is Stage.REVERSING else ()


def _resolve(saga: Saga, command: c.Resolve, _now: float) -> Events:
    operation = saga.operations.get(command.operation)
    if operation is None:
        why = f"saga {saga.id!r} has no operation {command.operation!r}"
    elif not operation.waits_for_person:
        why = f"operation {operation.id!r} is {operation.status.value}: only a held or stuck one needs a person"
    elif saga.driver is e.Driver.REVERSAL and command.resolution is e.Resolution.COMPENSATED:
        why = f"operation {operation.id!r} undoes another one, and is not undone itself: it landed, or is absent"
    else:
        return (e.OperationResolved(operation.id, command.resolution, command.output, command.by, command.request),)
    if command.request is not None:
        return _refused(command.request, why)
    raise NotAllowedError(why, saga_id=saga.id, operation_id=command.operation)


def _refused(request: int | None, reason: str) -> Events:
    return () if request is None else (e.RequestRefused(request, reason),)


_DECIDE: dict[type, Callable[[Saga, Any, float], Events]] = {
    c.ActionReplied: _action_replied,
    c.ActionRefused: _action_refused,
    c.ActionLost: _action_lost,
    c.ActionPaused: _action_paused,
    c.ProbeAnswered: _probe_answered,
    c.ActionMissing: _action_missing,
    c.UndoReplied: _undo_replied,
    c.UndoRefused: _undo_refused,
    c.UndoLost: _undo_lost,
    c.EvidenceFound: _evidence_found,
    c.Verified: _verified,
    c.PlanOperation: _plan_operation,
    c.CompleteBody: _complete_body,
    c.RaiseBody: _raise_body,
    c.ProposePlan: _propose_plan,
    c.JudgePlan: _judge_plan,
    c.DeclareInfeasible: _declare_infeasible,
    c.AskApproval: _ask_approval,
    c.ApprovePlan: _approve_plan,
    c.RejectPlan: _reject_plan,
    c.AcceptPlan: _accept_plan,
    c.ChangeRequest: _change_request,
    c.GiveUpRepair: _give_up_repair,
    c.BeginReversal: _begin_reversal,
    c.HoldReversal: _hold_reversal,
    c.EndReversal: _end_reversal,
    c.Cancel: _cancel,
    c.Resolve: _resolve,
}
