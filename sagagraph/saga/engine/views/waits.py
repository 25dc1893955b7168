"""Waits: which operations wait before their provider is asked again, why, and until when. Derived from the journal."""

from __future__ import annotations

from dataclasses import dataclass

from sagagraph.saga.core.events import ProbeAnswer
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.core.status import OperationStatus

LEAST_S = 1.0
"""Shorter pauses are over before anybody has read of them."""
_WAITING = frozenset({OperationStatus.PLANNED, OperationStatus.IN_DOUBT, OperationStatus.COMPENSATING})


@dataclass(frozen=True, slots=True)
class WaitView:
    operation: str
    reason: str
    seconds: float
    """From the saga's last event."""
    until: float


def waits_of(saga: Saga) -> tuple[WaitView, ...]:
    return tuple(
        WaitView(each.id, _reason(each), each.not_before - saga.last_at, each.not_before)
        for each in (saga.operations[name] for name in saga.index.due)
        if each.status in _WAITING and not each.in_flight and each.not_before - saga.last_at >= LEAST_S
    )


def _reason(operation: Operation) -> str:
    if operation.fault is not None:
        return operation.fault.message
    is_asked = operation.probe is ProbeAnswer.UNKNOWN
    return "nobody can say what became of it" if is_asked else "its provider does not answer"
