"""Price levels: what the country, the size of a city and the time of the year do to prices."""

from __future__ import annotations

import math
from datetime import date
from typing import NamedTuple, Protocol

from sagagraph.sandbox.world.cities import City


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


_UNKNOWN_LEVEL = 0.5
_TROPIC = 23.4
# By month. Summer in the south is winter in the north.
_NORTH = (0.9, 0.9, 0.95, 1.05, 1.1, 1.2, 1.25, 1.25, 1.1, 1.0, 0.9, 1.1)
_SOUTH = (1.25, 1.2, 1.05, 1.0, 0.9, 0.9, 0.95, 0.9, 0.95, 1.05, 1.1, 1.25)
_TROPICS = (1.1, 1.05, 1.05, 1.0, 0.92, 0.95, 1.05, 1.05, 0.9, 0.92, 1.0, 1.15)


def hotel_level(city: City) -> float:
    """A hotel's price here against the average city: rooms differ less than prices overall, and big cities are dearer."""
    if city.original:
        return city.original.hotel_level
    size = 0.92 + 0.12 * math.log10(max(city.population, 10_000) / 100_000)
    level = city.country.price_level
    return (0.45 + 0.6 * (_UNKNOWN_LEVEL if level is None else level)) * size


def season_factor(day: date, latitude: float) -> float:
    by_month = _NORTH if latitude > _TROPIC else _SOUTH if latitude < -_TROPIC else _TROPICS
    return by_month[day.month - 1]


def journey_factor(day: date, origin: Place, destination: Place) -> float:
    """The seasons of both ends."""
    return (season_factor(day, origin.latitude) + season_factor(day, destination.latitude)) / 2
