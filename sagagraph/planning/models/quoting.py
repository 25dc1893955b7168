"""Quotes: the words of a message in which the value of a field was said."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sagagraph.planning.fields import Field, State
from sagagraph.planning.models.anchors import Anchor
from sagagraph.planning.models.reading import Slot, listed
from sagagraph.planning.page import Draft, Page

Quotes = Mapping[str, tuple[str, str]]
"""Of a field, by its name: its value, and the words in which it was said."""

_UNQUOTED: Final = frozenset({Anchor.CHOICE, Anchor.FLAG})
"""Any words could mean these."""
_COUNTED: Final = frozenset({Anchor.NUMBER, Anchor.PEOPLE, Anchor.NIGHTS, Anchor.MINUTES, Anchor.RANGE})
"""A number alone says little: the word after it tells what is counted."""
_STEM: Final = 5
"""Letters that a label shares with the words for what it counts: `seats`, `nights`."""
_JOINS: Final = frozenset({"in", "at", "for", "on", "to", "from", "and", "of", "with", "or"})
"""Words after a number that count nothing."""
_HALF_OF_DAY: Final = re.compile(r"(?:[ap]\.?m|o'?clock)\b", re.IGNORECASE)
_MOST_WORDS: Final = 8
"""More state a value only together, by chance."""
_MOST_PLACES: Final = 4
"""Where it is looked whether a value was said."""
_ENDS_OPEN: Final = re.compile(r"[\w.,:]*\w")
"""A word after which no comma or full stop stands."""


def quotes_in(text: str, page: Page, before: Draft, after: Draft) -> Quotes:
    """Return the words for each field that the text has filled in: as few of them as state its value.

    A field that no words of the text state, as it follows from others, has none; nor has one whose value stands in several
    places, none of which names it.
    """
    slots, words = page.slots(after), text.split()
    old = {each.name: each.value for each in listed(page.fields(before))}
    new = (each for each in listed(page.fields(after)) if each.value and each.value != old.get(each.name))
    found = ((each, _quote(page, each, slots, words)) for each in new if each.state in (State.SAID, State.OPEN))
    return {field.name: (field.value, quote) for field, quote in found if quote}


def _quote(page: Page, field: Field, slots: Sequence[Slot], words: Sequence[str]) -> str:
    anchor = next((each.anchor for each in slots if each.is_of(field.name)), Anchor.CHOICE)
    if anchor in _UNQUOTED:
        return ""
    anchor = Anchor.NUMBER if anchor is Anchor.MONEY else anchor  # its currency is a field of its own

    found: list[str] = []
    begins = 0
    while len(found) < _MOST_PLACES and (end := _end(page, field, anchor, words[begins:])):
        found.append(_words_of(page, field, anchor, words, begins + end))
        begins += end
    quotes = [each for each in found if len(each.split()) <= _MOST_WORDS]
    named = [each for each in quotes if field.label.casefold()[:_STEM] in each.casefold()]
    if len({each.casefold() for each in quotes}) == 1:
        return quotes[0]
    return named[0] if len(named) == 1 else ""


def _end(page: Page, field: Field, anchor: Anchor, words: Sequence[str]) -> int:
    """Return how many words from the beginning state the value; 0: not even all."""

    def is_stated(end: int) -> bool:
        return page.states(anchor, field.value, " ".join(words[:end]))

    return _least(is_stated, len(words)) if words and is_stated(len(words)) else 0


def _words_of(page: Page, field: Field, anchor: Anchor, words: Sequence[str], last: int) -> str:
    """Return the fewest words up to there that state the value, with what is counted."""
    first = last - _least(lambda many: page.states(anchor, field.value, " ".join(words[last - many : last])), last)
    own = field.value.casefold().split()
    while first and words[first - 1].casefold() in own:  # a name whose last word would do
        first -= 1
    follows = words[last].casefold() if last < len(words) and _ENDS_OPEN.fullmatch(words[last - 1]) else ""
    is_bare = anchor in _COUNTED and last - first == 1 and follows not in _JOINS
    is_open = is_bare or (anchor is Anchor.TIME and _HALF_OF_DAY.match(follows) is not None)
    return " ".join(words[first : last + is_open]).strip(" ,;.:!?()\"'")


def _least(holds: Callable[[int], bool], most: int) -> int:
    """Return the least number for which it holds, where it holds for `most` and for whatever is above one that it holds for."""
    least = 1
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if holds(middle) else (middle + 1, most)
    return most
