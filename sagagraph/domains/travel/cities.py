"""Cities that can be travelled to, and the many ways to write their names."""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import airportsdata
from pydantic import BaseModel
from rapidfuzz import fuzz, process

from sagagraph.errors import InvalidInputError
from sagagraph.language.forms import Forms

EARTH_RADIUS_KM: Final = 6371.0
OVER_AN_OCEAN: Final = 55
"""Degrees of longitude."""
FAR_KM: Final = 4500
CLOSE_ENOUGH_TO_SUGGEST: Final = 65
CLOSE_ENOUGH_TO_BE_A_MISSPELLING: Final = 82
LONGEST_NAME: Final = 200
"""Characters, with the state or country."""
WELL_KNOWN: Final = 1500
"""This many cities, from the front of the provider's list, which begins with the biggest."""
_BETWEEN_WORDS: Final = re.compile(r"[^\w]+")

MEANT_BY_THEIR_NAME: Final = frozenset(
    {"Athens", "Barcelona", "Florence", "London", "Manchester", "Paris", "Vancouver", "Venice"}
)
"""Cities so well known that their name never means another city, however many people live there."""
SMALLEST_SHARE: Final = 0.08
"""Share of a city's people: a namesake with fewer is not meant by the plain name."""

_NAMES: Final = Forms(__file__, "names")
"""By the names of cities, in `forms.ini`; codes are in capitals."""


class City(BaseModel, frozen=True):
    name: str
    country: str
    airport: str
    timezone: str
    latitude: float
    longitude: float
    population: int | None = None
    """None: not known."""

    @property
    def plain_name(self) -> str:
        """Return `Portland` for `Portland, Maine`."""
        return self.name.split(", ")[0]

    def distance_km(self, other: "City") -> float:
        """Return the distance along the great circle."""
        here, there = math.radians(self.latitude), math.radians(other.latitude)
        across = math.radians(other.longitude - self.longitude)
        haversine = math.sin((there - here) / 2) ** 2 + math.cos(here) * math.cos(there) * math.sin(across / 2) ** 2
        return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(haversine)))


