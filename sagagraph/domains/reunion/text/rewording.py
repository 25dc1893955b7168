"""Rewording: sentences that the rules cannot read, put in plainer words by a model and read by the rules again.

The model's words are accepted only if the rules understand all of them, if they keep everything that the rules understood of the
sentences themselves, and if every name and number in them is in the sentences. The model can reorder; it cannot invite anybody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from sagagraph.context.answering import answer_of
from sagagraph.context.model import Model
from sagagraph.context.quoting import new_nonce
from sagagraph.domains.reunion.text.partial import LONGEST_TEXT, PartialProblem, read_reunion
from sagagraph.domains.reunion.text.revision import Revision, partial_of, with_said
from sagagraph.domains.reunion.transcript import Transcript
from sagagraph.errors import InvalidInputError, ModelError
from sagagraph.language.numbers import Number, tag_numbers
from sagagraph.language.passage import Passage

_NAMED: Final = ("people", "vehicles", "tasks")
_WORD: Final = re.compile(r"[^\W\d_]+")
_OURS: Final = frozenset({"s", "car", "airport", "the", "a", "an", "of", "at", "to", "rental", "rent"})
"""Words that the rules put into names themselves."""
_IMPLIED: Final = {"noon": {12}, "half": {30}, "quarter": {15, 45}}
_INSTRUCTIONS: Final = (
    "The data is what somebody wrote about a reunion. Write the same as plain English sentences, each about one thing, like: "
    "Dinner is at 6 pm at home. Emily lands at 2:30 pm at BOS and needs a ride. Michael drives from New York, leaving at 11 am. "
    "The turkey takes 4 hours in the oven and must be watched. Home to BOS takes 60 minutes. Keep all names, places and numbers "
    "as they were written. Add nothing, and leave nothing out. Places that were named before are listed as known."
)


class Rewording(BaseModel):
    """The answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    sentences: list[str] = Field(min_length=1, max_length=100)


async def reworded(
    text: str, *, model: Model, places: Iterable[str] = (), mint: Callable[[], str] = new_nonce
) -> tuple[str, ...] | None:
    """Return the model's sentences; None if it is of no help. Questions may stay open.

    `places`: places named before, which the model may name though the text does not.

    Raises:
        ModelError: the model cannot be asked.
    """
    places = tuple(dict.fromkeys(places))
    data = {"text": text[:LONGEST_TEXT], **({"known places": places} if places else {})}
    answer = await answer_of(model, _INSTRUCTIONS, data, Rewording, mint=mint)
    if answer is None:
        return None
    said = tuple(answer.sentences)
    together = " ".join(f"{each.rstrip(' .')}." for each in said)
    try:
        read = read_reunion(together)
    except InvalidInputError:
        return None
    is_taken = not read.unread and keeps(read_reunion(text), read) and is_grounded(together, read, text, places)
    return said if is_taken else None


def keeps(understood: PartialProblem, read: PartialProblem) -> bool:
    """Tell whether everything that the rules understood of the sentences still holds."""
    ours, theirs = understood.problem, read.problem
    for table in _NAMED:
        there = {each["name"]: each for each in theirs[table]}
        if not all(_holds(each, there.get(each["name"], {})) for each in ours[table]):
            return False
    roads = [row for row in ours["travel_minutes"] if row not in theirs["travel_minutes"]]
    goals = zip(ours["goals"], theirs["goals"], strict=False)
    return not roads and len(ours["goals"]) <= len(theirs["goals"]) and all(_holds(*pair) for pair in goals)


def _holds(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    return all(theirs.get(field) == value for field, value in ours.items() if value not in (None, [], ()))


def is_grounded(said: str, read: PartialProblem, text: str, places: Iterable[str] = ()) -> bool:
    """Tell whether every name and number of what was `said` is in `text`; a place may be one of `places` instead."""
    words = _words(text) | _OURS
    known = words.union(*map(_words, places))
    are_named = all(_words(each["name"]) <= words for table in _NAMED for each in read.problem[table])
    are_places = all(_words(name) <= known for name in read.problem["places"].values())
    return are_named and are_places and _numbers(said) <= _numbers(text)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _numbers(text: str) -> set[float]:
    passage = Passage.of(re.sub(r"(?<=\d)[:.h](?=\d)", " ", text), most=len(text))
    tag_numbers(passage)
    said = {float(each.value) for each in passage.values(Number) if each.value is not None}
    return said.union(*(_IMPLIED.get(word, set()) for word in _words(text)))


async def in_plainer_words(text: str, transcript: Transcript, model: Model) -> tuple[Revision | None, str]:
    """Return the model's reading and a line for the speaker. None if the model is of no help: the rules' reading stands."""
    try:
        known = partial_of(transcript).problem["places"] if transcript.base is None else transcript.base.places
        said = await reworded(text, model=model, places=(*known, *known.values()))
        if said is None:
            return None, "The model could not put it in plainer words either."
        plain = " ".join(f"{each.rstrip(' .')}." for each in said)
        shown = f"In plainer words, by {model.name}: {plain} Change them in the list of what you have said, where they are wrong."
        return with_said(transcript, plain), shown
    except ModelError as exc:
        return None, f"The model could not be asked, so I went on without it: {exc}."
    except InvalidInputError:
        return None, "What the model made of it does not fit, so I went on without it."
