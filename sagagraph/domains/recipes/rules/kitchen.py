"""Kitchen: a plan in the order of execution. A working cook does nothing else, and an object is used by one step at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec import Struct

from sagagraph.domains.recipes.events import Event
from sagagraph.domains.recipes.plan import Plan, Row, clock
from sagagraph.domains.recipes.request import VOLUME, Meal, Property, Step, StepKey
from sagagraph.validators.concern import each_row
from sagagraph.validators.kinds import Kind
from sagagraph.validators.rows import Rows
from sagagraph.validators.verdict import Violation


class Piece(Struct, frozen=True, array_like=True):
    """Piece: a row of an existing step. Times are seconds from the beginning."""

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


class OfPiece(Struct, frozen=True, array_like=True):
    """View by which a piece is judged."""

    piece: Piece

    def __str__(self) -> str:
        return str(self.piece)


@dataclass(frozen=True)
class Past:
    before: Plan
    """The plan so far."""
    waste: Plan
    """What the new plan throws away."""
    event: Event
    """The latest, after which the new one was made."""


@dataclass(frozen=True)
class Case:
    meal: Meal
    plan: Rows[Row]
    past: Past | None = None
    """What had happened before, if it was repaired."""

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """Return the pieces in the order of execution: by start, then as in the file."""
        known = [(row.start, index, row) for index, row in self.plan.rows.items() if row.key in self.meal.steps]
        return tuple(
            Piece(index, place, row.recipe, row.step, row.start, row.end, self.meal.steps[row.key].is_autonomous)
            for place, (_start, index, row) in enumerate(sorted(known))
        )

    def step(self, piece: Piece) -> Step:
        return self.meal.steps[piece.key]

    @cached_property
    def of(self) -> Mapping[StepKey, tuple[Piece, ...]]:
        """Return the pieces of each step."""
        pieces: dict[StepKey, tuple[Piece, ...]] = defaultdict(tuple)
        for piece in self.pieces:
            pieces[piece.key] += (piece,)
        return pieces


class Begin(OfPiece, frozen=True, array_like=True):
    """Beginning of a step. `working`: what cooks are still doing when it begins, as many of them as there are cooks."""

    cooks: int
    working: tuple[Piece, ...]


def _begins(case: Case) -> Iterator[Begin]:
    working: list[Piece] = []
    for piece in case.pieces:
        working = [each for each in working if each.end > piece.start]
        yield Begin(piece, case.meal.cooks, tuple(working[: case.meal.cooks]))
        if not piece.is_autonomous:
            working.append(piece)


def _check_begin(begin: Begin) -> Iterator[Violation]:
    """Check that an unattended step is started with free hands. Among rows at one moment their order counts: it comes first."""
    if begin.piece.start < 0:
        yield begin.piece.breaks("IN_THE_PAST", "starts before the meal is begun")
    if len(begin.working) >= begin.cooks:
        code = "IN_THE_PAST" if begin.piece.is_autonomous else "OVERLAP"
        who = "the cook is" if begin.cooks == 1 else "all cooks are"
        message = f"cannot be started: {who} at {' and '.join(map(str, begin.working))}"
        yield begin.piece.breaks(code, message, beside=[each.scope for each in begin.working])


class Used(OfPiece, frozen=True, array_like=True):
    """Use of an object: its `state`, and which step still has it, when the piece begins."""

    object: str
    require: dict[str, Property]
    update: dict[str, Property]
    state: dict[str, Property]
    earlier: tuple[Piece, ...]


def _uses(case: Case) -> Iterator[Used]:
    for name in case.meal.objects:
        state: dict[str, Property] = {}
        earlier: list[Piece] = []
        for piece, use in ((each, case.step(each).uses.get(name)) for each in case.pieces):
            if use is not None:
                earlier = [each for each in earlier if each.end > piece.start]
                yield Used(piece, name, use.require, use.update, dict(state), tuple(earlier))
                earlier.append(piece)
                state.update(use.update)
                now, taken = state.get(VOLUME), use.require.get(VOLUME)
                if isinstance(now, int | float) and isinstance(taken, int | float):
                    state[VOLUME] = max(0, now - taken)


def _check_use(used: Used) -> Iterator[Violation]:
    """Check a use. Two steps that make the object the same over the same time may coincide: the oven is heated for both."""
    piece, name = used.piece, used.object
    is_so_already = bool(used.update) and used.update.items() <= used.state.items()
    for other in used.earlier:
        is_same_time = (other.start, other.end) == (piece.start, piece.end)
        if piece.overlaps(other) and other.key != piece.key and not (is_same_time and is_so_already):
            yield piece.breaks("OCCUPIED", f"needs the {name} while {other} has it", object=name, beside=other.scope)
            break
    for key, needed in used.require.items():
        now = used.state.get(key)
        evidence = {"object": name, "property": key, "needed": needed, "found": now}
        is_enough = isinstance(now, int | float) and isinstance(needed, int | float) and now >= needed
        if key != VOLUME and now != needed:
            found = "is not set" if now is None else f"is {now}"
            yield piece.breaks("TEMPERATURE", f"needs the {name} at {key} {needed}, which {found}", **evidence)
        if key == VOLUME and not is_enough:
            yield piece.breaks("VOLUME", f"needs {needed} of what is in the {name}, which has {now or 0}", **evidence)


COOK = each_row("cook", Kind.AGREEMENT, Begin, _begins, _check_begin, version=3)
OBJECTS = each_row("object", Kind.INTEGRITY, Used, _uses, _check_use, version=3)
