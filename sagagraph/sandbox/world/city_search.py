"""City search: a city by its unique name, in any case and without accents."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from sagagraph.sandbox.world.cities import City, all_cities

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "’": " ", "‘": " ", "ʻ": " ", "–": "-"})
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")


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
    return _by_name().get(name_key(name))


@cache
def _by_name() -> dict[str, City]:
    return {name_key(city.name): city for city in all_cities()}
