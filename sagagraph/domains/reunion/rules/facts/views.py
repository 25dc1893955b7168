"""Views of one action by several people: what each day finds is put together, in the order of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.rules.facts.case import clock
from sagagraph.validators.verdict import Verdict, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sagagraph.domains.reunion.rules.facts.case import Case

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
"""Of the codes within one action."""


def seen_together(verdict: Verdict, case: Case) -> Verdict:
    """The verdict with one violation for each action and obstacle, which names everybody concerned."""
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
        goal: Any = (_first(violation.scope.get("people")), violation.scope.get("place"), violation.evidence.get("by"))
        number = goals.get(goal, 0) if violation.code == "GOAL_MISSED" else 0
        return action is None, action if isinstance(action, int) else 0, _ORDER.index(violation.code), number

    return verdict.model_copy(update={"violations": sorted(found, key=place)})


def _first(names: Any) -> Any:
    return names[0] if names else None


def _one(group: list[Violation], case: Case) -> Violation:
    act = case.plan.actions[group[0].scope["action"]]
    order = [*dict.fromkeys(act.people)]
    people = sorted((each for each in group if "people" in each.scope), key=lambda each: order.index(_name(each)))
    vehicles = [each for each in group if "vehicle" in each.scope] if isinstance(act, Journey) else []
    everybody = [*people, *vehicles]
    first = everybody[0]
    begin = first.message[: first.message.index(f": {_name(first)} ") + 2]
    scope: dict[str, Any] = {"people": [_name(each) for each in people]} if people else {}
    scope |= {"vehicle": vehicles[0].scope["vehicle"]} if vehicles else {}
    return Violation(
        code=first.code,
        message=begin + "; ".join(each.message.removeprefix(begin) for each in everybody),
        scope={**scope, **{name: first.scope[name] for name in ("place", "action") if name in first.scope}},
        evidence={**first.evidence, "each": _told(everybody)},
    )


def _told(violations: Iterable[Violation]) -> list[Any]:
    return [told for each in violations for told in each.evidence["each"]]


def _name(violation: Violation) -> str:
    name: str = violation.evidence["each"][0]["name"]
    return name
