"""Validator: judges a cooking plan by concerns, without knowing how it was made (docs/recipes.md, "How a plan is judged")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct

from sagagraph.domains.recipes.plan import clock, parse_plan
from sagagraph.domains.recipes.request import Meal, Step
from sagagraph.domains.recipes.rules.kitchen import COOK, OBJECTS, Case, OfPiece, Past, Piece
from sagagraph.validators.concern import Concern, certified, each_row, in_order_of, judge_scopes
from sagagraph.validators.kinds import Kind
from sagagraph.validators.rows import readable_rows
from sagagraph.validators.verdict import Verdict, Violation


class Entry(Struct, frozen=True, array_like=True):
    """Entry: a row as written. `last`: the last step of its recipe; None: there is no such recipe."""

    index: int
    recipe: str
    step: int
    last: int | None

    def __str__(self) -> str:
        return f"row {self.index}"


def _entries(case: Case) -> Iterator[Entry]:
    lasts = {name: len(steps) - 1 for name, steps in case.meal.recipes.items()}
    return (Entry(index, row.recipe, row.step, lasts.get(row.recipe)) for index, row in case.plan.rows.items())


def _check_entry(entry: Entry) -> Iterator[Violation]:
    scope = {"row": entry.index, "recipe": entry.recipe, "step": entry.step}
    if entry.last is None:
        yield Violation(code="UNKNOWN_RECIPE", message=f"{entry}: there is no recipe {entry.recipe!r}", scope=scope)
    elif not 0 <= entry.step <= entry.last:
        message = f"{entry}: {entry.recipe} has no step {entry.step}; it has 0 to {entry.last}"
        yield Violation(code="UNKNOWN_STEP", message=message, scope=scope)


class Link(OfPiece, frozen=True, array_like=True):
    """Link to a step that the piece comes after, with that step's pieces. `within`: a limit on the time between, in seconds."""

    before: int
    duration: int
    pieces: tuple[Piece, ...]
    within: int | None = None


def _links(case: Case, of: Callable[[Step], Mapping[int, int | None]]) -> Iterator[Link]:
    """Yield the links. A missing step is reported elsewhere, and not here again."""
    for piece in case.pieces:
        for number, within in of(case.step(piece)).items():
            if pieces := case.of.get((piece.recipe, number)):
                yield Link(piece, number, case.step(pieces[0]).duration, pieces, within)


def _check_link(link: Link) -> Iterator[Violation]:
    """Check a link. Pieces after those that make up the step are a repetition of it, and do not count."""
    left, is_ready = link.duration, True
    for each in link.pieces:
        is_ready = is_ready and (left <= 0 or (each.place < link.piece.place and each.end <= link.piece.start))
        left -= each.end - each.start
    if not is_ready:
        ends = max(each.end for each in link.pieces)
        message = f"comes after {link.piece.recipe} step {link.before}, which ends at {clock(ends)}"
        yield link.piece.breaks("NOT_READY", message, after=link.before, ends_s=ends)


def _check_lag(link: Link) -> Iterator[Violation]:
    """Check against the end of the last piece so far of the step that it must follow."""
    ended = [each.end for each in link.pieces if each.place < link.piece.place][-1:]
    waited = link.piece.start - ended[0] if ended else 0
    if link.within is not None and waited > link.within:
        message = f"starts {waited} s after {link.piece.recipe} step {link.before} has ended; at most {link.within} s are allowed"
        yield link.piece.breaks("TOO_LATE", message, after=link.before, ends_s=ended[0], within_s=link.within)


class Warm(OfPiece, frozen=True, array_like=True):
    """Dish that must be warm: the piece ends its recipe. `complete`: when the meal is."""

    within: int
    complete: int


def _warm(case: Case) -> Iterator[Warm]:
    last = {piece.recipe: piece for piece in sorted(case.pieces, key=lambda piece: (piece.end, -piece.place))}
    complete = max((piece.end for piece in last.values()), default=0)
    return (Warm(last[recipe], within, complete) for recipe, within in case.meal.warm.items() if recipe in last)


def _check_warm(dish: Warm) -> Iterator[Violation]:
    waits = dish.complete - dish.piece.end
    if waits > dish.within:
        message = f"ends {dish.piece.recipe} {waits} s before the meal is complete; warm are {dish.within} s"
        yield dish.piece.breaks("TOO_LATE", message, complete_s=dish.complete, within_s=dish.within)


