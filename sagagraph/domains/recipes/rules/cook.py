"""Cook: who works at a step does nothing else, and starts what goes on alone only with free hands."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sagagraph.domains.recipes.rules.case import Case, Piece, named
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


class HandsView(Struct, frozen=True):
    """`working`: what cooks are still at when these pieces begin."""

    cooks: int
    working: tuple[Piece, ...]
    pieces: tuple[Piece, ...]


def _scopes(case: Case) -> Iterator[tuple[str, HandsView]]:
    working: list[Piece] = []
    for window in windows(case.pieces):
        working = [each for each in working if each.end > window[0].start]
        yield named("the cooks", window[0], window[-1]), HandsView(case.meal.cooks, tuple(working), tuple(window))
        working += [each for each in window if not each.is_autonomous]


def _check(view: HandsView) -> Iterator[Violation]:
    """Check every start. At one moment the order of the rows counts: whatever goes on alone comes first."""
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


COOK = Concern("cook", Kind.AGREEMENT, HandsView, _scopes, _check)
