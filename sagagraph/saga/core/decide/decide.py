"""`decide(saga, command, now)`: the events that a command causes, or an error that says why it can not be. Pure.

`intent` is its sibling for effects: the event that must be durable before a call goes out (PROTOCOL rule 1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from sagagraph.errors import ConflictError, NotAllowedError, SagaClosedError, UnknownOperationError, WorkflowError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide.calls import (
    action_lost,
    action_missing,
    action_paused,
    action_refused,
    action_replied,
    evidence_found,
    probe_answered,
    undo_lost,
    undo_refused,
    undo_replied,
    verified,
)
from sagagraph.saga.core.decide.choice import choose_plan
from sagagraph.saga.core.decide.plans import (
    accept_plan,
    approve_plan,
    ask_approval,
    change_request,
    declare_infeasible,
    give_up_repair,
    judge_plan,
    propose_plan,
    reject_plan,
)
from sagagraph.saga.core.dependencies import comes_after_pivot, descendants, is_closed
from sagagraph.saga.core.events import Events
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.redaction import is_redacted
from sagagraph.saga.core.state import Operation, Saga, Stage, UndoCall, operation_key, undo_key
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.core.steps import CallAction, CallCompensation, CallVoid
from sagagraph.saga.engine.amendment import amend_saga, begin_amendment, end_amendment, why_not_cancelled
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec


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


# -- people ----------------------------------------------------------------------------------------------------------


def _cancel(saga: Saga, command: c.Cancel, _now: float) -> Events:
    if saga.driver is e.Driver.REVERSAL:
        return _refused(command.request, "it undoes another saga, and can only go on")
    if why := why_not_cancelled(saga):
        return _refused(command.request, why)
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
    c.ActionReplied: action_replied,
    c.ActionRefused: action_refused,
    c.ActionLost: action_lost,
    c.ActionPaused: action_paused,
    c.ProbeAnswered: probe_answered,
    c.ActionMissing: action_missing,
    c.UndoReplied: undo_replied,
    c.UndoRefused: undo_refused,
    c.UndoLost: undo_lost,
    c.EvidenceFound: evidence_found,
    c.Verified: verified,
    c.PlanOperation: _plan_operation,
    c.CompleteBody: _complete_body,
    c.RaiseBody: _raise_body,
    c.ProposePlan: propose_plan,
    c.ChoosePlan: choose_plan,
    c.JudgePlan: judge_plan,
    c.DeclareInfeasible: declare_infeasible,
    c.AskApproval: ask_approval,
    c.ApprovePlan: approve_plan,
    c.RejectPlan: reject_plan,
    c.AcceptPlan: accept_plan,
    c.ChangeRequest: change_request,
    c.GiveUpRepair: give_up_repair,
    c.BeginReversal: _begin_reversal,
    c.HoldReversal: _hold_reversal,
    c.EndReversal: _end_reversal,
    c.BeginAmendment: begin_amendment,
    c.EndAmendment: end_amendment,
    c.AmendSaga: amend_saga,
    c.Cancel: _cancel,
    c.Resolve: _resolve,
}
