"""Order: a step starts after what it comes after has ended, and not too long after; dishes are warm when the meal is complete."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sagagraph.domains.recipes.request import Step
from sagagraph.domains.recipes.rules.case import Case, Piece, clock, named
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


class Link(Struct, frozen=True, array_like=True):
    """A piece, and a step that it comes after, with that step's pieces. `within`: limits on the time between, in seconds."""

    piece: Piece
    before: int
    duration: int
    pieces: tuple[Piece, ...]
    within: int | None = None


class LinksView(Struct, frozen=True):
    links: tuple[Link, ...]


class WarmView(Struct, frozen=True):
    """`last`: the piece that ends the recipe. `ends`: when each recipe ends."""

    recipe: str
    within: int
    last: Piece
    ends: dict[str, int]


def _before_scopes(case: Case) -> Iterator[tuple[str, LinksView]]:
    """Of a step that is missing, that is reported, and not again here."""
    return _links(_link(case, piece, each.number) for piece in case.pieces for each in case.meal.before(_step(case, piece)))


def _lag_scopes(case: Case) -> Iterator[tuple[str, LinksView]]:
    limits = ((piece, number, within) for piece in case.pieces for number, within in _step(case, piece).within.items())
    return _links((_link(case, piece, number, within) for piece, number, within in limits))


def _links(links: Iterator[Link]) -> Iterator[tuple[str, LinksView]]:
    for window in windows(link for link in links if link.pieces):
        yield named("steps", window[0].piece, window[-1].piece), LinksView(tuple(window))


def _step(case: Case, piece: Piece) -> Step:
    return case.meal.steps[piece.key]


def _link(case: Case, piece: Piece, number: int, within: int | None = None) -> Link:
    before = case.meal.steps[piece.recipe, number]
    return Link(piece, number, before.duration, case.of.get(before.key, ()), within)


def _check_before(view: LinksView) -> Iterator[Violation]:
    for link in view.links:
        if any(each.place > link.piece.place or each.end > link.piece.start for each in _counted(link)):
            ends = max(each.end for each in link.pieces)
            message = f"comes after {link.piece.recipe} step {link.before}, which ends at {clock(ends)}"
            yield link.piece.breaks("NOT_READY", message, after=link.before, ends_s=ends)


def _counted(link: Link) -> Iterator[Piece]:
    """The pieces until the step is done; what comes behind that is a repetition."""
    left = link.duration
    for piece in link.pieces:
        if left > 0:
            yield piece
        left -= piece.end - piece.start


def _check_lags(view: LinksView) -> Iterator[Violation]:
    """Check against the end of the last piece so far of the step that it must follow."""
    for link in view.links:
        so_far = [each for each in link.pieces if each.place < link.piece.place]
        if link.within is not None and so_far and link.piece.start - so_far[-1].end > link.within:
            ended = so_far[-1].end
            waited = f"starts {link.piece.start - ended} s after {link.piece.recipe} step {link.before} has ended"
            message = f"{waited}; at most {link.within} s are allowed"
            yield link.piece.breaks("TOO_LATE", message, after=link.before, ends_s=ended, within_s=link.within)


def _warm_scopes(case: Case) -> Iterator[tuple[str, WarmView]]:
    last: dict[str, Piece] = {}
    for piece in case.pieces:
        if piece.recipe not in last or piece.end > last[piece.recipe].end:
            last[piece.recipe] = piece
    ends = {recipe: piece.end for recipe, piece in last.items()}
    for recipe, within in case.meal.warm.items():
        if recipe in last:
            yield recipe, WarmView(recipe, within, last[recipe], ends)


def _check_warm(view: WarmView) -> Iterator[Violation]:
    complete = max(0, *view.ends.values())
    waits = complete - view.last.end
    if waits > view.within:
        message = f"ends {view.recipe} {waits} s before the meal is complete; warm are {view.within} s"
        yield view.last.breaks("TOO_LATE", message, complete_s=complete, within_s=view.within)


BEFORE = Concern("dependency", Kind.DEPENDENCY, LinksView, _before_scopes, _check_before)
LAGS = Concern("time constraint", Kind.TEMPORAL, LinksView, _lag_scopes, _check_lags)
WARM = Concern("warm", Kind.TEMPORAL, WarmView, _warm_scopes, _check_warm)
