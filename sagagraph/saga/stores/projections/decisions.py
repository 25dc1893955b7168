"""S_O: who decided what, when and why: the planner, the validators, people, and the engine itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sagagraph.saga.core import events as e
from sagagraph.saga.core.state import Saga
from sagagraph.saga.stores.projections.step import Step

PLANNER, VALIDATOR, BODY, ENGINE = "planner", "validator", "body", "engine"


@dataclass(frozen=True, slots=True)
class Decision:
    saga_id: str
    journal_version: int
    at: float
    subject_type: str
    """`saga`, `plan` or `operation`."""
    subject: str
    """The saga's id, the plan's hash, or the operation's id."""
    decision: str
    decided_by: str
    """`planner`, `validator`, `body`, `engine`, or the person who did."""
    reasons: tuple[str, ...]
    alternatives: tuple[Any, ...]
    detail: Mapping[str, Any]


def decision_in(step: Step) -> Decision | None:
    """The decision that this entry records, if any."""
    event, told = step.entry.event, _Telling(step)
    return _about_plan(event, told) or _about_operation(event, told) or _about_saga(event, told)


@dataclass(frozen=True, slots=True)
class _Telling:
    step: Step

    @property
    def saga(self) -> Saga:
        return self.step.after

    def decided(
        self,
        subject_type: str,
        subject: str,
        decision: str,
        by: str,
        *reasons: str,
        alternatives: tuple[Any, ...] = (),
        **detail: Any,
    ) -> Decision:
        return Decision(
            saga_id=self.saga.id,
            journal_version=self.step.entry.version,
            at=self.step.entry.at,
            subject_type=subject_type,
            subject=subject,
            decision=decision,
            decided_by=by,
            reasons=tuple(each for each in reasons if each),
            alternatives=alternatives,
            detail=detail,
        )


def _about_plan(event: e.Event, told: _Telling) -> Decision | None:
    plan = told.saga.plan.hash or ""
    match event:
        case e.PlanProposed():
            alternatives = event.alternatives
            reasons = (*event.reasons, *([f"the model's reasoning: {event.reasoning}"] if event.reasoning else ()))
            by = event.proposed_by or PLANNER
            detail = {"cost": event.cost, **({"agents": event.agents} if event.agents else {})}
            return told.decided("plan", event.plan_hash, "proposed", by, *reasons, alternatives=alternatives, **detail)
        case e.ModelAsked():
            spent = f"{event.tokens_in} tokens in, {event.tokens_out} out, {event.seconds:.3f} s"
            return told.decided("model", event.role, "asked", event.model, event.outcome, spent, cost=event.cost_usd)
        case e.PlanFoundInfeasible():
            return told.decided("plan", plan, "found infeasible", PLANNER, *event.reasons)
        case e.PlanApproved():
            return told.decided("plan", event.plan_hash, "approved", event.by)
        case e.PlanRejected():
            return told.decided("plan", event.plan_hash, "rejected", event.by, event.reason)
        case e.PlanAccepted():
            added = [each.id for each in event.operations]
            removed = list(event.removed)
            return told.decided("plan", plan, "accepted", ENGINE, plan_version=event.plan_version, added=added, removed=removed)
        case e.PlanDisrupted():
            return told.decided("plan", plan, "disrupted", ENGINE, event.cause)
        case e.RepairGivenUp():
            return told.decided("plan", plan, "repair given up", PLANNER, *event.reasons)
        case _:
            return None


def _about_operation(event: e.Event, told: _Telling) -> Decision | None:
    match event:
        case e.PrerequisitesAdded():
            return told.decided(
                "operation", event.operation, "prerequisites added", BODY, prerequisites=list(event.prerequisites)
            )
        case e.OperationRejected():
            return told.decided(
                "operation", event.operation, "output rejected", VALIDATOR, event.fault.message, code=event.fault.code
            )
        case e.OperationGivenUp():
            return told.decided("operation", event.operation, "given up", ENGINE, event.reason)
        case e.OperationHeld():
            return told.decided("operation", event.operation, "held", ENGINE, event.reason)
        case e.OperationSkipped():
            return told.decided("operation", event.operation, "skipped", ENGINE, event.reason)
        case e.CompensationFailed():
            return told.decided("operation", event.operation, "stuck", ENGINE, event.fault.message, code=event.fault.code)
        case e.OperationResolved():
            return told.decided(
                "operation", event.operation, f"resolved as {event.resolution.value}", event.by, output=event.output
            )
        case _:
            return None


def _about_saga(event: e.Event, told: _Telling) -> Decision | None:
    match event:
        case e.RequestChanged():
            return told.decided("saga", told.saga.id, "request changed", event.by)
        case e.SameProviderStated(known, same, by):
            return told.decided("saga", told.saga.id, "same provider", by or ENGINE, known=known, same=same)
        case e.LocksAwaited():
            kept = [{"key": each.key, "saga": each.saga, "operation": each.operation} for each in event.blockers]
            return told.decided("saga", told.saga.id, "waits for locks", ENGINE, kept=kept)
        case e.LocksYielded():
            return told.decided("saga", told.saga.id, "locks yielded", event.by)
        case e.LocksRetaken():
            return told.decided("saga", told.saga.id, "locks taken again", ENGINE)
        case e.CancelRequested():
            return told.decided("saga", told.saga.id, "cancel asked for", event.by)
        case e.CancelRefused():
            return told.decided("saga", told.saga.id, "cancel refused", ENGINE, event.reason)
        case e.RequestRefused():
            return told.decided("saga", told.saga.id, "request refused", ENGINE, event.reason, request=event.request)
        case e.SagaTurnedBack():
            return told.decided("saga", told.saga.id, "turned back", ENGINE, event.cause)
        case e.BodyCompleted():
            return told.decided("saga", told.saga.id, "body completed", BODY, removed=list(event.removed))
        case e.BodyFailed():
            return told.decided("saga", told.saga.id, "body failed", BODY, event.fault.message, code=event.fault.code)
        case e.ReversalBegun():
            return told.decided("saga", told.saga.id, "reversal begun", ENGINE, reversal=event.saga)
        case e.ReversalHeld():
            return told.decided("saga", told.saga.id, "reversal held", ENGINE, event.reason)
        case e.SagaCommitted() | e.SagaCompensated():
            ended = "committed" if isinstance(event, e.SagaCommitted) else "compensated"
            return told.decided("saga", told.saga.id, ended, ENGINE, unverified=list(event.unverified))
        case e.SagaReversed():
            return told.decided("saga", told.saga.id, "reversed", ENGINE, residue=list(event.residue))
        case e.AmendmentBegun():
            return told.decided("saga", told.saga.id, "amendment begun", event.by, amendment=event.saga)
        case e.AmendmentEnded():
            return told.decided(
                "saga", told.saga.id, "amendment ended without effect", ENGINE, event.reason, amendment=event.saga
            )
        case e.SagaAmended():
            return told.decided("saga", told.saga.id, "amended", ENGINE, amendment=event.saga, plan_version=event.plan_version)
        case _:
            return None
