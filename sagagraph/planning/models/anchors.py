"""Anchors: whether the words that a model quotes state the value that it claims to have read in them.

A number, name, day, time or amount must stand in the words, or follow from them in a way that is listed here: `a week` is seven
nights, `half seven` is 19:30, `my wife and I` are two.
"""

from __future__ import annotations

import itertools
import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Final

from rapidfuzz import fuzz

from sagagraph.language.clock import Clock, Lasting
from sagagraph.language.forms import form
from sagagraph.language.money import SIGN, currencies_meant
from sagagraph.language.numbers import Number, tag_numbers
from sagagraph.language.passage import Passage
from sagagraph.language.people import PEOPLE, Company
from sagagraph.language.quantities import UNITS, Quantity
from sagagraph.language.tagging import tagged

_MONTHS: Final = (
    "jan|ene", "feb|fév|fev", "mar|mär|maer", "apr|avr|abr", "may|mai", "jun|juin", "jul|juil", "aug|aoû|aou|ago", "sep",
    "oct|okt", "nov", "dec|dez|déc|dic",
)  # fmt: skip
"""How each month begins in English, French, German and Spanish."""
_NUMBERS_WRITTEN = (
    "ein eine einen einem un une uno una|zwei deux dos|drei trois tres|vier quatre cuatro|fünf fuenf cinq cinco|sechs six seis"
    "|sieben sept siete|acht huit ocho|neun neuf nueve|zehn dix diez"
)
_NUMBERS: Final = {word: number for number, same in enumerate(_NUMBERS_WRITTEN.split("|"), start=1) for word in same.split()}
_ALIKE: Final = 80
"""Of 100: how alike a name and the words for it are."""
_WORD: Final = re.compile(r"[^\W_]+")
_CLOCK: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_SIGNS: Final = form(SIGN)
_USUAL: Final = "USD"
"""Of amounts without a sign."""
_SPANS: Final = {"weekend": {2, 3}, "fortnight": {14}, "overnight": {1}}
_TWO: Final = re.compile(
    r"\b(?:both|couple|honeymoon\w*|the two of us|my (?:wife|husband|partner|girlfriend|boyfriend))", re.IGNORECASE
)
_ONE: Final = re.compile(r"\b(?:I|me|my|alone|single|solo)\b", re.IGNORECASE)
_NOON: Final = re.compile(r"\bnoon|midday|mittag|midi\b|mediod[ií]a|mezzogiorno", re.IGNORECASE)
_HALF: Final = re.compile(r"\bhal[bf]\b", re.IGNORECASE)
_HOURS: Final = re.compile(r"(?<![^\W\d_])h\b|hour|stunde|heure|hora", re.IGNORECASE)


class Anchor(StrEnum):
    """What of a value has to stand in the words."""

    NAME = "a name, as it was written"
    NUMBER = "a whole number"
    PEOPLE = "how many people"
    NIGHTS = "a number of nights"
    DAY = "a day, as YYYY-MM-DD"
    FIRST_DAY = "the first possible day, as YYYY-MM-DD"
    LAST_DAY = "the last possible day, as YYYY-MM-DD"
    TIME = "a time of day, as HH:MM"
    MINUTES = "a whole number of minutes"
    MONEY = "an amount and its currency's code, like 5000 EUR"
    RANGE = "a number or a range, like 3-4"
    CHOICE = "one of the choices"
    FLAG = "yes, or nothing"


def stated(anchor: Anchor, value: str, quote: str) -> bool:
    """Tell whether the quote states the value. What a choice or a yes means is for the reader to say."""
    try:
        return _STATED[anchor](value, quote)
    except (ValueError, InvalidOperation):
        return False


def names(value: str, quote: str) -> bool:
    """Tell whether every word of a name is in the quote, or nearly."""
    said = _WORD.findall(quote.casefold())
    said += ["".join(pair) for pair in itertools.pairwise(said)]
    own = [word for word in _WORD.findall(value.casefold()) if word not in ("the", "s", "at", "of")]
    return bool(own) and all(any(fuzz.ratio(word, each) >= _ALIKE for each in said) for word in own)


