"""Conflict: why a meal cannot be cooked: wishes that cannot be kept together, though leaving any one of them out would help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from sagagraph.domains.recipes.planning.model import shortest
from sagagraph.domains.recipes.request import Use

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


def explain(situation: Situation, budget: Budget) -> Conflict:
    """Explain why there is no plan: leave out one wish after the other as long as there is none without it either."""
    kept, is_sure = [], True
    for wish in _wishes_of(situation.meal):
        without = replace(situation, meal=_without(situation.meal, wish))
        answer = shortest(without, without.grids[-1], without.latest, budget.part(_EACH_S), splits=True)
        if answer.is_impossible:
            situation = without
        else:
            kept.append(wish)
            is_sure = is_sure and answer.plan is not None
    return Conflict(tuple(kept), is_sure)


def _wishes_of(meal: Meal) -> Iterator[Wish]:
    for step in meal.steps.values():
        for number, within in step.within.items():
            other = _named(meal.steps[step.recipe, number])
            sentence = f"{_named(step)} must start within {_minutes(within)} of the end of {other}"
            yield Wish("within", step.recipe, step.number, number, sentence)
        for name, use in step.uses.items():
            if use.require:
                what = " and ".join(f"{key} {value}" for key, value in use.require.items())
                yield Wish("state", step.recipe, step.number, name, f"{_named(step)} needs the {name} at {what}")
    for recipe, within in meal.warm.items():
        sentence = f"{recipe} must be ready within {_minutes(within)} of the end of the meal, to be warm"
        yield Wish("warm", recipe, None, None, sentence)


def _without(meal: Meal, wish: Wish) -> Meal:
    if wish.step is None:
        return replace(meal, warm={recipe: within for recipe, within in meal.warm.items() if recipe != wish.recipe})
    step = meal.steps[wish.recipe, wish.step]
    if wish.kind == "within":
        return meal.changed(step, within={number: limit for number, limit in step.within.items() if number != wish.about})
    name = str(wish.about)
    return meal.changed(step, uses={**step.uses, name: Use(update=step.uses[name].update)})


def _named(step: Step) -> str:
    return f"{step} ({step.text.rstrip('.')})" if step.text else str(step)


def _minutes(seconds: int) -> str:
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"
