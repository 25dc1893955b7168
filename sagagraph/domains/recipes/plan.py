"""Plan: which step is worked at when, in rows as Recipe2Plan writes them: `[step, recipe, duration_s, start_s]`."""

from __future__ import annotations

from typing import Final, NamedTuple

LATEST: Final = 10**9
"""Seconds."""


class Row(NamedTuple):
    """One piece of a step; a step that is not split is one piece."""

    step: int
    recipe: str
    duration: int
    start: int

    @property
    def end(self) -> int:
        return self.start + self.duration


Plan = tuple[Row, ...]
"""In order of execution. At the same moment whatever goes on alone is started first."""


def makespan(plan: Plan) -> int:
    return max((row.end for row in plan), default=0)
