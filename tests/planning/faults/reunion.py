"""Faults in the plan of a day, in its problem, and in the operations that tell people their parts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from sagagraph.domains.reunion.actions.outbox import Outbox
from sagagraph.domains.reunion.day import DayPlan, as_json, parse_request
from sagagraph.domains.reunion.domain import Reunion
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.workflow.kind import ActionKind
from tests.domains.reunion.plans import Json, shipped
from tests.domains.reunion.published import ALAS_TABLE_21, BOTH_ERRANDS_BY_CHRIS
from tests.planning.faults.table import Case, Fault, Table
from tests.planning.faults.workflows import (
    again,
    circle,
    first_input,
    first_of,
    plan_fault,
    same_resource,
    second_pivot,
    workflow_fault,
)

DAY = date(2025, 11, 27)


def table(folder: Path) -> Table:
    """`folder`: where an outbox could be made; nothing is told to anybody."""
    planner: Any = None
    cases = {"thanksgiving": _case("thanksgiving", ALAS_TABLE_21), "wedding": _case("wedding", BOTH_ERRANDS_BY_CHRIS)}
    return Table(
        Reunion(planner, Outbox(MemorySagaStore(), folder / "outbox", lambda: datetime(2025, 11, 26, tzinfo=UTC))), cases, FAULTS
    )


def _case(problem: str, plan: Json) -> Case:
    request = {"problem": shipped(problem), "day": DAY.isoformat()}
    day = DayPlan.of(ReunionPlan.model_validate(plan), parse_request(request))
    return Case(request, as_json(day), {})


# -- in the plan -------------------------------------------------------------------------------------------------------


def _actions(case: Case) -> list[Json]:
    actions: list[Json] = case.plan["plan"]["actions"]
    return actions


def _journey(case: Case) -> Json:
    """The first with somebody aboard."""
    return next(act for act in _actions(case) if act["do"] == "travel" and act["riders"])


def _work(case: Case, task: str = "") -> Json:
    return next(act for act in _actions(case) if act["do"] == "task" and task in ("", act["task"]))


def _in_journey(**facts: Any) -> Callable[[Case], None]:
    return lambda case: _journey(case).update(facts)


def _in_work(**facts: Any) -> Callable[[Case], None]:
    return lambda case: _work(case).update(facts)


def _named(case: Case, table: str, name: str) -> Json:
    found: Json = next(each for each in case.request["problem"][table] if each["name"] == name)
    return found


def _has(name: str) -> Callable[[Case], bool]:
    return lambda case: any(each["name"] == name for each in case.request["problem"]["tasks"])


def _arrive_too_late(case: Case) -> None:
    last = max((act for act in _actions(case) if act["do"] == "travel"), key=lambda act: act["end"])
    last["end"] = "23:00"


def _overlap(case: Case) -> None:
    work = _work(case)
    _actions(case).append(dict(work))


def _drop_work(case: Case) -> None:
    _actions(case).remove(_work(case))


def _fewer_seats(case: Case) -> None:
    _named(case, "vehicles", _journey(case)["vehicle"])["seats"] = 1


def _leave_too_early(case: Case) -> None:
    _named(case, "people", _journey(case)["riders"][0])["from"] = "14:59"


def _close_the_road(case: Case) -> None:
    journey = _journey(case)
    ends = {journey["from"], journey["to"]}
    roads = case.request["problem"]["travel_minutes"]
    case.request["problem"]["travel_minutes"] = [each for each in roads if set(each[:2]) != ends]


def _closed_shop(case: Case) -> None:
    _named(case, "tasks", _work(case)["task"])["window"] = [None, "10:00"]


def _somebody_else(case: Case) -> None:
    work = _work(case)
    people = [each["name"] for each in case.request["problem"]["people"] if each["name"] not in work["who"]]
    _named(case, "tasks", work["task"])["who"] = people


def _swap_tasks(case: Case) -> None:
    first, second = [act for act in _actions(case) if act["do"] == "task"][:2]
    early, late = sorted((first, second), key=lambda act: act["end"])
    _named(case, "tasks", early["task"])["after"] = [late["task"]]


def _leave_the_oven(case: Case) -> None:
    """Its cook rides along to Grandma's house, while nobody else is at home yet."""
    for act in _actions(case):
        if act["do"] == "travel" and {act["from"], act["to"]} == {"HOME", "GRANDMA"}:
            act["riders"].append("Sarah")


