"""Days: on which day all meet, as far as people name one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final

from sagagraph.language.calendar import Expression, Holiday, NoSuchDateError, Weekday, resolved, upcoming
from sagagraph.language.tagging import tagged

_FIGURES: Final = re.compile(r"\d{4}|\d.*[^\W\d_]|[^\W\d_].*\d")
"""What a day in figures has that is no fraction, time or number of a house, unless `on` stands before it."""
_WEEKDAY: Final = re.compile(
    r"\b(?P<past>last |past )?(?P<unclear>a week on |the (?:first|second|third|fourth|last) )?"
    r"(?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"(?P<other>s\b| (?-i:[A-Z])\w+)?(?P<too>,? (?:the \d+\w*|week\b|in (?:an?|\w+) weeks?|(?:after|before|of) \w+))?",
    re.IGNORECASE,
)
_AHEAD: Final = re.compile(r"\bin (?:an?|\w+) (?:days?|weeks?)\b", re.IGNORECASE)
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SOON: Final = timedelta(days=330)
"""A day and month that come later than that are likelier to be over."""


@dataclass(frozen=True, slots=True)
class Days:
    """Days that a text names, each with its words. `unclear`: the words of those of which nobody knows which they are."""

    named: dict[date, str] = field(default_factory=dict)
    unclear: tuple[str, ...] = ()


def days_in(text: str, today: date) -> Days:
    """Return the days that a text names. Every Monday, last Monday and Monday Street are none."""
    passage = tagged(text, today=today)
    dates = [each for each in passage.values(Expression) if _is_day(each, text)]
    named: dict[date, str] = {}
    unclear: list[str] = []
    for each in dates:
        try:
            first, last = resolved(each, dates, today)
        except NoSuchDateError:
            unclear.append(each.said)
            continue
        is_far = first - today > _SOON and re.search(r"\d", each.said) and not re.search(r"\d{4}", each.said)
        if first != last or is_far:
            unclear.append(each.said)
        else:
            named[first] = each.said
    for feast in passage.values(Holiday):
        named |= {feast.first: feast.name} if feast.first is not None and feast.first == feast.last else {}
    weekdays = {each.number for each in passage.values(Weekday)}
    for found in _WEEKDAY.finditer(text):
        number = _WEEKDAYS.index(found["day"][:3].lower())
        if number not in weekdays or found["past"] or found["other"]:
            continue
        if found["unclear"] or found["too"]:
            unclear.append(found[0])
        else:
            named.setdefault(upcoming(Weekday(number), today), found["day"])
    unclear += [each for each in _AHEAD.findall(text) if not any(each in other for other in unclear)]
    return Days(named, tuple(dict.fromkeys(each.strip(" ,.") for each in unclear)))


def _is_day(said: Expression, text: str) -> bool:
    """Tell a day from a month, a place in a row (`the first`), a time (`11.50`) and a fraction (`3/4`)."""
    has_month = any(each.month is not None for each in said.first)
    is_in_figures = not re.search(r"[^\W\d_]", said.said)
    is_said = _FIGURES.search(said.said) or (has_month and not is_in_figures) or ("/" in said.said and f"on {said.said}" in text)
    return bool(is_said) and not said.is_month
