"""Workflow: a reunion's plan as operations. All get their parts in parallel; then the day stays open until it is closed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time

from msgspec import structs

from sagagraph.domains.reunion.actions.actions import ASSIGN, CLOSE, Closing
from sagagraph.domains.reunion.actions.delivery import sending_specs
from sagagraph.domains.reunion.day import DayPlan, Sending
from sagagraph.domains.reunion.parts import parts_of
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
    told = _Telling(plan, actions, "", ())
    return (*told.fresh, _closing(plan, told.names, actions, ""))


def revised_workflow(saga: Saga, plan: DayPlan, actions: Mapping[str, Action]) -> Revision:
    """Return the revised workflow. Unchanged parts keep their operations; everybody else is told again, and the old parts are
    withdrawn.
    """
    suffix = f".{saga.plan.version + 1}"
    standing = [each for each in saga.in_order() if not each.removed]
    told = _Telling(plan, actions, suffix, standing)
    removed = tuple(each.id for each in standing if each.id not in told.names)
    return Revision((*told.fresh, _closing(plan, told.names, actions, suffix)), removed)


class _Telling:
    """What people are told: `names` of all operations that do it, of which those in `fresh` are new."""

    def __init__(self, plan: DayPlan, actions: Mapping[str, Action], suffix: str, standing: Iterable[Operation]) -> None:
        self.names: list[str] = []
        self.fresh: list[OperationSpec] = []
        self._standing = [each for each in standing if not each.failed]
        for part in parts_of(plan):
            resources, locks = (f"{part.who} on {part.day}",), tuple(_locks(plan, part.who))
            told = self._add(actions[ASSIGN].spec(f"{ASSIGN} {part.who}{suffix}", part, resources=resources, locks=locks))
            for each in sending_specs(part, plan.sent.get(part.who, Sending()), actions, suffix, told):
                self._add(each)

    def _add(self, spec: OperationSpec) -> str:
        """Keep the operation that did exactly this and is in effect, or add it. Returns its name."""
        kept = [each.id for each in self._standing if (each.spec.action, each.spec.inputs) == (spec.action, spec.inputs)]
        self.names += kept or [spec.id]
        self.fresh += [] if kept else [spec]
        return (kept or [spec.id])[0]


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
