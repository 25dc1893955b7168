"""Answers that are no sentences: `Maine`, `the second`, `9`, `4 and 2`. What they mean is in the question."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from sagagraph.domains.travel.cities import name_key
from sagagraph.domains.travel.text.partial import DATE_FIELDS, MONEY_FIELDS
from sagagraph.domains.travel.wording import day_text
from sagagraph.language.clock import Clock
from sagagraph.language.money import Money, currencies_meant
from sagagraph.language.numbers import Nth, Number
from sagagraph.language.passage import form

if TYPE_CHECKING:
    from decimal import Decimal

    from sagagraph.domains.travel.text.partial import PartialRequest, Question
    from sagagraph.language.passage import Passage

_COURTESY: Final = r"(?:[^\w\ue000-\U0010ffff]|\b(?:please|pls|plz|thx|thanks|thank you|ok|okay|yes|just|maybe|say)\b)*"
_SKIPPED: Final = form(
    r"^\W*(?:no|none|nothing|any|anything|skip(?: it| that)?|never mind|forget (?:it|that)|whatever|(?:it |that )?doesn'?t matter"
    r"|(?:i )?don'?t (?:care|mind)|no (?:preference|matter|idea)|not important)\W*$"
)
_MAKE_IT: Final = form(r"(?:(?:ok(?:ay)?|no|well|actually|sorry|rather)[, ]+)*(?:make (?:it|that)|rather|say|actually) (?:{n}|{money})\W*?")
_AROUND_A_CHOICE: Final = form(r"\b(?:the|one|in|i mean|please|city|of course|it|too|as well)\b|[.!]")
_COUNTS: Final = form(rf"{_COURTESY}{{n:_}}(?:(?:\s*,\s*(?:and )?| and |\s+){{n:_}})*{_COURTESY}")
_AN_AMOUNT: Final = form(rf"{_COURTESY}(?:{{n}}|{{money}}){_COURTESY}")
_A_CURRENCY: Final = form(r"\s*(?:in )?(?P<sign>.+?)\s*[.!]?\s*")
_DAY: Final = form(rf"{_COURTESY}(?:(?:on|the) )*(?:{{n}}|{{nth}}|{{date:_}}){_COURTESY}")
_A_DAY: Final = re.compile(r"\b(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]+)(?: (?P<year>20\d\d))?\b")

_HOUR: Final = r"(?:{n:_}|{time:_})"
_HOURS: Final = form(
    rf"(?:[^\w\ue000-\U0010ffff]|{_HOUR}|\b(?:not|no|earlier|later|than|before|after|by|until|till|from|between|and|to|leave|leaving"
    r"|depart|departing|arrive|arriving|at|the|earliest|latest|or|about|around|flights?|please|pls|plz|ok|okay|in|thanks)\b)+"
)
_RELATED: Final = form(r"\b(?:before|after|by|until|till|from|between|earlier|later|earliest|latest)\b")
_TWO_TIMES: Final = form(rf"{_HOUR}.*?(?:\band\b|\bto\b|,|-).*?{_HOUR}")
_LATEST: Final = form(
    rf"(?:\b(?:before|by|until|till|and|to|no later than|latest|not after|later than) (?:(?:at|about|around) )*|{_HOUR}\s*-\s*)$"
)
_EARLIEST: Final = form(r"\b(?:(?:not|no|nothing) before|earlier than) (?:(?:at|about) )*$")
_LEAVING: Final = form(r"\b(?:leav|depart)\w*")
_VERBS: Final = form(r"\b(?:(?:leav|depart|arriv)\w*|at)\b")
_SPANS: Final = form(r"\b(?:between|from)\b")
_CLAUSES: Final = form(r",|\band (?=leav|depart|arriv)")
_ABOUT_THE_EVENING: Final = form(r"\b(?:late|evening|arriv\w*|landings?)\b")
_ONE_HOUR: Final = form(r"{n}")


def is_skipped(passage: Passage) -> bool:
    """Whoever was asked does not want to say."""
    return passage.has(_SKIPPED)


def chosen(text: str, question: Question) -> str | None:
    """`Maine`, `the second`: the one candidate that an answer names; None where it names none, or several."""
    key = name_key(_AROUND_A_CHOICE.sub(" ", text))
    ordinals = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
    ordinal = ordinals.index(key) + 1 if key in ordinals else int(key) if key.isdecimal() and len(key) < 3 else 0
    if 1 <= ordinal <= len(question.candidates):
        return question.candidates[ordinal - 1]
    words = set(key.split())
    named = [name for name in question.candidates if words and words <= set(name_key(name).split())]
    if len(named) > 1:
        named = [name for name in named if name_key(name) == key]
    return named[0] if len(named) == 1 else None


def in_full(passage: Passage, question: Question, known: PartialRequest) -> str | None:
    """What an answer says, in words that mean the same without the question; None where it needs none."""
    if question.candidates:
        return chosen(passage.said(), question)
    if question.field == "hours" and passage.whole(_HOURS) and (passage.values(Number) or passage.values(Clock)):
        return _hours(passage, question)
    if question.field in DATE_FIELDS and passage.whole(_DAY):
        day = next(iter([*(n.count for n in passage.values(Number)), *(nth.place for nth in passage.values(Nth))]), None)
        meant = _day_meant(day, question, known) if day else None
        return f"leaving on {meant}" if meant else None
    if question.field == "stars" and passage.whole(_COUNTS) and len(counts := _counts(passage)) == 1:
        return f"{counts[0]} stars"
    return None


def _hours(passage: Passage, question: Question) -> str:
    """`9` is in the morning where it is the earliest, and in the evening where it is the latest."""
    topic = f"{question.text.split(': ')[0]} {passage.text}"
    is_evening = not passage.has(_LEAVING) and _ABOUT_THE_EVENING.search(topic)
    text = passage.text
    if not passage.has(_RELATED):
        lead = "between" if passage.has(_TWO_TIMES) else "before" if is_evening else "after"
        text = f"{lead} {_VERBS.sub(' ', text)}"
    if not _VERBS.search(text) and not _SPANS.search(text):
        text = f"{'arrive' if is_evening else 'leave'} {text}"

    def clock(match: re.Match[str]) -> str:
        before = _CLAUSES.split(text[: match.start()])[-1]
        hour = passage.values(Number, match[0])[0].count or 0
        is_latest = _LATEST.search(before) and not _EARLIEST.search(before)
        if hour > 24 or (is_latest and hour <= 12 and _LEAVING.search(before)) or (not is_latest and hour < 4):
            return match[0]
        return f"{hour + 12 if is_latest and hour < 12 else hour % 24}:00"

    return passage.said(_ONE_HOUR.sub(clock, text))


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


def bare_answer(passage: Passage, known: PartialRequest, question: Question | None) -> dict[str, Any] | None:
    """The fields that `4 and 2` sets in answer to a question for nights; None where the text is more than that."""
    asked = question.field if question else ""
    if asked in MONEY_FIELDS and (amount := _amount(passage, _AN_AMOUNT)) is not None:
        return {"budget": amount}
    if asked == "currency" and (said := passage.whole(_A_CURRENCY)):
        meant = currencies_meant(said["sign"], None)
        return {"currency": meant[0]} if len(meant) == 1 else None
    if known.budget is not None and (amount := _amount(passage, _MAKE_IT)) is not None and amount >= 100:
        return {"budget": amount}
    if question is None or not passage.whole(_COUNTS):
        return None
    counts = _counts(passage)
    if asked in ("travellers", "rooms") and len(counts) == 1:
        return {asked: counts[0]}
    is_about_nights = asked.endswith(".nights") or (len(known.stops) == 1 and "has room for" in question.text)
    return _nights(known, asked, counts) if is_about_nights else None


def _amount(passage: Passage, words: re.Pattern[str]) -> Decimal | None:
    """Of an answer that is nothing but an amount, its currency left out."""
    found = passage.whole(words)
    if found is None:
        return None
    number, money = found.get("n", Number), found.get("money", Money)
    if money is not None:
        return None if money.currencies or money.is_range or money.per or money.change else money.amount
    return number.value if number else None


def _counts(passage: Passage) -> list[int]:
    return [number.count for number in passage.values(Number) if number.count is not None]


def _nights(known: PartialRequest, asked: str, counts: list[int]) -> dict[str, Any] | None:
    """Of the open stops in their order, or else other nights for the stop that was asked about."""
    open_stops = [n for n, stop in enumerate(known.stops) if stop.nights is None]
    if len(counts) > len(open_stops):
        place = re.fullmatch(r"stops\[(\d+)\]\.nights", asked)
        open_stops = [int(place[1]) if place else 0]
    if len(counts) > len(open_stops):
        return None
    given = dict(zip(open_stops, counts, strict=False))
    return {"stops": tuple(stop.lasting(given.get(n, stop.nights)) for n, stop in enumerate(known.stops))}
