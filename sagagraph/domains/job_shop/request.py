"""Job shop: jobs of steps in a fixed order, each on one machine, without interruption, one at a time on each machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MOST_STEPS: Final = 50_000
LONGEST: Final = 1_000_000_000
"""Of a duration: sums of these stay far below what a solver can count."""


@dataclass(frozen=True, slots=True)
class Step:
    machine: int
    duration: int
    """In the unit of the instance."""


@dataclass(frozen=True, slots=True)
class JobShop:
    """A job shop. A job may return to a machine, and jobs may differ in length."""

    jobs: tuple[tuple[Step, ...], ...]
    machines: range
    """As the file numbers them."""

    def numbered(self) -> Iterator[tuple[int, int, Step]]:
        """Number jobs and steps from 1, in the order of the file."""
        for job, steps in enumerate(self.jobs, start=1):
            for number, step in enumerate(steps, start=1):
                yield job, number, step

    def step(self, job: int, number: int) -> Step | None:
        is_there = 1 <= job <= len(self.jobs) and 1 <= number <= len(self.jobs[job - 1])
        return self.jobs[job - 1][number - 1] if is_there else None
