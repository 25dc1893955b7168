"""Judges a schedule without knowing how it was made (docs/jobshop.md, "How a schedule is judged")."""

from __future__ import annotations

from typing import Any, Final

from sagagraph.context.slice import ContextSlice, Fact, select
from sagagraph.domains.job_shop.events import Event
from sagagraph.domains.job_shop.instances import parse_problem
from sagagraph.domains.job_shop.parsing import check_legible, parse_events, parse_moment, parse_schedule
from sagagraph.domains.job_shop.request import JobShop
from sagagraph.domains.job_shop.rules.case import Case, Check, History
from sagagraph.domains.job_shop.rules.rows import check_missing, check_names, check_once, check_readable
from sagagraph.domains.job_shop.rules.times import (
    check_durations,
    check_machines,
    check_machines_there,
    check_order,
    check_past,
)
from sagagraph.errors import InvalidInputError
from sagagraph.validators.verdict import Verdict

CHECKS: Final[tuple[Check, ...]] = (
    check_readable,
    check_names,
    check_once,
    check_order,
    check_machines,
    check_machines_there,
    check_durations,
    check_missing,
    check_past,
)
_ROOM_TOKENS: Final = 100_000_000
"""A problem is shown whole: a schedule can not be judged by a part of it."""


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
        InvalidInputError: there is an old schedule, and nothing says until when it was carried out, or it can not be read.
    """
    history = None
    if against is not None:
        until = events[0].at if executed_until is None and events else executed_until
        if until is None:
            message = "say until when the old schedule was carried out, or what happened then"
            raise InvalidInputError(message, field="executed_until")
        old = parse_schedule(against)
        check_legible(old, "against")
        history = History(old, until)
    case = Case(problem, parse_schedule(schedule), events, history)
    if case.plan.fault:
        return Verdict.of(list(check_readable(case)))
    found = [violation for check in CHECKS for violation in check(case)]
    return Verdict.of(sorted(found, key=lambda each: each.scope.get("row", len(case.plan.slots) + len(case.plan.illegible))))


class JobShopValidator:
    """Judges JSON schedules by the facts of `shown`: whoever has them can judge again."""

    name = "jobshop"
    version = 1

    def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
        facts = context.facts
        problem = parse_problem(facts["problem"])
        until = facts.get("executed_until")
        return validate_schedule(
            problem,
            artifact,
            parse_events(problem, facts.get("events", [])),
            against=facts.get("against"),
            executed_until=None if until is None else parse_moment(until, "executed_until"),
        )


def shown(problem: str, events: list[Any], *, against: Any = None, executed_until: int | None = None) -> ContextSlice:
    """All that a schedule is judged by, as JSON; the problem as its file has it."""
    told = {"events": events or None, "against": against, "executed_until": executed_until}
    facts = [Fact("problem", problem, critical=True)]
    facts += [Fact(name, value, critical=True) for name, value in told.items() if value is not None]
    return select(facts, budget_tokens=_ROOM_TOKENS)
