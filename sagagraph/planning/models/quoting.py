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
_ENDS_OPEN: Final = re.compile(r"[\w.,]*\w")
"""A word after which no comma or full stop stands."""


def quotes_in(text: str, page: Page, before: Draft, after: Draft) -> Quotes:
    """Return the words for each field that the text has filled in: as few of them as state its value.

    A field that no words of the text state, as it follows from others, has none.
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

    def is_stated(first: int, last: int) -> bool:
        return page.states(anchor, field.value, " ".join(words[first:last]))

    if not is_stated(0, len(words)):
        return ""
    last = _least(lambda end: is_stated(0, end), len(words))
    first = last - _least(lambda many: is_stated(last - many, last), last)
    own = field.value.casefold().split()
    while first and words[first - 1].casefold() in own:  # a name whose last word would do
        first -= 1
    is_bare = anchor in _COUNTED and last - first == 1 and _ENDS_OPEN.fullmatch(words[first]) is not None
    return " ".join(words[first : last + is_bare]).strip(" ,;.:!?()\"'")


def _least(holds: Callable[[int], bool], most: int) -> int:
    """Return the least number for which it holds, where it holds for `most` and for whatever is above one that it holds for."""
    least = 1
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if holds(middle) else (middle + 1, most)
    return most
