"""How many trips, and how far they are looked into."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    form: str
    requests: int
    most_trips: int
    """Of so many complete trips at most each one is looked at."""
    limit_s: float
    """No further request begins after that."""


FULL = Scale(form="full", requests=200, most_trips=1_000_000, limit_s=1_500.0)
QUICK = Scale(form="quick", requests=6, most_trips=5_000, limit_s=60.0)