def _is_number(value: str, quote: str) -> bool:
    return says(int(value), quote)


def _is_party(value: str, quote: str) -> bool:
    companies = tagged(quote, units={**UNITS, **PEOPLE}).values(Company)
    named = {(each.count or 0) + each.is_more for each in companies} | {each.children for each in companies}
    named |= {2} if _TWO.search(quote) else {1} if not companies and _ONE.search(quote) else set()
    return int(value) > 0 and (_is_number(value, quote) or int(value) in named)


def _is_span(value: str, quote: str) -> bool:
    number = int(value)
    is_between = any(number == (one.count or 0) for one in tagged(quote).values(Quantity) if one.unit in ("day", "night"))
    is_named = any(word in quote.casefold() and number in counts for word, counts in _SPANS.items())
    return number > 0 and (is_between or is_named or says(number, quote, week=7))


def _is_day(value: str, quote: str, *, edge: str = "") -> bool:
    day = date.fromisoformat(value)
    number, month = day.month, _MONTHS[day.month - 1]
    says_month = re.search(rf"\b(?:{month})|\b0?{number}[./-]|[./-]0?{number}\b", quote, re.IGNORECASE)
    is_edge = (edge == "first" and day.day == 1) or (edge == "last" and day.day == monthrange(day.year, day.month)[1])
    return says_month is not None and (is_edge or says(day.day, quote))


def _is_time(value: str, quote: str) -> bool:
    found = _CLOCK.fullmatch(value)
    if found is None:
        return False
    hour, minute = int(found[1]), int(found[2])
    halves = {hour, hour % 12 or 12}
    if any(each.minute == minute and each.hour in halves for each in tagged(quote).values(Clock)):
        return True
    if (hour, minute) == (12, 0) and _NOON.search(quote):
        return True
    if minute == 30 and (half := _HALF.search(quote)):  # German counts to the hour
        return any(says(each + (half[0].lower() == "halb"), quote) for each in halves)
    return any(says(each, quote) for each in halves) and (not minute or says(minute, quote))


def _is_duration(value: str, quote: str) -> bool:
    minutes = int(value)
    if any(each.minutes == minutes for each in tagged(quote).values(Lasting)):
        return True
    return says(minutes, quote) or (minutes % 60 == 0 and says(minutes // 60, quote) and _HOURS.search(quote) is not None)


def _is_amount(value: str, quote: str) -> bool:
    amount, _, code = value.replace(",", "").partition(" ")
    meant = {each for sign in _SIGNS.finditer(quote) for each in currencies_meant(sign[0], None)} or {_USUAL}
    return Decimal(amount) > 0 and says(int(Decimal(amount)), quote) and (code or _USUAL) in meant


def _is_range(value: str, quote: str) -> bool:
    ends = [int(each) for each in re.findall(r"\d", value)]
    return any(says(each, quote) for each in ends) and all(says(each, quote) or each in (1, 5) for each in ends)


_STATED: Final[Mapping[Anchor, Callable[[str, str], bool]]] = {
    Anchor.NAME: names,
    Anchor.NUMBER: _is_number,
    Anchor.PEOPLE: _is_party,
    Anchor.NIGHTS: _is_span,
    Anchor.DAY: _is_day,
    Anchor.FIRST_DAY: lambda value, quote: _is_day(value, quote, edge="first"),
    Anchor.LAST_DAY: lambda value, quote: _is_day(value, quote, edge="last"),
    Anchor.TIME: _is_time,
    Anchor.MINUTES: _is_duration,
    Anchor.MONEY: _is_amount,
    Anchor.RANGE: _is_range,
    Anchor.CHOICE: lambda _value, _quote: True,
    Anchor.FLAG: lambda _value, _quote: True,
}


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
    said |= {_NUMBERS[word] for word in words if word in _NUMBERS}
    if week and any(word.startswith(("week", "woche", "semaine", "semana")) for word in words):
        said |= {week * each for each in said} | {week}
    return number in said
