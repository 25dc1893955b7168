"""What single slots make of a text."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from sagagraph.domains.travel.partial import PartialRequest, Said
from sagagraph.domains.travel.request import CURRENCIES
from sagagraph.domains.travel.text.slots import CUES, TRIP_UNITS, read_words
from sagagraph.language.tagging import tagged

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sagagraph.language.passage import Passage

TODAY = date(2025, 3, 1)
NOTHING = PartialRequest()


def passage_of(text: str, today: date = TODAY) -> Passage:
    return tagged(text, today=today, units=TRIP_UNITS, currencies=CURRENCIES, cues=CUES)


def said(text: str, read: Callable[..., Any], *more: object, today: date = TODAY, **named: object) -> tuple[Said, Passage]:
    """What one slot understands, and what it leaves."""
    passage, understood = passage_of(text, today), Said()
    read_words(passage, understood, "direct", "no_limit")
    read(passage, understood, *more, **named)
    return understood, passage
