"""Validator: judges a plan by its stated times, without knowing how it was made (docs/formats.md section 10)."""

from __future__ import annotations

from typing import Any, Final

from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.parsing import parse_plan
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.actions import JOURNEYS, NAMES, TASKS
from sagagraph.domains.reunion.rules.company import ALONE, APART, WATCHED
from sagagraph.domains.reunion.rules.days import PERSON, VEHICLE
from sagagraph.domains.reunion.rules.facts.case import Case
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.history import History
from sagagraph.domains.reunion.rules.facts.views import seen_together
from sagagraph.domains.reunion.rules.whole import MISSING, PAST, UNREAD
from sagagraph.errors import InvalidInputError
from sagagraph.validators.concern import Concern, Remembered, certified, judge_scopes
from sagagraph.validators.rulebook import history_end
from sagagraph.validators.verdict import Verdict

CONCERNS: Final[tuple[Concern[Case, Any], ...]] = (
    UNREAD,
    NAMES,
    PERSON,
    VEHICLE,
    JOURNEYS,
    TASKS,
    WATCHED,
    ALONE,
    APART,
    MISSING,
    PAST,
)


def validate_plan(
    problem: ReunionProblem,
    plan: object,
    events: tuple[Event, ...] = (),
    *,
    against: object = None,
    executed_until: int | None = None,
    remembered: Remembered | None = None,
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
    verdict = judge_scopes((UNREAD,) if parsed.fault else CONCERNS, case, remembered)
    return certified(seen_together(verdict, case), plan, "reunion")
