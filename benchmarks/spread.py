"""A figure of many rounds: its median, and between what it lay."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Spread(NamedTuple):
    median: float
    low: float
    high: float

    def __format__(self, spec: str) -> str:
        if self.low == self.high:
            return f"{self.median:{spec}}"
        return f"{self.median:{spec}} ({self.low:{spec}} – {self.high:{spec}})"


def spread(figures: Sequence[float]) -> Spread | None:
    """None of nothing."""
    return Spread(statistics.median(figures), min(figures), max(figures)) if figures else None


def ratios(over: Sequence[float], under: Sequence[float]) -> list[float]:
    """Round by round: what slows a round down slows down both."""
    return [one / other for one, other in zip(over, under, strict=True)]
