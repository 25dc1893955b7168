"""Past: what had begun begins when it did, and nothing else begins in the past."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from sagagraph.domains.job_shop.rules.case import Row, rows_of
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.job_shop.rules.case import Case
    from sagagraph.validators.verdict import Violation


class Moved(Struct, frozen=True, array_like=True):
    """A step as it is planned, and when it began in the schedule that was carried out."""

    row: Row
    was: int


class PastView(Struct, frozen=True):
    until: int
    steps: tuple[Moved, ...]


def _scopes(case: Case) -> Iterator[tuple[str, PastView]]:
    if case.history is None:
        return
    until = case.history.until
    both = ((case.rows.get(key), old.start) for key, old in rows_of(case.problem, case.history.old).items())
    for window in windows(Moved(row, was) for row, was in both if row is not None and min(row.start, was) < until):
        first, last = window[0].row, window[-1].row
        yield f"job {first.job}, step {first.step} to job {last.job}, step {last.step}", PastView(until, tuple(window))


def _check(view: PastView) -> Iterator[Violation]:
    until = view.until
    for each in view.steps:
        if each.row.start != each.was and min(each.row.start, each.was) < until:
            told = f"began at {each.was}, before {until}, and stands" if each.was < until else f"had not begun before {until}"
            yield each.row.breaks("PAST_REWRITTEN", told, began=each.was, until=until)


PAST = Concern("past", Kind.CONSISTENCY, PastView, _scopes, _check)
