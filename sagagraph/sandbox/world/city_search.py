"""City search: by name, by a name that distinguishes namesakes, by other names, and by similar names."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache

from sagagraph.sandbox.world.cities import City, all_cities, cities_by_key
from sagagraph.sandbox.world.tables import rows

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "’": " ", "‘": " ", "ʻ": " ", "–": "-"})
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
_MOST_MATCHES = 10
_CLOSE_ENOUGH = 80


def name_key(name: str) -> str:
    """The name in comparable form: no case, accents or punctuation; empty where it is not in Latin letters."""
    lower = name.casefold()
    if not lower.isascii():
        folded = unicodedata.normalize("NFKD", lower.translate(_LETTERS))
        lower = "".join(letter for letter in folded if not unicodedata.combining(letter))
        if not lower.isascii():
            return ""
    return _BETWEEN_WORDS.sub(" ", lower).strip()


def find_city(name: str) -> City | None:
    """Finds a city by its name; a namesake by name and country, state or region (`Valencia, Spain`); or by another known name."""
    key = name_key(name)
    return _by_name().get(key) or _qualified(name) or cities_by_key().get(_other_names().get(key, ""))


def matching_cities(name: str) -> list[City]:
    """At most ten cities, the best first: exact matches, namesakes, cities whose name begins so, and similar names."""
    key = name_key(name)
    if not key:
        return []
    exact = [city for city in (find_city(name), cities_by_key().get(name.strip().upper())) if city]
    begin = (city for known, city in _by_name().items() if known.startswith(key))
    found = dict.fromkeys([*exact, *_namesakes().get(key, ()), *begin])
    if len(found) < _MOST_MATCHES:
        found |= dict.fromkeys(_similar(key))
    return list(found)[:_MOST_MATCHES]


def _qualified(name: str) -> City | None:
    plain, _, qualifier = name.rpartition(",")
    wanted = name_key(qualifier)
    for city in _namesakes().get(name_key(plain), ()):
        if wanted and wanted in (name_key(city.country.name), city.country.code.lower(), name_key(city.region)):
            return city
    return None


def _similar(key: str) -> list[City]:
    from rapidfuzz import fuzz, process  # Imported here: only a misspelt name needs it.

    hits = process.extract(key, _by_name().keys(), scorer=fuzz.ratio, score_cutoff=_CLOSE_ENOUGH, limit=_MOST_MATCHES)
    return [_by_name()[hit[0]] for hit in sorted(hits, key=lambda hit: (-hit[1], -_by_name()[hit[0]].population))]


@cache
def _by_name() -> dict[str, City]:
    return {name_key(city.name): city for city in all_cities()}


@cache
def _namesakes() -> dict[str, list[City]]:
    """Cities by name without the distinguishing part, the biggest first."""
    found: dict[str, list[City]] = defaultdict(list)
    for city in all_cities():
        found[name_key(city.name.partition(",")[0])].append(city)
    return dict(found)


@cache
def _other_names() -> dict[str, str]:
    """The names by which a city is also known, and its key."""
    return {row[0]: row[1] for row in rows("other_names")}
