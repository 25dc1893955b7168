"""The trips that are struck: round trip and one way, two stops and three, with money to spare and with hardly any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.repair.disruptions import pairs, singles
from tests.support.trips import REQUEST

if TYPE_CHECKING:
    from benchmarks.repair.disruptions import Disruption


@dataclass(frozen=True)
class Trip:
    name: str
    request: dict[str, Any]
    kinds: tuple[str, ...]
    """Of its bookings, as they are planned."""
    starts_again: bool = False
    """Whether it is measured against cancelling everything, too."""

    def disruptions(self) -> list[Disruption]:
        return [*singles(self.kinds), *pairs(self.kinds)]


_TWO_STOPS = ("flight", "hotel", "train", "hotel", "flight")
_THREE_STOPS: dict[str, Any] = {
    "origin": "London",
    "stops": [{"city": "Paris", "nights": 2}, {"city": "Amsterdam", "nights": 2}, {"city": "Berlin", "nights": 1}],
    "return_to": "London",
    "depart": "2025-05-08",
    "travellers": 2,
    "budget": 1400,
    "currency": "EUR",
    "stars": [3, 4],
}
_ONE_WAY: dict[str, Any] = {
    "origin": "Tokyo",
    "stops": [{"city": "Paris", "nights": 3}, {"city": "Cologne", "nights": 2}],
    "return_to": None,
    "depart": "2025-06-04",
    "travellers": 2,
    "budget": 3900,
    "stars": [3, 5],
    "direct": "required",
    "hours": {"depart": {"earliest": "07:00"}},
}

TRIPS = (
    Trip("San Francisco, Berlin, Cologne and back; $5,000, planned at $1,891", REQUEST, _TWO_STOPS, starts_again=True),
    Trip("Tokyo, Paris, Cologne, one way, for two; $3,900, planned at $3,718", _ONE_WAY, _TWO_STOPS[:4], starts_again=True),
    Trip("San Francisco, Berlin, Cologne and back; $1,960, planned at $1,891", {**REQUEST, "budget": 1960}, _TWO_STOPS),
    Trip("the same; $1,900, planned at $1,891", {**REQUEST, "budget": 1900}, _TWO_STOPS),
    Trip(
        "London, Paris, Amsterdam, Berlin and back, for two; 1,400 EUR, planned at 1,384.12 EUR",
        _THREE_STOPS,
        ("train", "hotel", "train", "hotel", "train", "hotel", "flight"),
    ),
)
