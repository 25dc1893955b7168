"""Distances between places on the globe."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol


class Place(Protocol):
    """In degrees, north and east."""

    @property
    def latitude(self) -> float: ...

    @property
    def longitude(self) -> float: ...


class Spot(NamedTuple):
    latitude: float
    longitude: float


def distance_km(one: Place, other: Place) -> float:
    """Along the great circle."""
    lat_1, lat_2 = math.radians(one.latitude), math.radians(other.latitude)
    half_lat, half_lon = (lat_2 - lat_1) / 2, math.radians(other.longitude - one.longitude) / 2
    h = math.sin(half_lat) ** 2 + math.cos(lat_1) * math.cos(lat_2) * math.sin(half_lon) ** 2
    return 2 * 6371.0 * math.asin(min(1.0, math.sqrt(h)))
