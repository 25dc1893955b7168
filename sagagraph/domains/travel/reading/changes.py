"""`One night longer`, `$500 more`, `a week later`: computed from what was said before; where that is unclear, asked."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.money import PRICE_CURRENCY, money_text
from sagagraph.domains.travel.reading.budget import DIGITS, Share, read_budget
from sagagraph.domains.travel.reading.currency import SIGN
from sagagraph.domains.travel.reading.numerals import COUNT, count_of
from sagagraph.domains.travel.reading.partial import PartialRequest, PartialStop, Question
from sagagraph.domains.travel.reading.passage import Passage, Understood, pattern
from sagagraph.domains.travel.reading.places import Mention, find_mentions
from sagagraph.domains.travel.reading.wishes import FEWEST_STARS, MOST_STARS
from sagagraph.domains.travel.request import month_window
from sagagraph.domains.travel.wording import count_text, day_text

if TYPE_CHECKING:
    from sagagraph.domains.travel.cities import Gazetteer

_MORE: Final = r"more|longer|extra|additional|further|on top"
_LESS: Final = r"less|fewer|shorter|off"
_NO_LIMIT: Final = r"\b(?!\s+(?:or|of)\b)(?:\s+than\s+(?:that|now|before|planned|this)\b|(?!\s+than\b))"
"""`3 nights or more` and `more than 3 nights` change nothing."""
_HOW_MANY: Final = rf"(?P<count>{COUNT}|an?|(?:a )?couple(?: of)?)"
_UNIT: Final = (
    r"(?P<unit>nights?|nts?|days?|weeks?|people|persons?|travell?ers?|adults?|passengers?|guests?|kids?|child(?:ren)?"
    r"|rooms?|stars?)\b"
)
_CHANGES: Final = (
    pattern(rf"\b{_HOW_MANY}\s+(?P<way>{_MORE}|{_LESS})\s+{_UNIT}"),
    pattern(rf"\b(?:add|plus|with)\s+{_HOW_MANY}\s+{_UNIT}\s+(?P<way>{_MORE}|{_LESS}){_NO_LIMIT}"),
    pattern(rf"\b{_HOW_MANY}[\s-]*{_UNIT}\s+(?P<way>{_MORE}|{_LESS}){_NO_LIMIT}"),
    pattern(rf"\b{_HOW_MANY}\s+(?P<way>more|less|fewer|longer|shorter)(?P<unit>)(?=\s+(?:in|at)\s+[^\W\d])"),
    pattern(rf"\b(?P<way>another)\s+(?:{_HOW_MANY}\s+)?{_UNIT}"),
    pattern(rf"\b(?P<way>plus)[- ](?P<count>one)\b(?!\s*-?{_UNIT.replace('?P<unit>', '?:')})(?P<unit>)"),
    pattern(
        rf"\b(?P<way>extend|lengthen|prolong|shorten|reduce|cut|increase)(?:e?d|ing)?\b[^.,;]{{0,40}}?\bby\s+"
        rf"{_HOW_MANY}\s+{_UNIT}"
    ),
    pattern(rf"\b(?P<way>add|remove|drop|skip|take off|knock off|cut)\s+{_HOW_MANY}\s+{_UNIT}(?!\s+(?:each|trip|in total))"),
)
_NIGHTS_IN: Final = {"n": 1, "d": 1, "w": 7}
_LESS_WAYS: Final = frozenset({*_LESS.split("|"), "shorten", "reduce", "cut", "remove", "drop", "skip", "take off", "knock off"})
_MORE_WAYS: Final = frozenset(_MORE.split("|"))
_EVERYWHERE: Final = pattern(r"\s*(?:in\s+)?(?:each|both|every|all|everywhere)\b(?:\s+(?:of them|city|stop|place|cities|stops))?")
_IN_A_CITY: Final = pattern(r"\s*(?:(?:in|at|for|of|to)\s+)?(?:the\s+)?")
_AFTER_A_CITY: Final = pattern(r"(?:\s|\b(?:for|stay|by|make|it|should|be|a|get|gets)\b)*")

_SHIFT: Final = pattern(
    rf"\b{_HOW_MANY}[\s-]*(?P<unit>days?|weeks?|fortnights?|months?|years?)\s+(?P<way>later|earlier|sooner)\b"
)
_MOVED: Final = pattern(
    rf"\b(?P<way>postpone|delay|push(?:\s+\w+){{0,2}}\s+back|push|bring(?:\s+\w+){{0,2}}\s+forward)(?:e?d)?\b[^.,;\d]{{0,30}}?\b"
    rf"(?:by\s+)?{_HOW_MANY}\s+(?P<unit>days?|weeks?|fortnights?|months?|years?)\b(?:\s+(?:later|earlier|sooner))?"
)
_EARLIER: Final = pattern(r"earlier|sooner|bring")
_COMING_BACK: Final = pattern(r"\b(?:back|return\w*|home)\b[^.,;]*$")
_CLAUSE: Final = re.compile(r"[.,;!?]|\bbut\b")
_DAYS_IN: Final = {"d": 1, "w": 7, "f": 14}

_AMOUNT: Final = rf"(?P<amount>(?:{SIGN}\s?)?{DIGITS}(?:\s?(?:k|thousand|grand)\b)?(?:\s?{SIGN})?)"
_MONEY: Final = (
    pattern(rf"(?<!\w){_AMOUNT}\s+(?P<way>more|extra|less|on top|cheaper){_NO_LIMIT}(?!\s+(?:per|each|a)\b)"),
    pattern(
        rf"\b(?P<way>rais(?:e|ing)|increas(?:e|ing)|up|add|lower(?:ing)?|reduc(?:e|ing)|cut|decreas(?:e|ing))\s+"
        rf"(?:(?:the|my|our|that|it)\s+)?(?:(?:total|whole)\s+)?(?:budget|limit|price|it)?\s*by\s+{_AMOUNT}"
    ),
    pattern(rf"\b(?P<way>add)\s+{_AMOUNT}\s+(?:to|on)\s+(?:the |my |our )?(?:budget|limit|price)"),
)
_LOWERED: Final = pattern(r"less|cheaper|lower|reduc|cut|decreas")
_SMALLEST_BARE: Final = 100
_MONTHS_IN_A_YEAR: Final = 12


@dataclass(frozen=True)
class NightsChange:
    by: int
    said: str
    city: str | None = None
    """None: not said where."""
    is_everywhere: bool = False


@dataclass(frozen=True)
class Changes:
    said: PartialRequest = field(default_factory=PartialRequest)
    """What follows, but for the nights: the stops are read by somebody else."""
    nights: tuple[NightsChange, ...] = ()


def read_changes(passage: Passage, cities: Gazetteer, known: PartialRequest, today: date) -> Understood[Changes]:
    """Without anything that was said before there is nothing to change."""
    if known == PartialRequest():
        return Understood(Changes(), passage)
    money = _money(passage, known)
    counted = _counted(money.rest, cities, known)
    shifted = _shifted(counted.rest, cities, known, today)
    said = PartialRequest(**{name: value for each in (money, counted, shifted) for name, value in each.meaning.said if value})
    nights = (*counted.meaning.nights, *shifted.meaning.nights)
    return Understood(Changes(said, nights), shifted.rest, (*money.doubts, *counted.doubts, *shifted.doubts))


# -- nights, people, rooms, stars --------------------------------------------------------------------------------------


def _counted(passage: Passage, cities: Gazetteer, known: PartialRequest) -> Understood[Changes]:
    rest, said, nights, doubts = passage, PartialRequest(), [], []
    for words in _CHANGES:
        for match in rest.matches(words):
            by = _signed(match)
            if (match["unit"][:1].lower() or "n") in _NIGHTS_IN and match["way"].lower() != "plus":
                change = _nights_change(match, by, rest, cities, known)
                if change is not None:
                    nights.append(change.meaning)
                    rest = change.rest
                elif match["way"].lower() in _MORE_WAYS:
                    rest = rest.without(*match.span("way"))
                continue
            rest = rest.without(*match.span())
            fields, doubt = _party_or_stars(match, by, known)
            said = said.model_copy(update=fields)
            doubts += doubt
    return Understood(Changes(said, tuple(nights)), rest, tuple(doubts))


def _signed(match: re.Match[str]) -> int:
    count = _count(match["count"])
    return -count if match["way"].lower() in _LESS_WAYS else count


def _count(text: str | None) -> int:
    word = (text or "a").lower()
    return 2 if "couple" in word else 1 if word in ("a", "an") else count_of(word)


def _nights_change(
    match: re.Match[str], by: int, passage: Passage, cities: Gazetteer, known: PartialRequest
) -> Understood[NightsChange] | None:
    """None where it is about a stop that there is not: `two more nights in Rome` then says how long to stay there."""
    change = NightsChange(by * _NIGHTS_IN[match["unit"][:1].lower() or "n"], match[0].strip())
    start, end = match.span()
    if everywhere := passage.trail(_EVERYWHERE, end):
        return Understood(replace(change, is_everywhere=True), passage.without(start, everywhere.end()))
    place = _place_beside(match, passage, find_mentions(passage, cities))
    if place is not None:
        if all(stop.city != place.city for stop in known.stops):
            return None
        rest = passage.without(min(start, place.start), max(end, place.end))
        return Understood(replace(change, city=place.city), rest)
    return Understood(change, passage.without(start, end)) if known.stops else None


def _place_beside(match: re.Match[str], passage: Passage, mentions: tuple[Mention, ...]) -> Mention | None:
    within = [each for each in mentions if match.start() <= each.start and each.end <= match.end()]
    after = [
        each for each in mentions if each.start >= match.end() and _IN_A_CITY.fullmatch(passage.text, match.end(), each.start)
    ]
    before = [
        each for each in mentions if each.end <= match.start() and _AFTER_A_CITY.fullmatch(passage.text, each.end, match.start())
    ]
    return next(iter((*within, *after, *before)), None)


def _party_or_stars(match: re.Match[str], by: int, known: PartialRequest) -> tuple[dict[str, object], list[Question]]:
    unit = match["unit"].lower()
    if unit.startswith("star"):
        return _stars(by, match[0], known)
    name, before = (
        ("rooms", known.rooms or -(-(known.travellers or 1) // 2))
        if unit.startswith("room")
        else (
            "travellers",
            known.travellers or 1,
        )
    )
    if before + by < 1:
        return {}, [Question(field=name, text=f"How many {name} are there? {match[0].strip()!r} leaves none.")]
    return {name: before + by}, []


def _stars(by: int, said: str, known: PartialRequest) -> tuple[dict[str, object], list[Question]]:
    if known.stars is None or known.stars == (FEWEST_STARS, MOST_STARS):
        return {}, [Question(field="stars", text=f"{said.strip()!r} than what: how many stars do you want?")]
    fewest, most = known.stars[0] + by, min(known.stars[1] + by, MOST_STARS)
    if not FEWEST_STARS <= fewest <= most:
        return {}, [Question(field="stars", text=f"Hotels have 1 to 5 stars; how many are meant by {said.strip()!r}?")]
    return {"stars": (fewest, most)}, []


def with_changed_nights(
    stops: tuple[PartialStop, ...], changes: tuple[NightsChange, ...]
) -> tuple[tuple[PartialStop, ...], tuple[Question, ...]]:
    doubts = []
    for change in changes:
        meant = [n for n, stop in enumerate(stops) if change.is_everywhere or change.city in (stop.city, None)]
        if len(meant) > 1 and not change.is_everywhere:
            doubts.append(_where(change, [stops[n] for n in meant]))
            continue
        for n in meant:
            nights = stops[n].nights
            if nights is not None and nights + change.by < 1:
                text = f"{change.said!r} leaves no night in {stops[n].city}: how many nights do you want to stay there?"
                doubts.append(Question(field=f"stops[{n}].nights", text=text))
            elif nights is not None:
                stops = (*stops[:n], stops[n].lasting(nights + change.by), *stops[n + 1 :])
    return stops, tuple(doubts)


def _where(change: NightsChange, stops: list[PartialStop]) -> Question:
    how = f"{count_text(abs(change.by), 'night')} {'more' if change.by > 0 else 'less'}"
    names = list(dict.fromkeys(stop.city or stop.said for stop in stops))
    text = f"{change.said!r}: where, in {' or '.join(names)}?"
    return Question(field="stops", text=text, candidates=tuple(f"{how} in {name}" for name in names))


# -- days --------------------------------------------------------------------------------------------------------------


def _shifted(passage: Passage, cities: Gazetteer, known: PartialRequest, today: date) -> Understood[Changes]:
    """A journey back that is later means nights, a trip that is later means other days."""
    match = next((found for words in (_MOVED, _SHIFT) for found in passage.matches(words)), None)
    if match is None or (known.depart is None and known.first is None and known.last is None):
        return Understood(Changes(), passage)
    count, rest = _count(match["count"]), passage.without(*match.span())
    by = -count if _EARLIER.match(match["way"]) else count
    unit = match["unit"][0].lower()
    before = _CLAUSE.split(passage.text[: match.start()])[-1]
    if _COMING_BACK.search(before) and unit in _DAYS_IN and known.stops:
        change = NightsChange(by * _DAYS_IN[unit], f"{count_text(count, 'night')} {'longer' if by > 0 else 'less'}")
        return Understood(Changes(nights=(change,)), rest)
    if find_mentions(Passage(before), cities):
        return Understood(Changes(), passage)
    days = _moved_days(known, by, unit)
    if days is None:
        text = f"{match[0].strip()!r}: between which days, or leaving on which day, do you want to travel?"
        return Understood(Changes(), rest, (Question(field="window", text=text),))
    first = days.depart or days.first
    if first is not None and first < today:
        text = f"When do you want to travel? {day_text(first)} is in the past."
        return Understood(Changes(), rest, (Question(field="window", text=text),))
    return Understood(Changes(days), rest)


def _moved_days(known: PartialRequest, by: int, unit: str) -> PartialRequest | None:
    """None: a month in which any day would do does not say which week is meant by a week later."""
    first, last = known.first, known.last
    is_whole_month = first is not None and last is not None and (first, last) == _month_of(first)
    if unit in _DAYS_IN:
        if is_whole_month and known.depart is None:
            return None
        span = timedelta(days=by * _DAYS_IN[unit])
        depart, first, last = (each + span if each else None for each in (known.depart, known.first, known.last))
        return PartialRequest(depart=depart, first=None if is_whole_month else first, last=None if is_whole_month else last)
    months = by * (_MONTHS_IN_A_YEAR if unit == "y" else 1)
    depart, first, last = (each and _months_on(each, months) for each in (known.depart, known.first, known.last))
    if is_whole_month and first is not None:
        first, last = _month_of(first)
    return PartialRequest(depart=depart, first=first, last=last)


def _month_of(day: date) -> tuple[date, date]:
    window = month_window(day.year, day.month)
    return window.first, window.last


def _months_on(day: date, months: int) -> date:
    """The 31st of a short month is its last."""
    year, month = divmod(day.year * _MONTHS_IN_A_YEAR + day.month - 1 + months, _MONTHS_IN_A_YEAR)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


# -- money -------------------------------------------------------------------------------------------------------------


def _money(passage: Passage, known: PartialRequest) -> Understood[Changes]:
    match = next((found for words in _MONEY for found in passage.matches(words) if _is_money(found, known)), None)
    if match is None:
        return Understood(Changes(), passage)
    rest = passage.without(*match.span())
    read = read_budget(Passage(f"budget {match['amount']}"))
    by = read.meaning.amount if read.meaning is not None and read.meaning.share is Share.TRIP else None
    currency = read.meaning.currency if read.meaning is not None else None
    before, held = known.budget, known.currency or PRICE_CURRENCY
    if by is None or before is None or currency not in (None, held) or known.budget_each is not None:
        now = f"So far it is {money_text(before, held)}. " if before is not None else ""
        text = f"{match[0].strip()!r}: {now}What may the whole trip cost?"
        return Understood(Changes(), rest, (Question(field="budget", text=text),))
    budget = before - by if _LOWERED.match(match["way"]) else before + by
    if budget <= 0:
        text = f"{match[0].strip()!r} leaves nothing of {money_text(before, held)}; what may the whole trip cost?"
        return Understood(Changes(), rest, (Question(field="budget", text=text),))
    return Understood(Changes(PartialRequest(budget=budget)), rest)


def _is_money(match: re.Match[str], known: PartialRequest) -> bool:
    """`500 more` may speak of the budget; `2 more` of anything."""
    read = read_budget(Passage(f"budget {match['amount']}")).meaning
    is_signed = read is not None and read.currency is not None
    return is_signed or (known.budget is not None and read is not None and (read.amount or 0) >= _SMALLEST_BARE)
