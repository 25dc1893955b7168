"""Answers that are not sentences: `Maine`, `the second`, `9`, `4 and 2`. The question says what they mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from sagagraph.domains.travel.cities import name_key
from sagagraph.domains.travel.partial import MONEY_FIELDS, with_nights
from sagagraph.domains.travel.text.slots import FEWEST_STARS, MOST_STARS
from sagagraph.language.forms import Forms
from sagagraph.language.money import Money, currencies_meant
from sagagraph.language.numbers import Nth, Number, tag_numbers
from sagagraph.language.passage import Passage
from sagagraph.language.places import Place, tag_places

if TYPE_CHECKING:
    from collections.abc import Container
    from decimal import Decimal

    from sagagraph.domains.travel.cities import Gazetteer
    from sagagraph.domains.travel.partial import PartialRequest, Question

_SAYS: Final = Forms(__file__, "answers")

_LEAST_BUDGET: Final = 100
"""`Make it 400` is about money."""


def is_skipped(passage: Passage) -> bool:
    """Tell whether the person declines to answer."""
    return passage.has(_SAYS.skipped)


_OF_A_CITY: Final = {"origin": "from", "return_to": "back to", "stops": "in"}


def city_meant(passage: Passage, question: Question, cities: Gazetteer, words: Container[str]) -> str | None:
    """Return `in Nice` for an answer that is a city's name as well as one of the `words` (`Nice`, `Reading`).

    None if it is none, or if it can be read as it is.
    """
    lead = _OF_A_CITY.get(question.field.partition("[")[0])
    name = _SAYS.around_a_name.sub("", passage.said()).strip()
    if lead is None or question.field.endswith(".nights") or cities.find_name(name) is None:
        return None
    tag_places(tried := Passage.of(name), cities)
    if tried.values(Place):
        return None
    listed = re.search(rf"\b{re.escape(name)}\b", question.text, re.IGNORECASE)
    if listed is not None:
        return f"{lead} {listed[0]}"
    return f"{lead} {name}" if name[:1].isupper() and name.casefold() not in words else None


def chosen(text: str, question: Question) -> str | None:
    """Return the one candidate that an answer names (`Maine`, `the second`); None if it names none, or several."""
    key = name_key(_SAYS.around_a_choice.sub(" ", text))
    place = Passage.of(key)
    tag_numbers(place)
    places = [*(nth.place for nth in place.values(Nth)), *(number.count for number in place.values(Number))]
    if len(key.split()) == 1 and places and places[0] and 1 <= places[0] <= len(question.candidates):
        return question.candidates[places[0] - 1]
    words = set(key.split())
    named = [name for name in question.candidates if words and words <= set(name_key(name).split())]
    if len(named) > 1:
        named = [name for name in named if name_key(name) == key]
    return named[0] if len(named) == 1 else None


def answered(passage: Passage, known: PartialRequest, question: Question | None) -> dict[str, Any] | None:
    """Return the field that bare values set: the one that was asked about, or the only number; None if the text is more."""
    asked = question.field if question else ""
    sign = passage.whole(_SAYS.currency) if asked == "currency" else None
    if sign is not None and len(meant := currencies_meant(sign["sign"], None)) == 1:
        return {"currency": meant[0]}
    is_corrected = passage.whole(_SAYS.corrected) is not None
    found = passage.whole(_SAYS.values)
    if found is None and not is_corrected:
        return None
    counts = [number.count for number in passage.values(Number) if number.count is not None]
    amount = _amount(passage)
    if asked in MONEY_FIELDS or (is_corrected and found is None and known.budget is not None and (amount or 0) >= _LEAST_BUDGET):
        return {"budget": amount} if amount is not None else None
    if question is None and is_corrected:
        asked = "" if found else _only_number(known)
    elif question is None:
        return None
    if len(counts) == 1 and asked in ("travellers", "rooms"):
        return {asked: counts[0]}
    if asked == "stars" and len(counts) == 1 and FEWEST_STARS <= counts[0] <= MOST_STARS:
        return {asked: (counts[0], counts[0])}
    is_too_long = question is not None and len(known.stops) == 1 and "room for" in question.text
    is_of_all = 1 < len(counts) == sum(stop.nights is None for stop in known.stops)
    is_about_nights = asked.startswith("stops[") or is_too_long or is_of_all
    return _of_stops(known, asked, counts) if is_about_nights else None


def _only_number(known: PartialRequest) -> str:
    """Return the field of the only number that was said: how long to stay in the only city; empty if there are others."""
    any_stars = (FEWEST_STARS, MOST_STARS)
    others = (known.travellers or 1, known.rooms or 1, known.budget or known.budget_each, known.stars or any_stars)
    return "stops[0].nights" if len(known.stops) == 1 and others == (1, 1, None, any_stars) else ""


def _amount(passage: Passage) -> Decimal | None:
    """Return the only number or amount, if it is plain."""
    plain = [each for each in passage.values(Money) if not (each.currencies or each.is_range or each.per or each.change)]
    amounts = [*(each.value for each in passage.values(Number)), *(each.amount for each in plain)]
    return amounts[0] if len(amounts) == 1 else None


def _of_stops(known: PartialRequest, asked: str, counts: list[int]) -> dict[str, Any] | None:
    """Read the nights of the open stops in order, or a new number for the stop that was asked about."""
    place = re.fullmatch(r"stops\[(\d+)\]\.nights", asked)
    open_stops = [n for n, stop in enumerate(known.stops) if stop.nights is None]
    if len(counts) == len(known.stops) > len(open_stops):
        open_stops = [*range(len(known.stops))]
    if len(counts) > len(open_stops):
        open_stops = [int(place[1]) if place else 0]
    if len(counts) > len(open_stops):
        return None
    return {"stops": with_nights(known.stops, dict(zip(open_stops, counts, strict=False)))}
