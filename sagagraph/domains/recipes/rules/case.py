"""Case: what the checks look at: a meal, a plan, and the moments that follow from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sagagraph.domains.recipes.parsing import ParsedPlan
from sagagraph.domains.recipes.plan import Row
from sagagraph.domains.recipes.request import Meal, Step, StepKey
from sagagraph.validators.verdict import Violation

Check = Callable[["Case"], Iterator[Violation]]


@dataclass(frozen=True, slots=True)
class Piece:
    """A row of an existing step."""

    index: int
    place: int
    """In the order of execution."""
    row: Row
    step: Step

    @property
    def scope(self) -> dict[str, Any]:
        return {"row": self.index, "recipe": self.row.recipe, "step": self.row.step}

    def overlaps(self, other: Piece) -> bool:
        return max(self.row.start, other.row.start) < min(self.row.end, other.row.end)

    def __str__(self) -> str:
        return f"{self.step} ({clock(self.row.start)} to {clock(self.row.end)})"


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
        return tuple(Piece(index, place, row, step) for place, (index, row, step) in enumerate(found))

    @cached_property
    def of(self) -> Mapping[StepKey, tuple[Piece, ...]]:
        """The pieces of each step."""
        pieces: dict[StepKey, list[Piece]] = defaultdict(list)
        for piece in self.pieces:
            pieces[piece.step.key].append(piece)
        return {key: tuple(those) for key, those in pieces.items()}

    @cached_property
    def by_object(self) -> Mapping[str, tuple[Piece, ...]]:
        users: dict[str, list[Piece]] = defaultdict(list)
        for piece in self.pieces:
            for name in piece.step.uses:
                users[name].append(piece)
        return {name: tuple(those) for name, those in users.items()}


def clock(seconds: int) -> str:
    """As in Recipe2Plan: `00:10:00`."""
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    return f"{sign}{seconds // 3600:02}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


def violation(code: str, piece: Piece, message: str, **evidence: Any) -> Violation:
    times = {"start_s": piece.row.start, "end_s": piece.row.end}
    return Violation(code=code, message=f"{piece} {message}", scope=piece.scope, evidence={**times, **evidence})