class Done(Struct, frozen=True, array_like=True):
    """Step with all its pieces. `is_watched`: its simultaneous pieces must be found here, not at the cook."""

    recipe: str
    step: int
    text: str
    duration: int
    is_interruptible: bool
    is_watched: bool
    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        return f"{self.recipe} step {self.step}"


def _done(case: Case) -> Iterator[Done]:
    for key, step in case.meal.steps.items():
        is_watched = step.is_interruptible and (case.meal.cooks > 1 or step.is_autonomous)
        yield Done(*key, step.text[:200], step.duration, step.is_interruptible, is_watched, case.of.get(key, ()))


def _check_done(step: Done) -> Iterator[Violation]:
    """Check that the pieces add up to the step. Pieces after the step is complete repeat it."""
    if not step.pieces:
        scope = {"recipe": step.recipe, "step": step.step}
        yield Violation(code="MISSING_STEP", message=f"{step} ({step.text}) is not in the plan", scope=scope)
        return
    for before, piece in pairwise(step.pieces):
        if step.is_watched and piece.overlaps(before):
            yield piece.breaks("OVERLAP", f"goes on beside {before}, another piece of it", beside=[before.scope])
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


class Told(Struct, frozen=True, array_like=True):
    """Step as it had been begun when the event became known (start and end of each piece), and as the new plan has it.

    Nothing new begins earlier than `since`, and nothing that needs `what` before `until`.
    """

    recipe: str
    step: int
    begun: tuple[tuple[int, int], ...]
    wasted: tuple[int, ...]
    """Starts of what is thrown away."""
    pieces: tuple[Piece, ...]
    since: int
    until: int
    what: str

    def __str__(self) -> str:
        return f"{self.recipe} step {self.step}"


def _told(case: Case) -> Iterator[Told]:
    if past := case.past:
        event = past.event
        for key, step in case.meal.steps.items():
            begun = tuple((row.start, row.end) for row in past.before if row.key == key and row.start < event.at)
            wasted = tuple(row.start for row in past.waste if row.key == key)
            until = event.until if event.event == "away" or event.object in step.uses else 0
            yield Told(*key, begun, wasted, case.of.get(key, ()), event.at, until, event.object or "cook")


def _check_told(step: Told) -> Iterator[Violation]:
    """Check that what was over ends when it ended; what was running may end at another time, but not before the event."""
    for start, end in step.begun:
        ends = [piece.end for piece in step.pieces if piece.start == start]
        is_kept = len(ends) == 1 and (ends[0] == end if end <= step.since else ends[0] >= step.since)
        if is_kept is (start in step.wasted) or (ends and not is_kept):
            row = f"{step} ({clock(start)} to {clock(end)})"
            message = f"{row} had begun at {clock(step.since)}: it stands as it was, or is thrown away"
            yield Violation(code="PAST_REWRITTEN", message=message, scope={"recipe": step.recipe, "step": step.step})
    starts = {start for start, _end in step.begun}
    for piece in (each for each in step.pieces if each.start not in starts):
        if piece.start < step.since:
            yield piece.breaks("PAST_REWRITTEN", f"begins before {clock(step.since)}, and was not begun then")
        elif piece.start < step.until:
            yield piece.breaks("UNAVAILABLE", f"needs the {step.what}, which is missing until {clock(step.until)}")


UNREAD: Final = readable_rows("plan")
CONCERNS: Final[tuple[Concern[Case, Any], ...]] = (
    UNREAD,
    each_row("rows", Kind.CONTRACT, Entry, _entries, _check_entry),
    COOK,
    OBJECTS,
    each_row("dependency", Kind.DEPENDENCY, Link, lambda case: _links(case, lambda step: dict.fromkeys(step.after)), _check_link),
    each_row("time constraint", Kind.TEMPORAL, Link, lambda case: _links(case, lambda step: dict(step.within)), _check_lag),
    each_row("warm", Kind.TEMPORAL, Warm, _warm, _check_warm, version=3),
    each_row("step", Kind.CONSTRAINT, Done, _done, _check_done, version=3),
    each_row("past", Kind.CONSISTENCY, Told, _told, _check_told),
)


def validate_plan(meal: Meal, plan: object, past: Past | None = None) -> Verdict:
    """Validate a plan. `plan` may be any JSON. `past`: what it must not rewrite."""
    case = Case(meal, parse_plan(plan), past)
    verdict = judge_scopes((UNREAD,) if case.plan.fault else CONCERNS, case)
    return certified(in_order_of(verdict, "row"), plan, "recipes")
