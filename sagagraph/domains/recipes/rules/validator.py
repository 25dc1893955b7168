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
    """A row as it stands there. `last`: the last step of its recipe; None: there is no such recipe."""

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
    """A step that the piece comes after, with that step's pieces. `within`: a limit on the time between, in seconds."""

    before: int
    duration: int
    pieces: tuple[Piece, ...]
    within: int | None = None


def _links(case: Case, of: Callable[[Step], Mapping[int, int | None]]) -> Iterator[Link]:
    """Of a step that is missing, that is reported, and not again here."""
    for piece in case.pieces:
        for number, within in of(case.step(piece)).items():
            if pieces := case.of.get((piece.recipe, number)):
                yield Link(piece, number, case.step(pieces[0]).duration, pieces, within)


def _check_link(link: Link) -> Iterator[Violation]:
    """What comes behind the pieces that make up the step is a repetition of it, and does not count."""
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
    """The piece ends its recipe. `complete`: when the meal is."""

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
    """A step with all its pieces. `is_watched`: two pieces of it beside each other are no concern of the cook's."""

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
    """Check that the pieces add up to the step. What is done when nothing is left of it is done again."""
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


class Begun(Struct, frozen=True, array_like=True):
    """A row that had begun, and when it ends by the new plan: not at all where it is thrown away."""

    recipe: str
    step: int
    start: int
    end: int
    known: int
    """When the event became known."""
    ends: tuple[int, ...]
    is_wasted: bool

    def __str__(self) -> str:
        return f"{self.recipe} step {self.step} ({clock(self.start)} to {clock(self.end)})"


def _begun(case: Case) -> Iterator[Begun]:
    if past := case.past:
        wasted = {row.begins for row in past.waste}
        for row in (row for row in past.before if row.start < past.event.at):
            ends = tuple(each.end for each in case.of.get(row.key, ()) if each.start == row.start)
            yield Begun(*row.begins, row.end, past.event.at, ends, row.begins in wasted)


def _check_begun(row: Begun) -> Iterator[Violation]:
    """What was over ends when it ended; what was going on can end at another time, but not before the event."""
    is_kept = len(row.ends) == 1 and (row.ends[0] == row.end if row.end <= row.known else row.ends[0] >= row.known)
    if is_kept is row.is_wasted or (row.ends and not is_kept):
        message = f"{row} had begun at {clock(row.known)}: it stands as it was, or is thrown away"
        yield Violation(code="PAST_REWRITTEN", message=message, scope={"recipe": row.recipe, "step": row.step})


class Fresh(OfPiece, frozen=True, array_like=True):
    """The piece had not begun. `since`: nothing new begins earlier, and nothing that needs `what` before `until`."""

    since: int
    until: int
    what: str


def _fresh(case: Case) -> Iterator[Fresh]:
    if past := case.past:
        event, known = past.event, {row.begins for row in past.before if row.start < past.event.at}
        for piece in (each for each in case.pieces if (*each.key, each.start) not in known):
            needs = event.event == "away" or event.object in case.step(piece).uses
            yield Fresh(piece, event.at, event.until if needs else 0, event.object or "cook")


def _check_fresh(fresh: Fresh) -> Iterator[Violation]:
    if fresh.piece.start < fresh.since:
        yield fresh.piece.breaks("PAST_REWRITTEN", f"begins before {clock(fresh.since)}, and was not begun then")
    elif fresh.piece.start < fresh.until:
        yield fresh.piece.breaks("UNAVAILABLE", f"needs the {fresh.what}, which is missing until {clock(fresh.until)}")


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
    each_row("what had begun", Kind.RETENTION, Begun, _begun, _check_begun),
    each_row("what is missing", Kind.TEMPORAL, Fresh, _fresh, _check_fresh),
)


def validate_plan(meal: Meal, plan: object, past: Past | None = None) -> Verdict:
    """`plan` is JSON, whatever it holds. `past`: what it must not rewrite."""
    case = Case(meal, parse_plan(plan), past)
    verdict = judge_scopes((UNREAD,) if case.plan.fault else CONCERNS, case)
    return certified(in_order_of(verdict, "row"), plan, "recipes")
