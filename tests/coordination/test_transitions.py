"""PRD-102's acceptance point 10: only the listed transitions happen."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from sagagraph.coordination.core.config import Config
from sagagraph.coordination.core.facts import Fact, Kind
from sagagraph.coordination.core.mission import Mission, Task, evolved
from sagagraph.coordination.core.plan import plan_json, read_plan
from sagagraph.coordination.core.states import RUN_TRANSITIONS, TASK_TRANSITIONS, RunState, TaskState
from sagagraph.errors import NotAllowedError
from tests.coordination.world import chain

PLAN = read_plan(chain(2))
SAID: dict[str, Any] = {
    "goal": "go",
    "config": {},
    "by": "Pat",
    "plan": plan_json(PLAN),
    "key": "k",
    "trigger": "t",
    "share": 0.5,
    "cost": "1",
    "agent": "ann",
    "not_before": 1.0,
    "verdict": "pass",
    "level": 4,
    "call": "c",
    "estimate": "1",
    "tokens_in": 1,
    "tokens_out": 1,
}
LISTED_RUN = {
    ("pending", "planning cancelled"),
    ("planning", "awaiting_approval running failed cancelled"),
    ("awaiting_approval", "running failed cancelled"),
    ("running", "awaiting_review completed failed paused budget_exceeded cancelled"),
    ("paused", "running cancelled"),
    ("budget_exceeded", "running cancelled"),
    ("awaiting_review", "completed running failed cancelled"),
}
LISTED_TASK = {
    ("pending", "queued skipped cancelled"),
    ("queued", "assigned cancelled"),
    ("assigned", "running queued cancelled"),
    ("running", "continuing verifying awaiting_retry failed cancelled"),
    ("continuing", "running awaiting_retry cancelled"),
    ("verifying", "completed awaiting_retry awaiting_human failed cancelled"),
    ("awaiting_human", "completed awaiting_retry failed cancelled"),
    ("awaiting_retry", "assigned cancelled"),
}
BEGINS_ANEW = {Kind.TASK_RENEWED, Kind.PLAN_READY}
"""They make tasks, which then are pending."""
THROUGH_VERIFYING = {Kind.HUMAN_REVIEW_REQUESTED}
"""What broke without an output is handed in first: two listed transitions in one fact."""


def pairs(listed: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(now, then) for now, leads in listed for then in leads.split()}


@pytest.mark.quick
def test_the_tables_are_those_of_the_requirements() -> None:
    for table, listed in ((RUN_TRANSITIONS, LISTED_RUN), (TASK_TRANSITIONS, LISTED_TASK)):
        assert {(now.value, then.value) for now, leads in table.items() for then in leads} == pairs(listed)


def check(before: Mission, fact: Fact) -> Mission:
    try:
        after = evolved(before, [fact])
    except NotAllowedError:
        return before
    if after.state is not before.state:
        assert (before.state.value, after.state.value) in pairs(LISTED_RUN), fact
    for order, task in after.tasks.items():
        known = before.tasks.get(order)
        if known is None or known.state is task.state or (fact.type in BEGINS_ANEW and task.state is TaskState.PENDING):
            continue
        if fact.type in THROUGH_VERIFYING and known.state is TaskState.RUNNING:
            known = replace(known, state=TaskState.VERIFYING)
        assert (known.state.value, task.state.value) in pairs(LISTED_TASK), fact
    return after


@pytest.mark.quick
def test_point_10_ten_thousand_random_pairs() -> None:
    random = Random(102)
    refused = moved = 0
    for _number in range(10_000):
        tasks = {each.order: Task(each, random.choice(list(TaskState))) for each in PLAN.tasks}
        before = Mission("m", state=random.choice(list(RunState)), plan=PLAN, plan_version=1, tasks=tasks, config=Config())
        state = random.choice(list(RunState)).value
        fact = Fact(random.choice(list(Kind)), 1.0, random.choice([1, 2]), {**SAID, "state": state})
        after = check(before, fact)
        refused, moved = refused + (after is before), moved + (after is not before)
        if before.state.is_terminal:
            assert after.state is before.state
    assert refused > 2000
    assert moved > 2000


class Missions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        tasks = {each.order: Task(each) for each in PLAN.tasks}
        self.mission = Mission("m", state=RunState.RUNNING, plan=PLAN, plan_version=1, tasks=tasks)
        self.ended: dict[int, TaskState] = {}

    @rule(kind=st.sampled_from(Kind), task=st.sampled_from([1, 2]), state=st.sampled_from(RunState))
    def happens(self, kind: Kind, task: int, state: RunState) -> None:
        if kind in BEGINS_ANEW:
            return
        self.mission = check(self.mission, Fact(kind, 1.0, task, {**SAID, "state": state.value}))

    @invariant()
    def what_has_ended_stays_ended(self) -> None:
        for order, state in self.ended.items():
            assert self.mission.tasks[order].state is state
        self.ended |= {order: each.state for order, each in self.mission.tasks.items() if each.state.is_terminal}


TestMissions = Missions.TestCase
TestMissions.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
