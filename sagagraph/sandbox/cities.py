"""The cities of the world and the airports that serve them.

They are read from tables (sagagraph/sandbox/atlas), which `python -m atlas` makes from GeoNames (CC BY 4.0, geonames.org) and a
list of airports: the world stays the same when those are updated.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from sagagraph.sandbox.first_cities import FIRST_CITIES, FirstCity
from sagagraph.sandbox.geometry import distance_km
from sagagraph.sandbox.hubs import HUBS
from sagagraph.sandbox.names import name_key
from sagagraph.sandbox.price_levels import UNKNOWN, price_levels

__all__ = ["Airport", "City", "airport_of", "all_cities", "borders", "city_of_key", "distance_km", "find_city", "matching_cities"]

_ATLAS = Path(__file__).with_name("atlas")
_MOST_MATCHES = 10
_CLOSE_ENOUGH = 80


@dataclass(frozen=True, slots=True, eq=False)
class City:
    """One object a city, so that they can be told apart by identity."""

    key: str
    """What ids of offers call it: the code of its airport if it is the biggest city there, its number at GeoNames otherwise."""
    name: str
    """No other city has this name: `Portland` is the biggest one, `Portland, Maine` another."""
    country: str
    country_code: str
    region: str
    """State or province; empty where it is not known."""
    population: int
    timezone: str
    latitude: float
    longitude: float
    airport: str
    """IATA code."""
    first: FirstCity | None
    """Set for those that the world began with."""

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def price_level(self) -> float:
        """What a hotel costs here against the average city: rooms differ less than all prices do, and big cities are dearer."""
        if self.first:
            return self.first.price_level
        size = 0.92 + 0.12 * math.log10(max(self.population, 10_000) / 100_000)
        return (0.45 + 0.6 * price_levels().get(self.country_code, UNKNOWN)) * size


@dataclass(frozen=True, slots=True, eq=False)
class Airport:
    code: str
    latitude: float
    longitude: float
    people: int
    """Who live in the cities that it serves."""
    first: FirstCity | None

    @property
    def is_hub(self) -> bool:
        return self.code in HUBS

    @property
    def is_worldwide_hub(self) -> bool:
        return HUBS.get(self.code, False)


def all_cities() -> tuple[City, ...]:
    """The biggest first."""
    return _world()[0]


def airport_of(city: City) -> Airport:
    return _world()[1][city.airport]


def airport_of_code(code: str) -> Airport:
    return _world()[1][code]


def city_of_key(key: str) -> City | None:
    return _by_key().get(key)


def find_city(name: str) -> City | None:
    """By its name, a namesake by name and country, state or region (`Valencia, Spain`), or by another name that it has."""
    key = name_key(name)
    return _by_name().get(key) or _qualified(name) or _by_key().get(_other_names().get(key, ""))


def matching_cities(name: str) -> list[City]:
    """At most ten, the best first: what it names, namesakes, cities whose name begins so, and similar names."""
    key = name_key(name)
    if not key:
        return []
    exact = [city for city in (find_city(name), _by_key().get(name.strip().upper())) if city]
    plain = _namesakes().get(key, ())
    begin = (city for known, city in _by_name().items() if known.startswith(key))
    found = dict.fromkeys([*exact, *plain, *begin])
    if len(found) < _MOST_MATCHES:
        found |= dict.fromkeys(_similar(key))
    return list(found)[:_MOST_MATCHES]


def borders() -> dict[str, frozenset[str]]:
    """By country, the countries that it borders on; all as ISO codes."""
    return {code: frozenset(neighbours.split()) for code, (_, neighbours) in _countries().items()}


def _qualified(name: str) -> City | None:
    plain, _, qualifier = name.rpartition(",")
    wanted = name_key(qualifier)
    for city in _namesakes().get(name_key(plain), ()):
        if wanted and wanted in (name_key(city.country), city.country_code.lower(), name_key(city.region)):
            return city
    return None


def _similar(key: str) -> list[City]:
    from rapidfuzz import fuzz, process  # Here, because only who misspells pays for it.

    hits = process.extract(key, _by_name().keys(), scorer=fuzz.ratio, score_cutoff=_CLOSE_ENOUGH, limit=_MOST_MATCHES)
    return [_by_name()[hit[0]] for hit in sorted(hits, key=lambda hit: (-hit[1], -_by_name()[hit[0]].population))]


@cache
def _by_name() -> dict[str, City]:
    return {name_key(city.name): city for city in all_cities()}


@cache
def _by_key() -> dict[str, City]:
    return {city.key: city for city in all_cities()}


@cache
def _namesakes() -> dict[str, tuple[City, ...]]:
    """By the name without what tells them apart, the biggest first."""
    found: dict[str, list[City]] = defaultdict(list)
    for city in all_cities():
        found[name_key(city.name.partition(",")[0])].append(city)
    return {key: tuple(cities) for key, cities in found.items()}


@cache
def _other_names() -> dict[str, str]:
    """Names by which a city is also known, and its key."""
    keys = {row[0]: city.key for row, city in zip(_rows("cities"), all_cities(), strict=True)}
    return {name: keys[number] for name, number in _rows("other_names")}


@cache
def _countries() -> dict[str, tuple[str, str]]:
    return {code: (name, neighbours) for code, name, neighbours in _rows("countries")}


@cache
def _world() -> tuple[tuple[City, ...], dict[str, Airport]]:
    cities: list[City] = []
    spots: dict[str, tuple[float, float, FirstCity | None]] = {}
    people: dict[str, int] = defaultdict(int)
    for number, name, code, region, population, timezone, latitude, longitude, airport, *spot in _rows("cities"):
        first = FIRST_CITIES.get((name, code))
        lat, lon = float(spot[0]), float(spot[1])
        is_main = airport not in spots
        if is_main:
            spots[airport] = lat, lon, first
        people[airport] += int(population)
        # The first cities stand where their airports are, as they always did.
        here = (lat, lon) if first else (float(latitude), float(longitude))
        cities.append(
            City(
                airport if is_main else number, name, _countries()[code][0], code, region, int(population), timezone, *here,
                airport, first,
            )
        )  # fmt: skip
    airports = {code: Airport(code, lat, lon, people[code], first) for code, (lat, lon, first) in spots.items()}
    return tuple(cities), airports


def _rows(table: str) -> list[list[str]]:
    text = (_ATLAS / f"{table}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]
