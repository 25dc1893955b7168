"""What is made of the trips of a run: counts, medians and ninth deciles. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.trips.comparison import Check

Trip = dict[str, Any]
"""As it stands in trips.json."""

STAGES = (("plan", "to plan"), ("judge", "to judge"), ("book", "to book"))
CHECKED = (Check.EACH, Check.SHORTEST, Check.NONE)
"""What shows the planner's answer to be right."""


def with_status(trips: Iterable[Trip], status: str) -> list[Trip]:
    return [trip for trip in trips if trip["status"] == status]


def others(trips: Iterable[Trip]) -> list[Trip]:
    """Neither booked nor infeasible: there must be none."""
    return [trip for trip in trips if trip["status"] not in ("committed", "infeasible")]


def milliseconds(trips: Iterable[Trip], stage: str) -> list[float]:
    """Of those that came so far."""
    return [trip[f"{stage}_s"] * 1000 for trip in trips if trip[f"{stage}_s"]]


def calls(trips: Iterable[Trip], stage: str) -> list[float]:
    return [float(trip[f"{stage}_calls"]) for trip in trips if trip[f"{stage}_calls"]]


def totals(trips: Iterable[Trip]) -> list[float]:
    return [trip["total"] for trip in trips if trip["total"] is not None]


def share(figures: Sequence[float], tenths: int) -> float | None:
    """What so many tenths of them are not above; None of nothing."""
    if len(figures) < 2:
        return figures[0] if figures else None
    return statistics.quantiles(figures, n=10, method="inclusive")[tenths - 1]


def grouped(trips: Iterable[Trip], by: Callable[[Trip], Any]) -> dict[Any, list[Trip]]:
    found: dict[Any, list[Trip]] = {}
    for trip in sorted(trips, key=by):
        found.setdefault(by(trip), []).append(trip)
    return found


def wrong(found: dict[str, Any]) -> list[str]:
    """Everything that a run has to be ashamed of, a line each."""
    lines = [f"request {trip['number']}: {fault}" for trip in found["trips"] for fault in trip["faults"]]
    lines += [f"the ledger has {each}" for each in found["strangers"]]
    return lines + ([f"{found['left_out']} requests were not begun in time"] if found["left_out"] else [])
