"""Plan: when each step is worked at, in rows as Recipe2Plan writes them: `[step, recipe, duration_s, start_s]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, Final, NamedTuple

from pydantic import BaseModel, Field, StrictInt, StrictStr, TypeAdapter

from sagagraph.domains.recipes.request import Meal, StepKey, parse_meal
from sagagraph.validators.rows import Rows, parse_rows

LATEST: Final = 10**9
"""Seconds."""
Whole = Annotated[int, Field(ge=-LATEST, le=LATEST)]
_ROW: Final = TypeAdapter[tuple[int, str, int, int]](tuple[StrictInt, StrictStr, Whole, Whole])


class Row(NamedTuple):
    """Row: one piece of a step; a step that is not split is one piece."""

    step: int
    recipe: str
    duration: int
    start: int

    @property
    def end(self) -> int:
        return self.start + self.duration

    @property
    def key(self) -> StepKey:
        return self.recipe, self.step

    @property
    def begins(self) -> tuple[str, int, int]:
        return self.recipe, self.step, self.start


Plan = tuple[Row, ...]
"""In order of execution. Of rows at the same moment, unattended ones come first."""


class Cooked(BaseModel, frozen=True):
    """Meal as far as it is known, and its plan: what journals hold. Before anything has happened, the whole of its
    original plan.
    """

    request: dict[str, Any]
    """With the durations that are known now."""
    plan: Plan
    """What was done and counts, and what is still to do."""
    waste: Plan = ()
    """What was done, or interrupted, in vain."""
    passed: tuple[str, ...] = ()
    """Limits that could no longer be kept, in words."""
    names: tuple[str, ...] = ()
    """Names of the operations that start the rows."""
    dinner: str = "dinner"
    """The operation that ends the meal."""
    planned_s: int = 0
    """When it was originally to be complete."""
    lower_bound: int = Field(default=0, exclude=True)

    @cached_property
    def meal(self) -> Meal:
        return parse_meal(self.request)

    @property
    def again(self) -> tuple[StepKey, ...]:
        """Return the steps that are made again."""
        return tuple(sorted({row.key for row in self.waste}))

    @property
    def title(self) -> str:
        return "; ".join([*self.meal.recipes, f"complete after {-(-makespan(self.plan) // 60)} minutes"])

    @property
    def told(self) -> tuple[str, ...]:
        steps = (self.meal.steps[key] for key in self.again)
        again = (f"is made again: {step}: {step.text}" for step in steps)
        return (*(f"can no longer be kept: {sentence}" for sentence in self.passed), *again)


def planned(meal: Meal, plan: Plan, lower_bound: int = 0) -> Cooked:
    return Cooked(request=meal.document(), plan=plan, lower_bound=lower_bound, planned_s=makespan(plan))


def in_order(meal: Meal, rows: Iterable[Row]) -> Plan:
    """Return the rows in order: of those at the same moment, unattended ones first, and of those, the ones that need an object as
    it is now.
    """
    sets = {step.key: any(use.update for use in step.uses.values()) for step in meal.steps.values()}
    return tuple(sorted(rows, key=lambda row: (row.start, not meal.steps[row.key].is_autonomous, sets[row.key])))


def makespan(plan: Plan) -> int:
    return max((row.end for row in plan), default=0)


def moved(was: Plan, now: Plan, since: int = 0) -> int:
    """Return how many of the steps that were to begin from then on begin at another time."""
    old, new = ({row.key: row.start for row in reversed(plan) if row.start >= since} for plan in (was, now))
    return sum(new.get(key) != start for key, start in old.items())


def clock(seconds: int) -> str:
    """Format as Recipe2Plan does: `00:10:00`."""
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    return f"{sign}{seconds // 3600:02}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


def parse_plan(value: object) -> Rows[Row]:
    """Parse a plan. `value`: a list of rows, or what `recipes plan` prints, with such a list as its `plan`."""
    listed = value.get("plan") if isinstance(value, Mapping) else value
    is_a = "a plan is a list of rows [step, recipe, duration_s, start_s]"
    return parse_rows(listed, lambda said: Row(*_ROW.validate_python(said)), is_a)
