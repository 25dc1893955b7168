"""Judges a plan without knowing how it was made, by its stated times (FORMATS, "How a plan is judged")."""

from __future__ import annotations

from typing import Any, Final

from sagagraph.context.slice import ContextSlice, Fact, select
from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.parsing import parse_events, parse_moment_of, parse_plan, parse_problem
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.case import Case, Check
from sagagraph.domains.reunion.rules.circumstances import Circumstances
from sagagraph.domains.reunion.rules.company import check_company
from sagagraph.domains.reunion.rules.history import History
from sagagraph.domains.reunion.rules.names import check_names, check_readable
from sagagraph.domains.reunion.rules.past import check_past
from sagagraph.domains.reunion.rules.people import check_goals, check_presence
from sagagraph.domains.reunion.rules.roads import check_drivers, check_roads, check_seats, check_vehicles_ready
from sagagraph.domains.reunion.rules.tasks import (
    check_durations,
    check_missing,
    check_order,
    check_watched,
    check_windows,
    check_workers,
)
from sagagraph.errors import InvalidInputError
from sagagraph.validators.verdict import Verdict

CHECKS: Final[tuple[Check, ...]] = (
    check_readable,
    check_names,
    check_presence,
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
_ROOM_TOKENS: Final = 1_000_000
"""A problem is shown whole: a plan can not be judged by a part of it."""


def validate_plan(
    problem: ReunionProblem,
    plan: object,
    events: tuple[Event, ...] = (),
    *,
    against: object = None,
    executed_until: int | None = None,
) -> Verdict:
    """`plan` and `against`, the plan as it was before, are JSON, whatever they hold; None: nothing has been done yet.

    `events` in the order of `at`. What began before `executed_until` is history; None: before the latest event.

    Raises:
        InvalidInputError: there is an old plan, and nothing says until when it was carried out, or it is no plan.
    """
    parsed = parse_plan(problem, plan)
    history = None
    if against is not None:
        until = events[-1].at if executed_until is None and events else executed_until
        if until is None:
            raise InvalidInputError("say until when the old plan was carried out, or what happened then", field="executed_until")
        old = parse_plan(problem, against)
        if old.fault:
            raise InvalidInputError(old.fault, field="against")
        history = History(old, parsed, until, events)
    case = Case(Circumstances(problem, events), parsed, history)
    if parsed.fault:
        return Verdict.of(list(check_readable(case)))
    found = [violation for check in CHECKS for violation in check(case)]
    return Verdict.of(sorted(found, key=lambda each: each.scope.get("action", len(parsed.actions) + len(parsed.broken))))


class ReunionValidator:
    """Judges JSON plans by the facts of `shown`: whoever has them can judge again."""

    name = "reunion"
    version = 1

    def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
        facts = context.facts
        problem = parse_problem(facts["problem"])
        until = facts.get("executed_until")
        return validate_plan(
            problem,
            artifact,
            parse_events(problem, facts.get("events", [])),
            against=facts.get("against"),
            executed_until=None if until is None else parse_moment_of(problem, until, "executed_until"),
        )


def shown(
    problem: Any, events: list[Any] | None = None, *, against: Any = None, executed_until: str | None = None
) -> ContextSlice:
    """All that a plan is judged by, as JSON."""
    told = {"events": events or None, "against": against, "executed_until": executed_until}
    facts = [Fact("problem", problem, critical=True)]
    facts += [Fact(name, value, critical=True) for name, value in told.items() if value is not None]
    return select(facts, budget_tokens=_ROOM_TOKENS)
