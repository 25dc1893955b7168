"""Locks: waiting for those of others, and letting others have them (docs/protocol.md rule 12). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sagagraph.errors import NotAllowedError, WorkflowError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.events import Events
from sagagraph.saga.core.next_steps import is_quiet, status_of
from sagagraph.saga.core.state import Saga
from sagagraph.workflow.lock import LockMode, is_overdrawn
from sagagraph.workflow.operation import OperationSpec


def await_locks(saga: Saga, command: c.AwaitLocks, _now: float) -> Events:
    return () if command.blockers == saga.awaits else (e.LocksAwaited(command.blockers),)


def yield_locks(saga: Saga, command: c.YieldLocks, _now: float) -> Events:
    """Let others have the locks: only of a saga that stands still, because whatever it did next would need them."""
    if not saga.index.locking:
        return ()
    if not is_quiet(saga):
        raise NotAllowedError(
            f"saga {saga.id!r} is {status_of(saga).value}, and goes on with its locks: resume or cancel it",
            saga_id=saga.id,
        )
    return (e.LocksYielded(command.by),)


def check_amounts(saga: Saga, specs: Sequence[OperationSpec]) -> None:
    """Raises `WorkflowError` if a saga is to take more of something than there is, whatever others take."""
    if not any(spec.locks for spec in specs):
        return
    kept = [lock for name in saga.index.locking for lock in saga.operations[name].spec.locks]
    new = [(spec, lock) for spec in specs for lock in spec.locks]
    together = [*kept, *(lock for _spec, lock in new)]
    for spec, lock in new:
        if lock.mode is LockMode.COUNTED and is_overdrawn(lock, together):
            raise WorkflowError(
                f"saga {saga.id!r}: with operation {spec.id!r} it takes more of {lock.key!r} than {lock.capacity}",
                saga_id=saga.id,
                operation_id=spec.id,
            )
