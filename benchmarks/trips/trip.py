"""What became of one request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.trips.requests import Asked


@dataclass(slots=True)
class Trip:
    """Times in seconds, prices in US dollars."""

    number: int
    stops: int
    continents: tuple[str, ...]
    """That of the origin first."""
    shape: str
    travellers: int
    status: str = ""
    plan_hash: str | None = None
    plan_s: float = 0.0
    judge_s: float = 0.0
    book_s: float = 0.0
    plan_calls: int = 0
    judge_calls: int = 0
    book_calls: int = 0
    legs: int = 0
    total: float | None = None
    """None where nothing was booked."""
    possible: int = 0
    """Complete trips that keep every wish but the budget."""
    check: str = ""
    """A `Check`."""
    edges: int = 0
    """With so many other budgets, that bind, it was planned again and compared with each possible trip."""
    faults: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, asked: Asked) -> Trip:
        body = asked.body
        return cls(asked.number, len(body["stops"]), asked.continents, _shape(body), body["travellers"])

    @property
    def saga_id(self) -> str:
        return f"trip-{self.number:03}"

    @property
    def line(self) -> str:
        times = ", ".join(
            f"{what} {took * 1000:.0f} ms"
            for what, took in (("plan", self.plan_s), ("judge", self.judge_s), ("book", self.book_s))
            if took
        )
        wrong = "".join(f"\n  WRONG: {fault}" for fault in self.faults)
        return f"{self.number:3} {self.stops} stops, {self.shape}: {self.status}, {times}; {self.check}, {self.possible:,}{wrong}"

    def as_json(self) -> dict[str, Any]:
        return {name: round(value, 5) if isinstance(value, float) else value for name, value in asdict(self).items()}


def _shape(body: Mapping[str, Any]) -> str:
    if body["return_to"] is None:
        return "one way"
    return "round trip" if body["return_to"] == body["origin"] else "open jaw"
