"""Tongues: German, French and Spanish, recognised by their commonest words, and answered in the same language."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from sagagraph.language.forms import Forms


class Tongue(StrEnum):
    """Tongue that is recognised; without a model, nothing written in it is read."""

    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"


_SAYS: Final = Forms(__file__, "tongues")
_WORDS: Final = {tongue: _SAYS.listed(tongue.name) for tongue in Tongue}
_ENGLISH: Final = _SAYS.listed("ENGLISH")
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_NAME: Final = re.compile(
    r"\b[A-Z]\w+[ -](?:de|del|di|da|do|dos|sur|am|an der)(?: (?:la|las|los))? [A-Z]\w+|\b(?:El|Los|Las|La|Le|Les) [A-Z]\w+"
)
"""`Rio de Janeiro`, `Las Palmas`: no language follows from a name."""
_SHORT: Final = 3
"""In fewer words, a single one decides."""


def tongue_of(text: str) -> Tongue | None:
    """Return the language, if it is surely one of these; None for English, and for what is too short to tell."""
    said = [word.casefold() for word in _WORD.findall(_NAME.sub(" ", text.replace("’", "'")))]
    hits = {tongue: len({*said} & common) for tongue, common in _WORDS.items()}
    tongue = max(hits, key=lambda each: hits[each])
    is_enough = hits[tongue] > 1 or (hits[tongue] == 1 and len(said) <= _SHORT - 1)
    return tongue if is_enough and hits[tongue] > len({*said} & _ENGLISH) else None
