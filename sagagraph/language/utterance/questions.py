"""Questions: the topic, as far as the words tell, and which words that were not understood have to be settled first."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from sagagraph.language.forms import Forms


class Topic(StrEnum):
    IDENTITY = "identity"
    HELP = "help"
    UNDERSTOOD = "understood"
    OUTSIDE = "outside"
    """Nothing that is known here: weather, visas, breakfast."""
    NUMBERS = "numbers"
    """Confirmation numbers."""
    CHANGED = "changed"
    NEXT = "next"
    ADVICE = "advice"
    ALTERNATIVES = "alternatives"
    WHY = "why"
    REFUND = "refund"
    """What cancelling costs and leaves."""
    STATUS = "status"
    PRICE = "price"
    PLAN = "plan"
    """Times, places, people: what the plan says."""


_TOPICS: Final = Forms(__file__, "questions")


def topic_of(asked: str) -> Topic | None:
    """Return the topic of a question; None if its words do not show one."""
    plain = asked.replace("’", "'")
    return next((Topic(name) for name in _TOPICS if _TOPICS[name].search(plain)), None)


_MATTERS: Final = re.compile(
    r"\d|[$€£]|(?<!^)\b[A-Z][a-z]{2,}|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|\w+day\b"
    r"|mum|mom|dad|mother|father|wife|husband|friends?|kids?|child(?:ren)?|sisters?|brothers?|grand\w+|baby|babies|everybody|dollars?|euros?|one|two|three"
    r"|four|five|six|seven|eight|nine|ten)\b",
)


def must_be_settled(not_understood: str) -> bool:
    """Tell whether a person, place, date or amount may be in what was not understood: then no plan is offered without asking."""
    return _MATTERS.search(not_understood) is not None or not_understood[:1].isupper()
