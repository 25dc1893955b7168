"""Situation: what is left of a meal, and what stands in the way of it. Times are in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import Final

from sagagraph.domains.recipes.plan import Plan
from sagagraph.domains.recipes.request import Meal, Property, Step, StepKey

FINEST: Final = 30
"""Seconds between possible starts, unless the data need fewer."""
_MOST_SLICES: Final = 2_000


@dataclass(frozen=True)
class Situation:
    """Situation in which nothing has been done yet, unless it says so. All times are in seconds."""

    meal: Meal
    since: int = 0
    """Nothing else starts before."""
    past: Plan = ()
    """What has been started, and still counts."""
    state: Mapping[str, Mapping[str, Property]] = field(default_factory=dict)
    """Each object's properties."""
    away: int = 0
    """Until then no cook is available to work, or to start anything."""
    down: Mapping[str, int] = field(default_factory=dict)
    """Until when objects cannot be used."""

    @cached_property
    def grids(self) -> tuple[int, int]:
        """Return the grid of the data, on which plans are found soonest, and the finest, on which they are proven."""
        steps = self.meal.steps.values()
        unit = gcd(*(step.duration for step in steps), *(within for step in steps for within in step.within.values()))
        if self.past and unit % FINEST:
            return FINEST, FINEST  # durations that became known on the way do not require a finer one
        return unit, unit if unit % FINEST else FINEST

    @cached_property
    def exact(self) -> int:
        """Return the grid of everything that has happened: some limits can only be kept on it, so it is tried before a plan is
        ruled out.
        """
        steps = self.meal.steps.values()
        limits = (within for step in steps for within in step.within.values())
        return gcd(self.grids[1], *limits, *(each for step in steps for each in (self.left(step), self.ended(step))))

    def up(self, seconds: int) -> int:
        """Return the next moment on the finest grid."""
        return -(-seconds // self.grids[1]) * self.grids[1]

    @cached_property
    def worked(self) -> Mapping[StepKey, tuple[int, int]]:
        """Return how long each step that has been started was worked at, and when its last piece so far ends."""
        found: dict[StepKey, tuple[int, int]] = {}
        for row in self.past:
            worked, ended = found.get(row.key, (0, 0))
            found[row.key] = worked + row.duration, max(ended, row.end)
        return found

    def left(self, step: Step) -> int:
        """Return how much of it is left to do."""
        return step.duration - self.worked.get(step.key, (0, 0))[0]

    def ended(self, step: Step) -> int:
        """Return when its last piece so far ends; 0: it has not been started."""
        return self.worked.get(step.key, (0, 0))[1]

    def splits(self, step: Step) -> bool:
        """Tell whether a planner splits it. What sets or needs the state of an object is not split, though it might be.

        Nor is a step that another one must follow in time, unless that one also requires it.
        """
        is_plain = not any(use.require or use.update for use in step.uses.values())
        followers = (each for each in self.meal.recipes[step.recipe] if step.number in each.within)
        return step.is_interruptible and is_plain and all(step.number in each.after for each in followers)

    def slice(self, grid: int) -> int:
        """Return the shortest piece into which steps are split, in units of the grid: as on the finest, unless there are too
        many.
        """
        work = sum(step.duration for step in self.meal.steps.values() if self.splits(step)) // grid
        return max(self.grids[1] // grid, 1 + work // _MOST_SLICES) if work else 1

    @cached_property
    def is_exact(self) -> bool:
        """Tell whether the model on the finest grid has every plan on it, however its steps are split."""
        steps = self.meal.steps.values()
        is_split = all(self.splits(step) or not step.is_interruptible for step in steps)
        is_one = self.meal.cooks == 1 or not any(self.splits(step) and step.within for step in steps)
        return self.slice(self.grids[1]) == 1 and is_split and is_one

    @cached_property
    def latest(self) -> int:
        """Return when the meal can be complete if it can be at all: in the best plan there is no moment at which nothing
        happens.
        """
        work = sum(max(0, self.left(step)) + self.grids[0] for step in self.meal.steps.values())
        return max(self.since, self.away, *self.down.values(), *(row.end for row in self.past)) + work
