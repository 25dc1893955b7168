"""Validator: judges a schedule by concerns, each with slices of its own (docs/jobshop.md, "How a schedule is judged")."""

from __future__ import annotations

from typing import Any, Final

from sagagraph.domains.job_shop.events import Event
from sagagraph.domains.job_shop.parsing import check_legible, parse_schedule
from sagagraph.domains.job_shop.request import JobShop
from sagagraph.domains.job_shop.rules.case import Case, History
from sagagraph.domains.job_shop.rules.downtime import DOWNTIME
from sagagraph.domains.job_shop.rules.entries import ENTRIES, UNREAD
from sagagraph.domains.job_shop.rules.jobs import JOBS, MISSING
from sagagraph.domains.job_shop.rules.machines import MACHINES
from sagagraph.domains.job_shop.rules.past import PAST
from sagagraph.validators.concern import Concern, Remembered, certified, in_order_of, judge_scopes
from sagagraph.validators.rulebook import history_end
from sagagraph.validators.verdict import Verdict

CONCERNS: Final[tuple[Concern[Case, Any], ...]] = (UNREAD, ENTRIES, JOBS, MACHINES, DOWNTIME, MISSING, PAST)


def validate_schedule(
    problem: JobShop,
    schedule: object,
    events: tuple[Event, ...] = (),
    *,
    against: object = None,
    executed_until: int | None = None,
    remembered: Remembered | None = None,
) -> Verdict:
    """`schedule` and `against`, the schedule as it was before, are JSON, whatever they hold; None: nothing has been done yet.

    `events` in the order of `at`. What began before `executed_until` is history; None: before the first event. `remembered`:
    scopes that have been judged already.

    Raises:
        InvalidInputError: there is an old schedule, and nothing says until when it was carried out, or it cannot be read.
    """
    history = None
    if against is not None:
        until = history_end(executed_until, [each.at for each in events], "schedule")
        old = parse_schedule(against)
        check_legible(old, "against")
        history = History(old, until)
    case = Case(problem, parse_schedule(schedule), events, history)
    verdict = judge_scopes((UNREAD,) if case.plan.fault else CONCERNS, case, remembered)
    return certified(in_order_of(verdict, "row"), schedule, "jobshop")
