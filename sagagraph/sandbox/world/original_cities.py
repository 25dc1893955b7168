"""Original cities: the 26 that the world began with. What they offer one another never changes: saved trips name it."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from sagagraph.sandbox.world.tables import rows

HAVE_FLIGHTS_TO_ALL = frozenset({"LHR", "FRA"})
"""Cities with flights to all other original cities, so that every pair has a connection."""
LONG_HAUL_WITHOUT_HUB = (frozenset({"SFO", "BER"}), frozenset({"JFK", "BER"}), frozenset({"BOS", "LIS"}))


class Original(NamedTuple):
    region: str
    is_hub: bool
    """Whether intercontinental flights start here."""
    hotel_level: float
    """A hotel's price here against the average city."""


@cache
def original_cities() -> dict[str, Original]:
    """By key, which is the code of their airport."""
    return {key: Original(region, hub != "", float(level)) for key, region, hub, level in rows("original_cities")}
