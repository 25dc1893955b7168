"""Facts: what can have happened in a mission, in PRD-102's own terms. The journal keeps them as operations without effect."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from sagagraph.workflow.values import Json


class Kind(StrEnum):
    RUN_STARTED = "run_started"
    PLANNING_STARTED = "planning_started"
    PLAN_READY = "plan_ready"
    PLAN_REVISED = "plan_revised"
    REVISION_REFUSED = "revision_refused"
    REPLAN_TRIGGERED = "replan_triggered"
    HUMAN_APPROVED = "human_approved"
    HUMAN_REJECTED = "human_rejected"
    REVIEW_REQUESTED = "review_requested"
    RUN_PAUSED = "run_paused"
    RUN_RESUMED = "run_resumed"
    BUDGET_WARNING = "budget_warning"
    BUDGET_EXCEEDED = "budget_exceeded"
    BUDGET_CHANGED = "budget_increased"
    BUDGET_DOWNGRADED = "budget_model_downgrade"
    RUN_COMPLETED = "run_completed"
    RUN_FAILED = "run_failed"
    RUN_CANCELLED = "run_cancelled"
    TASK_QUEUED = "task_queued"
    TASK_ASSIGNED = "task_assigned"
    TASK_STARTED = "task_started"
    TASK_PROGRESS = "task_progress"
    TASK_CONTINUING = "task_continuing"
    TASK_RESUMED = "task_resumed"
    TASK_SUBMITTED = "task_output_submitted"
    VERIFICATION_STARTED = "verification_started"
    VERIFICATION_COMPLETED = "verification_completed"
    VERIFICATION_BROKE = "verification_failed"
    """The verifier broke, not the task."""
    HUMAN_REVIEW_REQUESTED = "human_review_requested"
    TASK_COMPLETED = "task_completed"
    TASK_RETRYING = "task_retrying"
    TASK_CRASHED = "task_crashed"
    TASK_STALLED = "task_stalled"
    TASK_SKIPPED = "task_skipped"
    TASK_CANCELLED = "task_cancelled"
    TASK_FAILED = "task_failed"
    TASK_ESCALATED = "task_escalated"
    TASK_REASSIGNED = "task_reassigned"
    TASK_RENEWED = "task_renewed"
    """A new generation of the task begins: a person sent it back, or what it was based on."""
    MODEL_ADMITTED = "model_admitted"
    MODEL_BOOKED = "model_booked"
    WISH_HEARD = "wish_heard"
    """What a person wished is decided; `refused` says why it was not done."""


class Fact(Struct, frozen=True, omit_defaults=True):
    """Fact. `task`: the number of the task that it is about."""

    type: Kind
    at: float
    task: int | None = None
    data: dict[str, Json] = {}
