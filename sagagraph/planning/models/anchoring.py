"""Anchoring: whether the words of a text state a value that somebody, such as a model, claims to have read there."""

from __future__ import annotations

import re

from sagagraph.language.numbers import Number, tag_numbers
from sagagraph.language.passage import Passage
from sagagraph.language.utterance.tongues import NUMBERS


def plain(text: str) -> str:
    """Return the words of a text in the form in which they are compared."""
    return " ".join(text.casefold().replace("’", "'").split())


def is_quoted(quote: str, text: str) -> bool:
    """Tell whether these are words of the text."""
    return plain(quote) != "" and plain(quote) in plain(text)


def says(number: int, quote: str, *, week: int = 0) -> bool:
    """Tell whether the words state this number, in any of the languages; `week`: how many days or nights a week is."""
    passage = Passage.of(quote)
    tag_numbers(passage)
    said = {int(each.value) for each in passage.values(Number) if each.value is not None}
    said |= {int(each) for each in re.findall(r"\d+", re.sub(r"(?<=\d)[.,' ](?=\d{3}\b)", "", quote))}
    words = re.findall(r"[^\W\d_]+", quote.casefold())
    said |= {NUMBERS[word] for word in words if word in NUMBERS}
    if week and any(word.startswith(("week", "woche", "semaine", "semana")) for word in words):
        said |= {week * each for each in said} | {week}
    return number in said
