"""Rows: the validator of plans that are lists of rows in a file, some of which cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


class Illegible(Protocol):
    @property
    def index(self) -> int: ...

    @property
    def fault(self) -> str: ...


class Rows(Protocol):
    """A plan as read. `fault`: why there are no rows at all."""

    @property
    def fault(self) -> str: ...

    @property
    def illegible(self) -> Sequence[Illegible]: ...


class Unread(Struct, frozen=True, array_like=True):
    index: int
    fault: str


class UnreadView(Struct, frozen=True):
    """Why there are no rows at all, and rows that cannot be read."""

    fault: str
    unread: tuple[Unread, ...]


def readable_rows(field: str) -> Concern[Any, UnreadView]:
    """Return the validator for cases whose `plan` has rows. `field`: what a plan without rows is called.

    `Any`: each domain's case has its own type of plan.
    """

    def scopes(case: Any) -> Iterator[tuple[str, UnreadView]]:
        plan: Rows = case.plan
        if plan.fault:
            yield f"the {field}", UnreadView(plan.fault, ())
        for window in windows(Unread(each.index, each.fault) for each in plan.illegible):
            yield f"rows {window[0].index} to {window[-1].index}", UnreadView("", tuple(window))

    def check(view: UnreadView) -> Iterator[Violation]:
        if view.fault:
            yield Violation(code="MALFORMED", message=view.fault, scope={"field": field})
        for each in view.unread:
            message = f"row {each.index} cannot be read: {each.fault}"
            yield Violation(code="MALFORMED", message=message, scope={"row": each.index})

    return Concern("readable rows", Kind.SYNTACTIC, UnreadView, scopes, check)
