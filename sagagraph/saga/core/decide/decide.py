"""Decide: `decide(saga, command, now)` is the events that a command causes, or an error that says why it cannot be. Pure.

`intent` is its sibling for effects: the event that must be durable before a call goes out (docs/protocol.md rule 1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide import bodies, calls, locks, people, plans, providers
from sagagraph.saga.core.events import Events
from sagagraph.saga.core.state import Saga, UndoCall, operation_key, undo_key, void_key
from sagagraph.saga.core.steps import CallAction, CallCompensation, CallVoid


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
            return e.VoidStarted(operation.id, attempt, void_key(saga.id, operation), deadline)
        case CallCompensation():
            undo = operation.undo if operation.undo and operation.undo.call is UndoCall.COMPENSATION else None
            generation, attempts = (undo.generation, undo.attempts) if undo else (1, 0)
            key = undo_key(saga.id, operation, generation)
            deadline = now + policy.compensation.timeout_s
            return e.CompensationStarted(operation.id, generation, attempts + 1, key, deadline)


_DECIDE: dict[type, Callable[[Saga, Any, float], Events]] = {
    c.ActionReplied: calls.action_replied,
    c.ActionRefused: calls.action_refused,
    c.ActionLost: calls.action_lost,
    c.CallsEnded: calls.calls_ended,
    c.ActionPaused: calls.action_paused,
    c.ProbeAnswered: calls.probe_answered,
    c.ActionMissing: calls.action_missing,
    c.UndoReplied: calls.undo_replied,
    c.UndoRefused: calls.undo_refused,
    c.UndoLost: calls.undo_lost,
    c.EvidenceFound: calls.evidence_found,
    c.Verified: calls.verified,
    c.ReadAgain: calls.read_again,
    c.NameProvider: providers.name_provider,
    c.StateSameProvider: providers.state_same_provider,
    c.TrustExceptions: bodies.trust_exceptions,
    c.PlanOperation: bodies.plan_operation,
    c.CompleteBody: bodies.complete_body,
    c.RaiseBody: bodies.raise_body,
    c.ProposePlan: plans.propose_plan,
    c.RecordModel: plans.record_model,
    c.ChoosePlan: plans.choose_plan,
    c.JudgePlan: plans.judge_plan,
    c.DeclareInfeasible: plans.declare_infeasible,
    c.AskApproval: plans.ask_approval,
    c.ApprovePlan: plans.approve_plan,
    c.RejectPlan: plans.reject_plan,
    c.AcceptPlan: plans.accept_plan,
    c.AwaitLocks: locks.await_locks,
    c.YieldLocks: locks.yield_locks,
    c.ChangeRequest: plans.change_request,
    c.GiveUpRepair: plans.give_up_repair,
    c.BeginReversal: people.begin_reversal,
    c.HoldReversal: people.hold_reversal,
    c.EndReversal: people.end_reversal,
    c.BeginAmendment: people.begin_amendment,
    c.EndAmendment: people.end_amendment,
    c.AmendSaga: people.amend_saga,
    c.Cancel: people.cancel,
    c.RefuseRequest: people.refuse_request,
    c.Resolve: people.resolve,
}
