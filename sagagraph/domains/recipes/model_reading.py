"""Model reading: what a model reads in recipes, each step with the words that it comes from, beside what the rules read.

A step counts only if its words are in the text, and what is said about it only if the words that say so are among those of the
step. Times, limits and temperatures are read from the words by the rules. What is not found in the text is named, and left so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import BaseModel, Field

from sagagraph.context.answering import answer_of
from sagagraph.context.model import Model
from sagagraph.domains.recipes.request import Meal
from sagagraph.domains.recipes.text import Claim, described, read_meal
from sagagraph.errors import InvalidInputError, ModelError, SagaGraphError
from sagagraph.planning.models.anchors import is_quoted, says

_MOST_TOKENS: Final = 8_192
_INSTRUCTIONS: Final = (
    "The data is what somebody wrote about dishes that are cooked together. List each dish with the name it has there, and "
    "its steps in order, numbered from 1. For each step: `words`, the exact words of the text that tell it, in one passage; "
    "`minutes`, how long it takes by those words; `alone`, the words that say that it goes on beside other work (it bakes, "
    "simmers, cools, heats up), empty if somebody must be at it; `divisible`, the words for work that can be laid down and "
    "taken up again, such as chopping, empty if it is done in one go, heats something or is over quickly; `after`, each "
    "earlier step of the dish whose result it needs, with the words that say so (an oven is heated before something bakes "
    "in it); `needs`, the oven, the stove or the microwave, with the words that say so. Add nothing that was not written."
)


class _Form(BaseModel, extra="forbid"):
    pass


class Needed(_Form):
    step: int
    words: str


class Used(_Form):
    object: Literal["oven", "stove", "microwave"]
    words: str


class Told(_Form):
    words: str = Field(max_length=1000)
    minutes: float | None
    alone: str
    divisible: str
    after: list[Needed] = Field(max_length=50)
    needs: list[Used] = Field(max_length=3)


class Dish(_Form):
    name: str = Field(max_length=100)
    steps: list[Told] = Field(min_length=1, max_length=100)


class Dishes(_Form):
    dishes: list[Dish] = Field(min_length=1, max_length=20)


@dataclass(frozen=True, slots=True)
class Reading:
    text: str
    """The name and the steps of each dish, a line each, in the quoted words."""
    claims: tuple[tuple[Claim, ...], ...]
    left_out: tuple[str, ...]
    """What the model said, but the words do not."""


async def read_by_model(text: str, model: Model) -> Reading | None:
    """Return what the model reads; None if it is of no help. Raises `ModelError` if it cannot be asked."""
    answer = await answer_of(model, _INSTRUCTIONS, {"text": text}, Dishes, max_tokens=_MOST_TOKENS)
    dishes = answer.dishes if answer is not None else []
    quotes = (words for dish in dishes for words in (dish.name, *(told.words for told in dish.steps)))
    if not dishes or not all(is_quoted(words, text) for words in quotes):
        return None
    left_out: list[str] = []
    lines = ("\n".join((dish.name, *map(_line, dish.steps))) for dish in dishes)
    claims = tuple(tuple(_claims(dish, left_out)) for dish in dishes)
    return Reading("\n\n".join(lines), claims, tuple(left_out))


def _line(told: Told) -> str:
    """Return the words on one line, with the time after them if they spell it out: `for ten minutes`."""
    words, minutes = " ".join(told.words.split()), told.minutes or 0
    whole = int(minutes) if minutes % 1 == 0 else 0
    is_said = whole and not re.search(r"\d\s*(?:s|m|h)", words) and (says(whole, words) or says(whole // 60, words))
    return f"{words} ({whole} min)" if is_said else words


def _claims(dish: Dish, left_out: list[str]) -> Iterator[Claim]:
    for number, told in enumerate(dish.steps, 1):
        said = [(told.alone, "goes on alone"), (told.divisible, "can be laid down")]
        said += [(each.words, f"comes after {each.step}") for each in told.after]
        said += [(each.words, f"needs the {each.object}") for each in told.needs]
        wrong = [what for quote, what in said if quote and not is_quoted(quote, told.words)]
        wrong += [f"comes after {each.step}" for each in told.after if not 0 < each.step < number]
        left_out += [f"{dish.name} step {number} {what}" for what in wrong]
        yield Claim(
            None if "goes on alone" in wrong else bool(told.alone),
            None if "can be laid down" in wrong else bool(told.divisible),
            None if any("after" in what for what in wrong) else tuple(sorted({each.step - 1 for each in told.after})),
            None if any("needs" in what for what in wrong) else next((each.object for each in told.needs), ""),
        )


async def read_recipes(text: str, model: Model | None) -> tuple[Meal, tuple[str, ...]]:
    """Read recipes by the rules and, if there is one, a model; also return remarks on how they were read.

    If the rules can read them completely, their dishes, steps, times and limits are used; the model says what the words mean.
    Raises `InvalidInputError` if neither can read them, `ModelError` if only the model could, and it cannot be asked.
    """
    ours = _read(text)
    if model is None:
        return _or_raise(ours), ()
    try:
        reading = await read_by_model(text, model)
    except ModelError as exc:
        return _or_raise(ours if isinstance(ours, Meal) else exc), (f"{exc}: read without it",)
    theirs = None if reading is None else _read(reading.text, reading.claims)
    if reading is None or not isinstance(theirs, Meal) or (isinstance(ours, Meal) and _measures(ours) != _measures(theirs)):
        return _or_raise(ours), (f"{model.name} was of no help, so the rules have read it alone",)
    told = [f"not in the words, and left to the rules: {each}" for each in reading.left_out]
    by_rules = ours.steps.values() if isinstance(ours, Meal) else ()
    read = [(described(step), described(theirs.steps[step.key])) for step in by_rules]
    told += [f"the rules read: {rules}" for rules, models in read if rules != models]
    return theirs, (f"read with the help of {model.name}", *told)


def _read(text: str, claims: Sequence[Sequence[Claim]] = ()) -> Meal | InvalidInputError:
    try:
        return read_meal(text, claims)
    except InvalidInputError as exc:
        return exc


def _or_raise(read: Meal | SagaGraphError) -> Meal:
    if isinstance(read, Meal):
        return read
    raise read


def _measures(meal: Meal) -> list[tuple[object, ...]]:
    return [(*step.key, step.duration, sorted(step.within.items())) for step in meal.steps.values()]
