"""Meal: recipes of steps, in Recipe2Plan's form, for one or more cooks with one of each object (docs/recipes.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, PlainSerializer, StringConstraints

from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file
from sagagraph.validators.complaints import checked, shown

FIELD: Final = "FILE"
MOST_STEPS: Final = 400
MOST_COOKS: Final = 10
LONGEST: Final = 7 * 24 * 3600
VOLUME: Final = "volume"
"""The property of which a step needs at least a given amount, which it uses up. Any other must be equal."""
SHIPPED: Final = ("Lentil-Soup", "Flatbread", "Apple-Crumble", "Custard", "Cobbler", "Pancakes")
"""Recipes of our own."""
_UNITS: Final = {"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600}
_DURATION: Final = re.compile(r"\s*(\d{1,6})\s*([a-z]+?)s?\.?\s*", re.IGNORECASE)

StepKey = tuple[str, int]
"""Recipe, and the number of the step in it."""
Property = str | int | float


def _seconds(value: object) -> int:
    """Read seconds as a number, or words such as "10 min", "30 sec", "1 hour"."""
    said = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if said and said[2].lower() in _UNITS:
        value = int(said[1]) * _UNITS[said[2].lower()]
    if isinstance(value, bool) or not isinstance(value, int | float) or value % 1 != 0:
        raise ValueError(f'must be a time such as "10 min", "30 sec" or "1 hour", not {shown(value)}')
    if not 0 <= value <= LONGEST:
        raise ValueError(f"must be between 0 s and a week, not {shown(value)}")
    return int(value)


def _duration(value: object) -> int:
    if seconds := _seconds(value):
        return seconds
    raise ValueError("must be longer than 0 s")


Seconds = Annotated[int, BeforeValidator(_seconds)]
Flag = Annotated[bool, BeforeValidator(lambda value: bool(value) if value in (0, 1) else value), PlainSerializer(int)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]+$")]
Number = Annotated[int, Field(strict=True, ge=0, lt=MOST_STEPS)]


def is_fit(key: str, given: Property | None, needed: Property) -> bool:
    """Tell whether a property is as a step needs it."""
    if key == VOLUME:
        return isinstance(given, int | float) and isinstance(needed, int | float) and given >= needed
    return given is not None and given == needed


class _Form(BaseModel, extra="ignore", frozen=True):
    pass


class Use(_Form):
    """Use of an object by a step: all of it, from start to end."""

    require: dict[str, Property] = Field(default_factory=dict)
    """What its properties must be at the start."""
    update: dict[str, Property] = Field(default_factory=dict)
    """What they become at the start."""

    def change(self, state: dict[str, Property]) -> None:
        """Change the properties of an object as its use does."""
        state.update(self.update)
        now, taken = state.get(VOLUME), self.require.get(VOLUME)
        if isinstance(now, int | float) and isinstance(taken, int | float):
            state[VOLUME] = now - taken


class Step(_Form):
    recipe: str = Field(default="", exclude=True)
    number: Number = Field(default=-1, alias="step")
    """From 0, in the order of its recipe."""
    text: Annotated[str, StringConstraints(strip_whitespace=True)] = ""
    duration: Annotated[int, BeforeValidator(_duration)] = Field(alias="time")
    """Seconds."""
    is_autonomous: Flag = Field(default=False, alias="parallel")
    """It runs without a cook once somebody has started it."""
    is_interruptible: Flag = Field(default=False, alias="interrupt")
    after: tuple[Number, ...] = Field(
        default=(), validation_alias=AliasChoices("prequisites", "prerequisites"), serialization_alias="prequisites"
    )
    """Steps of its recipe that must have ended before it starts. The spelling is that of Recipe2Plan."""
    within: dict[Annotated[int, Field(ge=0, lt=MOST_STEPS)], Seconds] = Field(default_factory=dict, alias="time_constraint")
    """It starts at most this many seconds after that step has ended. This applies to every piece of it."""
    uses: dict[Name, Use] = Field(default_factory=dict, alias="physical")

    @property
    def key(self) -> StepKey:
        return self.recipe, self.number

    def __str__(self) -> str:
        return f"{self.recipe} step {self.number}"


class _Recipe(_Form):
    recipe: Name
    steps: tuple[Step, ...] = Field(min_length=1, max_length=MOST_STEPS)


class _Meal(_Form):
    recipes: tuple[_Recipe, ...] = Field(min_length=1, max_length=50)
    cooks: Annotated[int, Field(strict=True, ge=1, le=MOST_COOKS)] = 1
    warm: dict[str, Seconds] = Field(default_factory=dict)


@dataclass(frozen=True)
class Meal:
    recipes: Mapping[str, tuple[Step, ...]]
    """In the order in which they were named."""
    cooks: int = 1
    warm: Mapping[str, int] = field(default_factory=dict)
    """A recipe's last step ends at most this many seconds before the meal is complete."""

    @cached_property
    def steps(self) -> Mapping[StepKey, Step]:
        return {step.key: step for steps in self.recipes.values() for step in steps}

    @cached_property
    def objects(self) -> tuple[str, ...]:
        return tuple(sorted({name for step in self.steps.values() for name in step.uses}))

    def before(self, step: Step) -> Iterator[Step]:
        """Return the steps that it comes after."""
        return (self.steps[step.recipe, number] for number in step.after)

    def changed(self, step: Step, **update: Any) -> Meal:
        """Return the same meal, with other fields of one step."""
        steps = tuple(each.model_copy(update=update) if each is step else each for each in self.recipes[step.recipe])
        return replace(self, recipes={**self.recipes, step.recipe: steps})

    def without_time_constraints(self) -> Meal:
        """Return the same meal, in which no step must follow another within a time and nothing must be warm."""
        recipes = {name: tuple(step.model_copy(update={"within": {}}) for step in of) for name, of in self.recipes.items()}
        return replace(self, recipes=recipes, warm={})

    def document(self) -> dict[str, Any]:
        """Return the general form, as `parse_meal` reads it."""
        recipes = tuple(_Recipe(recipe=name, steps=steps) for name, steps in self.recipes.items())
        return _Meal(recipes=recipes, cooks=self.cooks, warm=dict(self.warm)).model_dump(mode="json", by_alias=True)


