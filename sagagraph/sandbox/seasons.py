"""What the time of the year does to prices: summer is dear, and it is summer in the south when it is winter in the north."""

from __future__ import annotations

from datetime import date

_TROPIC = 23.4
_NORTH = (0.9, 0.9, 0.95, 1.05, 1.1, 1.2, 1.25, 1.25, 1.1, 1.0, 0.9, 1.1)
_SOUTH = (1.25, 1.2, 1.05, 1.0, 0.9, 0.9, 0.95, 0.9, 0.95, 1.05, 1.1, 1.25)
_TROPICS = (1.1, 1.05, 1.05, 1.0, 0.92, 0.95, 1.05, 1.05, 0.9, 0.92, 1.0, 1.15)


def season_factor(day: date, latitude: float) -> float:
    by_month = _NORTH if latitude > _TROPIC else _SOUTH if latitude < -_TROPIC else _TROPICS
    return by_month[day.month - 1]


def journey_factor(day: date, origin_latitude: float, destination_latitude: float) -> float:
    return (season_factor(day, origin_latitude) + season_factor(day, destination_latitude)) / 2
