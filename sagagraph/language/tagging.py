"""Tagging: applies all readers of values to a text, in the order in which they depend on one another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sagagraph.language.calendar import tag_dates, tag_numeric_dates
from sagagraph.language.clock import on_the_clock, tag_clock, tag_clock_digits
from sagagraph.language.money import tag_money
from sagagraph.language.numbers import tag_numbers
from sagagraph.language.passage import MOST_CHARACTERS, Passage
from sagagraph.language.people import tag_people, with_ages
from sagagraph.language.quantities import UNITS, Units, tag_quantities
from sagagraph.language.utterance.shorthand import spelled

if TYPE_CHECKING:
    from datetime import date

    from sagagraph.language.money import Cues


_LABELLED: Final = re.compile(
    r"(?i)(?<!\d )\b(?P<unit>adults?|children|kids|people|persons?|travell?ers?|passengers?|guests|nights|days|rooms|cooks)"
    r":\s*(?P<number>\d+)(?=\s*(?:[,;.\n]|$))"
)
"""`Adults: 2`, as in a form."""
_DOTTED: Final = re.compile(r"\b(\d{1,2}\.\d{1,2})\s*[-–]\s*(\d{1,2}\.\d{1,2})\b(?![.\d]| ?[€$£])")
"""`13.05-16.05`: days of months."""
_GLUED: Final = re.compile(r"(?i)\b(\d{1,2})((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\b")
"""`14MAR`"""


def tagged(
    text: str,
    *,
    today: date | None = None,
    units: Units = UNITS,
    currencies: frozenset[str] = frozenset(),
    cues: Cues | None = None,
    most: int = MOST_CHARACTERS,
) -> Passage:
    """Tag a text. `today` None: no dates. `cues` None: no money. `units`: see `quantities`; `currencies`: see `money`.

    Raises:
        InvalidInputError: the text is far too long.
    """
    text = _DOTTED.sub(r"\1. - \2.", text)
    text = _GLUED.sub(r"\1 \2", text)
    text = _LABELLED.sub(r"\g<number> \g<unit>", text)
    passage = Passage.of(on_the_clock(with_ages(spelled(text))), most=most)
    if today is not None:
        tag_numeric_dates(passage)
    tag_clock_digits(passage)
    tag_numbers(passage)
    tag_clock(passage)
    tag_quantities(passage, units)
    if cues is not None:
        tag_money(passage, currencies, cues)
    if today is not None:
        tag_dates(passage, today)
    tag_people(passage)
    return passage
