"""Days and months as people write them, and the dates that they stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.numerals import ORDINALS
from sagagraph.domains.travel.reading.passage import Passage, pattern
from sagagraph.domains.travel.request import month_window
from sagagraph.domains.travel.wording import day_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(?P<month>(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)
"""Only what is abbreviated takes a point: `June. 2 rooms` are two sentences."""
_ORDINAL_WORDS: Final = "|".join(sorted(ORDINALS, key=len, reverse=True))
_YEAR: Final = r"(?:\s*,?\s*(?:(?:of\s+)?(?P<year>20\d\d)\b|(?:of\s+)?(?P<next_year>next year)\b))?"
_UNIT: Final = (
    r"(?:nights?|days?|weeks?|people|ppl|pax|persons?|adults?|travell?ers?|passengers?|stars?|\*|★|rooms?|of us|k|p|usd|dollars?)"
)
_NO_UNIT: Final = rf"(?!\s*(?:(?:-|to|or|and)\s*\d+)?\s*[- ]?{_UNIT})(?![.,]?\d)"
_SPAN: Final = r"\s*(?P<span>-|to|until|till|through|and)\s*(?:the\s+)?"


def _day(name: str) -> str:
    return rf"(?:the\s+)?(?P<{name}>\b\d{{1,2}}(?:st|nd|rd|th|\.(?=\s))?|\b(?:{_ORDINAL_WORDS})\b)"


_ISO_DAY: Final = pattern(r"\b(?P<year>20\d\d)(?P<mark>[-/.])(?P<number>\d{1,2})(?P=mark)(?P<day>\d{1,2})\b")
_NUMERIC_DAY: Final = pattern(r"(?<![\d./])(?P<a>\d{1,2})(?P<mark>[/.])(?P<b>\d{1,2})(?P=mark)(?P<year>(?:20)?\d\d)(?![\d/])")
_SHORT_NUMERIC_DAY: Final = pattern(r"(?<![\d./])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\d/])")
_DAYS_OF_MONTH: Final = pattern(rf"(?:\b(?P<between>between)\s+)?{_day('day')}{_SPAN}{_day('last')}\s+(?:of\s+)?{_MONTH}{_YEAR}")
_MONTH_DAYS: Final = pattern(rf"(?:\b(?P<between>between)\s+)?\b{_MONTH}\s+{_day('day')}{_SPAN}{_day('last')}{_NO_UNIT}{_YEAR}")
_DAY_MONTH: Final = pattern(rf"{_day('day')}\s+(?:of\s+)?{_MONTH}{_YEAR}")
_MONTH_DAY: Final = pattern(rf"\b{_MONTH}\s+{_day('day')}{_NO_UNIT}{_YEAR}")
_PART: Final = (
    r"(?P<part>early|beginning of|start of|mid|middle of|late|end of|(?:the\s+)?(?:first|second) half of"
    r"|(?:the\s+)?(?:first|last) week (?:of|in))"
)
_WHOLE_MONTH: Final = pattern(rf"(?:\b{_PART}[\s-]*)?(?:\b(?P<next>next|this|coming)\s+)?\b{_MONTH}{_YEAR}(?!\w)")
_DAY_ALONE: Final = pattern(
    r"\b(?:on|by|before|after|until|till|from|to|between|and|leaving|departing)\s+(?:the\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th)\b"
    r"(?!\s+(?:class|time|trip|floor|birthday|anniversary))"
)

_WORDS_THAT_ARE_MONTHS: Final = frozenset({"may", "march", "mar"})
_BEFORE_A_MONTH: Final = pattern(
    r"(?:\b(?:in|during|for|of|next|this|coming|by|until|before|after|between|through|early|mid|late)|-)[\s-]*$"
)
_LISTED_BEFORE: Final = pattern(r"(?:[,;]|\b(?:nights?|nts?|days?|weeks?))\s*$")
_LISTED_AFTER: Final = pattern(r"\s*(?:[,;.!?]|$|\d)")
_OTHER_MONTH_BEFORE: Final = pattern(rf"\b{_MONTH}\s*(?:,|/|-|\b(?:or|and|to)\b)\s*$")
_OTHER_MONTH_AFTER: Final = pattern(rf"\s*(?:,\s*or\b|,|/|-|\b(?:or|and|to)\b)\s*(?:(?:maybe|in|early|mid|late)\s+)*\b{_MONTH}")
_COURTESY: Final = r"(?:[\W\d]|\b(?:please|pls|plz|thanks|thank you|yes|ok|okay|maybe|say|i think|preferably)\b)*"
_MONTH_ALONE: Final = pattern(rf"{_COURTESY}\b(?:may|march|mar)\b{_COURTESY}")
_BETWEEN: Final = pattern(r"\bbetween\s+$")


@dataclass(frozen=True)
class RoughDay:
    """A day whose month or year may have been left out."""

    day: int
    month: int | None
    year: int | None


@dataclass(frozen=True)
class RoughMonth:
    month: int
    year: int | None
    part: str = ""


@dataclass(frozen=True)
class NumericDay:
    """`06/07/2025`: which is the month depends on where one comes from."""

    said: str
    day_first: RoughDay | None
    """None: no date, if it is read like this."""
    month_first: RoughDay | None

    @property
    def readings(self) -> tuple[RoughDay, ...]:
        return tuple(dict.fromkeys(day for day in (self.day_first, self.month_first) if day is not None))


Rough = RoughDay | RoughMonth | NumericDay


@dataclass(frozen=True)
class Expression:
    """Where something about the calendar is said, and what."""

    start: int
    end: int
    first: Rough
    last: Rough | None = None
    """Of a range; None: a single day or month."""


class NoSuchDateError(ValueError):
    """The message says why, to be shown to whoever wrote it."""


def find_expressions(passage: Passage, today: date) -> tuple[Expression, ...]:
    """In the order of the text; ranges of whole days or months are put together.

    Where one date of figures can only be read with the day first, or only with the month first, so are the others.
    """
    rest, found = passage, []
    for words, understand in _FORMS:
        for match in rest.matches(words):
            expression = understand(match, rest, today)
            if expression is not None:
                found.append(expression)
                rest = rest.without(expression.start, expression.end)
    in_order = sorted(found, key=lambda each: each.start)
    return tuple(_with_ranges(_read_alike(in_order), passage))


def _read_alike(expressions: list[Expression]) -> list[Expression]:
    numeric = [each.first for each in expressions if isinstance(each.first, NumericDay)]
    is_day_first = any(day.month_first is None for day in numeric)
    is_month_first = any(day.day_first is None for day in numeric)
    if is_day_first == is_month_first:
        return expressions

    def read(rough: Rough) -> Rough:
        if not isinstance(rough, NumericDay):
            return rough
        return replace(rough, month_first=None) if is_day_first else replace(rough, day_first=None)

    return [replace(each, first=read(each.first)) for each in expressions]


_BETWEEN_TWO: Final = pattern(r"\s*(?P<span>-|to|until|till|through|up to|and)\s*(?:the\s+)?")


def _with_ranges(expressions: list[Expression], passage: Passage) -> Iterator[Expression]:
    """`June 3` `to` `June 20` is one range; `and` makes one only after `between`."""
    waiting = expressions[::-1]
    while waiting:
        here = waiting.pop()
        there = waiting[-1] if waiting else None
        if there is not None and here.last is None and there.last is None and type(here.first) is type(there.first):
            link = _BETWEEN_TWO.fullmatch(passage.text, here.end, there.start)
            if link and (link["span"].lower() != "and" or passage.lead(_BETWEEN, here.start)):
                waiting.pop()
                here = Expression(here.start, there.end, here.first, there.first)
        yield here


def _iso_day(match: re.Match[str], _: Passage, __: date) -> Expression:
    return Expression(*match.span(), RoughDay(int(match["day"]), int(match["number"]), int(match["year"])))


def _numeric_day(match: re.Match[str], _: Passage, __: date) -> Expression:
    a, b = int(match["a"]), int(match["b"])
    year = int(match["year"]) % 2000 + 2000 if "year" in match.re.groupindex else None
    day_first = RoughDay(a, b, year) if b <= 12 else None
    month_first = RoughDay(b, a, year) if a <= 12 else None
    return Expression(*match.span(), NumericDay(match[0], day_first, month_first))


def _days_of_month(match: re.Match[str], _: Passage, today: date) -> Expression | None:
    if match["span"].lower() == "and" and not match["between"]:
        return None
    month, year = _month_number(match["month"]), _year(match, today)
    first, last = (RoughDay(_day_number(match[name]), month, year) for name in ("day", "last"))
    return Expression(*match.span(), first, last)


def _single_day(match: re.Match[str], _: Passage, today: date) -> Expression:
    return Expression(*match.span(), RoughDay(_day_number(match["day"]), _month_number(match["month"]), _year(match, today)))


def _whole_month(match: re.Match[str], passage: Passage, today: date) -> Expression | None:
    if not _is_month(match, passage):
        return None
    part = " ".join((match["part"] or "").lower().removeprefix("the ").split())
    return Expression(*match.span(), RoughMonth(_month_number(match["month"]), _year(match, today), part))


def _day_alone(match: re.Match[str], _: Passage, __: date) -> Expression:
    """Without the word before it, which says what the day is for."""
    return Expression(match.start("day"), match.end(), RoughDay(int(match["day"]), None, None))


_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Passage, date], Expression | None]], ...]] = (
    (_ISO_DAY, _iso_day),
    (_NUMERIC_DAY, _numeric_day),
    (_SHORT_NUMERIC_DAY, _numeric_day),
    (_DAYS_OF_MONTH, _days_of_month),
    (_MONTH_DAYS, _days_of_month),
    (_DAY_MONTH, _single_day),
    (_MONTH_DAY, _single_day),
    (_WHOLE_MONTH, _whole_month),
    (_DAY_ALONE, _day_alone),
)


def _is_month(match: re.Match[str], passage: Passage) -> bool:
    """`may` and `march` are verbs too."""
    word = match["month"]
    if word.lower() not in _WORDS_THAT_ARE_MONTHS or match["year"] or match["part"] or match["next"]:
        return True
    if passage.lead(_BEFORE_A_MONTH, match.start()) or _MONTH_ALONE.fullmatch(passage.text):
        return True
    if passage.lead(_OTHER_MONTH_BEFORE, match.start()) or passage.trail(_OTHER_MONTH_AFTER, match.end()):
        return True
    if passage.lead(_LISTED_BEFORE, match.start()) and passage.trail(_LISTED_AFTER, match.end()):
        return True
    begins_a_sentence = not passage.text[: match.start()].strip() or passage.text[: match.start()].rstrip()[-1] in ".!?"
    return word[0].isupper() and not (begins_a_sentence and passage.text[match.end() :].lstrip()[:1].isalpha())


def _month_number(name: str) -> int:
    return _MONTHS.index(name[:3].lower()) + 1


def _day_number(said: str) -> int:
    word = said.lower()
    return ORDINALS[word] if word in ORDINALS else int(re.sub(r"\D", "", word))


def _year(match: re.Match[str], today: date) -> int | None:
    if match["next_year"]:
        return today.year + 1
    return int(match["year"]) if match["year"] else None


# -- what they stand for ---------------------------------------------------------------------------------------------


def resolved_day(rough: Rough, today: date, *, year: int | None = None) -> date:
    """`year`: the one that the text speaks of, where the day itself names none. Otherwise it is the next such day.

    Raises:
        NoSuchDateError: it can be read in two ways, does not exist, or is over.
    """
    exact = _exact_day(rough)
    if exact.year is not None:
        return _not_over(_date(exact.year, exact), today)
    if year is not None and (day := _date(year, exact)) >= today:
        return day
    return _next(exact, today)


def resolved_month(rough: RoughMonth, today: date, *, year: int | None = None) -> tuple[date, date]:
    """First and last day; the current month counts as long as it lasts.

    Raises:
        NoSuchDateError: it is over.
    """
    chosen = rough.year or year or (today.year if rough.month >= today.month else today.year + 1)
    window = month_window(chosen, rough.month)
    first, last = _part_of(window.first, window.last, rough.part)
    if last < today:
        raise NoSuchDateError(f"{rough.part} {first:%B %Y} is over".strip())
    return first, last


def resolved_range(first: Rough, last: Rough, today: date) -> tuple[date, date]:
    """
    Raises:
        NoSuchDateError: it runs backwards, is over, or has a day that does not exist.
    """
    if isinstance(first, RoughMonth) and isinstance(last, RoughMonth):
        ends = resolved_month(last, today, year=first.year)[1]
        begins = resolved_month(first, date(today.year, 1, 1), year=last.year or ends.year)[0]
        if begins > ends and first.year is None:
            begins = begins.replace(year=begins.year - 1)
    else:
        begins, ends = _day_range(_exact_day(first), _exact_day(last), today)
    if begins > ends:
        raise NoSuchDateError(f"{day_text(begins)} to {day_text(ends)} runs backwards")
    _not_over(ends, today)
    return begins, ends


def _day_range(first: RoughDay, last: RoughDay, today: date) -> tuple[date, date]:
    """A year that is left out is that of the other end, or the next in which the range is not over."""
    wraps = first.month is not None and last.month is not None and first.month > last.month
    if last.year is not None:
        ends = _date(last.year, last)
    elif first.year is not None:
        ends = _date(first.year + wraps, last)
    else:
        ends = _next(last, today)
    return _date(first.year if first.year is not None else ends.year - wraps, first), ends


def _exact_day(rough: Rough) -> RoughDay:
    if isinstance(rough, NumericDay):
        if len(rough.readings) != 1:
            ways = " or ".join(f"{reading.day} {date(2000, reading.month or 1, 1):%B}" for reading in rough.readings)
            raise NoSuchDateError(f"{rough.said} can be {ways}" if ways else f"{rough.said} is no date")
        return rough.readings[0]
    if isinstance(rough, RoughMonth):
        raise NoSuchDateError("a day and a month make no range")
    return rough


def _date(year: int, rough: RoughDay) -> date:
    if rough.month is None:
        raise NoSuchDateError(f"the {rough.day}. of which month")
    try:
        return date(year, rough.month, rough.day)
    except ValueError:
        month = f"{date(2000, rough.month, 1):%B}" if 1 <= rough.month <= 12 else f"month {rough.month}"
        raise NoSuchDateError(f"there is no {rough.day} {month} {year}") from None


def _next(rough: RoughDay, today: date) -> date:
    """29 February waits for its leap year."""
    for year in range(today.year, today.year + 9):
        try:
            day = _date(year, rough)
        except NoSuchDateError:
            if (rough.month, rough.day) != (2, 29):
                raise
        else:
            if day >= today:
                return day
    raise NoSuchDateError(f"there is no such day within eight years of {today.year}")


def _not_over(day: date, today: date) -> date:
    if day < today:
        raise NoSuchDateError(f"{day_text(day)} is in the past")
    return day


def _part_of(first: date, last: date, part: str) -> tuple[date, date]:
    match part:
        case "early" | "beginning of" | "start of":
            return first, first.replace(day=10)
        case "mid" | "middle of":
            return first.replace(day=11), first.replace(day=20)
        case "late" | "end of":
            return first.replace(day=21), last
        case "first half of":
            return first, first.replace(day=15)
        case "second half of":
            return first.replace(day=16), last
        case "first week of" | "first week in":
            return first, first.replace(day=7)
        case "last week of" | "last week in":
            return last - timedelta(days=6), last
        case _:
            return first, last
