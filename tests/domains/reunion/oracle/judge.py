"""Validator: judges a plan by its stated times, without knowing how it was made (docs/formats.md section 10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.parsing import parse_plan
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.facts.case import Case
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.history import History
from sagagraph.errors import InvalidInputError
from sagagraph.validators.concern import history_end
from sagagraph.validators.verdict import Verdict, Violation
from tests.domains.reunion.oracle.checks import (
    check_company,
    check_drivers,
    check_durations,
    check_goals,
    check_hindrances,
    check_misplaced,
    check_missing,
    check_names,
    check_order,
    check_past,
    check_readable,
    check_roads,
    check_seats,
    check_vehicles_ready,
    check_watched,
    check_windows,
    check_workers,
)
from tests.support.rulebook import judged

CHECKS: Final[tuple[Callable[[Case], Iterator[Violation]], ...]] = (
    check_readable,
    check_names,
    check_hindrances,
    check_misplaced,
    check_vehicles_ready,
    check_roads,
    check_drivers,
    check_seats,
    check_windows,
    check_durations,
    check_order,
    check_workers,
    check_watched,
    check_company,
    check_missing,
    check_goals,
    check_past,
)


def validate_plan(
    problem: ReunionProblem,
    plan: object,
    events: tuple[Event, ...] = (),
    *,
    against: object = None,
    executed_until: int | None = None,
) -> Verdict:
    """Validate a plan. `plan` and `against`, the previous plan, may be any JSON; `against` None: nothing has been done yet.

    `events` in the order of `at`. What began before `executed_until` is history; None: before the latest event.

    Raises:
        InvalidInputError: there is an old plan, and nothing says until when it was carried out, or it is no plan.
    """
    parsed = parse_plan(problem, plan)
    history = None
    if against is not None:
        until = history_end(executed_until, [each.at for each in reversed(events)], "plan")
        old = parse_plan(problem, against)
        if old.fault:
            raise InvalidInputError(old.fault, field="against")
        history = History(old, parsed, until, events)
    case = Case(Circumstances(problem, events), parsed, history)
    if parsed.fault:
        return Verdict.of(list(check_readable(case)))
    return judged(case, CHECKS, row="action", rows=len(parsed.actions) + len(parsed.broken))
