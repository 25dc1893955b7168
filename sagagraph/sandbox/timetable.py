"""Departures: when they are in the day, and what a journey's times are at both ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sagagraph.sandbox.chance import draw_between
from sagagraph.sandbox.cities import City

_FIRST_MINUTE, _LAST_MINUTE = 6 * 60, 22 * 60


def departure_minute(slot: int, slots: int, *about: object) -> int:
    """Minutes after midnight at which the `slot`-th of `slots` departures leaves: they share the day between them."""
    width = (_LAST_MINUTE - _FIRST_MINUTE) // slots
    minute = _FIRST_MINUTE + slot * width + draw_between(0, width - 1, "departure", slot, *about)
    return minute // 5 * 5


@dataclass(frozen=True)
class Times:
    """When a journey leaves and arrives, each in local time with its offset."""

    departs: datetime
    arrives: datetime
    minutes: int

    @classmethod
    def of(cls, origin: City, destination: City, day: date, leaves: int, minutes: int) -> Times:
        """`leaves`: minutes after midnight at the origin."""
        departs = datetime.combine(day, time(leaves // 60, leaves % 60), origin.zone)
        # Through UTC: adding to a local time would not see the clocks change on the way.
        arrives = (departs.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(destination.zone)
        return cls(departs, arrives, minutes)

    def facts(self) -> dict[str, Any]:
        return {
            "departs": self.departs.isoformat(),
            "arrives": self.arrives.isoformat(),
            "duration_minutes": self.minutes,
        }
