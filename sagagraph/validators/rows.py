"""Rows: the validator of plans that are lists of rows in a file, some of which may be unreadable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from msgspec import Struct
from pydantic import ValidationError

from sagagraph.validators.complaints import in_words, shown
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation

R = TypeVar("R")


class Unread(Struct, frozen=True, array_like=True):
    """Row that cannot be read."""

    index: int
    fault: str


@dataclass(frozen=True, slots=True)
class Rows(Generic[R]):
    """Rows of a plan, by their index in the file. `fault`: why there are none, if it is not even a list of rows."""

    rows: Mapping[int, R]
    illegible: tuple[Unread, ...] = ()
    fault: str = ""


def parse_rows(listed: object, parse: Callable[[object], R], is_a: str) -> Rows[R]:
    """Keep what `parse` reads, and name what it rejects with a `ValidationError`. `is_a`: what `listed` should be, in words."""
    if not isinstance(listed, list):
        return Rows({}, fault=f"{is_a}, not {shown(listed)}")
    rows: dict[int, R] = {}
    illegible: list[Unread] = []
    for index, said in enumerate(listed):
        try:
            rows[index] = parse(said)
        except ValidationError as exc:
            fault = "; ".join(f"{field}: {words}".removeprefix(": ") for field, words in in_words(exc))
            illegible.append(Unread(index, fault))
    return Rows(rows, tuple(illegible))


class UnreadView(Struct, frozen=True):
    """View of why there are no rows at all, and of rows that cannot be read."""

    fault: str
    unread: tuple[Unread, ...]


def readable_rows(field: str) -> Concern[Any, UnreadView]:
    """Return the validator for cases whose `plan` has rows. `field`: what holds the rows, for messages.

    `Any`: each domain's case has its own type of plan.
    """

    def scopes(case: Any) -> Iterator[tuple[str, UnreadView]]:
        plan = case.plan
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