def _wait_in_vain(case: Case) -> None:
    """James has landed, rented a car, and waits for Emily for an hour."""
    _named(case, "people", "James")["never_alone"] = True


def _wrong_driver(case: Case) -> None:
    journey = _journey(case)
    journey["driver"], journey["riders"] = journey["riders"][0], [journey["driver"], *journey["riders"][1:]]


def _without_driver(case: Case) -> None:
    _journey(case)["driver"] = None


def _from_elsewhere(case: Case) -> None:
    journey = _journey(case)
    _named(case, "people", journey["riders"][0])["place"] = journey["to"]


FAULTS: dict[str, Fault] = {
    "precedence swapped: a task before what it comes after": plan_fault(_swap_tasks, "ORDER"),
    "resource double-booked: one person, two tasks": plan_fault(_overlap, "OVERLAP"),
    "resource double-booked: two operations take the same": workflow_fault(same_resource, "DOUBLE_BOOKED"),
    "capacity overflow: a seat for everybody but one": plan_fault(_fewer_seats, "CAPACITY"),
    "deadline missed: home after everybody is to be there": plan_fault(_arrive_too_late, "GOAL_MISSED"),
    "deadline missed: the shop has closed": plan_fault(_closed_shop, "WINDOW"),
    "cyclic dependency": workflow_fault(circle, "STRUCTURE"),
    "hallucinated action": workflow_fault(first_of(ActionKind.COMPENSATABLE, action="telepathy"), "UNKNOWN_ACTION"),
    "hallucinated version of an action": workflow_fault(first_of(ActionKind.PIVOT, action_version=9), "UNKNOWN_ACTION"),
    "hallucinated vehicle": plan_fault(_in_journey(vehicle="helicopter"), "UNKNOWN_REFERENCE"),
    "hallucinated person": plan_fault(_in_journey(riders=["Nobody"]), "UNKNOWN_REFERENCE"),
    "hallucinated task": plan_fault(_in_work(task="fireworks"), "UNKNOWN_REFERENCE"),
    "wrong type: a time in words": plan_fault(_in_journey(start="after lunch"), "MALFORMED"),
    "wrong type: minutes for people": plan_fault(_in_work(who=5), "MALFORMED"),
    "wrong type: whom to tell, as a number": workflow_fault(first_input("who", 5), "WRONG_TYPE"),
    "missing input": workflow_fault(first_input("who", None), "WRONG_TYPE"),
    "missing field": plan_fault(lambda case: _journey(case).pop("to"), "MALFORMED"),
    "dropped constraint: somebody has to watch the oven": plan_fault(_leave_the_oven, "UNATTENDED", needs=_has("turkey")),
    "dropped constraint: who must not wait alone": plan_fault(_wait_in_vain, "ALONE", needs=_has("turkey")),
    "dropped constraint: who may do it": plan_fault(_somebody_else, "NOT_ALLOWED"),
    "dropped task": plan_fault(_drop_work, "MISSING_TASK"),
    "sixty minutes in ten": plan_fault(lambda case: _journey(case).update(end=_journey(case)["start"]), "TRAVEL_TIME"),
    "a road that is not there": plan_fault(_close_the_road, "NO_ROUTE"),
    "somebody who has not landed": plan_fault(_leave_too_early, "NOT_YET_AVAILABLE"),
    "somebody who is elsewhere": plan_fault(_from_elsewhere, "CONTINUITY"),
    "a rider at the wheel": plan_fault(_wrong_driver, "NO_DRIVER"),
    "nobody at the wheel": plan_fault(_without_driver, "NO_DRIVER"),
    "done in no time": plan_fault(lambda case: _work(case).update(end=_work(case)["start"]), "DURATION"),
    "two points of no return": workflow_fault(second_pivot, "STRUCTURE"),
    "one operation twice": workflow_fault(again, "STRUCTURE"),
    "a prerequisite that is not there": workflow_fault(first_of(ActionKind.COMPENSATABLE, depends_on=("blessing",)), "STRUCTURE"),
}
