"""Shorthand: what people type in a hurry, written out (`b4`, `thats`, `w/ my gf`), and typing mistakes in common words."""

from __future__ import annotations

import re
from calendar import day_name, month_name
from difflib import get_close_matches
from functools import cache
from typing import Final

from sagagraph.language.forms import Forms

_SAYS: Final = Forms(__file__, "shorthand")
_IN_FULL: Final = dict(each.split(":") for each in _SAYS.text("WRITTEN_OUT").split(","))
_SHORT: Final = re.compile(
    rf"\b(?:{'|'.join(_IN_FULL)})\b(?!['-])|"
    r"(?P<were>(?:^|(?<=[.!?] ))were(?= (?:\w+ing|a|two|three|four|five)\b))|"
    r"\b(?P<verb>do|does|did|ca|wo|is|are|was|were|has|have|would|could|should|ai)nt\b"
    r"|(?P<age>(?<=\d) ?y/?o\b)"
    r"|(?P<for>(?<!for )\b4 (?=(?-i:us|me)\b(?! ?\$| dollars)))"
    r"|(?P<with>\bw(?:/|(?= (?:my|the|our|his|her|him|them)\b)))(?P<out>o\b)? ?"
    r"|(?<=[a-z\d]) (?:n|'n'|n')(?= [a-z\d])",
    re.IGNORECASE,
)
_LETTERS: Final = re.compile(r"(?<![^\W_])[A-Za-z][a-z]{4,}(?![^\W_])")
_DATED: Final = frozenset(each for each in (*month_name, *day_name) if len(each) > 5)
COMMON: Final = _SAYS.listed("COMMON")
_REAL: Final = _SAYS.listed("REAL")
"""Words of their own that only look like slips."""
_WRITTEN_OUT: Final = {"age": " year old", "for": "for ", "were": "we're"}


def in_full(text: str) -> str:
    """Write out shorthand. Words that are not shorthand stay as they are."""
    return _SHORT.sub(_written_out, text.replace("’", "'"))


def _written_out(found: re.Match[str]) -> str:
    if full := next((_WRITTEN_OUT[name] for name in _WRITTEN_OUT if found[name]), ""):
        return full
    if found["with"]:
        return "without " if found["out"] else "with "
    if found["verb"]:
        return f"{found['verb']}n't"
    return _IN_FULL.get(found[0].casefold(), " and")


def spelled(text: str, known: frozenset[str] = frozenset()) -> str:
    """Correct typing mistakes in common words and `known` ones; of words with a capital, in months and days alone."""
    return _LETTERS.sub(lambda found: _common(found[0], known), text)


@cache
def _common(word: str, known: frozenset[str]) -> str:
    words = _DATED if word[0].isupper() else COMMON | known
    if word in words or word in _REAL:
        return word
    swapped = [each for each in words if sorted(each) == sorted(word)]
    near = get_close_matches(word, words, 1, 0.83)
    close = swapped or [each for each in near if each in known or each[-1] == word[-1]]  # else, it is inflected
    return next((each for each in close if each[0] == word[0] and abs(len(each) - len(word)) <= 1), word)
