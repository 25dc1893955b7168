"""Price levels, distances, and draws with fixed results: the influence of country, city size, season and chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from hashlib import blake2b
from typing import NamedTuple, Protocol, TypeVar

from sagagraph.sandbox.world.cities import City

_SEED = "sagagraph-sandbox-1"
_T = TypeVar("_T")


def draw(*about: object) -> float:
    """Draw a number in [0, 1), always the same for the same things."""
    text = "|".join([_SEED, *map(str, about)])
    return int.from_bytes(blake2b(text.encode(), digest_size=6).digest()) / 2**48


def draw_between(low: int, high: int, *about: object) -> int:
    """Draw a whole number from `low` to `high`, both included."""
    return low + int(draw(*about) * (high - low + 1))


def pick(options: Sequence[_T], *about: object) -> _T:
    return options[int(draw(*about) * len(options))]


class Place(Protocol):
    """Place in degrees, north and east."""

    @property
    def latitude(self) -> float: ...

    @property
    def longitude(self) -> float: ...


class Spot(NamedTuple):
    latitude: float
    longitude: float


def distance_km(one: Place, other: Place) -> float:
    """Return the distance along the great circle."""
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
    """Return a hotel's price level here against the average city: rooms differ less than prices overall, and cost more in big
    cities.
    """
    if city.original:
        return city.original.hotel_level
    size = 0.92 + 0.12 * math.log10(max(city.population, 10_000) / 100_000)
    level = city.country.price_level
    return (0.45 + 0.6 * (_UNKNOWN_LEVEL if level is None else level)) * size


def season_factor(day: date, latitude: float) -> float:
    by_month = _NORTH if latitude > _TROPIC else _SOUTH if latitude < -_TROPIC else _TROPICS
    return by_month[day.month - 1]


def journey_factor(day: date, origin: Place, destination: Place) -> float:
    """Return the factor for the seasons of both ends."""
    return (season_factor(day, origin.latitude) + season_factor(day, destination.latitude)) / 2
