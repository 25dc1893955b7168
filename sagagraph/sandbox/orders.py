"""Faults that are ordered while the service runs: each fires once, at the next calls of the saga that it was ordered for."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from pydantic import Field

from sagagraph.sandbox.calls import CallName, Kind
from sagagraph.sandbox.faults import FaultRule


class FaultOrder(FaultRule):
    """`nth` counts from the moment of the order."""

    saga_id: str | None = Field(None, min_length=1)
    """Only calls with this label; None: anybody's."""


@dataclass(frozen=True)
class _Waiting:
    order: FaultOrder
    calls: int = 0


class FaultOrders:
    """Kept in memory: whoever starts the service again begins without any. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: tuple[_Waiting, ...] = ()

    def add(self, order: FaultOrder) -> None:
        with self._lock:
            self._waiting = (*self._waiting, _Waiting(order))

    @property
    def open(self) -> tuple[FaultOrder, ...]:
        return tuple(each.order for each in self._waiting)

    def take(self, kind: Kind, call: CallName, saga_id: str | None) -> FaultRule | None:
        """Counts one call; the first order whose turn it is, which is used up then."""
        if not self._waiting:
            return None
        with self._lock:
            counted = tuple(_counted(each, kind, call, saga_id) for each in self._waiting)
            due = next((each for each in counted if each.calls == each.order.nth), None)
            self._waiting = tuple(each for each in counted if each is not due)
        return due.order if due else None


def _counted(waiting: _Waiting, kind: Kind, call: CallName, saga_id: str | None) -> _Waiting:
    order = waiting.order
    is_meant = order.concerns(kind, call) and order.saga_id in (None, saga_id)
    return replace(waiting, calls=waiting.calls + 1) if is_meant else waiting
