"""A reunion with a planner that reads its plans from a script, so that tests of what becomes of plans need no solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sagagraph.domains.reunion.actions.outbox import Message, MessageKind, Outbox
from sagagraph.domains.reunion.domain import Events, Reunion
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.planning.domain import Infeasible
from sagagraph.saga.stores.port import Documents
from sagagraph.saga.stores.sqlite_file import rows_in
from sagagraph.validators.verdict import Verdict, Violation

DAY = "2026-11-26"
PROBLEM: dict[str, Any] = {
    "name": "dinner",
    "places": {"H": "Home", "S": "Station", "M": "Market"},
    "travel_minutes": [["H", "S", 30], ["H", "M", 10], ["M", "S", 25]],
    "people": [
        {"name": "Ann", "place": "H", "from": "09:00"},
        {"name": "Bob", "place": "S", "from": "12:00"},
        {"name": "Cleo", "place": "H", "from": "09:00"},
        {"name": "Dan", "place": "M", "from": "09:00"},
    ],
    "vehicles": [
        {"name": "car", "seats": 4, "place": "H", "drivers": ["Ann"]},
        {"name": "bike", "seats": 1, "place": "M", "drivers": ["Dan"]},
    ],
    "tasks": [{"name": "cook", "place": "H", "minutes": 60, "who": ["Cleo"]}],
    "goals": [{"people": "all", "place": "H", "by": "18:00"}],
}


def request(**fields: Any) -> dict[str, Any]:
    return {"problem": PROBLEM, "day": DAY, **fields}


def drive(vehicle: str, driver: str, here: str, there: str, start: str, end: str, *riders: str) -> dict[str, Any]:
    times = {"start": start, "end": end}
    return {"do": "travel", "vehicle": vehicle, "driver": driver, "riders": list(riders), "from": here, "to": there, **times}


COOK = {"do": "task", "task": "cook", "who": ["Cleo"], "place": "H", "start": "15:00", "end": "16:00"}
CYCLE = drive("bike", "Dan", "M", "H", "16:00", "16:10")
THERE = drive("car", "Ann", "H", "S", "11:30", "12:00")
AS_PLANNED = [THERE, drive("car", "Ann", "S", "H", "12:00", "12:30", "Bob"), CYCLE, COOK]
"""Ann fetches Bob at noon, Dan cycles home, Cleo cooks."""
LATER = [THERE, drive("car", "Ann", "S", "H", "14:00", "14:30", "Bob"), CYCLE, COOK]
"""Bob is late: Ann and he are told something else; Cleo and Dan are not."""
LATE: dict[str, Any] = {"at": "11:45", "event": "delayed", "person": "Bob", "from": "14:00"}
CLOSED: dict[str, Any] = {"at": "14:45", "event": "road_closed", "from": "M", "to": "S"}
TOO_LATE: dict[str, Any] = {"at": "11:50", "event": "delayed", "person": "Bob", "from": "23:00"}


def plan_of(actions: list[dict[str, Any]]) -> ReunionPlan:
    return ReunionPlan.model_validate({"problem": "dinner", "actions": actions})


@dataclass
class Script:
    """`repairs`: the actions that answer so many events; with none for them, nothing can be done. `seen`: what was judged."""

    plans: list[list[dict[str, Any]]] = field(default_factory=lambda: [AS_PLANNED])
    repairs: dict[int, list[dict[str, Any]]] = field(default_factory=lambda: {1: LATER})
    objects_to: set[int] = field(default_factory=set)
    """How many events there have to be for the validator to object."""
    seen: list[dict[str, Any]] = field(default_factory=list)
    name = "reunion"
    version = 1

    def plan(self, _problem: ReunionProblem, _tell: object = None) -> tuple[ReunionPlan, ...] | Infeasible:
        return tuple(map(plan_of, self.plans)) or Infeasible(("nobody can drive",))

    def finish(self, _problem: ReunionProblem, _plan: ReunionPlan) -> ReunionPlan | None:
        return None

    def repair(self, _problem: ReunionProblem, _plan: ReunionPlan, events: Events) -> ReunionPlan | Infeasible:
        actions = self.repairs.get(len(events))
        return plan_of(actions) if actions else Infeasible(("Bob cannot be at Home by 18:00",), conflict=("Bob", "18:00"))

    def judge(
        self,
        problem: ReunionProblem,
        plan: object,
        events: Events = (),
        *,
        against: object = None,
        executed_until: int | None = None,
    ) -> Verdict:
        """The real judgement, but for what the script objects to."""
        told = {"problem": problem, "events": events, "against": against, "executed_until": executed_until}
        self.seen.append({name: value for name, value in told.items() if value not in (None, ())})
        if len(events) in self.objects_to:
            return Verdict.of([Violation(code="GOAL_MISSED", message="no")])
        return validate_plan(problem, plan, events, against=against, executed_until=executed_until)


def clock() -> datetime:
    return datetime(2026, 11, 20, 8, 0, tzinfo=UTC)


def outbox_in(folder: Path, kept: Documents, now: Callable[[], datetime] = clock) -> Outbox:
    return Outbox(kept, folder / "outbox", now, rows_in)


def reunion(folder: Path, kept: Documents, script: Script | None = None) -> Reunion:
    told = script or Script()
    return Reunion(told, outbox_in(folder, kept), told.judge)


def standing(messages: tuple[Message, ...]) -> dict[str, str]:
    """What everybody would believe who has read all messages: by person, the text of the invitations that stand."""
    told = {each.key: each for each in messages if each.kind == MessageKind.INVITATION}
    for each in messages:
        if each.withdraws is not None:
            told.pop(each.withdraws)
    assert len({each.person for each in told.values()}) == len(told), "somebody holds two invitations"
    return {each.person: each.text for each in told.values()}
