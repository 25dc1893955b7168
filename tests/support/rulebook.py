"""Rulebooks: plans judged by one check for each rule, all of it at once: the oracles of validators that judge in scopes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from sagagraph.validators.verdict import Verdict, Violation

Case = TypeVar("Case")
"""What the checks of a domain look at."""


def judged(case: Case, checks: Iterable[Callable[[Case], Iterable[Violation]]], row: str, rows: int) -> Verdict:
    """In the order of the plan's `rows`, which violations name as `row` in their scope; then those that name none."""
    found = [violation for check in checks for violation in check(case)]
    return Verdict.of(sorted(found, key=lambda each: each.scope.get(row, rows)))
