"""Progress: how far a saga has come, and which of its effects are in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sagagraph.saga.core.amendments import parent_of
from sagagraph.saga.core.dependencies import is_done_with
from sagagraph.saga.core.next_steps import is_quiet, status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import OperationStatus, SagaStatus

_UNDONE: Final = frozenset({OperationStatus.COMPENSATED, OperationStatus.VOIDED, OperationStatus.FAILED})


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    of: int
    """0 if the total is not known."""
    what: str = "done"


def progress_of(saga: Saga) -> Progress:
    """Count steps that are done, going forward; operations that are undone, going back."""
    match status_of(saga):
        case SagaStatus.PLANNING:
            return Progress(0, 0)
        case SagaStatus.COMPENSATING:
            return _undone(saga)
    live = [each for each in saga.in_order() if not each.removed]
    return Progress(sum(map(is_done_with, live)), len(live))


def _undone(saga: Saga) -> Progress:
    """Count undone operations among all that had, or have, an effect to undo."""
    touched = [each for each in saga.in_order() if each.has_effect and each.total_attempts]
    return Progress(sum(each.status in _UNDONE for each in touched), len(touched), "undone")


def something_stands(saga: Saga) -> bool:
    """Tell whether rejecting the plan would undo anything; rejecting an amendment leaves everything as it was."""
    undone = _undone(saga)
    return parent_of(saga.id) is None and undone.done < undone.of


def waits_for_the_world(saga: Saga) -> bool:
    """Tell whether all that could be done is done, and the rest waits for an outside event."""
    return status_of(saga) is SagaStatus.RUNNING and is_quiet(saga) and saga.amending is None
