"""Conflict: why a meal cannot be cooked: wishes that cannot be kept together, though leaving any one of them out would help."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from sagagraph.domains.recipes.planning.model import shortest

if TYPE_CHECKING:
    from sagagraph.domains.recipes.planning.situation import Situation
    from sagagraph.domains.recipes.request import Meal, Step
    from sagagraph.planning.budget import Budget

_EACH_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class Wish:
    """One that can be left out of a meal. `step` is None for a whole recipe; `about`: a step's number, or an object."""

    kind: Literal["within", "warm", "state"]
    recipe: str
    step: int | None
    about: int | str | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Conflict:
    wishes: tuple[Wish, ...]
    is_irreducible: bool
    """Whether it is proven that none of them could be left out of the conflict."""


def wishes_of(meal: Meal) -> list[Wish]:
    found = []
    for step in meal.steps.values():
        for number, within in step.within.items():
            other = meal.steps[step.recipe, number]
            sentence = f"{_named(step)} must start within {_minutes(within)} of the end of {_named(other)}"
            found.append(Wish("within", step.recipe, step.number, number, sentence))
        for name, use in step.uses.items():
            if use.require:
                what = " and ".join(f"{key} {value}" for key, value in use.require.items())
                found.append(Wish("state", step.recipe, step.number, name, f"{_named(step)} needs the {name} at {what}"))
    for recipe, within in meal.warm.items():
        sentence = f"{recipe} must be ready within {_minutes(within)} of the end of the meal, to be warm"
        found.append(Wish("warm", recipe, None, None, sentence))
    return found


def explain(situation: Situation, budget: Budget) -> Conflict:
    """Explain why there is no plan: leave out one wish after the other as long as there is none without it either."""
    kept, is_sure = wishes_of(situation.meal), True
    for wish in list(kept):
        rest = [each for each in kept if each is not wish]
        less = replace(situation, meal=_with(situation.meal, rest))
        given = budget.part(min(_EACH_S, budget.left))
        answer = shortest(less, less.grids[-1], less.latest, given, splits=True)
        if answer.is_impossible:
            kept = rest
        else:
            is_sure = is_sure and answer.plan is not None
    return Conflict(tuple(kept), is_sure)


def _with(meal: Meal, wishes: Collection[Wish]) -> Meal:
    """The same meal with no other wishes than these."""
    known = {(wish.kind, wish.recipe, wish.step, wish.about) for wish in wishes}

    def of(step: Step) -> Step:
        within = {n: limit for n, limit in step.within.items() if ("within", step.recipe, step.number, n) in known}
        uses = {
            name: use if ("state", step.recipe, step.number, name) in known else replace(use, require={})
            for name, use in step.uses.items()
        }
        return replace(step, within=within, uses=uses)

    recipes = {name: tuple(of(step) for step in steps) for name, steps in meal.recipes.items()}
    warm = {recipe: within for recipe, within in meal.warm.items() if ("warm", recipe, None, None) in known}
    return replace(meal, recipes=recipes, warm=warm)


def _named(step: Step) -> str:
    return f"{step} ({step.text.rstrip('.')})" if step.text else str(step)


def _minutes(seconds: int) -> str:
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"
