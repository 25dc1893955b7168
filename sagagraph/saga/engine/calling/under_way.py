"""Under way: the calls that run in this process, whoever still waits for them.

A function that cannot be stopped goes on when its time is over, in its thread or in a task that refuses to end.
"""

from __future__ import annotations

from collections.abc import Callable

from sagagraph.saga.core.call import Call
from sagagraph.saga.stores.owner import is_known_dead, is_this_process

HasEnded = Callable[[str, str, str], bool]
"""Tells of a saga, an operation and the owner of a lease whether nothing that it had under way for the operation goes on."""

_UNDER_WAY: set[tuple[str, str, object]] = set()


class UnderWay:
    """Context that counts what runs inside as a part of this call. It may be entered in one thread and left in another."""

    __slots__ = ("_token",)

    def __init__(self, call: Call | None) -> None:
        self._token = None if call is None else (call.saga_id, call.operation_id, object())

    def __enter__(self) -> None:
        if self._token is not None:
            _UNDER_WAY.add(self._token)

    def __exit__(self, *_raised: object) -> None:
        if self._token is not None:
            _UNDER_WAY.discard(self._token)


def is_under_way(saga_id: str, operation_id: str) -> bool:
    """Tell whether any call of this operation still runs in this process."""
    return any(each[:2] == (saga_id, operation_id) for each in _UNDER_WAY.copy())


def has_ended(saga_id: str, operation_id: str, owner: str) -> bool:
    """Tell whether a worker's calls of this operation have certainly ended: its process is dead, or is this one and runs none."""
    return is_known_dead(owner) or (is_this_process(owner) and not is_under_way(saga_id, operation_id))
