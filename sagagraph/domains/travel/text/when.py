"""When: the days of a trip, the weekdays and the hours at which nobody wants to travel."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from sagagraph.domains.travel.partial import Said
from sagagraph.domains.travel.request import NIGHT_ENDS, Hours, JourneyHours
from sagagraph.domains.travel.request import Weekday as DayOfTheWeek
from sagagraph.domains.travel.text.slots import CORRECTS
from sagagraph.domains.travel.wording import day_text
from sagagraph.language.calendar import FARTHEST_DAYS, Expression, Holiday, NoSuchDateError, Rough, Weekday, resolved, upcoming
from sagagraph.language.clock import DAY, Clock
from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number
from sagagraph.language.passage import Found
from sagagraph.language.quantities import NIGHTS, Quantity

if TYPE_CHECKING:
    from sagagraph.domains.travel.partial import PartialRequest
    from sagagraph.language.passage import Passage

_SAYS: Final = Forms(__file__, "when")

# -- hours ---------------------------------------------------------------------------------------------------------------


def read_hours(passage: Passage, said: Said) -> None:
    """Read hours, but only what is surely a time of day: `after 8 June` is not.

    Whoever arrives before noon and leaves after four speaks of two journeys, and the field holds for each: it is not taken.
    """
    limits: dict[str, dict[str, time]] = {"depart": {}, "arrive": {}}
    for found in filter(_is_of_every_journey, passage.find(_SAYS.limit)):
        what, limit, moment = _limit(found) or ("", "", None)
        is_night = limit == "latest" and moment is not None and moment < NIGHT_ENDS
        if moment is None or is_night or limits[what].setdefault(limit, moment) != moment:
            said.ask("hours", f"{found.said!r}: at what hour do you want to leave at the earliest, and arrive at the latest?")
    leaves, arrives = limits["depart"].get("earliest"), limits["arrive"].get("latest")
    if leaves and arrives and NIGHT_ENDS < arrives <= leaves:
        return
    passage.take(_SAYS.limit, _is_of_every_journey)
    if any(limits.values()) and not said.asks("hours"):
        try:
            said.fields["hours"] = JourneyHours(depart=Hours(**limits["depart"]), arrive=Hours(**limits["arrive"]))
        except ValueError:
            said.ask("hours", "Between which hours do you want to leave and arrive?")


def _is_of_every_journey(found: Found) -> bool:
    """Tell hours of the journeys from those of something else, and of the way back alone: `returning after 18:00`."""
    is_of_one = _SAYS.way_back.search(_clause_before(found)) is not None and _SAYS.after.match(found["relation"]) is not None
    is_time = found.get("time", Clock) is not None or found["not"] != ""  # `no flights before 9`
    return is_time and not is_of_one and (not found["loose"] or _subject(found) is not None)


def _limit(found: Found) -> tuple[str, str, time] | None:
    relation = found["relation"]
    is_before, is_after = bool(_SAYS.before.match(relation)), bool(_SAYS.after.match(relation))
    if found["later"] or found["earlier"]:
        is_before, is_after = bool(found["earlier"]), bool(found["later"])
    elif found["not"] or _SAYS.never.search(_clause_before(found)):
        is_before, is_after = is_after, is_before
    what = _subject(found) or ("depart" if is_after else "arrive" if relation in ("by", "until", "till") else None)
    moment = _time(found, is_earliest=is_after)
    return (what, "earliest" if is_after else "latest", moment) if moment and what and (is_before or is_after) else None


def _time(found: Found, *, is_earliest: bool) -> time | None:
    """Return the time; nine is in the morning in `no flights before 9`, and else nobody knows."""
    clock, number = found.get("time", Clock), found.get("n", Number)
    if clock is not None and clock.minutes is not None:
        return time(23, 59) if clock.minutes == DAY else time(clock.hour, clock.minute)
    hour = clock.hour if clock else number.count if number else None
    return time(hour) if hour is not None and hour < 24 and (hour > 12 or (is_earliest and 4 <= hour <= 11)) else None


def _subject(found: Found) -> str | None:
    """Return the subject: what the words before a time, in the form itself, or right after it are about."""
    clause = _clause_before(found) + found.match[0]
    coming, leaving = (max((each.end() for each in words.finditer(clause)), default=0) for words in (_SAYS.coming, _SAYS.leaving))
    if coming or leaving:
        return "arrive" if coming >= leaving else "depart"
    following = _SAYS.clause_ends.split(found.match.string[found.end : found.end + 15])[0].strip()
    return "arrive" if _SAYS.coming.match(following) else "depart" if _SAYS.leaving.match(following) else None


def _clause_before(found: Found) -> str:
    return _SAYS.clause_ends.split(found.match.string[max(0, found.start - 60) : found.start])[-1]


# -- weekdays ------------------------------------------------------------------------------------------------------------


def read_weekdays(passage: Passage, said: Said, known: PartialRequest) -> None:
    """Read the weekdays on which nobody wants to travel; earlier ones still apply."""
    avoided: set[int] = set()
    before = {number for number, day in enumerate(DayOfTheWeek) if day in (known.not_on or ())}
    for found in passage.take(_SAYS.not_on):
        avoided |= {day.number for day in found.values(Weekday)} or {5, 6}
    avoided |= before if avoided else set()
    if len(avoided) == len(DayOfTheWeek):
        said.ask("not_on", "On which weekdays do you not want to travel? One has to be left.")
    elif avoided:
        said.fields["not_on"] = tuple(day for number, day in enumerate(DayOfTheWeek) if number in avoided)


# -- dates ---------------------------------------------------------------------------------------------------------------

_RELATIONS: Final = Forms(__file__, "when.relations")
"""What the words before a date say of it; the first that fit."""
_SAID_AFTER: Final = (("from", _SAYS.or_later), ("by", _SAYS.latest), ("by", _SAYS.home_then))
_ONE_DAY: Final = timedelta(days=1)
_A_WEEK: Final = timedelta(days=7)
_FIRST_SUCH_DAY: Final = "the first such day"
_DAYS_OF_A_MONTH: Final = 30


class _Dates:
    """Dates collected from a sentence."""

    def __init__(self) -> None:
        self.spans: list[tuple[date, date, bool]] = []
        """With whether it is a month, or a part of one."""
        self.stays: dict[Expression | None, Quantity] = {}
        """The nights of each of these days."""
        self.firsts: list[date] = []
        self.lasts: list[date] = []
        self.homes: list[date] = []
        """Those of `lasts` on which the way back is, not only at the latest."""
        self.departs: list[date] = []
        self.named: list[date] = []
        """Days of departure of which nobody said that they are."""
        self.there: list[date] = []
        """When somebody has to be there."""
        self.starts: list[date] = []
        """Those of `departs` of which it is said from where, or for what."""
        self.doubts = Said()
        self.likely: date | None = None
        """The day of departure that a weekday most likely means."""

    def add(self, found: Found, among: list[Expression], today: date, order: str) -> None:
        expression = found.get("date", Expression)
        if expression is None:
            return
        is_day = not (expression.is_range or expression.is_month)
        try:
            first, last = resolved(expression, among, today, order)
        except NoSuchDateError as exc:
            text = f"When do you want to travel? {str(exc)[:1].upper()}{str(exc)[1:]}."
            self.doubts.ask("depart" if is_day else "window", text)
            return
        is_first_night = found.led_by(_SAYS.first_night) and not found.followed_by(_SAYS.or_later)
        is_first_night = is_first_night and any(each.unit in NIGHTS for each in found.passage.values(Quantity))
        relation = next((name for name, words in _SAID_AFTER if found.followed_by(words)), "")
        leads = next((name for name in _RELATIONS if found.led_by(_RELATIONS[name])), "")
        relation = relation or leads.partition(" ")[0]
        if expression.is_range and (found.led_by(_SAYS.leave) or " or " in expression.said):
            text = f"On which day between {day_text(first)} and {day_text(last)} do you leave?"
            self.doubts.ask("depart", text, otherwise={"first": first, "begins_by": last}, because="any of these days")
        elif expression.is_month and relation == "by" and "end" in (expression.first[0].part or ""):
            self.lasts.append(last)
        elif expression.is_range or (expression.is_month and relation != "before" and not found.led_by(_SAYS.back_by)):
            last += _ONE_DAY * bool(found.led_by(_SAYS.nights_of))
            self.spans.append((first, last, expression.is_month))
            self.stays[expression] = Quantity((Decimal((last - first).days),), "night")
        elif relation in ("about", "asked"):
            text = f"On which day do you leave, if not on {day_text(first)} itself?"
            ends = {"begins_by": first + _ONE_DAY} if relation == "about" else {"last": first + _ONE_DAY, "is_rough": True}
            self.there += [first] if relation == "asked" else []
            self.doubts.ask("depart", text, otherwise={"first": first - _ONE_DAY, **ends}, because="around that day")
        elif relation in ("from", "after") and not is_first_night:
            self.firsts.append(first + (_ONE_DAY if relation == "after" else timedelta()))
        elif relation in ("by", "before"):
            self.lasts.append(first - _ONE_DAY if relation == "before" else last)
            self.homes += [last] if leads == "by back" and is_day else []
        else:
            leaves = found.led_by(_SAYS.leave)
            self.departs.append(first)
            self.named += [] if leaves else [first]
            self.starts += [first] if leaves and leaves["off"] else []

    def _leave_out_events(self, begins: date, ends: date) -> None:
        """Leave out what begins after the journey there, and is over before the one back."""
        self.spans = [each for each in self.spans if each[2] or not begins < each[0] <= each[1] <= ends]

    def conclude(self, said: Said) -> None:
        """Combine what was collected; if it contradicts itself, return only the question."""
        leaving = [day for day in self.departs if day not in self.named] or self.departs or self.lasts
        if len(self.there) == len(leaving) == 1 and self.there < leaving:  # `arrive on 9 March, leave on the 12th`
            self._leave_out_events(self.there[0], leaving[0])
            self.spans.append((self.there[0], leaving[0], False))
            self.departs = [day for day in self.departs if day != leaving[0]]
            self.doubts = Said()
        elif self.there and (self.departs or not all(is_month for *_, is_month in self.spans)):
            self.doubts = Said()
        departs = list(dict.fromkeys(self.departs))
        if departs and self.lasts:  # `a fair from the 8th to the 11th: we fly on the 7th, and stay until the 12th`
            self._leave_out_events(departs[0], min(self.lasts))
        exact = [each[:2] for each in self.spans if not each[2]]
        if len(set(exact)) == 1:  # `the 4th of July weekend, from the 2nd to the 5th`
            departs = [each for each in departs if each not in self.named or not exact[0][0] < each <= exact[0][1]]
        are_days = (departs and self.lasts) or not all(is_month for *_, is_month in self.spans)
        spans = list(dict.fromkeys(each for each in self.spans if not (each[2] and are_days)))  # `in May, the 4th to the 9th`
        months = [f"{first:%B %Y}" for first, _, is_month in spans if is_month]
        windows = [f"{day_text(first)} to {day_text(last)}" for first, last, is_month in spans if not is_month]
        first = max((*(span[0] for span in spans), *self.firsts), default=None)
        ends = () if windows and self.lasts else (span[1] for span in spans)  # `16-18 June, back on the 19th`
        last = min((*ends, *self.lasts), default=None)
        depart = departs[0] if departs else None
        if len(months) > 1:
            whole = {"first": min(each[0] for each in spans), "last": max(each[1] for each in spans), "is_rough": True}
            self.doubts.ask("window", f"In which month: {' or '.join(months)}?", otherwise=whole, because="in either of them")
            first, last = None, None
        if len(windows) > 1:
            self.doubts.ask("window", f"Between which days: {' or '.join(windows)}?")
        if len(departs) > 1:
            latest = min(self.lasts, default=max(departs))
            is_clear = len(departs) == 2 and max(departs) <= latest  # the second is that of an event, or of the way back
            likely = {"first": min(departs), "last": latest, "is_rough": False} if is_clear else None
            text = f"On which day do you leave: {' or '.join(map(day_text, departs))}?"
            self.doubts.ask("depart", text, otherwise=likely, because="there and back")
            depart = None if is_clear else depart
        if first is not None and last is not None and first > last:
            self.doubts.ask("window", f"Between which days? {day_text(first)} comes after {day_text(last)}.")
        elif depart is not None and not (first or depart) <= depart <= (last or depart):
            named = f"{day_text(depart)} is not between {day_text(first or depart)} and {day_text(last or depart)}"
            self.doubts.ask("depart", f"On which day do you leave? {named}.")
        said.doubts += self.doubts.doubts[:1]
        said.notes += self.doubts.notes
        if any(is_month for *_, is_month in spans):
            said.fields["is_rough"] = True
        elif first is not None or last is not None:
            said.fields["is_rough"] = False
        if not self.doubts.doubts:
            days = {"first": first, "last": last, "depart": depart}
            said.fields |= {name: day for name, day in days.items() if day is not None}
            if last is not None:
                said.fields["is_home_then"] = self.homes == [last]


def read_dates(passage: Passage, said: Said, today: date, known: PartialRequest, order: str = "") -> None:
    """Read dates. Years that are left out are the next that fit; what does not fit together is asked about.

    `order`: `day` or `month`, what figures put first where this trip is; empty: nobody knows.
    """
    dates, expressions = _Dates(), passage.values(Expression)
    has_month = any(each.month is not None for expression in expressions for each in (*expression.first, *expression.last))
    among = expressions if has_month else [*expressions, *_month_of(known)]
    for found in passage.find(_SAYS.only_date):
        if len(expressions) > 1 and found.led_by(_SAYS.rather):
            continue
        if denied := found.denial:
            words = passage.said(denied + found.match[0]).strip()
            dates.doubts.ask("window", f"When do you want to travel, if {words}?")
        else:
            dates = _Dates() if found.led_by(CORRECTS) else dates
            dates.add(found, among, today, order)
    if dates.lasts and dates.departs == dates.named and passage.has(_SAYS.any_time):
        dates.firsts, dates.departs = dates.departs, []  # `exams end on 26 June, I can go any time until the end of July`
    exact = sorted(each for each in dates.spans if not each[2])
    if len(exact) > 1 and all(here[1] == there[0] for here, there in pairwise(exact)):  # `Oslo 3 to 5 May, Bergen 5 to 8 May`
        passage.tag("span", _SAYS.date, lambda found: dates.stays.get(found.get("date", Expression)))
        dates.spans = exact = [(exact[0][0], exact[-1][1], False)]
    passage.take(_SAYS.date)
    days = dates.there or dates.departs
    beside = passage.take(_SAYS.day_beside, lambda _: bool(days) or len(dates.spans) == len(exact) == 1)
    for found in sorted(beside, key=lambda each: not (each["after"] or each["later"])):
        span = found.get("span", Quantity)
        by = timedelta(days=(span.count or 0) * NIGHTS.get(span.unit, 0)) if span else _ONE_DAY
        if not days:
            begin, end, _ = dates.spans[0]
            dates.spans = [(begin, end + by, False) if found["after"] or found["later"] else (begin - by, end, False)]
        elif found["after"] or found["later"]:
            dates.lasts.append(days[0] + by)
        elif dates.there:
            dates.departs.append(days[0] - by)
        else:
            dates.departs = [day for day in dates.departs if day != days[0]]
            text = f"Do you leave on {day_text(days[0] - by)} or on {day_text(days[0])}?"
            begins = {"depart": days[0] - by} | ({"last": max(dates.lasts)} if dates.lasts else {})
            dates.doubts.ask("depart", text, otherwise=begins, because=found.said)
    holiday = next(iter(passage.values(Holiday)), None)
    if holiday and holiday.first and holiday.last and not (dates.spans or dates.departs):  # `Easter, Thursday to Monday`
        before = 3 * _ONE_DAY if holiday.last - holiday.first < _A_WEEK else timedelta()
        known = known.model_copy(update={"first": holiday.first - before, "last": holiday.last, "depart": None})
    for found in passage.take(_SAYS.weekday):
        _add_weekday(found, dates, today, known)
        first, last = found.get("weekday", Weekday), found.get("last", Weekday)
        if first and last:
            said.fields["total_nights"] = (last.number - first.number) % 7
    has_days = bool(expressions or dates.departs)
    if not _add_holiday(passage, dates, has_days=has_days) and not has_days:
        _add_ahead(passage, dates, today)
    leaving = [day for day in dates.departs if day not in dates.named]
    nights = sum((each.count or 0) * NIGHTS.get(each.unit, 0) for each in passage.values(Quantity))
    if len(leaving) == 1 and nights:
        dates.departs = leaving  # `3 nights for his 50th on 14 November, leave the 13th`
        if dates.starts and any(leaving[0] < day + timedelta(days=nights) for day in dates.there):
            dates.there, dates.doubts = [], Said()  # `the wedding is on 6 June, we leave from Cork on the 8th`
    dates.conclude(said)
    if expressions and all(len(each.first) > 1 for each in expressions) and not dates.doubts.doubts:
        said.notes.append(("depart" if "depart" in said.fields else "window", "figures in their likely order"))


def _add_holiday(passage: Passage, dates: _Dates, *, has_days: bool) -> bool:
    """Read a holiday as the window, where nothing else says which days. Return whether there is one."""
    named = passage.take(_SAYS.holiday)
    holidays = [holiday for found in named if (holiday := found.get("holiday", Holiday))]
    if denied := next((f"{found.denial}{found.said}".strip() for found in named if found.denial), ""):
        dates.doubts.ask("window", f"When do you want to travel, if {denied}?")
    if holidays and not has_days:
        holiday = holidays[0]
        text = f"{holiday.name.capitalize()}: between which days?"
        about: dict[str, Any] = {"first": holiday.first, "last": holiday.last, "is_rough": True}
        if holiday.first and holiday.last and "weekend" in holiday.name:
            about["total_nights"] = (holiday.last - holiday.first).days
        dates.doubts.ask("window", text, otherwise=about if holiday.first else None, because=holiday.name.capitalize())
    return holidays != []


def _add_ahead(passage: Passage, dates: _Dates, today: date) -> None:
    """Read `in three weeks` as about that day: where it is said how long one stays, it is not that."""
    ahead, spans = passage.find(_SAYS.ahead), [each for each in passage.values(Quantity) if each.unit in NIGHTS]
    is_only = len(ahead) == 1 and len(spans) > sum(span.unit in NIGHTS for span in ahead[0].values(Quantity))
    for found in passage.take(_SAYS.ahead, lambda found: (is_only or found["sure"] != "") and _days_ahead(found) != 0):
        day = today + timedelta(days=_days_ahead(found))
        about = {"first": day - _ONE_DAY, "begins_by": day + _ONE_DAY}
        dates.doubts.ask("depart", f"On which day do you leave {found.said}?", otherwise=about, because="around that day")


def _days_ahead(found: Found) -> int:
    """Return how many days from now on one leaves; 0 if it is not that, or nobody knows."""
    span = found.values(Quantity)[0]
    days = (span.count or 0) * {**NIGHTS, "month": _DAYS_OF_A_MONTH}.get(span.unit, 0)
    return days if days <= FARTHEST_DAYS and not _SAYS.way_back.search(_clause_before(found)) else 0


def read_shift(passage: Passage, said: Said, known: PartialRequest) -> None:
    """Move days that are known: the first, the last or, where nobody says which, both."""
    days = known.with_days_assumed()

    def is_shift(found: Found) -> bool:
        span = found.get("span", Quantity)
        is_whole = not (found["leave"] or found["back"]) or known.day_of_return() is not None or (found["leave"] and days.depart)
        return bool(span and is_whole and span.change in ("later", "earlier") and span.unit in NIGHTS and span.delta)

    for found in passage.take(_SAYS.shift, is_shift) if days.depart or days.first else ():
        quantity = found.values(Quantity)[0]
        by = timedelta(days=quantity.delta * NIGHTS[quantity.unit])
        moved = {"depart", "first"} if found["leave"] else {"last"} if found["back"] else {"depart", "first", "last"}
        before = {name: getattr(days, name) for name in moved}
        said.fields |= {name: day + by for name, day in before.items() if day is not None}


def _month_of(known: PartialRequest) -> list[Expression]:
    """Return the month in which the trip is so far: `the 25th` is in that one."""
    first, last = known.first or known.depart, known.last or known.depart
    if first is None or last is None or (first.year, first.month) != (last.year, last.month):
        return []
    return [Expression("", (Rough(1, 31, first.month, first.year, ""),))]


def _add_weekday(found: Found, dates: _Dates, today: date, known: PartialRequest) -> None:
    """Read a weekday as the first such day: of the days that are known, after the day of departure, or from now on."""
    weekday = found.get("weekday", Weekday)
    if weekday is None:
        return
    is_there = dates.departs != [] and not dates.named  # `arrive Thursday and leave Monday`
    back = _SAYS.until if dates.departs else _RELATIONS["by back"]
    is_back = bool(found.led_by(back) or (is_there and found.led_by(_SAYS.leave)))
    depart = dates.departs[0] if dates.departs else known.depart
    first, last = dates.spans[0][:2] if dates.spans else (known.first or depart, known.last)
    is_one_week = first is not None and last is not None and last - first < _A_WEEK
    begins = depart or (first if is_one_week else None)
    if is_back and begins:
        dates.lasts.append(upcoming(weekday, begins))
        return
    if is_back and dates.likely:  # `next Monday, and back on Thursday`
        likely = {"depart": dates.likely, "last": upcoming(weekday, dates.likely)}
        dates.doubts = Said()
        text = f"On which day do you leave, if back on {found.said}?"
        dates.doubts.ask("depart", text, otherwise=likely, because=_FIRST_SUCH_DAY)
        return
    events = dates.there or (dates.named if dates.departs == dates.named else [])
    days_before = (events[0].weekday() - weekday.number) % 7 if events else 0
    if days_before in (1, 2):  # `a meeting on Thursday 22 January: I fly on Wednesday`
        dates.departs, dates.named = [events[0] - timedelta(days=days_before)], []
        dates.doubts.notes.append(("depart", found.said))
        return
    day = upcoming(weekday, max(first, today) - _ONE_DAY if first else today)
    if found["which"] == "next" and not first and weekday.number > today.weekday():
        day += _A_WEEK
    is_this_one = not first and found["which"] not in ("", "next") and not found.said.lower().endswith("s")
    if is_back or (last is not None and day > last):
        dates.doubts.ask("depart", f"Which date is meant by {found.said!r}?")
    elif depart is None and (is_one_week or is_this_one):
        dates.departs.append(day)
    elif depart is None:
        dates.likely = day
        dates.doubts.ask("depart", f"Which day is meant by {found.said!r}?", otherwise={"depart": day}, because=_FIRST_SUCH_DAY)
