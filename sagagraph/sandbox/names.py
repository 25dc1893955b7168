"""Names of cities, as they are compared."""

from __future__ import annotations

import re
import unicodedata

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "’": " ", "‘": " ", "ʻ": " ", "–": "-"})
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")


def name_key(name: str) -> str:
    """No case, accents or punctuation; empty where a name is not written in Latin letters."""
    lower = name.casefold()
    if not lower.isascii():
        folded = unicodedata.normalize("NFKD", lower.translate(_LETTERS))
        lower = "".join(letter for letter in folded if not unicodedata.combining(letter))
        if not lower.isascii():
            return ""
    return _BETWEEN_WORDS.sub(" ", lower).strip()
