"""Rulebooks: plans judged by one check for each rule, from facts that are shown whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from sagagraph.context.slice import ContextSlice, Fact, select
from sagagraph.errors import InvalidInputError
from sagagraph.validators.verdict import Verdict, Violation

Case = TypeVar("Case")
"""What the checks of a domain look at."""

_ROOM_TOKENS: Final = 100_000_000
"""A problem is shown whole: a plan cannot be judged by a part of it."""


def judged(case: Case, checks: Iterable[Callable[[Case], Iterable[Violation]]], row: str, rows: int) -> Verdict:
    """In the order of the plan's `rows`, which violations name as `row` in their scope; then those that name none."""
    found = [violation for check in checks for violation in check(case)]
    return Verdict.of(sorted(found, key=lambda each: each.scope.get(row, rows)))


def history_end(stated: int | None, by_events: Sequence[int], old: str) -> int:
    """Until when the `old` plan was carried out: as stated, or else the first of these moments.

    Raises:
        InvalidInputError: nothing is stated, and no event says it.
    """
    if stated is not None:
        return stated
    if not by_events:
        message = f"say until when the old {old} was carried out, or what happened then"
        raise InvalidInputError(message, field="executed_until")
    return by_events[0]


def shown(problem: Any, events: list[Any] | None = None, *, against: Any = None, executed_until: Any = None) -> ContextSlice:
    """All that a plan is judged by, as JSON; what is not known is left out."""
    told = {"problem": problem, "events": events or None, "against": against, "executed_until": executed_until}
    facts = (Fact(name, value, critical=True) for name, value in told.items() if value is not None)
    return select(facts, budget_tokens=_ROOM_TOKENS)
