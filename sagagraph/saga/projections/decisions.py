"""S_O: who decided what, when and why: the planner, the validators, people, and the engine itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sagagraph.saga import events as e
from sagagraph.saga.projections.step import Step

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
    event, saga = step.entry.event, step.after
    plan = saga.plan.hash or ""

    def decided(
        subject_type: str,
        subject: str,
        decision: str,
        by: str,
        *reasons: str,
        alternatives: tuple[Any, ...] = (),
        **detail: Any,
    ) -> Decision:
        return Decision(
            saga_id=saga.id,
            journal_version=step.entry.version,
            at=step.entry.at,
            subject_type=subject_type,
            subject=subject,
            decision=decision,
            decided_by=by,
            reasons=tuple(each for each in reasons if each),
            alternatives=alternatives,
            detail=detail,
        )

    match event:
        case e.PlanProposed():
            alternatives = event.alternatives
            return decided(
                "plan", event.plan_hash, "proposed", PLANNER, *event.reasons, alternatives=alternatives, cost=event.cost
            )
        case e.PlanFoundInfeasible():
            return decided("plan", plan, "found infeasible", PLANNER, *event.reasons)
        case e.PlanApproved():
            return decided("plan", event.plan_hash, "approved", event.by)
        case e.PlanRejected():
            return decided("plan", event.plan_hash, "rejected", event.by, event.reason)
        case e.PlanAccepted():
            added = [each.id for each in event.operations]
            removed = list(event.removed)
            return decided("plan", plan, "accepted", ENGINE, plan_version=event.plan_version, added=added, removed=removed)
        case e.RequestChanged():
            return decided("saga", saga.id, "request changed", event.by)
        case e.PlanDisrupted():
            return decided("plan", plan, "disrupted", ENGINE, event.cause)
        case e.RepairGivenUp():
            return decided("plan", plan, "repair given up", PLANNER, *event.reasons)
        case e.OperationRejected():
            return decided("operation", event.operation, "output rejected", VALIDATOR, event.fault.message, code=event.fault.code)
        case e.OperationGivenUp():
            return decided("operation", event.operation, "given up", ENGINE, event.reason)
        case e.OperationHeld():
            return decided("operation", event.operation, "held", ENGINE, event.reason)
        case e.OperationSkipped():
            return decided("operation", event.operation, "skipped", ENGINE, event.reason)
        case e.CompensationFailed():
            return decided("operation", event.operation, "stuck", ENGINE, event.fault.message, code=event.fault.code)
        case e.OperationResolved():
            return decided("operation", event.operation, f"resolved as {event.resolution.value}", event.by, output=event.output)
        case e.CancelRequested():
            return decided("saga", saga.id, "cancel asked for", event.by)
        case e.CancelRefused():
            return decided("saga", saga.id, "cancel refused", ENGINE, event.reason)
        case e.RequestRefused():
            return decided("saga", saga.id, "request refused", ENGINE, event.reason, request=event.request)
        case e.SagaTurnedBack():
            return decided("saga", saga.id, "turned back", ENGINE, event.cause)
        case e.BodyCompleted():
            return decided("saga", saga.id, "body completed", BODY, removed=list(event.removed))
        case e.BodyFailed():
            return decided("saga", saga.id, "body failed", BODY, event.fault.message, code=event.fault.code)
        case e.ReversalBegun():
            return decided("saga", saga.id, "reversal begun", ENGINE, reversal=event.saga)
        case e.ReversalHeld():
            return decided("saga", saga.id, "reversal held", ENGINE, event.reason)
        case e.SagaCommitted() | e.SagaCompensated():
            ended = "committed" if isinstance(event, e.SagaCommitted) else "compensated"
            return decided("saga", saga.id, ended, ENGINE, unverified=list(event.unverified))
        case e.SagaReversed():
            return decided("saga", saga.id, "reversed", ENGINE, residue=list(event.residue))
        case e.AmendmentBegun():
            return decided("saga", saga.id, "amendment begun", event.by, amendment=event.saga)
        case e.AmendmentEnded():
            return decided("saga", saga.id, "amendment ended without effect", ENGINE, event.reason, amendment=event.saga)
        case e.SagaAmended():
            return decided("saga", saga.id, "amended", ENGINE, amendment=event.saga, plan_version=event.plan_version)
        case _:
            return None