def parse_meal(value: object) -> Meal:
    """Parse a list of recipes as Recipe2Plan has them, or `{"recipes": [...], "cooks": 2, "warm": {recipe: "5 min"}}`.

    Raises `InvalidInputError`: the first fault, in one line that names the field.
    """
    if _is_several(value):
        raise InvalidInputError("holds several meals; `sagagraph recipes pairs` lists them and `--pair` picks one", field=FIELD)
    value = {"recipes": value} if isinstance(value, list) else value
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"a meal is a list of recipes, not {shown(value)}", field=FIELD)
    form = checked(_Meal, value, field=FIELD)
    recipes: dict[str, tuple[Step, ...]] = {}
    for place, recipe in enumerate(form.recipes):
        if recipe.recipe in recipes:
            raise InvalidInputError(f"there is another recipe {recipe.recipe!r}", field=f"recipes[{place}].recipe")
        recipes[recipe.recipe] = _steps(recipe, f"recipes[{place}].steps")
    for name in form.warm:
        if name not in recipes:
            raise InvalidInputError(f"there is no recipe {shown(name)}", field="warm")
    if sum(map(len, recipes.values())) > MOST_STEPS:
        raise InvalidInputError(f"there are more than {MOST_STEPS} steps", field="recipes")
    return Meal(recipes, form.cooks, form.warm)


def document_of(request: Any) -> dict[str, Any]:
    """Return the general form, with everything else that a request has."""
    return {**(request if isinstance(request, Mapping) else {}), **parse_meal(request).document()}


def _is_several(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, list) for each in value)


def _steps(recipe: _Recipe, field: str) -> tuple[Step, ...]:
    for number, step in enumerate(recipe.steps):
        if step.number not in (-1, number):
            told = f"steps are numbered from 0 in their order: must be {number}, not {step.number}"
            raise InvalidInputError(told, field=f"{field}[{number}].step")
        others = [("prequisites", other) for other in step.after] + [("time_constraint", other) for other in step.within]
        for name, other in others:
            if other >= len(recipe.steps) or other == number:
                what = "it is this step" if other == number else f"{recipe.recipe} has no step {other}"
                raise InvalidInputError(what, field=f"{field}[{number}].{name}")
    try:
        TopologicalSorter({number: step.after for number, step in enumerate(recipe.steps)}).prepare()
    except CycleError as exc:
        told = f"steps {', '.join(map(str, sorted(set(exc.args[1]))))} of {recipe.recipe} wait for each other in a circle"
        raise InvalidInputError(told, field=field) from exc
    return tuple(
        step.model_copy(update={"recipe": recipe.recipe, "number": number, "after": tuple(dict.fromkeys(step.after))})
        for number, step in enumerate(recipe.steps)
    )


# -- files -----------------------------------------------------------------------------------------------------------


def pairs_in(path: Path | None) -> dict[str, Any]:
    """Return all pairs of a file, as JSON, by name; None: those of the shipped recipes. Raises `InvalidInputError`."""
    if path is None:
        return {f"{one}_{two}": [shipped(one), shipped(two)] for one, two in combinations(SHIPPED, 2)}
    value = json_file(path, FIELD)
    return {"_".join(parse_meal(each).recipes): each for each in (value if _is_several(value) else [value])}


def meal_in(path: Path, pair: str = "", *, without: bool = False) -> Meal:
    """Return the meal of a file, or with that name; `without` time constraints. Raises `InvalidInputError`."""
    if not path.exists() and (names := shipped_in(path.name)):
        meal = parse_meal([shipped(name) for name in names])
    elif not pair:
        meal = parse_meal(json_file(path, FIELD))
    elif (found := pairs_in(path).get(pair)) is not None:
        meal = parse_meal(found)
    else:
        raise InvalidInputError(f"{path} has no pair {pair!r}; `sagagraph recipes pairs` lists them", field="--pair")
    return meal.without_time_constraints() if without else meal


def shipped_in(pair: str) -> list[str]:
    """Return the recipes after which a pair is named; none unless all of them are shipped."""
    names = pair.split("_")
    return names if all(name in SHIPPED for name in names) else []


def shipped(name: str) -> Any:
    return json.loads(files("sagagraph.domains.recipes").joinpath("shipped", f"{name}.json").read_text(encoding="utf-8"))
