"""Validator: judges a schedule without knowing how it was made (docs/jobshop.md, "How a schedule is judged")."""

from __future__ import annotations

from typing import Final

from sagagraph.domains.job_shop.parsing import check_legible, parse_schedule
from sagagraph.domains.job_shop.request import Event, JobShop, grown
from sagagraph.validators.concern import history_end
from sagagraph.validators.verdict import Verdict
from tests.domains.job_shop.oracle.case import Case, Check, History
from tests.domains.job_shop.oracle.completeness import check_missing, check_names, check_once, check_readable
from tests.domains.job_shop.oracle.times import (
    check_durations,
    check_machines,
    check_machines_there,
    check_order,
    check_orders,
    check_past,
)
from tests.support.rulebook import judged

CHECKS: Final[tuple[Check, ...]] = (
    check_readable,
    check_names,
    check_once,
    check_order,
    check_machines,
    check_machines_there,
    check_durations,
    check_orders,
    check_missing,
    check_past,
)


def validate_schedule(
    problem: JobShop,
    schedule: object,
    events: tuple[Event, ...] = (),
    *,
    against: object = None,
    executed_until: int | None = None,
) -> Verdict:
    """`schedule` and `against`, the schedule as it was before, are JSON, whatever they hold; None: nothing has been done yet.

    `events` in the order of `at`. What began before `executed_until` is history; None: before the first event.

    Raises:
        InvalidInputError: there is an old schedule, and nothing says until when it was carried out, or it cannot be read.
    """
    history = None
    if against is not None:
        until = history_end(executed_until, [each.at for each in events], "schedule")
        old = parse_schedule(against)
        check_legible(old, "against")
        history = History(old, until)
    case = Case(grown(problem, events), parse_schedule(schedule), events, history)
    if case.plan.fault:
        return Verdict.of(list(check_readable(case)))
    return judged(case, CHECKS, row="row", rows=len(case.plan.slots) + len(case.plan.illegible))
