"""Case: what slices are selected from: a meal, a plan, and the moments that follow from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec import Struct

from sagagraph.domains.recipes.plan import Row, clock
from sagagraph.domains.recipes.request import Meal, Step, StepKey
from sagagraph.validators.rows import Rows
from sagagraph.validators.verdict import Violation


class Piece(Struct, frozen=True, array_like=True):
    """A row of an existing step. Times are seconds from the beginning."""

    index: int
    place: int
    """In the order of execution."""
    recipe: str
    step: int
    start: int
    end: int
    is_autonomous: bool

    @property
    def key(self) -> StepKey:
        return self.recipe, self.step

    @property
    def scope(self) -> dict[str, Any]:
        return {"row": self.index, "recipe": self.recipe, "step": self.step}

    def overlaps(self, other: Piece) -> bool:
        return max(self.start, other.start) < min(self.end, other.end)

    def breaks(self, code: str, message: str, **evidence: Any) -> Violation:
        """Return a violation at this row."""
        times = {"start_s": self.start, "end_s": self.end}
        return Violation(code=code, message=f"{self} {message}", scope=self.scope, evidence={**times, **evidence})

    def __str__(self) -> str:
        return f"{self.recipe} step {self.step} ({clock(self.start)} to {clock(self.end)})"


@dataclass(frozen=True)
class Case:
    meal: Meal
    plan: Rows[Row]

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """In the order of execution: by start, then as in the file."""
        known = [(row.start, index, row) for index, row in self.plan.rows.items() if row.key in self.meal.steps]
        return tuple(
            Piece(index, place, row.recipe, row.step, row.start, row.end, self.meal.steps[row.key].is_autonomous)
            for place, (_start, index, row) in enumerate(sorted(known))
        )

    def step(self, piece: Piece) -> Step:
        return self.meal.steps[piece.key]

    @cached_property
    def of(self) -> Mapping[StepKey, tuple[Piece, ...]]:
        """The pieces of each step."""
        pieces: dict[StepKey, tuple[Piece, ...]] = defaultdict(tuple)
        for piece in self.pieces:
            pieces[piece.key] += (piece,)
        return pieces
