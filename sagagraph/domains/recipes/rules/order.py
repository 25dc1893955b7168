"""Order: a step starts after what it comes after has ended, and not too long after."""

from __future__ import annotations

from collections.abc import Iterator

from sagagraph.domains.recipes.request import Step
from sagagraph.domains.recipes.rules.case import Case, Piece, clock, violation
from sagagraph.validators.verdict import Violation


def check_dependencies(case: Case) -> Iterator[Violation]:
    """Check every piece. Of a step that is missing or never whole, that is reported, and not again here."""
    for piece in case.pieces:
        for before in case.meal.before(piece.step):
            those = case.of.get(before.key, ())
            if any(each.place > piece.place or each.row.end > piece.row.start for each in _counted(those, before)):
                ends = max(each.row.end for each in those)
                message = f"comes after {before}, which ends at {clock(ends)}"
                yield violation("NOT_READY", piece, message, after=before.number, ends_s=ends)


def _counted(pieces: tuple[Piece, ...], step: Step) -> Iterator[Piece]:
    """The pieces until the step is done; what comes behind that is a repetition."""
    left = step.duration
    for piece in pieces:
        if left > 0:
            yield piece
        left -= piece.row.duration


def check_lags(case: Case) -> Iterator[Violation]:
    """Check every piece against the end of the last piece so far of the step that it must follow."""
    for piece in case.pieces:
        for number, within in piece.step.within.items():
            so_far = [each for each in case.of.get((piece.step.recipe, number), ()) if each.place < piece.place]
            if so_far and piece.row.start - so_far[-1].row.end > within:
                ended = so_far[-1].row.end
                message = f"starts {piece.row.start - ended} s after {so_far[-1].step} has ended; at most {within} s are allowed"
                yield violation("TOO_LATE", piece, message, after=number, ends_s=ended, within_s=within)


def check_warm(case: Case) -> Iterator[Violation]:
    """Check that dishes are warm when the whole meal is complete."""
    complete = max((piece.row.end for piece in case.pieces), default=0)
    for recipe, within in case.meal.warm.items():
        own = [piece for piece in case.pieces if piece.step.recipe == recipe]
        last = max(own, key=lambda piece: piece.row.end, default=None)
        if last is not None and complete - last.row.end > within:
            message = f"ends {recipe} {complete - last.row.end} s before the meal is complete; warm are {within} s"
            yield violation("TOO_LATE", last, message, complete_s=complete, within_s=within)
