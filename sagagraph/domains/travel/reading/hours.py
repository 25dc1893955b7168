"""At which hours of the day, and on which weekdays, one does not want to travel."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import time
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.numerals import COUNT, count_of
from sagagraph.domains.travel.reading.partial import Question
from sagagraph.domains.travel.reading.passage import Passage, Understood, pattern
from sagagraph.domains.travel.request import NIGHT_ENDS, Hours, JourneyHours, Weekday

if TYPE_CHECKING:
    from collections.abc import Iterator

_PART_OF_DAY: Final = r"\s*(?:in the (?P<part{n}>morning|afternoon|evening)|at (?P<night{n}>night))"
_CLOCK: Final = (
    r"(?:(?P<hour{n}>(?<![\d.,/-])\d{{1,2}}|{count})(?:"
    r"(?:[:.](?P<minute{n}>[0-5]\d))?\s?(?P<half{n}>a\.?m\b\.?|p\.?m\b\.?)"
    r"|[:h](?P<minutes{n}>[0-5]\d)(?!\d)(?:\s?(?:h|hrs|hours|o'clock)\b)?"
    r"|\s?(?P<clock{n}>h|hrs|o'?clock)\b"
    r"|(?={part}))(?:{part})?"
    r"|(?P<word{n}>noon|midday|midnight)\b)"
)


def _time(number: int) -> str:
    """A regular expression for a time of day that can be nothing else."""
    part = _PART_OF_DAY.replace("{n}", str(number))
    seen = re.sub(r"\(\?P<\w+>", "(?:", part)
    shape = _CLOCK.replace("(?={part})", f"(?={seen})").replace("(?:{part})?", f"(?:{part})?")
    return shape.replace("{n}", str(number)).replace("{count}", COUNT).replace("{{", "{").replace("}}", "}")


_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_AFTER_TIME: Final = (
    r"(?P<later>\s*(?:or later|onwards?|at the earliest|earliest))?(?P<earlier>\s*(?:or earlier|at the latest|latest))?"
)
_RELATION: Final = (
    r"(?:(?P<not>not|no|never)\s+)?(?P<relation>(?:any )?earlier than|(?:any )?later than|before|after|by|until"
    r"|till|from|since"
    r"|earliest(?: at)?|latest(?: at)?|around|about|at)\s+(?:about\s+|around\s+)?"
)
_LIMIT: Final = pattern(rf"\b{_RELATION}{_time(1)}{_AFTER_TIME}")
_BARE_LIMIT: Final = pattern(
    r"\b(?P<not>no|not|never)\s+(?:any\s+)?(?P<what>flights?|trains?|departures?|arrivals?|landings?|leaving"
    r"|departing|arriving|landing)\s+"
    rf"(?P<relation>before|after|earlier than|later than)\s+(?P<hour>\d{{1,2}})(?![\d:./])(?!\s*(?:(?:st|nd|rd"
    rf"|th)\b|(?:of\s+)?{_MONTH}))"
)
_RANGE: Final = pattern(
    rf"\b(?:(?:only\s+)?between|from)\s+(?P<first>{_time(1)})\s*(?:and|to|until|till|-)\s*(?P<last>{_time(2)})"
)
_VAGUE: Final = pattern(
    r"\b(?:no|not|without|avoid(?:ing)?|never|nothing|hate|don't (?:want|like)(?: to)?)\s+(?:[\w']+\s+){0,3}?"
    r"(?:(?:too |very |so |super )?(?:early|late)(?:[ -](?:morning|evening|night))?(?:\s+(?:flights?|departures?"
    r"|starts?|arrivals?|trains?))?"
    r"|red[- ]?eyes?(?:\s+flights?)?|(?:overnight|night)\s+(?:flights?|trains?))(?!\w)"
    r"|\b(?:(?:early )?morning|evening|afternoon|daytime|night|overnight|red[- ]?eye)\s+(?:flights?|departures?"
    r"|trains?)(?:\s+only)?\b"
)
_LEAVING: Final = pattern(
    r"\b(?:leav\w*|depart\w*|flights?|fly\w*|set(?:ting)? off|take[- ]?offs?|start\w*|trains?|out the door|go(?:ing)?)\b"
)
_COMING: Final = pattern(
    r"\b(?:arriv\w*|land(?:s|ings?)?|get(?:ting)? (?:in|there|home|back)|be (?:there|back|home|in \w+)|back|home"
    r"|reach\w*|return\w*)\b"
)
_NEVER: Final = pattern(r"\b(?:no|not|never|nothing|without|avoid\w*|don't|do not|won't|can't|cannot|rather not)\b")
_CLAUSE_ENDS: Final = re.compile(r"[.;!?,]|\b(?:and|but)\b")

_DAY_NAMED: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_DAYS: Final = rf"{_DAY_NAMED}(?:\s*(?:,|/|&|or|and|nor)+\s*(?:on\s+)?(?:an?\s+)?{_DAY_NAMED})*"
_NOT_THEN: Final = (
    r"(?:not|no|never|nothing|avoid(?:ing)?|except|without|other than|(?:don't|do not|won't|will not|can't|cannot"
    r"|would rather not|rather not|hate to)"
    r"(?:\s+(?:want|like|wish)(?:\s+to)?)?)"
)
_DOING: Final = (
    r"(?:\s+(?:any|to|be|flights?|fly(?:ing)?|travel(?:l?ing)?|leav(?:e|ing)|depart(?:ing|ures?)?|arriv(?:e|ing"
    r"|als?)|trains?|journeys?|go(?:ing)?|or))"
)
_AVOIDED: Final = pattern(rf"\b{_NOT_THEN}{_DOING}{{0,4}}\s+(?:on\s+)?(?:an?\s+|the\s+)?(?P<days>{_DAYS})\b(?!\s+\d)")
_OUT: Final = pattern(rf"\b(?P<days>{_DAYS})\s+(?:is|are)\s+(?:out|no good|off limits|impossible|not possible|bad)\b")
_NO_WEEKENDS: Final = pattern(
    rf"\b{_NOT_THEN}{_DOING}{{0,4}}\s+(?:(?:on|at|over|during)\s+)?(?:a\s+|the\s+)?weekends?\b"
    rf"|\b(?:only (?:on )?weekdays|(?:on )?weekdays only)\b"
)
_ONE_DAY: Final = pattern(_DAY_NAMED)


@dataclass
class _Said:
    depart: dict[str, time] = field(default_factory=dict)
    arrive: dict[str, time] = field(default_factory=dict)
    doubts: list[Question] = field(default_factory=list)


def read_hours(passage: Passage) -> Understood[JourneyHours | None]:
    """Only what is surely a time of day: `after 8 June` is none."""
    said, rest = _Said(), passage
    for words, understand in ((_RANGE, _range), (_BARE_LIMIT, _bare_limit), (_LIMIT, _limit), (_VAGUE, _vague)):
        for match in rest.matches(words):
            understand(match, rest, said)
            rest = rest.without(*match.span())
    if said.doubts:
        return Understood(None, rest, tuple(said.doubts[:1]))
    if not said.depart and not said.arrive:
        return Understood(None, rest)
    try:
        return Understood(JourneyHours(depart=Hours(**said.depart), arrive=Hours(**said.arrive)), rest)
    except ValueError:
        return Understood(None, rest, (Question(field="hours", text="Between which hours do you want to leave and arrive?"),))


def _range(match: re.Match[str], passage: Passage, said: _Said) -> None:
    first, last = _clock(match, 1), _clock(match, 2)
    if first is None or last is None:
        said.doubts.append(_which_hours(match[0]))
        return
    what = _subject(passage, match)
    said.arrive |= {"earliest": first} if what == "arrive" else {}
    said.depart |= {} if what == "arrive" else {"earliest": first}
    (said.depart if what == "depart" else said.arrive)["latest"] = last


def _limit(match: re.Match[str], passage: Passage, said: _Said) -> None:
    moment = _clock(match, 1)
    if moment is None:
        said.doubts.append(_which_hours(match[0]))
        return
    clause = _clause_before(passage, match.start())
    relation = match["relation"].lower()
    is_before = any(word in relation for word in ("before", "earlier", "by", "until", "till", "latest"))
    is_after = any(word in relation for word in ("after", "later", "from", "since", "earliest"))
    if match["later"] or match["earlier"]:
        is_before, is_after = bool(match["earlier"]), bool(match["later"])
    elif match["not"] or _NEVER.search(clause):
        is_before, is_after = is_after, is_before
    if not is_before and not is_after:
        said.doubts.append(_which_hours(match[0]))
        return
    what = _subject(passage, match) or ("depart" if is_after else "arrive" if relation in ("by", "until", "till") else None)
    if what is None:
        said.doubts.append(_which_hours(match[0]))
        return
    _collect(said, what, "earliest" if is_after else "latest", moment, match[0])


def _bare_limit(match: re.Match[str], _: Passage, said: _Said) -> None:
    """`no flights before 9` is meant in the morning; nine what, is asked for otherwise."""
    hour = int(match["hour"])
    is_earliest = match["relation"].lower() in ("before", "earlier than")
    what = "arrive" if _COMING.search(match["what"]) else "depart"
    if hour > 23 or (hour <= 12 and not (is_earliest and 4 <= hour <= 11)):
        said.doubts.append(_which_hours(match[0]))
    else:
        _collect(said, what, "earliest" if is_earliest else "latest", time(hour), match[0])


def _vague(match: re.Match[str], _: Passage, said: _Said) -> None:
    said.doubts.append(_which_hours(match[0]))


def _collect(said: _Said, what: str, limit: str, moment: time, words: str) -> None:
    limits = said.depart if what == "depart" else said.arrive
    if (limit == "latest" and moment < NIGHT_ENDS) or limits.get(limit, moment) != moment:
        said.doubts.append(_which_hours(words))
    limits[limit] = moment


def _which_hours(words: str) -> Question:
    text = f"{words.strip()!r}: at what hour do you want to leave at the earliest, and arrive at the latest?"
    return Question(field="hours", text=text)


def _subject(passage: Passage, match: re.Match[str]) -> str | None:
    """What the words before a time speak of, or else those right after it."""
    clause = _clause_before(passage, match.start())
    coming = max((each.end() for each in _COMING.finditer(clause)), default=0)
    leaving = max((each.end() for each in _LEAVING.finditer(clause)), default=0)
    if coming or leaving:
        return "arrive" if coming >= leaving else "depart"
    following = passage.text[match.end() : match.end() + 15].split(",")[0]
    return "arrive" if _COMING.match(following.strip()) else "depart" if _LEAVING.match(following.strip()) else None


def _clause_before(passage: Passage, place: int) -> str:
    return _CLAUSE_ENDS.split(passage.text[max(0, place - 60) : place])[-1]


def _clock(match: re.Match[str], number: int) -> time | None:
    """None: no clock shows it, or it can be in the morning or in the evening."""

    def group(name: str) -> str:
        return (match[f"{name}{number}"] or "").lower()

    if word := group("word"):
        return time(23, 59) if word == "midnight" else time(12)
    hour, minute = count_of(group("hour")), int(group("minute") or group("minutes") or 0)
    half = group("half")[:1] or {"morning": "a", "afternoon": "p", "evening": "p"}.get(group("part"), "")
    half = half or ("p" if group("night") and hour >= 6 else "a" if group("night") else "")
    if half:
        if not 1 <= hour <= 12:
            return time(hour, minute) if 13 <= hour <= 23 and half == "p" else None
        return time(hour % 12 + (12 if half == "p" else 0), minute)
    if hour > 23 or (group("clock").startswith("o") and 1 <= hour <= 12):
        return None
    return time(hour, minute)


def read_weekdays(passage: Passage) -> Understood[tuple[Weekday, ...] | None]:
    """Those on which nobody wants to travel."""
    avoided: set[Weekday] = set()
    rest = passage
    for match in rest.matches(_NO_WEEKENDS):
        avoided |= {Weekday.SATURDAY, Weekday.SUNDAY}
        rest = rest.without(*match.span())
    for words in (_OUT, _AVOIDED):
        for match in rest.matches(words):
            avoided |= set(_weekdays_in(match["days"]))
            rest = rest.without(*match.span())
    if len(avoided) == len(Weekday):
        return Understood(
            None, rest, (Question(field="not_on", text="On which weekdays do you not want to travel? One has to be left."),)
        )
    return Understood(tuple(day for day in Weekday if day in avoided) or None, rest)


def _weekdays_in(text: str) -> Iterator[Weekday]:
    for match in _ONE_DAY.finditer(text):
        yield next(day for day in Weekday if day.startswith(match[0][:3].lower()))
