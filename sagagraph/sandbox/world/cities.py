"""Cities and airports of the world."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

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
    """Return them by key, which is the code of their airport."""
    return {key: Original(region, hub != "", float(level)) for key, region, hub, level in rows("original_cities")}


@dataclass(frozen=True, slots=True)
class Country:
    code: str
    """ISO 3166."""
    name: str
    price_level: float | None
    """Prices relative to the United States; None if the source has no figure."""
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
    """City. There is one object per city, so that cities can be told apart by identity."""

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
    """Set for the original cities."""

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


def all_cities() -> tuple[City, ...]:
    """Return the cities, the biggest first."""
    return _world()[0]


def all_airports() -> dict[str, Airport]:
    """Return airports by code."""
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
    cities = []
    for key, name, country, _region, population, timezone, latitude, longitude, code, railway in table:
        original, airport = original_cities().get(key), airports[code]
        # The original cities are placed at their airports, as they always were.
        here = (airport.latitude, airport.longitude) if original else (float(latitude), float(longitude))
        cities.append(City(key, name, countries[country], int(population), timezone, *here, airport, railway, original))
    return tuple(cities), airports


_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "’": " ", "‘": " ", "ʻ": " ", "–": "-"})
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")


def name_key(name: str) -> str:
    """Return the name in comparable form: no case, accents or punctuation; empty if it is not in Latin letters."""
    lower = name.casefold()
    if not lower.isascii():
        folded = unicodedata.normalize("NFKD", lower.translate(_LETTERS))
        lower = "".join(letter for letter in folded if not unicodedata.combining(letter))
        if not lower.isascii():
            return ""
    return _BETWEEN_WORDS.sub(" ", lower).strip()


def find_city(name: str) -> City | None:
    return _by_name().get(name_key(name))


@cache
def _by_name() -> dict[str, City]:
    return {name_key(city.name): city for city in all_cities()}
