"""Anchors: whether the words that a model quotes state the value that it claims to have read in them.

A number, name, day, time or amount must stand in the words, or follow from them in a way that is listed here: `a week` is seven
nights, `half seven` is 19:30, `my wife and I` are two.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Final

from rapidfuzz.distance import Indel

from sagagraph.language.clock import Clock, Lasting
from sagagraph.language.forms import form
from sagagraph.language.money import SIGN, currencies_meant
from sagagraph.language.numbers import Number, tag_numbers
from sagagraph.language.passage import Passage
from sagagraph.language.people import PEOPLE, Company
from sagagraph.language.quantities import UNITS, Quantity
from sagagraph.language.tagging import tagged

_MONTHS: Final = (
    "jan|ene", "feb|fév|fev", "mar(?![rk])|mär|maer", "apr(?!ic)|avr|abr", "may|mai", "jun(?!ior)|juin", "jul|juil",
    "aug|aoû|aou|ago", "sep(?!ar)", "oct|okt", "nov(?!el)", "dec(?![il])|dez|déc|dic",
)  # fmt: skip
"""How each month begins in English, French, German and Spanish."""
_NUMBERS_WRITTEN = (
    "ein eine einen einem un une uno una|zwei deux dos|drei trois tres|vier quatre cuatro|fünf fuenf cinq cinco|sechs six seis"
    "|sieben sept siete|acht huit ocho|neun neuf nueve|zehn dix diez"
)
_NUMBERS: Final = {word: number for number, same in enumerate(_NUMBERS_WRITTEN.split("|"), start=1) for word in same.split()}
_COUNTED: Final = {
    "nights": "nights?|days?|weeks?|nächte?n?|nacht|tage?n?|wochen?|nuits?|jours?|semaines?|noches?|días?|dias?|semanas?",
    "people": r"people|persons?|adults?|travell?ers|guests|kids|children|personen|erwachsene\w*|kinder\w*|personnes?|adult[eo]s?"
    "|enfants?|personas?|niños",
    "rooms": "rooms?|zimmer|chambres?|habitaci[oó]n(?:es)?",
    "stars": "stars?|sterne?n?|étoiles?|estrellas?",
    "dates": "(?!)",
}
"""The words for what is counted, in English, German, French and Spanish."""
_YEARS: Final = "|".join(rf"\b(?:{each})\w*\.? +\d{{4}}\b" for each in _MONTHS)
_YEAR: Final = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d.,]*\d)")
_AMOUNT: Final = re.compile(r"(?P<whole>\d{1,12})(?:\.(?P<part>\d{1,2}))?")
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
    """Tell whether every word of a name is in the quote, or nearly, and whatever their accents."""
    said = _WORD.findall(_bare(quote))
    said += ["".join(pair) for pair in itertools.pairwise(said)]
    own = [word for word in _WORD.findall(_bare(value)) if word not in ("the", "s", "at", "of")]
    return bool(own) and all(any(_is_same(word, each) for each in said) for word in own)


def _is_same(word: str, said: str) -> bool:
    """Tell whether it is the word, perhaps in the genitive or with a letter left out within it: `Maria` is not `Marie`."""
    is_slip = (word[0], word[-1]) == (said[0], said[-1]) and Indel.distance(word, said) == 1
    return word == said or f"{word}s" == said or word.removesuffix("s") == said or is_slip


def _bare(text: str) -> str:
    """Return a text without accents, in small letters."""
    return "".join(each for each in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(each))


def _beside(quote: str, *counted: str) -> str:
    """Return the quote without what counts something else: of `two people for 5 nights` only `5 nights`, for nights."""
    others = "|".join(words for unit, words in _COUNTED.items() if unit not in counted)
    dated = "" if "dates" in counted else f"|{_YEARS}"
    return re.sub(rf"(?i)(?:\d[\d.,]*|[^\W\d_]+)[ -]+(?:{others})\b{dated}", " ", quote)


def _is_number(value: str, quote: str) -> bool:
    return says(int(value), quote)


def _is_party(value: str, quote: str) -> bool:
    companies = tagged(quote, units={**UNITS, **PEOPLE}).values(Company)
    named = {(each.count or 0) + each.is_more for each in companies} | {each.children for each in companies}
    named |= {2} if _TWO.search(quote) else {1} if not companies and _ONE.search(quote) else set()
    return int(value) > 0 and (_is_number(value, _beside(quote, "people", "rooms")) or int(value) in named)


def _is_span(value: str, quote: str) -> bool:
    number = int(value)
    is_between = any(number == (one.count or 0) for one in tagged(quote).values(Quantity) if one.unit in ("day", "night"))
    is_named = any(word in quote.casefold() and number in counts for word, counts in _SPANS.items())
    return number > 0 and (is_between or is_named or says(number, _beside(quote, "nights"), week=7))


def _is_day(value: str, quote: str, *, edge: str = "") -> bool:
    day = date.fromisoformat(value)
    number, month = day.month, _MONTHS[day.month - 1]
    says_month = re.search(rf"\b(?:{month})|\b0?{number}[./-]|[./-]0?{number}\b", quote, re.IGNORECASE)
    is_edge = (edge == "first" and day.day == 1) or (edge == "last" and day.day == monthrange(day.year, day.month)[1])
    years = {int(each) for each in _YEAR.findall(quote)} or {day.year}
    return says_month is not None and day.year in years and (is_edge or says(day.day, _beside(quote, "dates")))


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
    bare = _beside(quote)
    return any(says(each, bare) for each in halves) and (not minute or says(minute, bare))


def _is_duration(value: str, quote: str) -> bool:
    minutes = int(value)
    if any(each.minutes == minutes for each in tagged(quote).values(Lasting)):
        return True
    return says(minutes, quote) or (minutes % 60 == 0 and says(minutes // 60, quote) and _HOURS.search(quote) is not None)


def _is_amount(value: str, quote: str) -> bool:
    amount, _, code = value.replace(",", "").partition(" ")
    meant = {each for sign in _SIGNS.finditer(quote) for each in currencies_meant(sign[0], None)} or {_USUAL}
    found = _AMOUNT.fullmatch(amount)
    if found is None or Decimal(amount) <= 0 or (code or _USUAL) not in meant:
        return False
    is_whole = not int(found["part"] or 0) or re.search(rf"[.,]{found['part']}(?!\d)", quote) is not None
    return is_whole and says(int(found["whole"]), _beside(quote))


def _is_range(value: str, quote: str) -> bool:
    ends, bare = [int(each) for each in re.findall(r"\d", value)], _beside(quote, "stars")
    return any(says(each, bare) for each in ends) and all(says(each, bare) or each in (1, 5) for each in ends)


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


def with_what_is_counted(quote: str, text: str) -> str:
    """Return the words with the one after them in the text: `for 2` may be for two nights."""
    _, _, after = plain(text).partition(plain(quote))
    return " ".join([quote, *after.split()[:1]])


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
