"""Cook: who works at a step does nothing else, and starts what goes on alone only with free hands."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sagagraph.domains.recipes.rules.case import Case, Piece, violation
from sagagraph.validators.verdict import Violation


def check_past(case: Case) -> Iterator[Violation]:
    for piece in case.pieces:
        if piece.row.start < 0:
            yield violation("IN_THE_PAST", piece, "starts before the meal is begun")


def check_hands(case: Case) -> Iterator[Violation]:
    """Check every start. At one moment the order of the rows counts: whatever goes on alone comes first."""
    working: list[Piece] = []
    for piece in case.pieces:
        working = [each for each in working if each.row.end > piece.row.start]
        if len(working) >= case.meal.cooks:
            code = "IN_THE_PAST" if piece.step.is_autonomous else "OVERLAP"
            busy = " and ".join(map(str, working))
            message = f"cannot be started: {'the cook is' if case.meal.cooks == 1 else 'all cooks are'} at {busy}"
            yield violation(code, piece, message, beside=[each.scope for each in working])
        if not piece.step.is_autonomous:
            working.append(piece)


def check_one_place(case: Case) -> Iterator[Violation]:
    """Check that two pieces of one step are not worked at by two cooks, nor go on beside each other."""
    for pieces in case.of.values():
        if not pieces[0].step.is_interruptible or (case.meal.cooks == 1 and not pieces[0].step.is_autonomous):
            continue
        for before, piece in pairwise(pieces):
            if piece.overlaps(before):
                yield violation("OVERLAP", piece, f"goes on beside {before}, another piece of it", beside=[before.scope])
