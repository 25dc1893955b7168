"""Answers that are no sentences: `Maine`, `the second`, `9`, `4 and 2`. What they mean is in the question."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from sagagraph.domains.travel.cities import name_key
from sagagraph.domains.travel.reading.budget import bare_amount, bare_currency
from sagagraph.domains.travel.reading.numerals import COUNT, ORDINALS, count_of
from sagagraph.domains.travel.reading.partial import DATE_FIELDS, MONEY_FIELDS, PartialRequest, Question
from sagagraph.domains.travel.reading.passage import Passage, pattern
from sagagraph.domains.travel.wording import day_text

COURTESY: Final = r"(?:\W|\b(?:please|pls|plz|thx|thanks|thank you|ok|okay|yes|just|maybe|say)\b)*"
_SKIPPED: Final = pattern(
    r"^\W*(?:no|none|nothing|any|anything|skip(?: it| that)?|never mind|forget (?:it|that)|whatever|(?:it |that )?doesn'?t matter"
    r"|(?:i )?don'?t (?:care|mind)|no (?:preference|matter|idea)|not important)\W*$"
)
_PLACE_OF_STOP: Final = pattern(r"stops\[(\d+)\]\.nights")
_TOO_MANY_NIGHTS: Final = pattern(r"has room for \d+ nights?; the stops need")
_MAKE_IT: Final = pattern(r"^(?:(?:ok(?:ay)?|no|well|actually|sorry|rather)[, ]+)*(?:make (?:it|that)|rather|say|actually)\s+")
_AROUND_A_CHOICE: Final = pattern(r"\b(?:the|one|in|i mean|please|city|of course|it|too|as well)\b|[.!]")
_COUNTS_ALONE: Final = pattern(rf"{COURTESY}{COUNT}(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+|\s+){COUNT})*{COURTESY}")

_HALF: Final = r"(?:\s?(?:[ap]\.?m\b\.?|h\b|hrs\b|o'?clock)|[:.h]\d)"
_HOUR: Final = pattern(rf"(?<![\d:.])\b(?P<hour>{COUNT})\b(?!{_HALF})")
_HOURS_ALONE: Final = pattern(
    rf"(?:\W|\b(?:\d{{1,2}}(?:[:.h]\d\d)?(?:am|pm|h)?|{COUNT}|am|pm|a\.m|p\.m|o'?clock|hrs|h|not|no|earlier|later|than|before|after|by"
    r"|until|till|from|between|and|to|leave|leaving|depart|departing|arrive|arriving|at|the|earliest|latest|or|about|around|flights?"
    r"|please|pls|plz|ok|okay|in|the|morning|afternoon|evening|noon|midday|midnight|thanks)\b)+"
)
_A_NUMBER: Final = pattern(rf"\b(?:{COUNT}|noon|midday|midnight)\b|\d")
_RELATED: Final = pattern(r"\b(?:before|after|by|until|till|from|between|earlier|later|earliest|latest)\b")
_TWO_TIMES: Final = pattern(rf"\b{COUNT}\b.*?(?:\band\b|\bto\b|,|-).*?\b{COUNT}\b")
_AT_THE_LATEST: Final = pattern(
    r"\b(?:before|by|until|till|and|to|no later than|latest|not after|later than)\s+(?:at\s+|about\s+|around\s+)*$|\d\s*-\s*$"
)
_AT_THE_EARLIEST: Final = pattern(r"\b(?:(?:not|no|nothing) before|earlier than)\s+(?:at\s+|about\s+)*$")
_LEAVING: Final = pattern(r"\b(?:leav|depart)\w*")
_VERBS: Final = pattern(r"\b(?:(?:leav|depart|arriv)\w*|at)\b")
_SPANS: Final = pattern(r"\b(?:between|from)\b")
_CLAUSES: Final = pattern(r",|\band (?=leav|depart|arriv)")
_ABOUT_THE_EVENING: Final = pattern(r"\b(?:late|evening|arriv\w*|landings?)\b")
_DAY_ALONE: Final = pattern(rf"{COURTESY}(?:(?:on|the)\s+)*(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?{COURTESY}")
_A_DAY: Final = pattern(
    r"\b(?P<day>\d{1,2}) (?P<month>(?:january|february|march|april|may|june|july|august|september|october|november|december))"
    r"(?: (?P<year>20\d\d))?\b"
)


def is_skipped(passage: Passage) -> bool:
    """Whoever was asked does not want to say."""
    return passage.has(_SKIPPED)


def in_full(passage: Passage, question: Question | None, known: PartialRequest) -> Passage:
    """What an answer says, in words that mean the same without the question."""
    if question is None:
        return passage
    if question.candidates:
        return _chosen(passage, question) or passage
    if question.field == "hours" and passage.has(_A_NUMBER):
        return _hours(passage, question)
    if question.field in DATE_FIELDS and (day := _DAY_ALONE.fullmatch(passage.text)):
        meant = _day_meant(int(day["day"]), question, known)
        return Passage(f"leaving on {meant}") if meant else passage
    if question.field == "stars" and _COUNTS_ALONE.fullmatch(passage.text) and len(counts := _counts(passage)) == 1:
        return Passage(f"{counts[0]} stars")
    return passage


def _chosen(passage: Passage, question: Question) -> Passage | None:
    """`Maine`, `the second`: the one candidate that an answer names; None where it names none, or several."""
    key = name_key(_AROUND_A_CHOICE.sub(" ", passage.text))
    ordinal = ORDINALS.get(key, int(key) if key.isdecimal() else 0)
    if 1 <= ordinal <= len(question.candidates):
        return Passage(question.candidates[ordinal - 1])
    words = set(key.split())
    named = [name for name in question.candidates if words and words <= set(name_key(name).split())]
    if len(named) > 1:
        named = [name for name in named if name_key(name) == key]
    return Passage(named[0]) if len(named) == 1 else None


def _hours(passage: Passage, question: Question) -> Passage:
    """`9` is in the morning where it is the earliest, and in the evening where it is the latest."""
    if not _HOURS_ALONE.fullmatch(passage.text):
        return passage
    text = passage.text
    is_evening = not passage.has(_LEAVING) and _ABOUT_THE_EVENING.search(f"{question.text.split(': ')[0]} {text}")
    if not passage.has(_RELATED):
        lead = "between" if passage.has(_TWO_TIMES) else "before" if is_evening else "after"
        text = f"{lead} {_VERBS.sub(' ', text)}"
    if not _VERBS.search(text) and not _SPANS.search(text):
        text = f"{'arrive' if is_evening else 'leave'} {text}"

    def clock(match: re.Match[str]) -> str:
        before = _CLAUSES.split(text[: match.start()])[-1]
        hour = count_of(match["hour"])
        is_latest = _AT_THE_LATEST.search(before) and not _AT_THE_EARLIEST.search(before)
        if hour > 24 or (is_latest and hour <= 12 and _LEAVING.search(before)) or (not is_latest and hour < 4):
            return match[0]
        return f"{hour + 12 if is_latest and hour < 12 else hour % 24}:00"

    return Passage(re.sub(r"\s+", " ", _HOUR.sub(clock, text)))


def _day_meant(day: int, question: Question, known: PartialRequest) -> str | None:
    """The one that the question names, or the one in the month that it, or what is known, is about."""
    named = [match for match in _A_DAY.finditer(question.text) if int(match["day"]) == day]
    if len({match[0] for match in named}) == 1:
        return named[0][0]
    months = {(match["month"], match["year"]) for match in _A_DAY.finditer(question.text)}
    if len(months) == 1 and not named:
        month, year = months.pop()
        return f"{day} {month} {year or ''}".rstrip()
    first, last = known.first, known.last
    if first and last and (first.year, first.month) == (last.year, last.month) and first.day <= day <= last.day:
        return day_text(date(first.year, first.month, day))
    return None


def bare_answer(passage: Passage, known: PartialRequest, question: Question | None) -> PartialRequest | None:
    """`4 and 2` in answer to a question for nights; None where the text is more, or another question is open."""
    asked = question.field if question else None
    if asked in MONEY_FIELDS and (amount := bare_amount(passage.text)) is not None:
        return PartialRequest(budget=amount)
    if asked == "currency" and (currency := bare_currency(passage.text)) is not None:
        return PartialRequest(currency=currency)
    made = _MAKE_IT.match(passage.text)
    if made and known.budget is not None and (amount := bare_amount(passage.text[made.end() :])) is not None and amount >= 100:
        return PartialRequest(budget=amount)
    if question is None or asked is None or not _COUNTS_ALONE.fullmatch(passage.text):
        return None
    counts = _counts(passage)
    if asked in ("travellers", "rooms") and len(counts) == 1:
        return PartialRequest(travellers=counts[0]) if asked == "travellers" else PartialRequest(rooms=counts[0])
    if asked.endswith(".nights") or (len(known.stops) == 1 and _TOO_MANY_NIGHTS.search(question.text)):
        return _nights_in_order(known, counts) or _nights_of(known, asked, counts)
    return None


def _counts(passage: Passage) -> list[int]:
    return [count_of(word) for word in pattern(COUNT).findall(passage.text)]


def _nights_of(known: PartialRequest, asked: str, counts: list[int]) -> PartialRequest | None:
    """Other nights for the stop that was asked about."""
    place = _PLACE_OF_STOP.fullmatch(asked)
    meant = int(place[1]) if place else 0
    if len(counts) != 1:
        return None
    stops = tuple(stop.lasting(counts[0]) if n == meant else stop for n, stop in enumerate(known.stops))
    return PartialRequest(stops=stops)


def _nights_in_order(known: PartialRequest, counts: list[int]) -> PartialRequest | None:
    open_stops = [n for n, stop in enumerate(known.stops) if stop.nights is None]
    if len(counts) > len(open_stops):
        return None
    given = dict(zip(open_stops, counts, strict=False))
    stops = tuple(stop.lasting(given.get(n, stop.nights)) for n, stop in enumerate(known.stops))
    return PartialRequest(stops=stops)
