"""The cities that can be travelled to, and the many ways to write their names."""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import airportsdata
from pydantic import BaseModel, ConfigDict
from rapidfuzz import fuzz, process

from sagagraph.errors import InvalidInputError

EARTH_RADIUS_KM: Final = 6371.0
CLOSE_ENOUGH_TO_SUGGEST: Final = 65
CLOSE_ENOUGH_TO_BE_A_MISSPELLING: Final = 82

OTHER_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "athina": "Athens",
        "barna": "Barcelona",
        "beograd": "Belgrade",
        "bombay": "Mumbai",
        "brussel": "Brussels",
        "bruxelles": "Brussels",
        "bucuresti": "Bucharest",
        "cdmx": "Mexico City",
        "ciudad de mexico": "Mexico City",
        "firenze": "Florence",
        "frankfurt am main": "Frankfurt",
        "frisco": "San Francisco",
        "geneve": "Geneva",
        "genf": "Geneva",
        "genova": "Genoa",
        "kobenhavn": "Copenhagen",
        "koeln": "Cologne",
        "koln": "Cologne",
        "la": "Los Angeles",
        "lisboa": "Lisbon",
        "mailand": "Milan",
        "milano": "Milan",
        "moskva": "Moscow",
        "muenchen": "Munich",
        "munchen": "Munich",
        "napoli": "Naples",
        "new delhi": "Delhi",
        "new york city": "New York",
        "nizza": "Nice",
        "ny": "New York",
        "nyc": "New York",
        "peking": "Beijing",
        "praha": "Prague",
        "prag": "Prague",
        "rio": "Rio de Janeiro",
        "roma": "Rome",
        "rom": "Rome",
        "saigon": "Ho Chi Minh City",
        "san fran": "San Francisco",
        "sf": "San Francisco",
        "sevilla": "Seville",
        "st petersburg": "Saint Petersburg",
        "torino": "Turin",
        "venezia": "Venice",
        "vegas": "Las Vegas",
        "warszawa": "Warsaw",
        "washington dc": "Washington",
        "wien": "Vienna",
        "zuerich": "Zurich",
    }
)

METROPOLITAN_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "BUE": "Buenos Aires",
        "CHI": "Chicago",
        "EWR": "New York",
        "LON": "London",
        "MIL": "Milan",
        "MOW": "Moscow",
        "NYC": "New York",
        "OSA": "Osaka",
        "PAR": "Paris",
        "RIO": "Rio de Janeiro",
        "ROM": "Rome",
        "SAO": "São Paulo",
        "SEL": "Seoul",
        "STO": "Stockholm",
        "TYO": "Tokyo",
        "WAS": "Washington",
        "YTO": "Toronto",
    }
)


class City(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str
    country: str
    airport: str
    timezone: str
    latitude: float
    longitude: float

    def distance_km(self, other: "City") -> float:
        """Along the great circle."""
        here, there = math.radians(self.latitude), math.radians(other.latitude)
        across = math.radians(other.longitude - self.longitude)
        haversine = math.sin((there - here) / 2) ** 2 + math.cos(here) * math.cos(there) * math.sin(across / 2) ** 2
        return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(haversine)))


class Gazetteer:
    """Every city by every name of it. What is only close to a name is suggested, never taken."""

    def __init__(self, cities: Iterable[City]) -> None:
        self.cities: tuple[City, ...] = tuple(cities)
        self._by_name = {name_key(city.name): city for city in self.cities}
        for other, name in OTHER_NAMES.items():
            if (city := self._by_name.get(name_key(name))) is not None:
                self._by_name.setdefault(other, city)
        self._by_code = self._codes()

    @property
    def longest_name_words(self) -> int:
        return max((name.count(" ") + 1 for name in self._by_name), default=0)

    def find(self, name: str) -> City | None:
        """By name, other name or airport code, whatever its case and accents."""
        return self.find_name(name) or self.find_code(name)

    def find_name(self, name: str) -> City | None:
        return self._by_name.get(name_key(name))

    def find_code(self, code: str) -> City | None:
        return self._by_code.get(code.strip().upper())

    def require(self, name: str, *, field: str) -> City:
        """
        Raises:
            InvalidInputError: there is no such city; the message names it and those that are close.
        """
        if (city := self.find(name)) is None:
            raise InvalidInputError(self.unknown(name), field=field)
        return city

    def unknown(self, name: str) -> str:
        """One line for a person who named a city that does not exist here."""
        in_country = [city.name for city in self.cities if name_key(city.country) == name_key(name)]
        if in_country:
            return f"{name} is a country, with {', '.join(sorted(in_country)[:5])}"
        close = self.suggestions(name)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        return f"no city called {name[:60]!r} is known{hint}"

    def suggestions(self, name: str) -> tuple[str, ...]:
        """Up to three cities with a similar name, the most similar first."""
        return self._similar(name, CLOSE_ENOUGH_TO_SUGGEST)

    def misspelling_of(self, name: str) -> str | None:
        """The city that `name` almost spells; None where it is rather another word."""
        return next(iter(self._similar(name, CLOSE_ENOUGH_TO_BE_A_MISSPELLING)), None)

    def zone(self, name: str) -> ZoneInfo | None:
        """The time zone of a city; None where the city or its zone is not known."""
        city = self.find_name(name)
        if city is None:
            return None
        try:
            return ZoneInfo(city.timezone)
        except (ZoneInfoNotFoundError, ValueError):
            return None

    def _similar(self, name: str, at_least: float) -> tuple[str, ...]:
        hits = process.extract(name_key(name), self._by_name.keys(), scorer=fuzz.ratio, score_cutoff=at_least, limit=12)
        ranked = sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        return tuple(dict.fromkeys(self._by_name[key].name for key, _, _ in ranked))[:3]

    def _codes(self) -> dict[str, City]:
        codes = {city.airport.upper(): city for city in self.cities}
        for code, name in METROPOLITAN_CODES.items():
            if (city := self.find_name(name)) is not None:
                codes.setdefault(code, city)
        for city in self.cities:
            for code in _airports_by_place().get((name_key(city.name), city.timezone), ()):
                codes.setdefault(code, city)
        return codes


def name_key(name: str) -> str:
    """What a name is compared by: no case, accents, hyphens, dots or doubled spaces."""
    decomposed = unicodedata.normalize("NFKD", name.casefold().replace("ø", "o").replace("ł", "l"))
    letters = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(re.sub(r"[^\w]+", " ", letters).split())


@cache
def _airports_by_place() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """IATA codes by (city, time zone): the zone tells London from London, Ontario."""
    places: dict[tuple[str, str], list[str]] = {}
    for code, airport in airportsdata.load("IATA").items():
        places.setdefault((name_key(airport["city"]), airport["tz"]), []).append(code)
    return {place: tuple(sorted(codes)) for place, codes in places.items()}
