"""Locks of a saga: what it keeps from others by its state, and who is in whose way (docs/protocol.md rule 12). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sagagraph.errors import LockedError
from sagagraph.saga.core.dependencies import is_closed
from sagagraph.saga.core.state import FINAL, Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus
from sagagraph.workflow.lock import Lock, LockMode, is_overdrawn

_GONE = frozenset({OperationStatus.FAILED, OperationStatus.SKIPPED, OperationStatus.VOIDED, OperationStatus.COMPENSATED})
_WITHOUT_LOCKS = FINAL | {Stage.REVERSING, Stage.AMENDING}
"""What such a saga has done can be seen by everybody."""


class Holding(NamedTuple):
    """One lock of one operation. `begun_at`: when its saga began; `epoch`: the epoch of the writer that took it."""

    saga_id: str
    operation: str
    lock: Lock
    begun_at: float
    epoch: int


@dataclass(frozen=True, slots=True)
class LockChange:
    """What an append changes, with the entries or not at all. `asked` must be free; what is only `recorded` stands already."""

    asked: tuple[Holding, ...]
    recorded: tuple[Holding, ...]
    freed: tuple[str, ...]
    """Operations."""


def keeps_locks(saga: Saga, operation: Operation) -> bool:
    """Tell whether the operation's locks are kept: from the moment at which its plan was accepted until nothing of it stands,
    or its saga has ended.
    """
    if not operation.spec.locks or saga.yielded_by or saga.stage in _WITHOUT_LOCKS:
        return False
    if saga.stage is Stage.COMPENSATING or operation.removed:
        return not is_closed(operation)
    return operation.status not in _GONE


def holdings_of(saga: Saga, names: Iterable[str]) -> Iterator[Holding]:
    for name in names:
        for lock in saga.operations[name].spec.locks:
            yield Holding(saga.id, name, lock, saga.begun_at, saga.epoch)


def lock_change(before: Saga, after: Saga) -> LockChange | None:
    """Return what becomes of a saga's locks; None if nothing does.

    What is planned, or begun again after its locks were yielded, must find them free. What is found to stand after all is only
    recorded.
    """
    had, has = before.index.locking, after.index.locking
    if had is has or not (had or has):
        return None
    taken = [name for name in has if name not in had]
    asked = [name for name in taken if before.yielded_by or name not in before.operations]
    recorded = [name for name in taken if name not in asked]
    freed = tuple(name for name in had if name not in has)
    return LockChange(tuple(holdings_of(after, asked)), tuple(holdings_of(after, recorded)), freed) if taken or freed else None


def in_the_way(asked: Collection[Holding], held: Collection[Holding]) -> tuple[Holding, ...]:
    """Return those of `held` that keep a saga from taking all that it asks for. Its own never do, except that amounts add up."""
    found = [each for wanted in asked for each in _in_the_way_of(wanted, asked, held)]
    return tuple(dict.fromkeys(found))


def _in_the_way_of(wanted: Holding, asked: Collection[Holding], held: Collection[Holding]) -> list[Holding]:
    others = [each for each in held if each.saga_id != wanted.saga_id and each.lock.meets(wanted.lock)]
    mode = wanted.lock.mode
    if mode is LockMode.EXCLUSIVE:
        return others
    unlike = [each for each in others if each.lock.mode is not mode]
    if mode is LockMode.SHARED or unlike:
        return unlike
    own = [each for each in held if each.saga_id == wanted.saga_id and each.operation != wanted.operation]
    return others if is_overdrawn(wanted.lock, [each.lock for each in (*others, *own, *asked)]) else []


def may_wait_for(saga: Saga, blockers: Iterable[Holding]) -> bool:
    """Tell whether waiting is safe. Who keeps something meanwhile waits only for younger sagas: no two wait for each other."""
    mine = (saga.begun_at, saga.id)
    return not saga.index.locking or all(mine < (each.begun_at, each.saga_id) for each in blockers)


def refused(saga_id: str, blockers: Collection[Holding]) -> LockedError:
    """Return what a saga is told that cannot have all that it asks for."""
    holders = tuple(dict.fromkeys(each.saga_id for each in blockers))
    return LockedError(
        f"saga {saga_id!r} took nothing: {in_words(blockers)}; resume it when that has ended, cancel that one, or, if it stands "
        f"still, let others have what it keeps: sagagraph yield {holders[0]}",
        saga_id=saga_id,
        holders=holders,
        blockers=tuple(blockers),
    )


def in_words(blockers: Iterable[Holding]) -> str:
    return "; ".join(f"saga {each.saga_id!r} keeps {_named(each.lock)} for its operation {each.operation!r}" for each in blockers)


def _named(lock: Lock) -> str:
    amount = f"{lock.amount} of {lock.capacity} of " if lock.mode is LockMode.COUNTED else ""
    times = f" from {lock.first:.15g} to {lock.last:.15g}" if lock.begins is not None or lock.ends is not None else ""
    return f"{amount}{lock.key!r}{times}"
