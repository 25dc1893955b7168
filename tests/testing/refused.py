"""One of the sample trips, for sweeps of it alone."""

from __future__ import annotations

from tests.support.trips import SCENARIOS

TRIP = next(each for each in SCENARIOS if each.name == "refused")
