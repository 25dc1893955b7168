"""Clock: the time by which an engine decides. It is the store's, as of the latest saga taken, and time passed since."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

_LEAST_S: Final = 0.1
"""Smaller differences are the time that a look at the store takes."""


class StoreClock:
    """Seconds since the epoch, UTC, by the store's clock. A PostgreSQL server's is the same for all its workers: one whose own
    clock is behind must not believe that a provider still remembers a key.

    Between two looks it ticks by a clock that nobody sets, and that goes on while the machine sleeps where there is such a one.
    `ticking` takes its place.
    """

    def __init__(self, ticking: Callable[[], float] | None = None) -> None:
        self._ticking = ticking or _uptime
        self._ahead = 0.0 if ticking else time.time() - _uptime()

    def __call__(self) -> float:
        return self._ticking() + self._ahead

    def told(self, at: float) -> None:
        """Note what the store's clock has just said."""
        if abs(at - self()) > _LEAST_S:
            self._ahead = at - self._ticking()


_BOOTTIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def _uptime() -> float:
    return time.clock_gettime(_BOOTTIME)
