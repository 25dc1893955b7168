"""Workflow: a reunion's plan as operations. All get their parts in parallel; then the day stays open until it is closed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time

from msgspec import structs

from sagagraph.domains.reunion.actions.actions import ASSIGN, CLOSE, Closing
from sagagraph.domains.reunion.day import DayPlan
from sagagraph.domains.reunion.parts import Part, parts_of
from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.times import is_dated
from sagagraph.planning.domain import Revision
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.workflow.lock import Lock
from sagagraph.workflow.operation import OperationSpec

DAY = "day"


def day_workflow(plan: DayPlan, actions: Mapping[str, Action]) -> tuple[OperationSpec, ...]:
    """Return the workflow of a day. `actions`: reunion's, by name."""
    assignments = tuple(_assignments(plan, parts_of(plan), actions, ""))
    return (*assignments, _closing(plan, [each.id for each in assignments], actions, ""))


def revised_workflow(saga: Saga, plan: DayPlan, actions: Mapping[str, Action]) -> Revision:
    """Return the revised workflow. Unchanged parts keep their operations; everybody else is told again, and the old parts are
    withdrawn.
    """
    suffix = f".{saga.plan.version + 1}"
    standing = [each for each in saga.in_order() if not each.removed]
    kept: list[Operation] = []
    fresh: list[Part] = []
    for part in parts_of(plan):
        same = [each for each in standing if is_of(each, part, actions)]
        kept += same
        fresh += [] if same else [part]
    assignments = tuple(_assignments(plan, fresh, actions, suffix))
    names = [*(each.id for each in kept), *(each.id for each in assignments)]
    removed = tuple(each.id for each in standing if each not in kept)
    return Revision((*assignments, _closing(plan, names, actions, suffix)), removed)


def is_of(operation: Operation, part: Part, actions: Mapping[str, Action]) -> bool:
    """Tell whether the operation told exactly this, and is in effect."""
    is_assignment = operation.spec.action == ASSIGN and not operation.failed
    return is_assignment and bool(operation.spec.inputs == actions[ASSIGN].request_to_json(part))


def _assignments(plan: DayPlan, parts: Iterable[Part], actions: Mapping[str, Action], suffix: str) -> Iterator[OperationSpec]:
    for part in parts:
        resources, locks = (f"{part.who} on {part.day}",), _locks(plan, part.who)
        yield actions[ASSIGN].spec(f"{ASSIGN} {part.who}{suffix}", part, resources=resources, locks=locks)


def _locks(plan: DayPlan, driver: str) -> Iterator[Lock]:
    """Yield the vehicles that this driver shares with other reunions, each from its first to its last journey: in between it is
    where its next driver expects it.
    """
    journeys = [each for each in plan.plan.actions if isinstance(each, Journey) and each.vehicle in plan.plates]
    for name in dict.fromkeys(each.vehicle for each in journeys if (each.driver or each.vehicle) == driver):
        begins = min(each.start for each in journeys if each.vehicle == name)
        ends = max(each.end for each in journeys if each.vehicle == name)
        yield Lock(f"vehicle {plan.plates[name]}", begins=_instant(begins, plan.day), ends=_instant(ends, plan.day))


def _instant(moment: int, day: date) -> float:
    """Return seconds since the epoch; a time of day counts as UTC, the same for all reunions that state no zone."""
    return moment * 60.0 + (0.0 if is_dated(moment) else datetime.combine(day, time(), UTC).timestamp())


def _closing(plan: DayPlan, after: list[str], actions: Mapping[str, Action], suffix: str) -> OperationSpec:
    request = Closing(reunion=plan.plan.problem, day=plan.day)
    return structs.replace(actions[CLOSE].spec(DAY + suffix, request, after), open_end=not plan.is_over)
