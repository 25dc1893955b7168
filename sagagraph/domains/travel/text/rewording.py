"""Rewording: a sentence that the rules cannot read, put in plainer words by a model and read by the rules again.

The model's words are accepted only if the rules understand all of them, if they keep everything that the rules understood of the
sentence itself, and if every city and number in them is in that sentence. The model can reorder; it cannot add wishes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sagagraph.context.model import Model, Question
from sagagraph.context.quoting import Quoted, new_nonce
from sagagraph.domains.travel.text.reader import read_request
from sagagraph.errors import InvalidInputError, UnusableAnswerError
from sagagraph.language.numbers import Number, tag_numbers
from sagagraph.language.passage import Passage

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from sagagraph.domains.travel.cities import Gazetteer
    from sagagraph.domains.travel.text.partial import PartialRequest

_LONGEST_NAME: Final = 4
"""Words."""
_IMPLIED: Final = {"week": 7, "fortnight": 14, "couple": 2, "both": 2, "a": 1, "an": 1, "alone": 1, "myself": 1, "me": 1}
_INSTRUCTIONS = (
    "The data is what a traveller wrote. Write the same as one plain English sentence, like: From Boston to Paris for 3 nights "
    "and Amsterdam for 2 nights and back, in May 2025, under $4,000, for 2 people, 3-4 star hotels. Name every city by its "
    "English name, in the order of travel, with its nights. Add nothing that was not written, leave nothing out, and keep all "
    "numbers."
)


class Rewording(BaseModel):
    """The answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    sentence: str = Field(min_length=1, max_length=600)


async def reworded(
    text: str,
    *,
    model: Model,
    cities: Gazetteer,
    today: date,
    mint: Callable[[], str] = new_nonce,
) -> PartialRequest | None:
    """A complete request; None where the model is of no help.

    Raises:
        ModelError: the model cannot be asked.
    """
    quoted = Quoted({"text": text}, mint())
    question = Question(f"{_INSTRUCTIONS}\n{quoted.rule}", quoted, Rewording.model_json_schema(), max_tokens=256)
    try:
        answer = await model.answer(question)
        sentence = Rewording.model_validate(answer.content).sentence
        read = read_request(sentence, cities=cities, today=today)
    except (UnusableAnswerError, ValidationError, InvalidInputError):
        return None
    understood = read_request(text, cities=cities, today=today)
    is_complete = not read.missing() and not read.unread
    return read if is_complete and keeps(understood, read) and is_grounded(sentence, read, text, cities, today) else None


def keeps(understood: PartialRequest, read: PartialRequest) -> bool:
    """Tell whether everything that the rules understood still holds; of an uncertain route, the cities."""
    ours, theirs = understood.model_dump(), read.model_dump()
    open_fields = {question.field.partition("[")[0] for question in understood.missing()}
    is_sure_of_route = not open_fields & {"origin", "stops", "return_to"}
    apart = (
        {"unread", "doubts", "total_nights", "stops"} | open_fields | (set() if is_sure_of_route else {"return_to", "one_way"})
    )
    same = all(theirs[name] == value for name, value in ours.items() if name not in apart and value is not None)
    if is_sure_of_route:
        return same and understood.stops == read.stops
    named = {understood.origin, understood.return_to, *(stop.city for stop in understood.stops)} - {None}
    return same and named <= {read.origin, read.return_to, *(stop.city for stop in read.stops)}


def is_grounded(sentence: str, read: PartialRequest, text: str, cities: Gazetteer, today: date) -> bool:
    """Tell whether every city and number of `sentence` is in `text`; this year and the next may be added to a month."""
    named = {read.origin, *(stop.city for stop in read.stops), read.return_to} - {None}
    said = set(_cities_in(text, cities))
    numbers = _numbers_in(text) | {today.year, today.year + 1}
    if "week" in text.lower():
        numbers |= {7 * count for count in _numbers_in(text)}
    return named <= said and _numbers_in(sentence) <= numbers


def _cities_in(text: str, cities: Gazetteer) -> Iterator[str]:
    words = re.findall(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*", text)
    for length in range(1, _LONGEST_NAME + 1):
        for start in range(len(words) - length + 1):
            city = cities.find(" ".join(words[start : start + length]))
            if city is not None:
                yield city.name


def _numbers_in(text: str) -> set[float]:
    passage = Passage.of(text)
    tag_numbers(passage)
    found = {float(number.value) for number in passage.values(Number) if number.value is not None}
    return found | {float(_IMPLIED[word]) for word in re.findall(r"[a-z]+", text.lower()) if word in _IMPLIED}