class Gazetteer:
    """Gazetteer: every city by all its names. A name that is only similar is suggested, never assumed."""

    def __init__(self, cities: Iterable[City]) -> None:
        """Build the gazetteer. `cities`: the most important first."""
        self.cities: tuple[City, ...] = tuple(cities)

    def longest_name_from(self, first_word: str) -> int:
        """Return how many words the longest name that begins with this one has; 0 if there is none."""
        first = name_key(first_word).partition(" ")[0]
        return self._most_words.get(first, 0)

    def namesakes(self, city: City, said: str) -> tuple[City, ...]:
        """Return the cities that this plain name can also mean: namesakes that are not tiny in comparison."""
        if city.name in MEANT_BY_THEIR_NAME or name_key(said) != name_key(city.name):
            return ()
        others = [other for other in self._namesakes.get(name_key(city.name), ()) if other.name != city.name]
        smallest = SMALLEST_SHARE * (city.population or 0)
        return tuple(other for other in others if not other.population or other.population >= smallest)

    def find(self, name: str) -> City | None:
        """Find a city by name, other name or airport code, whatever its case and accents."""
        return self.find_name(name) or self.find_code(name)

    def find_name(self, name: str) -> City | None:
        return self._by_name.get(name_key(name))

    def find_code(self, code: str) -> City | None:
        return self._by_code.get(code.strip().upper())

    def require(self, name: str, *, field: str) -> City:
        """Return the city.

        Raises:
            InvalidInputError: there is no such city; the message names it and similar ones.
        """
        if (city := self.find(name)) is None:
            raise InvalidInputError(self.unknown(name), field=field)
        return city

    def unknown(self, name: str) -> str:
        """Return one line for a person who named a city that does not exist here."""
        key = name_key(name)
        if key in self._countries:
            in_country = [city.name for city in self.cities if name_key(city.country) == key]
            return f"{name} is a country, with {', '.join(in_country[:5])}"
        close = self.suggestions(name)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        return f"no city called {name[:60]!r} is known{hint}"

    def suggestions(self, name: str) -> tuple[str, ...]:
        """Return up to three cities with a similar name, the most similar first; well-known ones, if it almost spells one."""
        likely = self._similar(name, CLOSE_ENOUGH_TO_BE_A_MISSPELLING, among=self._well_known)
        return likely or self._similar(name, CLOSE_ENOUGH_TO_SUGGEST, among=self._by_name)

    def misspelling_of(self, name: str) -> str | None:
        """Return the city that `name` almost spells; None if it is more likely another word."""
        if name_key(name) in self._countries:
            return None
        return next(iter(self._similar(name, CLOSE_ENOUGH_TO_BE_A_MISSPELLING, among=self._well_known)), None)

    def zone(self, name: str) -> ZoneInfo | None:
        """Return the time zone of a city; None if the city or its zone is not known."""
        city = self.find_name(name)
        if city is None:
            return None
        try:
            return ZoneInfo(city.timezone)
        except (ZoneInfoNotFoundError, ValueError):
            return None

    def takes_a_night(self, here: str, there: str) -> bool:
        """Tell whether one of the journeys there and back takes a night, as those over oceans do."""
        one, other = self.find_name(here), self.find_name(there)
        if one is None or other is None:
            return False
        turn = abs(one.longitude - other.longitude)
        return min(turn, 360 - turn) >= OVER_AN_OCEAN and one.distance_km(other) >= FAR_KM

    @cached_property
    def _by_name(self) -> dict[str, City]:
        """Return cities by name, built at the first look-up: resuming a saga needs no look-up."""
        cities = {name_key(city.name): city for city in self.cities}
        for name in _NAMES:
            if (city := cities.get(name_key(name))) is not None:
                for other in filter(str.islower, _NAMES.phrase(name).split(", ")):
                    cities[other] = max(cities.get(other, city), city, key=lambda each: each.population or 0)
        return cities

    @cached_property
    def _most_words(self) -> dict[str, int]:
        most: dict[str, int] = {}
        for name in self._by_name:
            first = name.partition(" ")[0]
            most[first] = max(most.get(first, 0), name.count(" ") + 1)
        return most

    @cached_property
    def _namesakes(self) -> dict[str, list[City]]:
        namesakes: dict[str, list[City]] = {}
        for city in self.cities:
            namesakes.setdefault(name_key(city.plain_name), []).append(city)
        for name in _NAMES:
            for other in _NAMES.phrase(name).split(", "):
                namesakes.get(other, []).extend(city for city in self.cities if city.name == name)
        return namesakes

    @cached_property
    def _well_known(self) -> dict[str, City]:
        """Limit the candidates to well-known cities: among all names of the world nearly every word would be similar to one."""
        known = {city.name for city in self.cities[:WELL_KNOWN]}
        return {key: city for key, city in self._by_name.items() if city.name in known}

    @cached_property
    def _countries(self) -> frozenset[str]:
        return frozenset(name_key(country) for country in {city.country for city in self.cities})

    def _similar(self, name: str, at_least: float, *, among: Mapping[str, City]) -> tuple[str, ...]:
        hits = process.extract(name_key(name[:LONGEST_NAME]), among.keys(), scorer=fuzz.ratio, score_cutoff=at_least, limit=12)
        ranked = sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        return tuple(dict.fromkeys(self._by_name[key].name for key, _, _ in ranked))[:3]

    @cached_property
    def _by_code(self) -> dict[str, City]:
        """Return cities by code, built at the first look-up: reading the world's airports takes longer than most requests."""
        codes: dict[str, City] = {}
        for served in self.cities:  # a code means the first of its airport's cities
            codes.setdefault(served.airport.upper(), served)
        for name in _NAMES:
            if (city := self.find_name(name)) is not None:
                codes.update((code, codes.get(code, city)) for code in _NAMES.phrase(name).split(", ") if code.isupper())
        for city in self.cities:
            for code in _airports_by_place().get((name_key(city.name), city.timezone), ()):
                codes.setdefault(code, city)
        return codes


def name_key(name: str) -> str:
    """Return the form in which names are compared: no case, accents, hyphens, dots or doubled spaces."""
    if name.isascii():
        return " ".join(_BETWEEN_WORDS.split(name.lower())).strip()
    decomposed = unicodedata.normalize("NFKD", name.casefold().replace("ø", "o").replace("ł", "l"))
    letters = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(_BETWEEN_WORDS.split(letters)).strip()


@cache
def _airports_by_place() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return IATA codes by (city, time zone): the zone tells London from London, Ontario."""
    places: dict[tuple[str, str], list[str]] = {}
    for code, airport in airportsdata.load("IATA").items():
        places.setdefault((name_key(airport["city"]), airport["tz"]), []).append(code)
    return {place: tuple(sorted(codes)) for place, codes in places.items()}
