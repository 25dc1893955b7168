"""Situation: what has been done of a meal, from when the rest is planned, and who or what is missing meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING, Final

from sagagraph.domains.recipes.plan import Plan, Row
from sagagraph.domains.recipes.request import VOLUME, Property, Step, StepKey

if TYPE_CHECKING:
    from sagagraph.domains.recipes.request import Meal

FINEST: Final = 30
"""Seconds between possible starts, unless the data need less."""
_MOST_SLICES: Final = 2_000
Span = tuple[int, int]
"""From one moment until another, in seconds."""
State = Mapping[str, Mapping[str, Property]]
"""Each object's properties."""


@dataclass(frozen=True)
class Situation:
    """Nothing has been done yet, unless it says so."""

    meal: Meal
    since: int = 0
    """Nothing else starts before."""
    past: Plan = ()
    """What has been started, and still counts."""
    state: State = field(default_factory=dict)
    away: tuple[Span, ...] = ()
    """When no cook is there to work, or to start anything."""
    down: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """When objects cannot be used; from `since` on."""

    @cached_property
    def grids(self) -> tuple[int, ...]:
        """Seconds: the one of the data, on which plans are found soonest, and the finest, on which they are proven."""
        steps = self.meal.steps.values()
        unit = gcd(*(step.duration for step in steps), *(within for step in steps for within in step.within.values()))
        if self.past and unit % FINEST:
            return (FINEST,)  # durations that became known on the way are no reason for a finer one
        return (unit, FINEST) if unit > FINEST and unit % FINEST == 0 else (unit,)

    def of(self, key: StepKey) -> tuple[Row, ...]:
        return tuple(row for row in self.past if (row.recipe, row.step) == key)

    def left(self, step: Step) -> int:
        """How many seconds of it are left to do."""
        return step.duration - sum(row.duration for row in self.of(step.key))

    def ended(self, step: Step) -> int | None:
        """When its last piece so far ends; None: it has not been started."""
        return max((row.end for row in self.of(step.key)), default=None)

    def slice(self, grid: int) -> int:
        """The shortest piece into which steps are split, in units of the grid: one, unless there would be too many."""
        work = sum(step.duration for step in self.meal.steps.values() if is_splittable(step)) // grid
        return 1 + work // _MOST_SLICES

    @cached_property
    def is_exact(self) -> bool:
        """Tell whether the model on the finest grid has every plan on it, however its steps are split."""
        steps = self.meal.steps.values()
        is_split = all(is_splittable(step) or not step.is_interruptible for step in steps)
        is_one = self.meal.cooks == 1 or not any(is_splittable(step) and step.within for step in steps)
        return self.slice(self.grids[-1]) == 1 and is_split and is_one

    @cached_property
    def latest(self) -> int:
        """When the meal can be complete if it can be at all: in the best plan there is no moment at which nothing goes on."""
        work = sum(max(0, self.left(step)) + self.grids[0] for step in self.meal.steps.values())
        spans = (*self.away, *(span for spans in self.down.values() for span in spans))
        return max(self.since, *(row.end for row in self.past), *(until for _from, until in spans), 0) + work


def is_splittable(step: Step) -> bool:
    """Tell whether a planner splits it. What sets or needs the state of an object is not split, though it might be."""
    return step.is_interruptible and not any(use.require or use.update for use in step.uses.values())


def state_after(meal: Meal, past: Plan) -> dict[str, dict[str, Property]]:
    """Return the properties of all objects after everything that has been started, in the order of execution."""
    state: dict[str, dict[str, Property]] = {}
    for row in past:
        for name, use in meal.steps[row.recipe, row.step].uses.items():
            own = state.setdefault(name, {})
            own.update(use.update)
            now, taken = own.get(VOLUME), use.require.get(VOLUME)
            if isinstance(now, int | float) and isinstance(taken, int | float):
                own[VOLUME] = now - taken
    return state
