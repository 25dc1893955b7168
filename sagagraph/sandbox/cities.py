"""The cities of the world, their airports, and how far apart they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from zoneinfo import ZoneInfo


class Region(StrEnum):
    AMERICA = "America"
    EUROPE = "Europe"
    ASIA = "Asia"


@dataclass(frozen=True)
class City:
    name: str
    country: str
    region: Region
    airport: str
    """IATA code."""
    is_hub: bool
    """Flights to other continents start here."""
    price_level: float
    """What a hotel costs here against the average city."""
    timezone: str
    latitude: float
    longitude: float

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


_A, _E, _J = Region.AMERICA, Region.EUROPE, Region.ASIA
_TABLE = (
    ("San Francisco", "United States", _A, "SFO", True, 1.35),
    ("Los Angeles", "United States", _A, "LAX", True, 1.25),
    ("Seattle", "United States", _A, "SEA", False, 1.1),
    ("Chicago", "United States", _A, "ORD", True, 1.1),
    ("Boston", "United States", _A, "BOS", False, 1.3),
    ("New York", "United States", _A, "JFK", True, 1.5),
    ("Washington", "United States", _A, "IAD", False, 1.15),
    ("London", "United Kingdom", _E, "LHR", True, 1.4),
    ("Paris", "France", _E, "CDG", True, 1.35),
    ("Amsterdam", "Netherlands", _E, "AMS", True, 1.25),
    ("Brussels", "Belgium", _E, "BRU", False, 1.0),
    ("Berlin", "Germany", _E, "BER", False, 0.9),
    ("Cologne", "Germany", _E, "CGN", False, 0.85),
    ("Munich", "Germany", _E, "MUC", True, 1.1),
    ("Hamburg", "Germany", _E, "HAM", False, 0.95),
    ("Frankfurt", "Germany", _E, "FRA", True, 1.0),
    ("Vienna", "Austria", _E, "VIE", False, 0.95),
    ("Zurich", "Switzerland", _E, "ZRH", True, 1.4),
    ("Rome", "Italy", _E, "FCO", False, 1.05),
    ("Milan", "Italy", _E, "MXP", False, 1.1),
    ("Madrid", "Spain", _E, "MAD", True, 0.95),
    ("Barcelona", "Spain", _E, "BCN", False, 1.05),
    ("Lisbon", "Portugal", _E, "LIS", False, 0.85),
    ("Prague", "Czechia", _E, "PRG", False, 0.75),
    ("Copenhagen", "Denmark", _E, "CPH", False, 1.2),
    ("Tokyo", "Japan", _J, "HND", True, 1.15),
)


@cache
def all_cities() -> tuple[City, ...]:
    """Every city; coordinates and time zone are those of its airport."""
    import airportsdata  # Here, because it brings a large table: only who asks for places pays for it.

    airports = airportsdata.load("IATA")
    return tuple(
        City(
            name, country, region, code, is_hub, price_level,
            airports[code]["tz"], airports[code]["lat"], airports[code]["lon"],
        )
        for name, country, region, code, is_hub, price_level in _TABLE
    )  # fmt: skip


def find_city(name: str) -> City | None:
    """The city of this English name, in capitals or not."""
    return _by_name().get(name.strip().casefold())


def city_of_airport(code: str) -> City | None:
    return _by_airport().get(code)


@cache
def _by_name() -> dict[str, City]:
    return {city.name.casefold(): city for city in all_cities()}


@cache
def _by_airport() -> dict[str, City]:
    return {city.airport: city for city in all_cities()}


def distance_km(one: City, other: City) -> float:
    """Along the great circle."""
    lat_1, lat_2 = math.radians(one.latitude), math.radians(other.latitude)
    half_lat, half_lon = (lat_2 - lat_1) / 2, math.radians(other.longitude - one.longitude) / 2
    h = math.sin(half_lat) ** 2 + math.cos(lat_1) * math.cos(lat_2) * math.sin(half_lon) ** 2
    return 2 * 6371.0 * math.asin(math.sqrt(h))
