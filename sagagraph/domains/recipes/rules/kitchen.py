"""Kitchen: a plan in the order of execution. Who works at a step does nothing else, and one at a time has all of an object."""

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
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.rows import Rows
from sagagraph.validators.verdict import Violation

_State = dict[str, Property]


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
class Past:
    before: Plan
    """The plan until now."""
    waste: Plan
    """What is thrown away, by the new one."""
    event: Event
    """The latest, after which the new one was made."""


@dataclass(frozen=True)
class Case:
    meal: Meal
    plan: Rows[Row]
    past: Past | None = None
    """What had happened before, where it was repaired."""

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


class HandsView(Struct, frozen=True):
    """`working`: what cooks are still at when these pieces begin."""

    cooks: int
    working: tuple[Piece, ...]
    pieces: tuple[Piece, ...]


def _hands(case: Case) -> Iterator[tuple[str, HandsView]]:
    working: list[Piece] = []
    for window in windows(case.pieces):
        working = [each for each in working if each.end > window[0].start]
        yield f"the cooks, {window[0]} to {window[-1]}", HandsView(case.meal.cooks, tuple(working), tuple(window))
        working += [each for each in window if not each.is_autonomous]


def _check_hands(view: HandsView) -> Iterator[Violation]:
    """Whatever goes on alone is started with free hands. At one moment the order of the rows counts: it comes first."""
    working = list(view.working)
    for piece in view.pieces:
        if piece.start < 0:
            yield piece.breaks("IN_THE_PAST", "starts before the meal is begun")
        working = [each for each in working if each.end > piece.start]
        if len(working) >= view.cooks:
            code = "IN_THE_PAST" if piece.is_autonomous else "OVERLAP"
            who = "the cook is" if view.cooks == 1 else "all cooks are"
            message = f"cannot be started: {who} at {' and '.join(map(str, working))}"
            yield piece.breaks(code, message, beside=[each.scope for each in working])
        if not piece.is_autonomous:
            working.append(piece)


class Used(Struct, frozen=True, array_like=True):
    piece: Piece
    require: _State
    update: _State


class ObjectView(Struct, frozen=True):
    """`state` of the object, and who has it still, when these uses begin."""

    object: str
    state: _State
    earlier: tuple[Piece, ...]
    uses: tuple[Used, ...]


def _objects(case: Case) -> Iterator[tuple[str, ObjectView]]:
    for name in case.meal.objects:
        used = [(piece, case.step(piece).uses[name]) for piece in case.pieces if name in case.step(piece).uses]
        state: _State = {}
        earlier: list[Piece] = []
        for window in windows(Used(piece, use.require, use.update) for piece, use in used):
            first, last = window[0].piece, window[-1].piece
            earlier = [each for each in earlier if each.end > first.start]
            yield f"the {name}, {first} to {last}", ObjectView(name, dict(state), tuple(earlier), tuple(window))
            for each in window:
                _change(state, each)
                earlier.append(each.piece)


def _check_objects(view: ObjectView) -> Iterator[Violation]:
    state, earlier = dict(view.state), list(view.earlier)
    for used in view.uses:
        yield from _occupied(view.object, used, earlier, state)
        yield from _properties(view.object, used, state)
        _change(state, used)
        earlier.append(used.piece)


def _occupied(name: str, used: Used, earlier: list[Piece], state: _State) -> Iterator[Violation]:
    """Two steps that make the object the same over the same time may coincide: the oven is heated for both."""
    piece = used.piece
    is_so_already = bool(used.update) and used.update.items() <= state.items()
    for other in earlier:
        is_same_time = (other.start, other.end) == (piece.start, piece.end)
        if piece.overlaps(other) and other.key != piece.key and not (is_same_time and is_so_already):
            yield piece.breaks("OCCUPIED", f"needs the {name} while {other} has it", object=name, beside=other.scope)
            return


def _properties(name: str, used: Used, state: _State) -> Iterator[Violation]:
    for key, needed in used.require.items():
        now = state.get(key)
        evidence = {"object": name, "property": key, "needed": needed, "found": now}
        if key != VOLUME and now != needed:
            found = "is not set" if now is None else f"is {now}"
            yield used.piece.breaks("TEMPERATURE", f"needs the {name} at {key} {needed}, which {found}", **evidence)
        is_enough = isinstance(now, int | float) and isinstance(needed, int | float) and now >= needed
        if key == VOLUME and not is_enough:
            yield used.piece.breaks("VOLUME", f"needs {needed} of what is in the {name}, which has {now or 0}", **evidence)


def _change(state: _State, used: Used) -> None:
    state.update(used.update)
    now, taken = state.get(VOLUME), used.require.get(VOLUME)
    if isinstance(now, int | float) and isinstance(taken, int | float):
        state[VOLUME] = max(0, now - taken)


COOK = Concern("cook", Kind.AGREEMENT, HandsView, _hands, _check_hands)
OBJECTS = Concern("object", Kind.INTEGRITY, ObjectView, _objects, _check_objects)
