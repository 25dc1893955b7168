"""Answers that are not sentences: `Maine`, `the second`, `9`, `$400`. The question says what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sagagraph.domains.travel.cities import name_key
from sagagraph.domains.travel.partial import MONEY_FIELDS, with_nights
from sagagraph.domains.travel.request import FEWEST_STARS, LONGEST_STAY, MOST_STARS
from sagagraph.language.forms import Forms
from sagagraph.language.money import Money
from sagagraph.language.numbers import Nth, Number, tag_numbers
from sagagraph.language.passage import Passage

if TYPE_CHECKING:
    from sagagraph.domains.travel.partial import PartialRequest, Question

_SAYS: Final = Forms(__file__, "answers")
SKIPPED: Final = _SAYS.skipped
"""Said by who declines to answer."""


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
    return named[0] if len(named) == 1 else next((name for name in named if name_key(name) == key), None)


def answered(passage: Passage, known: PartialRequest, question: Question | None) -> dict[str, Any] | None:
    """Return the field that a bare number or amount sets, the one that was asked about; None if the text is more."""
    if question is not None and question.field == "currency" and passage.said().upper() in question.candidates:
        return {"currency": passage.said().upper()}
    if question is None or passage.whole(_SAYS.values) is None:
        return None
    asked = question.field
    numbers = [number for number in passage.values(Number) if number.value is not None]
    amounts = [*(each.value for each in numbers), *(each.amount for each in passage.values(Money) if not each.currencies)]
    if asked in MONEY_FIELDS:
        return {"budget": amounts[0]} if len(amounts) == 1 and amounts[0] is not None else None
    counts = [number.count for number in numbers if number.count is not None]
    if len(counts) == 1 and asked in ("travellers", "rooms"):
        return {asked: counts[0]}
    if len(counts) == 1 and asked == "stars" and FEWEST_STARS <= counts[0] <= MOST_STARS:
        return {asked: (counts[0], counts[0])}
    still_open = [n for n, stop in enumerate(known.stops) if stop.nights is None]
    is_about_nights = asked.startswith("stops[") and len(counts) <= len(still_open) and max(counts, default=0) <= LONGEST_STAY
    return {"stops": with_nights(known.stops, dict(zip(still_open, counts, strict=False)))} if is_about_nights else None
