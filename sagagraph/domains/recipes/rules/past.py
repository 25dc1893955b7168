"""Past: what had begun when something happened stands as it was, or is thrown away; and nothing uses what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import Struct

from sagagraph.domains.recipes.events import Event
from sagagraph.domains.recipes.plan import Plan, clock
from sagagraph.domains.recipes.rules.kitchen import Case, Piece
from sagagraph.validators.concern import each_row
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


@dataclass(frozen=True)
class Past:
    before: Plan
    """The plan until now."""
    waste: Plan
    """What is thrown away, by the new one."""
    event: Event
    """The latest, after which the new one was made."""


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


class Fresh(Struct, frozen=True, array_like=True):
    """A piece that had not begun. `since`: nothing new begins earlier, and nothing that needs `what` before `until`."""

    piece: Piece
    since: int
    until: int
    what: str

    def __str__(self) -> str:
        return str(self.piece)


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


BEGUN = each_row("what had begun", Kind.RETENTION, Begun, _begun, _check_begun)
FRESH = each_row("what is missing", Kind.TEMPORAL, Fresh, _fresh, _check_fresh)
