"""Calendar: tags days, months and ranges as `date` (`Expression`), weekdays as `weekday`, holidays and seasons as `holiday`.

`resolved` says which days they are; a missing year or month is taken from the other dates, or is the next that fits.
"""

from __future__ import annotations

from calendar import isleap, monthrange
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from dateutil.easter import easter

from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Nth, Number
from sagagraph.language.quantities import NIGHTS, Quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sagagraph.language.passage import Found, Passage

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SAYS: Final = Forms(__file__, "calendar")
_DATED: Final = Forms(__file__, "calendar.dated")
_FEBRUARY: Final = 2
_PARTS: Final = (
    *((word, (1, 10)) for word in ("early", "beginning", "start")),
    ("mid", (11, 20)),
    *((word, (21, 31)) for word in ("late", "end")),
    ("half", (1, 15)),
)
_CLOSE: Final = 31
"""Days between dates of one trip."""
_LAST_WEEK: Final = 22
"""Day of a month after which a week may reach into the next one."""
YEARS: Final = range(2000, 2100)
"""Of which anybody speaks."""
FARTHEST_DAYS: Final = 365
"""Nobody counts the days from today that are farther away."""
_WEEKS_BY_NUMBER: Final = range(5, 53)
_AFTER_EASTER: Final = {"good friday": -2, "easter sunday": 0, "easter monday": 1, "whit monday": 50}
_FEASTS: Final = {"christmas eve": (12, 24), "christmas day": (12, 25), "boxing day": (12, 26), "new years day": (1, 1)}
"""Days after Easter Sunday, or month and day."""
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""By the month in which they begin, on the northern half of the world; each has three."""


@dataclass(frozen=True, slots=True)
class Weekday:
    number: int
    """Monday is 0."""


@dataclass(frozen=True, slots=True)
class Holiday:
    """Holiday. `first` None: only the writer can say which days it means."""

    name: str
    first: date | None = None
    last: date | None = None


@dataclass(frozen=True, slots=True)
class Rough:
    """Rough date: days of one month, whose month and year may have been left out."""

    begins: int
    ends: int
    month: int | None
    year: int | None = None
    part: str | None = None
    """Days of the month; empty: the whole month; None: a single day."""
    order: str = ""
    """`day` or `month`: what a date in figures (`13/06/2025`) puts first."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A date or range. `first` has several readings if figures are ambiguous, and none if they fit no date."""

    said: str
    first: tuple[Rough, ...]
    last: tuple[Rough, ...] = ()
    """The end of a range; empty: a single day or month."""
    weekday: Weekday | None = None
    """The weekday that is said beside it, or beside the first day."""

    @property
    def is_range(self) -> bool:
        return self.last != ()

    @property
    def is_month(self) -> bool:
        return not self.last and any(rough.part is not None for rough in self.first)


class NoSuchDateError(ValueError):
    """There is no such date. The message says why, for the writer."""


def tag_numeric_dates(passage: Passage) -> None:
    """Tag dates in figures, before the numbers are tagged."""
    passage.tag("date", _SAYS.iso, lambda f: _one(f.said, _day(int(f["day"]), int(f["month"]), int(f["year"]))))
    passage.tag("date", _SAYS.numeric, _numeric)


def tag_dates(passage: Passage, today: date) -> None:
    """Tag dates, after numbers and quantities are tagged: `may 2 people` is not a day."""
    passage.tag("date", _SAYS.feast, lambda found: _feast(found, today))
    passage.tag("holiday", _SAYS.holiday, lambda found: _holiday(found, today))
    for named in (_SAYS.weekday, _SAYS.short_weekday, _SAYS.up_to_weekday):
        passage.tag("weekday", named, lambda found: Weekday(_DAYS.index(found["day"][:3])), "day")
    passage.tag("date", _SAYS.relative, lambda found: _relative(found, today))
    passage.tag("year", _SAYS.year, _year, "year")
    for words in _DATED:
        passage.tag("date", _DATED[words], lambda found: _dated(found, today))
    for alone in (_SAYS.nth_alone, _SAYS.back_alone):
        passage.tag("date", alone, _day_alone, group="day")
    passage.tag("date", _SAYS.weekday_of_a_date, _day_with_weekday)
    passage.tag("date", _SAYS.between_two, _range)
    passage.tag("date", _SAYS.week_of, _week)


def upcoming(weekday: Weekday, today: date) -> date:
    """Return the first such day after today."""
    return today + timedelta(days=(weekday.number - today.weekday() - 1) % 7 + 1)


def _one(said: str, *rough: Rough) -> Expression:
    return Expression(said, rough)


