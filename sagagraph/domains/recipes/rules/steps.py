"""Steps: every step is done once, whole, and in one go unless it may be split."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from sagagraph.domains.recipes.rules.case import Case, Piece
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


class Done(Struct, frozen=True, array_like=True):
    """A step with all its pieces. `duration`: in seconds."""

    duration: int
    is_interruptible: bool
    pieces: tuple[Piece, ...]


class DoneView(Struct, frozen=True):
    cooks: int
    steps: tuple[Done, ...]


class Wanted(Struct, frozen=True, array_like=True):
    recipe: str
    step: int
    text: str
    is_there: bool


class WantedView(Struct, frozen=True):
    steps: tuple[Wanted, ...]


def _scopes(case: Case) -> Iterator[tuple[str, DoneView]]:
    for recipe, steps in case.meal.recipes.items():
        done = (Done(each.duration, each.is_interruptible, case.of[each.key]) for each in steps if each.key in case.of)
        for window in windows(done):
            first, last = window[0].pieces[0].step, window[-1].pieces[0].step
            yield f"{recipe}, steps {first} to {last}", DoneView(case.meal.cooks, tuple(window))


def _check(view: DoneView) -> Iterator[Violation]:
    for step in view.steps:
        yield from _whole(step)
        yield from _in_one_place(step, view.cooks)


def _whole(step: Done) -> Iterator[Violation]:
    """Check that the pieces add up to the step. What is done when nothing is left of it is done again."""
    left = step.duration
    for piece in step.pieces:
        takes = piece.end - piece.start
        if left == 0 and takes > 0:
            yield piece.breaks("REPEATED", "has been done already", left_s=0)
        elif not 0 < takes <= left:
            yield piece.breaks("DURATION", f"takes {takes} s, and {left} s of it are left", left_s=left)
            return
        elif takes < left and not step.is_interruptible:
            yield piece.breaks("NOT_INTERRUPTIBLE", f"is done in one go, {step.duration} s", needed_s=step.duration)
            return
        else:
            left -= takes
    if left:
        yield step.pieces[-1].breaks("DURATION", f"is its last piece, and {left} s are missing", left_s=left)


def _in_one_place(step: Done, cooks: int) -> Iterator[Violation]:
    """Check that two pieces of one step are not worked at by two cooks, nor go on beside each other."""
    if not step.is_interruptible or (cooks == 1 and not step.pieces[0].is_autonomous):
        return
    for before, piece in pairwise(step.pieces):
        if piece.overlaps(before):
            yield piece.breaks("OVERLAP", f"goes on beside {before}, another piece of it", beside=[before.scope])


def _wanted_scopes(case: Case) -> Iterator[tuple[str, WantedView]]:
    wanted = (Wanted(each.recipe, each.number, each.text[:200], key in case.of) for key, each in case.meal.steps.items())
    for window in windows(wanted):
        first, last = window[0], window[-1]
        yield f"{first.recipe} step {first.step} to {last.recipe} step {last.step}", WantedView(tuple(window))


def _check_wanted(view: WantedView) -> Iterator[Violation]:
    for each in view.steps:
        if not each.is_there:
            message = f"{each.recipe} step {each.step} ({each.text}) is not in the plan"
            yield Violation(code="MISSING_STEP", message=message, scope={"recipe": each.recipe, "step": each.step})


STEPS = Concern("step", Kind.CONSTRAINT, DoneView, _scopes, _check)
MISSING = Concern("missing steps", Kind.RETENTION, WantedView, _wanted_scopes, _check_wanted)
