"""Calendar: days, months and ranges are tagged `date` (`Expression`), weekdays `weekday`, holidays and seasons `holiday`.

`resolved` says which days they are; what is left out (a year, a month) is taken from the other dates, or is the next that fits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from sagagraph.language.numbers import Nth, Number
from sagagraph.language.passage import form

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sagagraph.language.passage import Found, Passage

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH: Final = (
    r"(?P<month>(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)
_A_MONTH: Final = _MONTH.replace("?P<month>", "?:")
_YEAR: Final = r"(?: ?,? ?(?:of )?(?:{n:year}|(?P<next_year>next year)\b))"
_SPAN: Final = r"\s*(?P<span>-|\b(?:to|until|till|through|and)\b)\s*"
_FIRST: Final = r"(?:\b(?P<between>between) )?(?:\bthe )?(?P<day>{n:_}|{nth:_})\.?"
_DAY: Final = _FIRST.replace(r"(?:\b(?P<between>between) )?", "")
_LAST: Final = _DAY.replace("<day>", "<last>")
_PART: Final = (
    r"(?:\b(?P<part>early|beginning of|start of|mid|middle of|late|end of|(?:the )?{nth:_} (?:half|week) (?:of|in)"
    r"|(?:the )?last week (?:of|in))[\s-]*)?(?:\b(?P<next>next|this|coming) )?\b"
)
_FORMS: Final = tuple(
    form(days + year)
    for days in (
        rf"{_FIRST}{_SPAN}{_LAST} (?:of )?{_MONTH}",
        rf"(?:\b(?P<between>between) )?\b{_MONTH} {_DAY}{_SPAN}{_LAST}",
        rf"{_DAY} (?:of )?{_MONTH}",
        rf"\b{_MONTH} {_DAY}",
        rf"{_PART}{_MONTH}",
    )
    for year in (_YEAR, r"(?!\w)")
)
_ISO: Final = form(r"\b(?P<year>20\d\d)(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})\b")
_NUMERIC: Final = form(
    r"(?<![\d./])(?P<a>\d{1,2})(?:(?P<mark>[/.])(?P<b>\d{1,2})(?P=mark)(?P<year>(?:20)?\d\d)|/(?P<c>\d{1,2}))(?![\d/])"
)
_NTH_ALONE: Final = form(
    r"\b(?P<cue>on|by|before|after|until|till|from|to|between|and|leaving|departing) (?:the )?(?P<day>{nth})"
    r"(?! (?:class|time|trip|floor|birthday|anniversary))"
)
_BETWEEN_TWO: Final = form(
    r"(?:\b(?P<between>between) )?{date:first}\s*(?P<span>-|\b(?:to|until|till|through|up to|and)\b)\s*(?:the )?{date:last}"
)
_WEEKDAY: Final = form(r"\b(?P<day>mon|tues|wednes|thurs|fri|satur|sun)days?\b")
_WEEKDAY_OF_A_DATE: Final = form(r"{weekday:_} ?,? ?(?:the )?{date}")
_RELATIVE: Final = form(
    r"\b(?:the )?(?P<after>day after tomorrow)\b|\b(?P<tomorrow>tomorrow)\b|\b(?P<today>today)\b"
    r"|\b(?P<next_month>next month)\b|\b(?P<this_month>this month)\b|\b(?P<next_week>next week)\b"
)
_HOLIDAY: Final = form(
    r"\b(?:(?:in|over|at|during|around|for|this|next|before|after|the|early|late|mid)[\s-]+)*"
    r"(?P<name>easter(?: weekend| holidays?| break)?|christmas|xmas|new year'?s?(?: eve)?|thanksgiving"
    r"|spring(?: break)?|summer|autumn|winter|(?<=in\s)fall|(?<=this\s)fall)\b(?: (?:of )?{n:year})?(?! (?:island|market))"
)

_LEADS_TO_A_MONTH: Final = form(
    r"(?:\b(?:in|during|for|of|next|this|coming|by|until|before|after|between|through|early|mid|late)|-)[\s-]*$"
)
_LISTED_BEFORE: Final = form(r"(?:[,;]|{span:_})\s*$")
_LISTED_AFTER: Final = form(r"\s*(?:[,;.!?]|$|[^\w\s])")
_MONTH_BEFORE: Final = form(rf"(?:\b{_A_MONTH}|{{date:_}})\s*(?:,|/|-|\b(?:or|and|to)\b)\s*$")
_MONTH_AFTER: Final = form(rf"\s*(?:, ?or\b|,|/|-|\b(?:or|and|to)\b)\s*(?:(?:maybe|in|early|mid|late) )*\b{_A_MONTH}")
_COURTESY: Final = r"(?:[\W\d]|\b(?:please|pls|plz|thanks|thank you|yes|ok|okay|maybe|say|i think|preferably)\b)*"
_MONTH_ALONE: Final = form(rf"{_COURTESY}\b(?:may|march|mar)\b{_COURTESY}")
_ENDS: Final = {"early": 10, "beginning": 10, "start": 10, "mid": 20, "middle": 20}


@dataclass(frozen=True, slots=True)
class Weekday:
    number: int
    """Monday is 0."""


@dataclass(frozen=True, slots=True)
class Holiday:
    """`first` None: which days it means is for whoever said it."""

    name: str
    first: date | None = None
    last: date | None = None


@dataclass(frozen=True, slots=True)
class RoughDay:
    """A day whose month or year may have been left out."""

    day: int
    month: int | None
    year: int | None = None


@dataclass(frozen=True, slots=True)
class RoughMonth:
    month: int
    year: int | None = None
    begins: int = 1
    ends: int = 31
    """With which day a part of it begins and ends."""
    part: str = ""


@dataclass(frozen=True, slots=True)
class NumericDay:
    """`06/07/2025`: which is the month depends on where one comes from."""

    said: str
    day_first: RoughDay | None
    """None: no date, if it is read like this."""
    month_first: RoughDay | None


Rough = RoughDay | RoughMonth | NumericDay


@dataclass(frozen=True, slots=True)
class Expression:
    first: Rough
    last: Rough | None = None
    """Of a range; None: a single day or month."""

    @property
    def is_day(self) -> bool:
        return self.last is None and not isinstance(self.first, RoughMonth)


class NoSuchDateError(ValueError):
    """The message says why, to be shown to whoever wrote it."""


def tag_numeric_dates(passage: Passage) -> None:
    """Before the numbers are tagged."""
    passage.tag("date", _ISO, lambda f: Expression(RoughDay(int(f["day"]), int(f["month"]), int(f["year"]))))
    passage.tag("date", _NUMERIC, _numeric)


def tag_dates(passage: Passage, today: date) -> None:
    """After numbers and quantities are tagged: `may 2 people` is no day."""
    passage.tag("holiday", _HOLIDAY, lambda found: _holiday(found, today))
    passage.tag("weekday", _WEEKDAY, lambda found: Weekday(_DAYS.index(found["day"][:3])))
    passage.tag("date", _RELATIVE, lambda found: _relative(found, today))
    for words in _FORMS:
        passage.tag("date", words, lambda found: _dated(found, today))
    passage.tag("date", _NTH_ALONE, _day_alone, group="day")
    passage.tag("date", _BETWEEN_TWO, _range)
    passage.tag("date", _WEEKDAY_OF_A_DATE, lambda found: found.get("date", Expression))


def upcoming(weekday: Weekday, today: date) -> date:
    """The first one after today."""
    return today + timedelta(days=(weekday.number - today.weekday() - 1) % 7 + 1)


def _numeric(found: Found) -> Expression:
    a, b = int(found["a"]), int(found["b"] or found["c"])
    year = int(found["year"]) % 2000 + 2000 if found["year"] else None
    day_first = RoughDay(a, b, year) if b <= 12 else None
    return Expression(NumericDay(found.said, day_first, RoughDay(b, a, year) if a <= 12 else None))


def _relative(found: Found, today: date) -> Expression:
    if found["next_week"]:
        monday = today + timedelta(days=7 - today.weekday())
        return Expression(_exactly(monday), _exactly(monday + timedelta(days=6)))
    if found["this_month"]:
        return Expression(RoughMonth(today.month, today.year))
    if found["next_month"]:
        return Expression(RoughMonth(today.month % 12 + 1, today.year + today.month // 12))
    return Expression(_exactly(today + timedelta(days=2 if found["after"] else 1 if found["tomorrow"] else 0)))


def _exactly(day: date) -> RoughDay:
    return RoughDay(day.day, day.month, day.year)


def _holiday(found: Found, today: date) -> Holiday:
    from dateutil.easter import easter  # noqa: PLC0415 - of the extra that reads dates

    said = found.get("year", Number)
    name, year = found["name"], (said.count if said else None) or today.year

    def days(year: int) -> tuple[date, date] | None:
        if name.startswith("easter"):
            return easter(year) - timedelta(days=2), easter(year) + timedelta(days=1)
        if name.startswith("new"):
            return date(year, 12, 31), date(year + 1, 1, 1)
        return (date(year, 12, 24), date(year, 12, 26)) if name.startswith(("christmas", "xmas")) else None

    span = days(year)
    if span and span[1] < today and said is None:
        span = days(year + 1)
    return Holiday(name, *(span or (None, None)))


def _dated(found: Found, today: date) -> Expression | None:
    year, said_year = None, found.get("year", Number)
    if said_year is not None and not (said_year.count and 2000 <= said_year.count < 2100 and not said_year.is_thousands):
        return None
    if said_year is not None or found["next_year"]:
        year = said_year.count if said_year else today.year + 1
    month = _MONTHS.index(found["month"][:3]) + 1
    if not found["day"]:
        return Expression(_month(found, month, year)) if _is_month(found) else None
    if found["span"] == "and" and not found["between"]:
        return None
    days = [_day_number(found, name) for name in ("day", "last") if found[name]]
    if any(day is None for day in days):
        return None
    rough = [RoughDay(day, month, year) for day in days if day is not None]
    return Expression(rough[0], rough[1] if len(rough) > 1 else None)


def _day_number(found: Found, group: str) -> int | None:
    for number in found.values(Number, group):
        return number.count if number.count is not None and not number.is_thousands and number.count <= 31 else None
    return next((nth.place for nth in found.values(Nth, group)), None)


def _day_alone(found: Found) -> Expression | None:
    nth = found.get("nth", Nth)
    return Expression(RoughDay(nth.place, None)) if nth and nth.place <= 31 else None


def _month(found: Found, month: int, year: int | None) -> RoughMonth:
    part = " ".join(found["part"].removeprefix("the ").split())
    words = part.split()
    nth = next((each.place for each in found.values(Nth, "part")), None) if part else None
    if not words:
        return RoughMonth(month, year)
    if "half" in words:
        return RoughMonth(month, year, *((1, 15) if nth == 1 else (16, 31)), part)
    if "week" in words:
        return RoughMonth(month, year, *((-7, 31) if nth is None else (7 * nth - 6, 7 * nth)), part)
    ends = _ENDS.get(words[0], 31)
    return RoughMonth(month, year, {10: 1, 20: 11}.get(ends, 21), ends, part)


def _is_month(found: Found) -> bool:
    """`may` and `march` are verbs too."""
    if found["month"] not in ("may", "march", "mar") or found.get("year", Number) or found["next_year"]:
        return True
    if found["part"] or found["next"] or found.led_by(_LEADS_TO_A_MONTH) or found.passage.whole(_MONTH_ALONE):
        return True
    if found.led_by(_MONTH_BEFORE) or found.followed_by(_MONTH_AFTER):
        return True
    if found.led_by(_LISTED_BEFORE) and found.followed_by(_LISTED_AFTER):
        return True
    before, after = found.match.string[: found.start].rstrip(), found.match.string[found.end :].lstrip()
    begins_a_sentence = not before or before[-1] in ".!?"
    return found.match["month"][0].isupper() and not (begins_a_sentence and after[:1].isalpha())


def _range(found: Found) -> Expression | None:
    """`June 3` `to` `June 20` is one range; `and` makes one only after `between`."""
    first, last = found.get("first", Expression), found.get("last", Expression)
    if first is None or last is None or first.last or last.last or type(first.first) is not type(last.first):
        return None
    return None if found["span"] == "and" and not found["between"] else Expression(first.first, last.first)


# -- which days are meant ------------------------------------------------------------------------------------------------


def resolved(expression: Expression, among: Sequence[Expression], today: date) -> tuple[date, date]:
    """The first and the last day. `among`: all that a text says of the calendar; they complete each other.

    Raises:
        NoSuchDateError: it can be read in two ways, does not exist, runs backwards, or is over.
    """
    first, last = (_completed(end, among) for end in (expression.first, expression.last))
    if last is not None and first is not None:
        return _span(first, last, today)
    years = {each.year for each in _ends(among) if each.year is not None}
    year = years.pop() if len(years) == 1 else None
    if isinstance(first, RoughMonth):
        return _month_span(first, today, year)
    day = _only_day(first)
    if day.year is not None:
        exact = _not_over(_date(day.year, day), today)
    else:
        same = _date(year, day) if year is not None else None
        exact = same if same and same >= today else _next(day, today)
    return exact, exact


def _ends(among: Sequence[Expression]) -> Iterator[RoughDay | RoughMonth]:
    for end in (end for expression in among for end in (expression.first, expression.last)):
        if isinstance(end, NumericDay):
            yield from (reading for reading in (end.day_first, end.month_first) if reading)
        elif end is not None:
            yield end


def _completed(end: Rough | None, among: Sequence[Expression]) -> Rough | None:
    """`the 5th` is of the one month that a text names; where one date of figures has the day first, so have the others."""
    if isinstance(end, RoughDay) and end.month is None:
        months = {each.month for other in among for each in _ends([other]) if not isinstance(other.first, NumericDay) and each.month}
        return replace(end, month=months.pop()) if len(months) == 1 else end
    if isinstance(end, NumericDay):
        numeric = [each.first for each in among if isinstance(each.first, NumericDay)]
        is_day_first = any(each.month_first is None for each in numeric)
        is_month_first = any(each.day_first is None for each in numeric)
        if is_day_first != is_month_first:
            return replace(end, month_first=None) if is_day_first else replace(end, day_first=None)
    return end


def _month_span(rough: RoughMonth, today: date, year: int | None) -> tuple[date, date]:
    """The current month counts as long as it lasts."""
    chosen = rough.year or year or (today.year if rough.month >= today.month else today.year + 1)
    end = date(chosen + rough.month // 12, rough.month % 12 + 1, 1) - timedelta(days=1)
    first = end - timedelta(days=-rough.begins - 1) if rough.begins < 0 else end.replace(day=rough.begins)
    last = end.replace(day=min(rough.ends, end.day))
    if last < today:
        raise NoSuchDateError(f"{rough.part} {first:%B %Y} is over".strip())
    return first, last


def _span(first: Rough, last: Rough, today: date) -> tuple[date, date]:
    if isinstance(first, RoughMonth) and isinstance(last, RoughMonth):
        ends = _month_span(last, today, first.year)[1]
        begins = _month_span(first, date(today.year, 1, 1), last.year or ends.year)[0]
        if begins > ends and first.year is None:
            begins = begins.replace(year=begins.year - 1)
    else:
        begins, ends = _day_span(_only_day(first), _only_day(last), today)
    if begins > ends:
        raise NoSuchDateError(f"{_text(begins)} to {_text(ends)} runs backwards")
    return begins, _not_over(ends, today)


def _day_span(first: RoughDay, last: RoughDay, today: date) -> tuple[date, date]:
    """A year that is left out is that of the other end, or the next in which the range is not over."""
    wraps = first.month is not None and last.month is not None and first.month > last.month
    year = last.year if last.year is not None else first.year + wraps if first.year is not None else None
    ends = _date(year, last) if year is not None else _next(last, today)
    return _date(first.year if first.year is not None else ends.year - wraps, first), ends


def _only_day(rough: Rough | None) -> RoughDay:
    if isinstance(rough, RoughDay):
        return rough
    if not isinstance(rough, NumericDay):
        raise NoSuchDateError("a day and a month make no range")
    readings = tuple(dict.fromkeys(day for day in (rough.day_first, rough.month_first) if day is not None))
    if len(readings) != 1:
        ways = " or ".join(f"{reading.day} {date(2000, reading.month or 1, 1):%B}" for reading in readings)
        raise NoSuchDateError(f"{rough.said} can be {ways}" if ways else f"{rough.said} is no date")
    return readings[0]


def _date(year: int, rough: RoughDay) -> date:
    if rough.month is None:
        raise NoSuchDateError(f"the {rough.day}. of which month")
    try:
        return date(year, rough.month, rough.day)
    except ValueError:
        raise NoSuchDateError(f"there is no {rough.day} {date(2000, rough.month, 1):%B} {year}") from None


def _next(rough: RoughDay, today: date) -> date:
    """29 February waits for its leap year."""
    is_leap_day = (rough.month, rough.day) == (2, 29)
    for year in range(today.year, today.year + 9):
        if not is_leap_day or year % 4 == 0:
            day = _date(year, rough)
            if day >= today:
                return day
    raise NoSuchDateError(f"there is no such day within eight years of {today.year}")


def _not_over(day: date, today: date) -> date:
    if day < today:
        raise NoSuchDateError(f"{_text(day)} is in the past")
    return day


def _text(day: date) -> str:
    return f"{day.day} {day:%B %Y}"
