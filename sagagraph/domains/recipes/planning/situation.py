"""Situation: what has been done of a meal, from when the rest is planned, and who or what is missing meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING, Final

from sagagraph.domains.recipes.plan import Plan
from sagagraph.domains.recipes.request import Property, Step

if TYPE_CHECKING:
    from sagagraph.domains.recipes.request import Meal

FINEST: Final = 30
"""Seconds between possible starts, unless the data need less."""
_MOST_SLICES: Final = 2_000


@dataclass(frozen=True)
class Situation:
    """Nothing has been done yet, unless it says so. All times are in seconds."""

    meal: Meal
    since: int = 0
    """Nothing else starts before."""
    past: Plan = ()
    """What has been started, and still counts."""
    state: Mapping[str, Mapping[str, Property]] = field(default_factory=dict)
    """Each object's properties."""
    away: int = 0
    """Until then no cook is there to work, or to start anything."""
    down: Mapping[str, int] = field(default_factory=dict)
    """Until when objects cannot be used."""

    @cached_property
    def grids(self) -> tuple[int, ...]:
        """The one of the data, on which plans are found soonest, and the finest, on which they are proven."""
        steps = self.meal.steps.values()
        unit = gcd(*(step.duration for step in steps), *(within for step in steps for within in step.within.values()))
        if self.past and unit % FINEST:
            return (FINEST,)  # durations that became known on the way are no reason for a finer one
        return (unit, FINEST) if unit > FINEST and unit % FINEST == 0 else (unit,)

    def left(self, step: Step) -> int:
        """How much of it is left to do."""
        return step.duration - sum(row.duration for row in self.past if row.key == step.key)

    def ended(self, step: Step) -> int:
        """When its last piece so far ends; 0: it has not been started."""
        return max((row.end for row in self.past if row.key == step.key), default=0)

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
        return max(self.since, self.away, *self.down.values(), *(row.end for row in self.past)) + work


def is_splittable(step: Step) -> bool:
    """Tell whether a planner splits it. What sets or needs the state of an object is not split, though it might be."""
    return step.is_interruptible and not any(use.require or use.update for use in step.uses.values())
