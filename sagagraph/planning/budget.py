"""Budget: how long a planner may run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Budget:
    """Budget: the time on `clock` (seconds) until which a search may continue."""

    deadline: float
    clock: Callable[[], float]
    seed: int = 0
    effort: float | None = None
    """A bound for each objective, in CP-SAT's deterministic time; None: until the deadline."""

    @classmethod
    def of(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Budget:
        """Return a budget that starts now."""
        return cls(clock() + seconds, clock)

    @property
    def left(self) -> float:
        return max(0.0, self.deadline - self.clock())

    def part(self, seconds: float) -> Budget:
        return replace(self, deadline=min(self.deadline, self.clock() + seconds))
