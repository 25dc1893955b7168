"""Meal: recipes of steps, cooked together by one or more cooks with one of each object (docs/recipes.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

VOLUME: Final = "volume"
"""The property of which a step needs at least so much, and takes it away. Any other must be equal."""

StepKey = tuple[str, int]
"""Recipe, and step as it is numbered there."""
Property = str | int | float


@dataclass(frozen=True, slots=True)
class Use:
    """How a step uses an object: all of it, from start to end."""

    require: Mapping[str, Property] = field(default_factory=dict)
    """What its properties must be at the start."""
    update: Mapping[str, Property] = field(default_factory=dict)
    """What they become at the start."""


@dataclass(frozen=True, slots=True)
class Step:
    recipe: str
    number: int
    """From 0, in the order of its recipe."""
    text: str
    duration: int
    """Seconds."""
    is_autonomous: bool = False
    """It goes on without a cook once somebody has started it."""
    is_interruptible: bool = False
    after: tuple[int, ...] = ()
    """Steps of its recipe that must have ended before it starts."""
    within: Mapping[int, int] = field(default_factory=dict)
    """It starts at most so many seconds after that step has ended. Every piece of it is held to that."""
    uses: Mapping[str, Use] = field(default_factory=dict)

    @property
    def key(self) -> StepKey:
        return self.recipe, self.number

    def __str__(self) -> str:
        return f"{self.recipe} step {self.number}"


@dataclass(frozen=True)
class Meal:
    recipes: Mapping[str, tuple[Step, ...]]
    """In the order in which they were named."""
    cooks: int = 1
    warm: Mapping[str, int] = field(default_factory=dict)
    """A recipe's last step ends at most so many seconds before the meal is complete."""

    @cached_property
    def steps(self) -> Mapping[StepKey, Step]:
        return {step.key: step for steps in self.recipes.values() for step in steps}

    def step(self, recipe: object, number: object) -> Step | None:
        is_key = isinstance(recipe, str) and isinstance(number, int)
        return self.steps.get((recipe, number)) if is_key else None  # type: ignore[arg-type]

    def before(self, step: Step) -> Iterator[Step]:
        """The steps that it comes after."""
        return (self.steps[step.recipe, number] for number in step.after)

    def without_time_constraints(self) -> Meal:
        """The same meal, in which no step must follow another within a time and nothing must be warm."""
        recipes = {name: tuple(replace(step, within={}) for step in steps) for name, steps in self.recipes.items()}
        return replace(self, recipes=recipes, warm={})
