"""Case: what slices are selected from: a meal, a plan, and the moments that follow from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec import Struct

from sagagraph.domains.recipes.parsing import ParsedPlan
from sagagraph.domains.recipes.request import Meal, StepKey
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
    plan: ParsedPlan

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """In the order of execution: by start, then as in the file."""
        known = [(index, row, self.meal.step(row.recipe, row.step)) for index, row in self.plan.rows.items()]
        known.sort(key=lambda each: (each[1].start, each[0]))
        found = [(index, row, step) for index, row, step in known if step is not None]
        return tuple(
            Piece(index, place, row.recipe, row.step, row.start, row.end, step.is_autonomous)
            for place, (index, row, step) in enumerate(found)
        )

    @cached_property
    def of(self) -> Mapping[StepKey, tuple[Piece, ...]]:
        """The pieces of each step."""
        pieces: dict[StepKey, list[Piece]] = defaultdict(list)
        for piece in self.pieces:
            pieces[piece.key].append(piece)
        return {key: tuple(those) for key, those in pieces.items()}

    @cached_property
    def by_object(self) -> Mapping[str, tuple[Piece, ...]]:
        users: dict[str, list[Piece]] = defaultdict(list)
        for piece in self.pieces:
            for name in self.meal.steps[piece.key].uses:
                users[name].append(piece)
        return {name: tuple(those) for name, those in users.items()}


def clock(seconds: int) -> str:
    """As in Recipe2Plan: `00:10:00`."""
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    return f"{sign}{seconds // 3600:02}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


def named(what: str, first: Piece, last: Piece) -> str:
    """The name of a window of pieces."""
    return f"{what}, {clock(first.start)} to {clock(last.end)}"
