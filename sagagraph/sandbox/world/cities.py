"""Cities and airports of the world."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from zoneinfo import ZoneInfo

from sagagraph.sandbox.world.original_cities import Original, original_cities
from sagagraph.sandbox.world.tables import rows


@dataclass(frozen=True, slots=True)
class Country:
    code: str
    """ISO 3166."""
    name: str
    price_level: float | None
    """Prices relative to the United States; None where the source has no figure."""
    neighbours: frozenset[str]
    """Codes of the bordering countries."""


@dataclass(frozen=True, slots=True, eq=False)
class Airport:
    code: str
    """IATA."""
    latitude: float
    longitude: float
    is_hub: bool
    """Whether connections change here."""
    is_worldwide_hub: bool
    """Whether intercontinental flights start here."""
    people: int
    """The population of the cities that it serves."""
    original: Original | None


@dataclass(frozen=True, slots=True, eq=False)
class City:
    """One object per city, so that cities can be told apart by identity."""

    key: str
    """Its name in offers' ids: its airport's code if it is the biggest city there, its GeoNames number otherwise."""
    name: str
    """Unique among cities: `Portland` is the biggest one, `Portland, Maine` another."""
    country: Country
    population: int
    timezone: str
    latitude: float
    longitude: float
    airport: Airport
    railway: str
    """The network whose trains stop here; empty where none do."""
    original: Original | None
    """Set for the cities that the world began with."""

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


def all_cities() -> tuple[City, ...]:
    """The biggest first."""
    return _world()[0]


def all_airports() -> dict[str, Airport]:
    """Airports by code."""
    return _world()[1]


@cache
def hubs() -> tuple[Airport, ...]:
    return tuple(airport for airport in all_airports().values() if airport.is_hub)


@cache
def cities_by_key() -> dict[str, City]:
    return {city.key: city for city in all_cities()}


@cache
def _world() -> tuple[tuple[City, ...], dict[str, Airport]]:
    table = rows("cities")
    people: dict[str, int] = defaultdict(int)
    for _, _, _, _, population, _, _, _, code, _ in table:
        people[code] += int(population)
    airports = {
        code: Airport(
            code, float(latitude), float(longitude), hub != "", hub == "worldwide", people[code], original_cities().get(code)
        )
        for code, latitude, longitude, hub in rows("airports")
    }
    countries = {
        code: Country(code, name, float(level) if level else None, frozenset(neighbours.split()))
        for code, name, level, neighbours in rows("countries")
    }
    return tuple(_city(row, countries, airports) for row in table), airports


def _city(row: list[str], countries: dict[str, Country], airports: dict[str, Airport]) -> City:
    key, name, country, _region, population, timezone, latitude, longitude, code, railway = row
    original, airport = original_cities().get(key), airports[code]
    # The original cities are placed at their airports, as they always were.
    here = (airport.latitude, airport.longitude) if original else (float(latitude), float(longitude))
    return City(key, name, countries[country], int(population), timezone, *here, airport, railway, original)
