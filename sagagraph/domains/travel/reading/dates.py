"""When to travel: what the days and months in a text are for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.calendar import (
    Expression,
    NoSuchDateError,
    NumericDay,
    RoughDay,
    RoughMonth,
    find_expressions,
    resolved_day,
    resolved_month,
    resolved_range,
)
from sagagraph.domains.travel.reading.partial import Question
from sagagraph.domains.travel.reading.passage import Passage, Understood, pattern
from sagagraph.domains.travel.request import month_window
from sagagraph.domains.travel.wording import day_text

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

_ONE_DAY: Final = timedelta(days=1)

_ARTICLE: Final = r"(?:the\s+)?$"
_BEFORE: Final = pattern(rf"\bbefore\s+{_ARTICLE}")
_BY: Final = pattern(rf"\b(?:by|until|till|(?:no|not) later than|at the latest|latest|through|up to)\s+{_ARTICLE}")
_BACK: Final = pattern(
    rf"\b(?:return(?:ing|s)?|back|home|ending|ends?|finish(?:ing)?)\b(?:\s+(?:to|in|at|home"
    rf"|[A-Z]\w+)){{0,4}}\s*(?:on|by|until)?\s*{_ARTICLE}"
)
_BACK_BY: Final = pattern(r"\b(?:back|return(?:ing)?|home)\s+(?:by|before the end of)\s+$")
_AFTER: Final = pattern(rf"\bafter\s+{_ARTICLE}")
_FROM: Final = pattern(rf"\b(?:from|not before|(?:no|not) earlier than|earliest|since|as of)\s+{_ARTICLE}")
_LEAVE: Final = pattern(r"\b(?:leav(?:e|es|ing)|depart(?:s|ing|ure)?|set(?:ting)? off)(?:\s+\w+){0,2}\s*(?:between|from|on)?\s*$")
_ARRIVE: Final = pattern(rf"\b(?:arriv(?:e|es|ing|al)|land(?:s|ing)?|check(?:ing)?[- ]in)(?:\s+\w+){{0,2}}\s*{_ARTICLE}")
_AROUND: Final = pattern(rf"\b(?:around|about|roughly|approximately|circa)\s+{_ARTICLE}")
_DENIED: Final = pattern(
    r"\b(?:not|never|except|excluding|avoid(?:ing)?|(?:anything|any ?time|everything) but|but not)\s+"
    r"(?:(?:for|in|on|at|during|the|of)\s+)*$"
)
_RATHER: Final = pattern(r"\b(?:rather than|instead of|and not|but not)\s+(?:(?:in|on|the)\s+)*$")
_PREPOSITION: Final = pattern(
    r"\b(?:in|on|from|between|by|until|till|before|after|during|at|of|for|through|any ?time|around|about)\s+(?:the\s+)?$"
)
_FOLLOWS: Final = pattern(r"\s*(?:or later|onwards?|at the latest|at the earliest)\b")
_LATER: Final = pattern(r"\s*(?:or later|onwards?|at the earliest)\b")
_LATEST: Final = pattern(r"\s*at the latest\b")

_UPCOMING: Final = pattern(
    r"\b(?P<which>this coming|this|coming|next|on)\s+(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"(?!\s*,?\s*(?:the\s+)?(?:\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))"
)
_WEEKDAY_STEMS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HOLIDAY: Final = pattern(
    r"\b(?:(?:in|over|at|during|around|for|this|next|before|after|the|early|late|mid)[\s-]+)*"
    r"(?P<name>easter(?: weekend| holidays?| break)?|christmas|xmas|new year'?s?(?: eve)?|thanksgiving"
    r"|spring(?: break)?|summer|autumn"
    r"|winter|(?<=in )fall|(?<=this )fall)\b(?:\s+(?:of\s+)?(?P<year>20\d\d))?(?!\s+(?:island|market))"
)
_WEEKDAY: Final = pattern(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b")


@dataclass(frozen=True)
class Dates:
    first: date | None = None
    last: date | None = None
    depart: date | None = None


@dataclass
class _Said:
    """What has been collected from a text."""

    windows: list[tuple[date, date]] = field(default_factory=list)
    """Ranges of days."""
    months: list[tuple[date, date]] = field(default_factory=list)
    firsts: list[date] = field(default_factory=list)
    lasts: list[date] = field(default_factory=list)
    departs: list[date] = field(default_factory=list)
    doubts: list[Question] = field(default_factory=list)


def read_dates(passage: Passage, *, today: date, first: date | None = None, last: date | None = None) -> Understood[Dates]:
    """Years that are left out are the next that fit. `first`, `last`: between which the trip is known to be."""
    said, rest = _Said(), passage
    for words, understand in _RELATIVE:
        for match in rest.matches(words):
            understand(said, today)
            rest = rest.without(*match.span())
    rest = _upcoming(rest, said, today, first, last)
    expressions = find_expressions(rest, today)
    for expression in expressions:
        if len(expressions) > 1 and rest.lead(_RATHER, expression.start):
            continue
        if denied := rest.lead(_DENIED, expression.start):
            text = f"When do you want to travel, if {rest.text[denied.start() : expression.end].strip()}?"
            said.doubts.append(Question(field="window", text=text))
            continue
        _collect(said, expression, rest, today, _common_year(expressions), _common_month(expressions))
    for expression in expressions:
        rest = _without(rest, expression)
    is_dated = bool(expressions or said.windows or said.months or said.departs)
    rest = _seasons(rest, _Said() if is_dated else said, today)
    dates, doubts = _conclude(said)
    return Understood(dates, *_weekdays(rest, dates, doubts))


def _on_weekday(words: str, today: date) -> date:
    """The first one after today."""
    named = _WEEKDAY_STEMS.index(words.strip().lower()[:3])
    return today + timedelta(days=(named - today.weekday() - 1) % 7 + 1)


def _upcoming(rest: Passage, said: _Said, today: date, earliest: date | None, latest: date | None) -> Passage:
    """`this Friday` is the first that comes; `next Friday` may be that one or the one after it."""
    for match in rest.matches(_UPCOMING):
        rest = rest.without(*match.span())
        first = _on_weekday(match["weekday"], today)
        is_apart = (earliest is not None and first < earliest) or (latest is not None and first > latest)
        if is_apart or rest.lead(_BACK, match.start()):
            said.doubts.append(Question(field="depart", text=f"Which date is meant by {match[0]!r}?"))
        elif match["which"].lower() == "next":
            days = f"{day_text(first)} or {day_text(first + timedelta(days=7))}"
            said.doubts.append(Question(field="depart", text=f"Which day is meant by {match[0]!r}: {days}?"))
        else:
            said.departs.append(first)
    return rest


def _seasons(rest: Passage, said: _Said, today: date) -> Passage:
    """When a holiday is, is known; which days around it are meant, is not."""
    for match in rest.matches(_HOLIDAY):
        rest = rest.without(*match.span())
        name = match["name"].lower()
        year = int(match["year"]) if match["year"] else None
        text = f"{match['name'].capitalize()}: in which month, or between which days?"
        if name.startswith(("easter", "christmas", "xmas", "new year")):
            first, last = _holiday(name, year or today.year)
            if last < today and year is None:
                first, last = _holiday(name, today.year + 1)
            when = f"{match['name'].capitalize()} is {day_text(first)} to {day_text(last)}"
            text = f"{when}; between which days do you want to travel?"
        said.doubts.append(Question(field="window", text=text))
    return rest


def _holiday(name: str, year: int) -> tuple[date, date]:
    if name.startswith("easter"):
        sunday = easter_sunday(year)
        return sunday - timedelta(days=2), sunday + _ONE_DAY
    if name.startswith("new"):
        return date(year, 12, 31), date(year + 1, 1, 1)
    return date(year, 12, 24), date(year, 12, 26)


def easter_sunday(year: int) -> date:
    """Of the Gregorian calendar: the Sunday after the full moon by which the church reckons."""
    golden, century = year % 19, year // 100
    moon = (century - century // 4 - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    moon -= (moon // 28) * (1 - (moon // 28) * (29 // (moon + 1)) * ((21 - golden) // 11))
    weekday = (year + year // 4 + moon + 2 - century + century // 4) % 7
    days = moon - weekday
    month = 3 + (days + 40) // 44
    return date(year, month, days + 28 - 31 * (month // 4))


def _leaving_in(days: int) -> Callable[[_Said, date], None]:
    return lambda said, today: said.departs.append(today + timedelta(days=days))


def _this_month(said: _Said, today: date) -> None:
    window = month_window(today.year, today.month)
    said.months.append((window.first, window.last))


def _next_month(said: _Said, today: date) -> None:
    window = month_window(today.year + today.month // 12, today.month % 12 + 1)
    said.months.append((window.first, window.last))


def _next_week(said: _Said, today: date) -> None:
    monday = today + timedelta(days=7 - today.weekday())
    said.windows.append((monday, monday + timedelta(days=6)))


_RELATIVE: Final[tuple[tuple[re.Pattern[str], Callable[[_Said, date], None]], ...]] = (
    (pattern(r"\b(?:the\s+)?day after tomorrow\b"), _leaving_in(2)),
    (pattern(r"\btomorrow\b"), _leaving_in(1)),
    (pattern(r"\btoday\b"), _leaving_in(0)),
    (pattern(r"\b(?:in\s+)?next month\b"), _next_month),
    (pattern(r"\b(?:(?:with)?in\s+)?this month\b"), _this_month),
    (pattern(r"\b(?:in\s+)?next week\b"), _next_week),
)


def _collect(said: _Said, expression: Expression, passage: Passage, today: date, year: int | None, month: int | None) -> None:
    try:
        if expression.last is not None:
            first, last = (_in_month(end, month) for end in (expression.first, expression.last))
            _collect_range(said, resolved_range(first, last, today), expression, passage)
        elif isinstance(expression.first, RoughMonth):
            _collect_month(said, resolved_month(expression.first, today, year=year), expression, passage)
        else:
            _collect_day(said, resolved_day(_in_month(expression.first, month), today, year=year), expression, passage)
    except NoSuchDateError as exc:
        is_day = expression.last is None and not isinstance(expression.first, RoughMonth)
        text = f"When do you want to travel? {str(exc)[:1].upper()}{str(exc)[1:]}."
        said.doubts.append(Question(field="depart" if is_day else "window", text=text))


def _collect_range(said: _Said, span: tuple[date, date], expression: Expression, passage: Passage) -> None:
    if passage.lead(_LEAVE, expression.start):
        text = f"On which day between {day_text(span[0])} and {day_text(span[1])} do you leave?"
        said.doubts.append(Question(field="depart", text=text))
    else:
        said.windows.append(span)


def _collect_month(said: _Said, span: tuple[date, date], expression: Expression, passage: Passage) -> None:
    if passage.lead(_BACK_BY, expression.start):
        said.lasts.append(span[1])
    elif passage.lead(_BEFORE, expression.start):
        said.lasts.append(span[0] - _ONE_DAY)
    else:
        said.months.append(span)


def _collect_day(said: _Said, day: date, expression: Expression, passage: Passage) -> None:
    def led_by(words: re.Pattern[str]) -> bool:
        return passage.lead(words, expression.start) is not None

    if led_by(_ARRIVE) or led_by(_AROUND):
        said.doubts.append(Question(field="depart", text=f"On which day do you leave, if not on {day_text(day)} itself?"))
    elif led_by(_FROM) or passage.trail(_LATER, expression.end):
        said.firsts.append(day)
    elif led_by(_BEFORE):
        said.lasts.append(day - _ONE_DAY)
    elif led_by(_BY) or led_by(_BACK) or passage.trail(_LATEST, expression.end):
        said.lasts.append(day)
    elif led_by(_AFTER):
        said.firsts.append(day + _ONE_DAY)
    else:
        said.departs.append(day)


def _common_year(expressions: tuple[Expression, ...]) -> int | None:
    """The one year that a text names."""
    ends = [end for expression in expressions for end in (expression.first, expression.last)]
    years = {end.year for end in ends if isinstance(end, RoughDay | RoughMonth) and end.year is not None}
    years |= {reading.year for end in ends if isinstance(end, NumericDay) for reading in end.readings if reading.year}
    return years.pop() if len(years) == 1 else None


def _common_month(expressions: tuple[Expression, ...]) -> int | None:
    """What `the 5th` is a day of: the one month that a text names."""
    ends = [end for expression in expressions for end in (expression.first, expression.last)]
    months = {end.month for end in ends if isinstance(end, RoughDay | RoughMonth) and end.month is not None}
    return months.pop() if len(months) == 1 else None


def _in_month(rough: RoughDay | RoughMonth | NumericDay, month: int | None) -> RoughDay | RoughMonth | NumericDay:
    if isinstance(rough, RoughDay) and rough.month is None and month is not None:
        return RoughDay(rough.day, month, rough.year)
    return rough


def _without(passage: Passage, expression: Expression) -> Passage:
    lead = passage.lead(_PREPOSITION, expression.start)
    trail = passage.trail(_FOLLOWS, expression.end)
    return passage.without(lead.start() if lead else expression.start, trail.end() if trail else expression.end)


def _conclude(said: _Said) -> tuple[Dates, list[Question]]:
    """What was collected, put together; where it does not fit together, nothing but the question."""
    months, windows = list(dict.fromkeys(said.months)), list(dict.fromkeys(said.windows))
    departs = list(dict.fromkeys(said.departs))
    doubts = list(said.doubts[:1])
    if len(months) > 1:
        doubts.append(Question(field="window", text=f"In which month: {' or '.join(f'{first:%B %Y}' for first, _ in months)}?"))
    if len(windows) > 1:
        named = " or ".join(f"{day_text(first)} to {day_text(last)}" for first, last in windows)
        doubts.append(Question(field="window", text=f"Between which days: {named}?"))
    if len(departs) > 1:
        doubts.append(Question(field="depart", text=f"On which day do you leave: {' or '.join(map(day_text, departs))}?"))
    if doubts:
        return Dates(), doubts[:1]
    spans = [*windows, *months]
    first = max((*(span[0] for span in spans), *said.firsts), default=None)
    last = min((*(span[1] for span in spans), *said.lasts), default=None)
    depart = departs[0] if departs else None
    if first is not None and last is not None and first > last:
        return Dates(), [Question(field="window", text=f"Between which days? {day_text(first)} comes after {day_text(last)}.")]
    if depart is not None and not (first or depart) <= depart <= (last or depart):
        named = f"{day_text(depart)} is not between {day_text(first or depart)} and {day_text(last or depart)}"
        return Dates(), [Question(field="depart", text=f"On which day do you leave? {named}.")]
    return Dates(first, last, depart), []


def _weekdays(rest: Passage, dates: Dates, doubts: list[Question]) -> tuple[Passage, tuple[Question, ...]]:
    """Trips are planned by dates; a weekday is understood only beside one."""
    named = [match[0] for match in rest.matches(_WEEKDAY)]
    for match in rest.matches(_WEEKDAY):
        rest = rest.without(*match.span())
    if named and dates.depart is None and not doubts:
        doubts = [Question(field="depart", text=f"On which date do you leave? {named[0]} alone is not understood yet.")]
    return rest, tuple(doubts)
