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
    r"(?i)(?<!\d )\b(?P<unit>adults?|children|kids|people|persons?|pax|travell?ers?|passengers?|guests|nights|days|rooms|cooks)"
    r":\s*(?P<number>\d+)(?=\s*(?:,(?!\s*\d+\s*(?:[,.;)&]|and\b|$))|[;.\n]|$))"
)
"""`Adults: 2`, as in a form, but not `kids: 4, 7 and 11`."""
_WRITTEN_OUT: Final = (
    (re.compile(r"(?<=\w) ?= ?(?=[\w$€£])"), ": "),
    (re.compile(r"\b(\d{1,2}\.\d{1,2})\s*(?:[-–]|to|until|till)\s*(\d{1,2}\.\d{1,2})\b(?![.\d]| ?[€$£])"), r"\1. - \2."),
    (re.compile(r"(?<![\d.])(\d{1,2})\.\s*[-–]\s*(\d{1,2}\.)(\d{1,2}\.)"), r"\1.\3 - \2\3"),
    (re.compile(r"(?i)\b(\d{1,2})((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\b"), r"\1 \2"),
    (
        re.compile(r"(?i)(?<![\w.,+])(\d)(?: ?ad?,? ?[+&/]? ?(\d) ?ch?| ?\+ ?(\d))(?![\w:.]|\s*(?:[+*]|(?:night|day|star)s?\b))"),
        r"\1 adults and \2\3 children",
    ),
    (
        re.compile(r"(?i)(?<!\bmy )\b(two|2) parents (?:with|and|\+) (?=our|an?\b|\w+ (?:kids|children|boys|girls))"),
        r"\1 adults and ",
    ),
    (_LABELLED, r"\g<number> \g<unit>"),
)
"""`Adults = 2`, `13.05-16.05`, `13.-16.05.`, `14MAR`, `2A 1C` or `2+1`, `two parents with three kids`, `Adults: 2`"""


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
    for words, written in _WRITTEN_OUT:
        text = words.sub(written, text)
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
