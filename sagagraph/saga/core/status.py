"""Statuses of sagas and operations, as people and programs see them (docs/formats.md), each with its meaning."""

from __future__ import annotations

from enum import StrEnum


class SagaStatus(StrEnum):
    PLANNING = "planning"
    AWAITING_APPROVAL = "awaiting_approval"
    RUNNING = "running"
    COMMITTED = "committed"
    COMPENSATING = "compensating"
    """Also while a reversal of a committed saga runs."""
    COMPENSATED = "compensated"
    HELD = "held"
    """Quiet and open, going forward: a person or a later probe must settle an operation."""
    STUCK = "stuck"
    """Quiet and open, going back: an operation cannot be undone without a person."""
    REJECTED = "rejected"
    INFEASIBLE = "infeasible"

    @property
    def is_final(self) -> bool:
        return self in _FINAL


_FINAL = frozenset({SagaStatus.COMMITTED, SagaStatus.COMPENSATED, SagaStatus.REJECTED, SagaStatus.INFEASIBLE})


class OperationStatus(StrEnum):
    PLANNED = "planned"
    """No call of it is out, and none can land: never started, or refused for good and due to be tried under a new key."""
    STARTED = "started"
    """Its intent is journalled and this epoch's worker waits for the answer."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """Definitely without effect."""
    IN_DOUBT = "in_doubt"
    """A call went out and no definite answer is journalled."""
    HELD = "held"
    COMPENSATING = "compensating"
    """A compensation or void was journalled and is not acknowledged yet."""
    COMPENSATED = "compensated"
    COMPENSATION_FAILED = "compensation_failed"
    VOIDED = "voided"
    """Given up under its key: undone if it had landed, and refused if it ever arrives."""
    SKIPPED = "skipped"
    """Its condition was false, or the saga ended before it started."""

    __hash__ = str.__hash__  # Enum's own is written in Python, and every turn looks statuses up