def _day(day: int, month: int | None, year: int | None = None, order: str = "") -> Rough:
    return Rough(day, day, month, year, order=order)


def _numeric(found: Found) -> Expression:
    """Read `06/07/2025`: which number is the month depends on the writer's country."""
    if found["month"]:  # `10.6.` is written with the day first
        return _one(found.said, _day(int(found["a"]), int(found["month"]), order="day"))
    a, b = int(found["a"]), int(found["b"] or found["c"] or found["dash"])
    year = int(found["year"]) % 2000 + 2000 if found["year"] else None
    if a == b and a <= 12:
        return _one(found.said, _day(a, a, year))
    readings: tuple[tuple[int, int, str], ...] = ((a, b, "day"), (b, a, "month"))
    if "." in found.said and b <= 12:
        readings = readings[:1]
    return _one(found.said, *(_day(day, month, year, order) for day, month, order in readings if 1 <= month <= 12))


def _relative(found: Found, today: date) -> Expression | None:
    week = found.get("week_number", Number)
    if week is not None and week.count not in _WEEKS_BY_NUMBER:
        return None  # `week 2` is more likely the second one of the trip
    if found["next_week"] or week is not None:
        numbered = (date.fromisocalendar(year, week.count or 1, 1) for year in (today.year, today.year + 1)) if week else ()
        monday = next((day for day in numbered if day >= today), today + timedelta(days=7 - today.weekday()))
        return Expression(found.said, (_exactly(monday),), (_exactly(monday + timedelta(days=6)),))
    if found["weekend"]:
        friday = today + timedelta(days=(4 - today.weekday()) % 7 + (7 if found["next_one"] and today.weekday() < 4 else 0))
        return Expression(found.said, (_exactly(friday),), (_exactly(friday + timedelta(days=2)),))
    if found["this_month"] or found["next_month"]:
        months = today.month - 1 + bool(found["next_month"])
        return _one(found.said, Rough(1, 31, months % 12 + 1, today.year + months // 12, ""))
    ahead = found.get("ahead", Quantity)
    days = (ahead.count or 0) * NIGHTS.get(ahead.unit, 0) if ahead else 0
    if ahead is not None and not 0 < days <= FARTHEST_DAYS:
        return None
    days += 2 if found["after"] else "tomorrow" in (found["tomorrow"], found["sure"])
    return _one(found.said, _exactly(today + timedelta(days=days, weeks=bool(found["week"] or found["later"]))))


def _feast(found: Found, today: date) -> Expression:
    name = found.said.casefold().removeprefix("the ").replace("'", "")
    if name in _FEASTS:
        return _one(found.said, _day(_FEASTS[name][1], _FEASTS[name][0]))
    days = (easter(year) + timedelta(days=_AFTER_EASTER[name]) for year in (today.year, today.year + 1))
    return _one(found.said, _exactly(next(day for day in days if day >= today)))


def _exactly(day: date) -> Rough:
    return _day(day.day, day.month, day.year)


def _holiday(found: Found, today: date) -> Holiday | None:
    said = found.get("year", Number)
    if said is not None and said.count not in YEARS:
        return None
    name, year = found["name"], (said.count if said else None) or today.year

    def days(year: int) -> tuple[date, date] | None:
        if name.startswith("easter"):
            return easter(year) - timedelta(days=2), easter(year) + timedelta(days=1)
        if name.startswith(("whit", "pentecost")):
            return easter(year) + timedelta(days=48), easter(year) + timedelta(days=50)
        if name.startswith("new"):
            return date(year, 12, 31), date(year + 1, 1, 1)
        if "valentine" in name:
            return date(year, 2, 13), date(year, 2, 15)
        if name == "thanksgiving":
            begins = date(year, 11, 22) + timedelta(days=(3 - date(year, 11, 22).weekday()) % 7)  # the fourth Thursday
            return begins, begins + timedelta(days=3)
        if name in _SEASONS:
            begins = date(year, _SEASONS[name], 1)
            return begins, begins + timedelta(days=89)
        return (date(year, 12, 24), date(year, 12, 26)) if name.startswith(("christmas", "xmas")) else None

    span = days(year)
    if span and span[1] < today and said is None:
        span = days(year + 1)
    return Holiday(name, *(span or (None, None)))


def _dated(found: Found, today: date) -> Expression | None:
    year, said_year = None, found.get("year", Number)
    if said_year is not None:
        year = said_year.count
    elif found["next_year"]:
        year = today.year + 1
    month = _MONTHS.index(found["month"][:3]) + 1
    if found["final"] or found.get("nth", Nth) is not None:
        return _weekday_of(found, month, year, today)
    if not found["day"]:
        return _one(found.said, _month(found, month, year)) if _is_month(found) else None
    days = [_day_number(found, name) for name in ("day", "last") if found[name]]
    if found["span"] == "and" and not found["between"] and (days[1] or 0) - (days[0] or 0) != 1:  # `on 11 and 12 March`
        return None
    if any(day is None for day in days):
        return None
    rough = [_day(day, month, year) for day in days if day is not None]
    return Expression(found.said, tuple(rough[:1]), tuple(rough[1:]))


def _year(found: Found) -> Number | None:
    number = found.get("said", Number)
    return number if number and number.count in YEARS else None


def _weekday_of(found: Found, month: int, year: int | None, today: date) -> Expression | None:
    """Read `the second Friday of May`; a weekend lasts from its Friday to its Sunday."""
    weekday, nth = found.get("weekday", Weekday), found.get("nth", Nth)
    number = 5 if weekday is None else weekday.number
    for each in (today.year, today.year + 1) if year is None else (year,):
        days = [day for day in range(1, monthrange(each, month)[1] + 1) if date(each, month, day).weekday() == number]
        place = -1 if nth is None else nth.place - 1
        if place >= len(days):
            continue
        day = date(each, month, days[place])
        if year is None and day < today:
            continue
        if weekday is not None:
            return _one(found.said, _exactly(day))
        return Expression(found.said, (_exactly(day - timedelta(days=1)),), (_exactly(day + timedelta(days=1)),))
    return None


def _day_number(found: Found, group: str) -> int | None:
    for number in found.values(Number, group):
        return number.count if number.count is not None and not number.is_thousands and number.count <= 31 else None
    return next((nth.place for nth in found.values(Nth, group)), None)


def _day_with_weekday(found: Found) -> Expression | None:
    """Read `Friday 9 May`, `Fri-Sun 9-11 May` and `Wed to Fri 22`, but neither `Fridays in May` nor `on Friday, tomorrow`."""
    expression, first, weekday = found.get("date", Expression), found.get("first", Weekday), found.get("weekday", Weekday)
    is_said_of = _SAYS.one_weekday.match(found.said) and any(character.isdigit() for character in found.said)
    if expression is None or weekday is None or not is_said_of or expression.is_month:
        return None
    if first is None or expression.is_range:
        return replace(expression, said=found.said, weekday=first or weekday)
    days = (weekday.number - first.number) % 7
    begins = [replace(each, begins=each.begins - days, ends=each.ends - days) for each in expression.first if each.begins > days]
    return Expression(found.said, tuple(begins), expression.first, first) if begins else None


def _day_alone(found: Found) -> Expression | None:
    day = _day_number(found, "day")
    return _one(found.said, _day(day, None)) if day and day <= 31 else None


def _month(found: Found, month: int, year: int | None) -> Rough:
    part = " ".join(found["part"].removeprefix("the ").split())
    nth = next((each.place for each in found.values(Nth, "part")), 0) if part else 0
    begins, ends = next((days for word, days in _PARTS if word in part), (1, 31))
    if "half" in part and (nth == 2 or part.startswith(("back", "latter"))):
        begins, ends = 15 if month == _FEBRUARY else 16, 31
    weeks = found.get("weeks", Quantity)
    if weeks is not None or "week" in part:
        days = 7 if weeks is None else (weeks.count or 0) * {"week": 7, "day": 1}.get(weeks.unit, 0)
        begins, ends = (days * (nth - 1) + 1, days * nth) if nth else (1 - days, 31)
    return Rough(begins, ends, month, year, part)


def _is_month(found: Found) -> bool:
    """Tell whether it is a month: `may` and `march` are verbs too."""
    if found["month"] not in ("may", "march", "mar") or found.get("year", Number) is not None or found["next_year"]:
        return True
    if found["part"] or found["next"] or found.passage.whole(_SAYS.month_alone):
        return True
    if found.led_by(_SAYS.before_a_month) or found.followed_by(_SAYS.after_a_month):
        return True
    before, after = found.match.string[: found.start].rstrip(), found.match.string[found.end :].lstrip()
    if found.led_by(_SAYS.listing) and not after[:1].isalnum():
        return True
    begins_a_sentence = not before or before[-1] in ".!?"
    return found.match["month"][0].isupper() and not (begins_a_sentence and after[:1].isalpha())


def _range(found: Found) -> Expression | None:
    """Read a range: `June 3` `to` `June 20` is one; `and` makes one only after `between`."""
    first, last = found.get("first", Expression), found.get("last", Expression)
    if first is None or last is None or first.is_range or last.is_range or first.is_month != last.is_month:
        return None
    if (found["span"] == "and" and not found["between"]) or (found["span"] == "or" and first.is_month):
        return None
    return Expression(found.said, first.first, last.first, first.weekday)


def _week(found: Found) -> Expression | None:
    """Read `the week of 20 April`, within one month."""
    day = found.get("date", Expression)
    if day is None or day.is_range or day.is_month or len(day.first) != 1 or day.first[0].begins > _LAST_WEEK:
        return None
    end = day.first[0].begins + 6
    return Expression(found.said, day.first, (replace(day.first[0], begins=end, ends=end),))


# -- which days are meant ------------------------------------------------------------------------------------------------


def resolved(expression: Expression, among: Sequence[Expression], today: date, usual: str = "") -> tuple[date, date]:
    """Return the first and the last day. `among`: all dates of the text; they complete each other.

    `usual`: `day` or `month`, what figures put first where this is written; empty: nobody knows.

    Raises:
        NoSuchDateError: it can be read in two ways, does not exist, runs backwards, is over, or is another weekday.
    """
    order = _order(among, usual)
    first = _only(expression, expression.first, among, order)
    last = _only(expression, expression.last, among, order) if expression.last else first
    wraps = first.month is not None and last.month is not None and first.month > last.month
    year = last.year if last.year is not None else first.year + wraps if first.year is not None else None
    named = {each.year for other in among for each in (*other.first, *other.last) if each.year is not None}
    years = [year] if year is not None else [*(named if len(named) == 1 else ()), *range(today.year, today.year + 9)]
    for each in years:
        if (last.month, last.ends, last.part) == (2, 29, None) and len(years) > 1 and not isleap(each):
            continue
        begins = _date(first.year if first.year is not None else each - wraps, first, first.begins)
        ends = _date(each, last, last.ends)
        if begins > ends:
            raise NoSuchDateError(f"{_text(begins)} to {_text(ends)} runs backwards")
        if ends >= today:
            if expression.weekday is not None and begins.weekday() != expression.weekday.number:
                raise NoSuchDateError(f"{_text(begins)} is a {begins:%A}, and {expression.said!r} says otherwise")
            return begins, ends
    raise NoSuchDateError(f"{last.part} {ends:%B %Y} is over".strip() if expression.is_month else f"{_text(ends)} is in the past")


def _order(dates: Sequence[Expression], usual: str) -> str:
    """Return what figures put first: as some date must be read, or as brings all of them close together, or else as usual."""
    ends = [end for each in dates for end in (each.first, each.last) if end]
    certain = {end[0].order for end in ends if len(end) == 1 and end[0].order}
    likely = [order for order in certain or ("day", "month") if certain or _spread(ends, order) <= _CLOSE]
    return likely[0] if len(likely) == 1 else usual if not certain else ""


def _spread(ends: Sequence[tuple[Rough, ...]], order: str) -> int:
    days = [(each.year or 0) * 372 + (each.month or 0) * 31 + each.begins for end in ends for each in end if each.order == order]
    return max(days, default=0) - min(days, default=0)


def _only(expression: Expression, readings: tuple[Rough, ...], among: Sequence[Expression], order: str) -> Rough:
    """Return the one reading; `the 5th` is of the only month named."""
    others = (end for other in among for end in (other.first, other.last) if len(end) == 1)
    if len(readings) > 1 and order:
        readings = tuple(reading for reading in readings if reading.order == order)
    if len(readings) != 1:
        ways = " or ".join(f"{each.begins} {date(2000, each.month or 1, 1):%B}" for each in readings)
        raise NoSuchDateError(f"{expression.said} can be {ways}" if ways else f"{expression.said} is no date")
    months = {end[0].month for end in others if end[0].month is not None} if readings[0].month is None else set()
    return replace(readings[0], month=months.pop()) if len(months) == 1 else readings[0]


def _date(year: int, rough: Rough, day: int) -> date:
    if rough.month is None:
        raise NoSuchDateError(f"the {rough.begins}. of which month")
    if not 1 <= rough.month <= 12:
        raise NoSuchDateError(f"there is no month {rough.month}")
    days = monthrange(year, rough.month)[1]
    if rough.part is not None:
        return date(year, rough.month, min(day, days) if day > 0 else max(1, days + day))
    if not 1 <= day <= days:
        raise NoSuchDateError(f"there is no {day} {date(2000, rough.month, 1):%B} {year}")
    return date(year, rough.month, day)


def _text(day: date) -> str:
    return f"{day.day} {day:%B %Y}"
