"""Driving: whether a worker of a fleet has anything to do for a saga, whether it can, and until when it lets go of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sagagraph.errors import NotAllowedError
from sagagraph.saga.core.amendments import amended_by, parent_of
from sagagraph.saga.core.dependencies import is_closed
from sagagraph.saga.core.doubt.in_doubt import waits_for_answer
from sagagraph.saga.core.events import Driver
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.reversals import REVERSAL
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.actions import Action

Drive = Callable[[str], Awaitable[object]]
"""Carries on with the saga of that id, which nobody else holds, until it is quiet."""
_WAITS_FOR_PERSON = frozenset({SagaStatus.HELD, SagaStatus.STUCK})


@dataclass(frozen=True, slots=True)
class Parked:
    """What has become of a saga that was driven. `until`: when something is due again; None: when somebody asks for something."""

    until: float | None
    is_final: bool


def goes_on_by_itself(saga: Saga) -> bool:
    """Tell whether anything can happen to the saga although nobody asks for it."""
    status = status_of(saga)
    if status.is_final or status in _WAITS_FOR_PERSON:
        return False
    if saga.stage is Stage.AWAITING_APPROVAL:  # a repair may need no approval; its graph says so
        return bool(saga.plan.version or saga.plan.approved_in_advance_by or amended_by(saga))
    return not any(waits_for_answer(each) for each in saga.operations.values())


def check_drivable(saga: Saga, find: Callable[[str, int], Action], *, has_driver: bool) -> None:
    """Raise `NotAllowedError` for a saga whose body nobody has registered here, and `UnknownActionError` for one with an action
    that this build does not have: another worker may have it, and nothing is held for want of it.
    """
    if saga.driver is Driver.BODY and not has_driver:
        raise NotAllowedError(f"saga {saga.id!r} belongs to a Python program, which no worker here has", saga_id=saga.id)
    for operation in saga.operations.values():
        if operation.status is OperationStatus.PLANNED or not is_closed(operation):
            find(operation.spec.action, operation.spec.action_version)


def original_of(saga_id: str) -> str:
    """Return the saga that is driven in place of one that amends or reverses it."""
    return parent_of(saga_id) or saga_id.removesuffix(REVERSAL)
