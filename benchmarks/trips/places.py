"""The cities that requests are made of: the biggest of five continents, as the provider lists them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import asin, cos, radians, sin, sqrt
from typing import Any

CONTINENTS = ("Africa", "America", "Asia", "Europe", "Oceania")
OF_EACH = 300
_BY_ZONE = {
    "Africa": "Africa",
    "America": "America",
    "Asia": "Asia",
    "Europe": "Europe",
    "Australia": "Oceania",
    "Pacific": "Oceania",
}


@dataclass(frozen=True, slots=True)
class Place:
    name: str
    country: str
    continent: str
    latitude: float
    longitude: float

    def kilometres_to(self, other: Place) -> float:
        here, there = radians(self.latitude), radians(other.latitude)
        across = radians(other.longitude - self.longitude)
        chord = sin((there - here) / 2) ** 2 + cos(here) * cos(there) * sin(across / 2) ** 2
        return 12_742 * asin(min(1.0, sqrt(chord)))


@dataclass(frozen=True)
class Places:
    """`every`: the biggest first."""

    every: tuple[Place, ...]
    _near: dict[tuple[str, int], tuple[Place, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, cities: Iterable[Any]) -> Places:
        """`cities`: the provider's, the biggest first. By its time zone a city is on a continent, or in none of the five."""
        kept: dict[str, list[Place]] = {continent: [] for continent in CONTINENTS}
        for city in cities:
            continent = continent_of(city.timezone)
            if continent is not None and len(kept[continent]) < OF_EACH:
                kept[continent].append(Place(city.name, city.country, continent, city.latitude, city.longitude))
        return cls(tuple(place for places in kept.values() for place in places))

    def on(self, continent: str) -> Sequence[Place]:
        return [place for place in self.every if place.continent == continent]

    def within(self, kilometres: int, of: Place) -> Sequence[Place]:
        key = (of.name, kilometres)
        if key not in self._near:
            self._near[key] = tuple(place for place in self.every if place != of and of.kilometres_to(place) <= kilometres)
        return self._near[key]


def continent_of(timezone: str) -> str | None:
    return _BY_ZONE.get(timezone.partition("/")[0])
