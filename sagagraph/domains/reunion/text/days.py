"""Days: on which day all meet, as far as people name one."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date
from typing import Final

from sagagraph.language.calendar import Expression, Holiday, NoSuchDateError, Weekday, resolved, upcoming
from sagagraph.language.tagging import tagged

_NAMED: Final = re.compile(r"[^\W\d_]|\d{4}")
"""What a day has that is no fraction, time or number of a house: letters, or a year."""


def days_in(text: str, today: date) -> dict[date, str]:
    """Return the days that a text names, each with its words; of a day that is over, nothing."""
    passage = tagged(text, today=today)
    dates = [each for each in passage.values(Expression) if _NAMED.search(each.said)]
    found: dict[date, str] = {}
    for each in dates:
        with suppress(NoSuchDateError):
            first, last = resolved(each, dates, today)
            found |= {first: each.said} if first == last else {}
    for feast in passage.values(Holiday):
        found |= {feast.first: feast.name} if feast.first is not None and feast.first == feast.last else {}
    for weekday in passage.values(Weekday):
        day = upcoming(weekday, today)
        found.setdefault(day, f"{day:%A}")
    return found
