"""Validator: judges a plan by its stated times, without knowing how it was made (docs/formats.md section 10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.parsing import parse_plan
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.company import ALONE, APART, WATCHED
from sagagraph.domains.reunion.rules.days import PERSON, VEHICLE
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.domains.reunion.rules.facts.history import History
from sagagraph.domains.reunion.rules.journeys import JOURNEYS
from sagagraph.domains.reunion.rules.references import NAMES
from sagagraph.domains.reunion.rules.tasks import TASKS
from sagagraph.domains.reunion.rules.whole import MISSING, PAST, UNREAD
from sagagraph.errors import InvalidInputError
from sagagraph.validators.concern import Concern, Remembered, certified, history_end, judge_scopes
from sagagraph.validators.verdict import Verdict, Violation

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
        InvalidInputError: there is an old plan, but nothing says until when it was carried out, or it is not a plan.
    """
    case = Case.of(problem, plan, events)
    if against is not None:
        until = history_end(executed_until, [each.at for each in reversed(events)], "plan")
        old = parse_plan(problem, against)
        if old.fault:
            raise InvalidInputError(old.fault, field="against")
        case = replace(case, history=History(old, case.plan, until, events))
    verdict = judge_scopes((UNREAD,) if case.plan.fault else CONCERNS, case, remembered)
    return certified(seen_together(verdict, case), plan, "reunion")


_ORDER: Final = (
    "MALFORMED",
    "UNKNOWN_REFERENCE",
    "NOT_YET_AVAILABLE",
    "OVERLAP",
    "CONTINUITY",
    "NO_ROUTE",
    "TRAVEL_TIME",
    "NO_DRIVER",
    "CAPACITY",
    "WINDOW",
    "DURATION",
    "ORDER",
    "NOT_ALLOWED",
    "UNATTENDED",
    "ALONE",
    "TOGETHER",
    "MISSING_TASK",
    "GOAL_MISSED",
    "PAST_REWRITTEN",
)
"""Order of the codes within one action."""


def seen_together(verdict: Verdict, case: Case) -> Verdict:
    """Return the verdict with one violation for each action and obstacle, which names everybody concerned."""
    if not verdict.violations:
        return verdict
    shared: dict[tuple[str, Any], list[Violation]] = {}
    others: list[Violation] = []
    for each in verdict.violations:
        if "each" in each.evidence:
            shared.setdefault((each.code, each.scope["action"]), []).append(each)
        else:
            others.append(each)
    found = [*others, *(_one(group, case) for group in shared.values())]
    goals = {(name, goal.place, clock(goal.by)[0]): number for number, (name, goal) in enumerate(case.world.goals())}

    def place(violation: Violation) -> tuple[bool, int, int, int]:
        action = violation.scope.get("action")
        number = 0
        if violation.code == "GOAL_MISSED":
            number = goals[violation.scope["people"][0], violation.scope["place"], violation.evidence["by"]]
        return action is None, action if isinstance(action, int) else 0, _ORDER.index(violation.code), number

    return verdict.model_copy(update={"violations": sorted(found, key=place)})


def _one(group: list[Violation], case: Case) -> Violation:
    """Combine the messages of everybody in one action: its people in their order, then its vehicle."""
    first = group[0]
    order = [*dict.fromkeys(case.plan.actions[first.scope["action"]].people)]
    people = sorted((each for each in group if "people" in each.scope), key=lambda each: order.index(each.scope["people"][0]))
    vehicles = [each for each in group if "vehicle" in each.scope]
    everybody = [*people, *vehicles]
    told = [each.evidence["each"][0] for each in everybody]
    begin = first.message[: first.message.index(f": {first.evidence['each'][0]['name']} ") + 2]
    scope: dict[str, Any] = {"people": [name for each in people for name in each.scope["people"]]} if people else {}
    scope |= vehicles[0].scope if vehicles else {}
    return Violation(
        code=first.code,
        message=begin + "; ".join(each.message.removeprefix(begin) for each in everybody),
        scope={**scope, **{name: first.scope[name] for name in ("place", "action") if name in first.scope}},
        evidence={**first.evidence, "each": told},
    )
