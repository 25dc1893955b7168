"""Parsing: meals and plans from JSON. A meal must be right; of a plan, what is readable is kept and the rest is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from sagagraph.domains.recipes.plan import LATEST, Row
from sagagraph.domains.recipes.request import Meal, Property, Step, Use
from sagagraph.errors import InvalidInputError
from sagagraph.validators.complaints import in_words, shown

FIELD: Final = "FILE"
MOST_STEPS: Final = 400
LONGEST: Final = 7 * 24 * 3600
_UNITS: Final = {"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600}
_DURATION: Final = re.compile(r"\s*(\d{1,6})\s*([a-z]+?)s?\.?\s*", re.IGNORECASE)


def _seconds(value: object) -> int:
    """Seconds as a number, or words such as "10 min", "30 sec", "1 hour"."""
    said = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if said and said[2].lower() in _UNITS:
        value = int(said[1]) * _UNITS[said[2].lower()]
    if isinstance(value, bool) or not isinstance(value, int | float) or value % 1 != 0:
        raise ValueError(f'must be a time such as "10 min", "30 sec" or "1 hour", not {shown(value)}')
    if not 0 <= value <= LONGEST:
        raise ValueError(f"must be between 0 s and a week, not {shown(value)}")
    return int(value)


def _duration(value: object) -> int:
    seconds = _seconds(value)
    if seconds == 0:
        raise ValueError("must be longer than 0 s")
    return seconds


Seconds = Annotated[int, BeforeValidator(_seconds)]
Flag = Annotated[bool, BeforeValidator(lambda value: bool(value) if value in (0, 1) else value)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]+$")]
Number = Annotated[int, Field(strict=True, ge=0, lt=MOST_STEPS)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Use(_Form):
    require: dict[str, Property] = Field(default_factory=dict)
    update: dict[str, Property] = Field(default_factory=dict)


class _Step(_Form):
    step: Number | None = None
    text: str = ""
    time: Annotated[int, BeforeValidator(_duration)]
    parallel: Flag = False
    interrupt: Flag = False
    # The spelling is theirs.
    prequisites: tuple[Number, ...] = Field(default=(), validation_alias=AliasChoices("prequisites", "prerequisites"))
    time_constraint: dict[Annotated[int, Field(ge=0, lt=MOST_STEPS)], Seconds] = Field(default_factory=dict)
    physical: dict[Name, _Use] = Field(default_factory=dict)


class _Recipe(_Form):
    recipe: Name
    steps: tuple[_Step, ...] = Field(min_length=1, max_length=MOST_STEPS)


class _Meal(_Form):
    recipes: tuple[_Recipe, ...] = Field(min_length=1, max_length=50)
    cooks: Annotated[int, Field(strict=True, ge=1, le=10)] = 1
    warm: dict[str, Seconds] = Field(default_factory=dict)


def parse_meal(value: object) -> Meal:
    """Parse a list of recipes as Recipe2Plan has them, or `{"recipes": [...], "cooks": 2, "warm": {recipe: "5 min"}}`.

    Raises:
        InvalidInputError: what is wrong first, in one line that names the field.
    """
    if isinstance(value, list):
        if value and all(isinstance(each, list) for each in value):
            raise InvalidInputError(
                "holds several meals; `sagagraph recipes pairs` lists them and `--pair` picks one", field=FIELD
            )
        value = {"recipes": value}
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"a meal is a list of recipes, not {shown(value)}", field=FIELD)
    try:
        form = _Meal.model_validate(value)
    except ValidationError as exc:
        name, message = in_words(exc)[0]
        raise InvalidInputError(message, field=name or FIELD) from exc
    names = [recipe.recipe for recipe in form.recipes]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InvalidInputError(f"there is another recipe {name!r}", field=f"recipes[{place}].recipe")
    for name in form.warm:
        if name not in names:
            raise InvalidInputError(f"there is no recipe {shown(name)}", field="warm")
    if sum(len(recipe.steps) for recipe in form.recipes) > MOST_STEPS:
        raise InvalidInputError(f"there are more than {MOST_STEPS} steps", field="recipes")
    recipes = {recipe.recipe: _steps(recipe, f"recipes[{place}]") for place, recipe in enumerate(form.recipes)}
    return Meal(recipes, form.cooks, form.warm)


def _steps(recipe: _Recipe, field: str) -> tuple[Step, ...]:
    for number, form in enumerate(recipe.steps):
        here = f"{field}.steps[{number}]"
        if form.step not in (None, number):
            raise InvalidInputError(
                f"steps are numbered from 0 in their order: must be {number}, not {form.step}", field=f"{here}.step"
            )
        for name, others in (("prequisites", form.prequisites), ("time_constraint", form.time_constraint)):
            for other in others:
                if other >= len(recipe.steps) or other == number:
                    what = "it is this step" if other == number else f"{recipe.recipe} has no step {other}"
                    raise InvalidInputError(what, field=f"{here}.{name}")
    _check_order(recipe, field)
    return tuple(_step(recipe.recipe, number, form) for number, form in enumerate(recipe.steps))


def _check_order(recipe: _Recipe, field: str) -> None:
    """Raise `InvalidInputError` if a step waits for itself."""
    left = {number: set(form.prequisites) for number, form in enumerate(recipe.steps)}
    while ready := [number for number, others in left.items() if not others & left.keys()]:
        for number in ready:
            del left[number]
    if left:
        circle = ", ".join(map(str, sorted(left)))
        raise InvalidInputError(f"steps {circle} of {recipe.recipe} wait for each other in a circle", field=f"{field}.steps")


def _step(recipe: str, number: int, form: _Step) -> Step:
    uses = {name: Use(dict(use.require), dict(use.update)) for name, use in form.physical.items()}
    after = tuple(dict.fromkeys(form.prequisites))
    within = dict(form.time_constraint)
    return Step(recipe, number, form.text.strip(), form.time, form.parallel, form.interrupt, after, within, uses)


# -- plans -----------------------------------------------------------------------------------------------------------

_Whole = Annotated[int, Field(ge=-LATEST, le=LATEST)]
_ROW: Final = TypeAdapter[tuple[int, str, int, int]](
    tuple[Annotated[int, Field(strict=True)], Annotated[str, Field(strict=True)], _Whole, _Whole]
)


@dataclass(frozen=True, slots=True)
class Illegible:
    """A row that cannot be read."""

    index: int
    fault: str


@dataclass(frozen=True, slots=True)
class ParsedPlan:
    """A plan as read: rows by their index in the file. `fault`: why there are none, if it is not even a list of rows."""

    rows: Mapping[int, Row]
    illegible: tuple[Illegible, ...] = ()
    fault: str = ""


def parse_plan(value: object) -> ParsedPlan:
    """Parse a plan. `value`: a list of rows, or what `recipes plan` prints, with such a list as its `plan`."""
    listed = value.get("plan") if isinstance(value, Mapping) else value
    if not isinstance(listed, list):
        return ParsedPlan({}, fault=f"a plan is a list of rows [step, recipe, duration_s, start_s], not {shown(listed)}")
    rows: dict[int, Row] = {}
    illegible: list[Illegible] = []
    for index, said in enumerate(listed):
        try:
            rows[index] = Row(*_ROW.validate_python(said))
        except ValidationError as exc:
            illegible.append(
                Illegible(index, "; ".join(f"{field}: {words}".removeprefix(": ") for field, words in in_words(exc)))
            )
    return ParsedPlan(rows, tuple(illegible))


def check_legible(parsed: ParsedPlan, field: str) -> None:
    """Raise `InvalidInputError` if something of it cannot be read."""
    if parsed.fault:
        raise InvalidInputError(parsed.fault, field=field)
    for each in parsed.illegible:
        raise InvalidInputError(f"row {each.index} cannot be read: {each.fault}", field=field)


def document_of(meal: Meal) -> dict[str, Any]:
    """The general form of a meal, as `parse_meal` reads it."""
    recipes = [{"recipe": name, "steps": [_step_document(step) for step in steps]} for name, steps in meal.recipes.items()]
    return {"recipes": recipes, "cooks": meal.cooks, "warm": dict(meal.warm)}


def _step_document(step: Step) -> dict[str, Any]:
    kinds: dict[str, Literal[0, 1]] = {"parallel": 1 if step.is_autonomous else 0, "interrupt": 1 if step.is_interruptible else 0}
    uses = {name: {"require": dict(use.require), "update": dict(use.update)} for name, use in step.uses.items()}
    within = {str(number): seconds for number, seconds in step.within.items()}
    after = list(step.after)
    return {"step": step.number, "text": step.text, "time": step.duration, **kinds, "prequisites": after,
            "time_constraint": within, "physical": uses}  # fmt: skip
