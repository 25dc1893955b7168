"""Wishes: what a meal asks for that could be left out of it, and those that cannot be had together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from sagagraph.domains.recipes.request import Meal, Step, Use


@dataclass(frozen=True, slots=True)
class Wish:
    """Wish that can be left out of a meal. `step` is None for a whole recipe; `about`: a step's number, or an object."""

    kind: Literal["within", "warm", "state"]
    recipe: str
    step: int | None
    about: int | str | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Conflict:
    wishes: tuple[Wish, ...]
    is_irreducible: bool
    """Whether it is proven that they cannot be kept together, and that none of them could be left out of the conflict."""


def wishes_of(meal: Meal) -> Iterator[Wish]:
    for step in meal.steps.values():
        yield from (limit(meal, step, number) for number in step.within)
        for name, use in step.uses.items():
            if use.require:
                what = " and ".join(f"{key} {value}" for key, value in use.require.items())
                yield Wish("state", step.recipe, step.number, name, f"{_named(step)} needs the {name} at {what}")
    for recipe, within in meal.warm.items():
        sentence = f"{recipe} must be ready within {_minutes(within)} of the end of the meal, to be warm"
        yield Wish("warm", recipe, None, None, sentence)


def limit(meal: Meal, step: Step, number: int) -> Wish:
    other, within = _named(meal.steps[step.recipe, number]), _minutes(step.within[number])
    return Wish("within", step.recipe, step.number, number, f"{_named(step)} must start within {within} of the end of {other}")


def left_out(meal: Meal, wish: Wish) -> Meal:
    """Return the meal without the wish."""
    if wish.step is None:
        return replace(meal, warm={recipe: within for recipe, within in meal.warm.items() if recipe != wish.recipe})
    step = meal.steps[wish.recipe, wish.step]
    if isinstance(wish.about, str):
        return meal.changed(step, uses={**step.uses, wish.about: Use(update=step.uses[wish.about].update)})
    return meal.changed(step, within={number: limit for number, limit in step.within.items() if number != wish.about})


def _named(step: Step) -> str:
    return f"{step} ({step.text.rstrip('.')})" if step.text else str(step)


def _minutes(seconds: int) -> str:
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"
