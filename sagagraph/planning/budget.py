"""How long a planner may think."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Budget:
    """Until when on `clock` (seconds) a search may go on."""

    deadline: float
    clock: Callable[[], float]
    seed: int = 0
    effort: float | None = None
    """At most so much for each aim, in CP-SAT's deterministic time; None: until the deadline."""

    @classmethod
    def of(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Budget:
        """From now on."""
        return cls(clock() + seconds, clock)

    @property
    def left(self) -> float:
        return max(0.0, self.deadline - self.clock())

    def part(self, seconds: float) -> Budget:
        return replace(self, deadline=min(self.deadline, self.clock() + seconds))
