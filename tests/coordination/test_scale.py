"""PRD-102's acceptance point 14: what a tick costs, by counts and in CPU; and slices that stay flat."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from sagagraph.coordination.briefing import COORDINATOR_READS, coordinator_slice
from sagagraph.coordination.core import tick as ticking
from sagagraph.coordination.core.deciding import Bench
from sagagraph.coordination.core.facts import Fact, Kind
from sagagraph.coordination.core.matching import Profile, ranked
from sagagraph.coordination.core.mission import Mission, Task, evolved
from sagagraph.coordination.core.plan import plan_json, read_plan
from sagagraph.coordination.core.states import RunState, TaskState
from tests.coordination.world import World, plan, task

EIGHT = plan([task(n) for n in range(1, 9)], [(n, n // 2) for n in range(2, 9)])
BENCH = Bench(tuple(Profile(f"a{n}", ("writing",), limit=5000) for n in range(5)))


def _running(number: int) -> list[Mission]:
    document = plan_json(read_plan(EIGHT))
    facts = [
        Fact(Kind.RUN_STARTED, 0.0, None, {"goal": "go", "config": {"max_seconds": 1e9}, "by": "Pat"}),
        Fact(Kind.PLANNING_STARTED, 0.0),
        Fact(Kind.PLAN_READY, 0.0, None, {"plan": document, "state": "running"}),
    ]
    return [evolved(Mission(f"m{n}"), facts) for n in range(number)]


def test_point_14_a_thousand_missions_of_eight_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[int] = []

    def counted(*arguments: Any, **named: Any) -> Any:
        scored.append(1)
        return ranked(*arguments, **named)

    monkeypatch.setattr("sagagraph.coordination.core.deciding.ranked", counted)
    missions = _running(1000)
    begun = time.process_time()
    facts = [ticking.tick(each, 1.0, BENCH) for each in missions]
    dispatching = time.process_time() - begun
    assert sum(map(len, facts)) == 2000  # one task of each is queued and assigned
    assert len(scored) == 1000  # and matched once
    missions = [evolved(each, more) for each, more in zip(missions, facts, strict=True)]
    begun = time.process_time()
    idle = [ticking.tick(each, 2.0, BENCH) for each in missions]
    healthy = time.process_time() - begun
    assert not any(idle)
    assert len(scored) == 1000  # a healthy mission matches nobody again
    assert healthy <= 1.0
    assert dispatching / 1000 < 0.5  # of one task


def _ticking(missions: list[Mission], now: float) -> float:
    """Return the CPU seconds of one tick of all of them: the best of several, for the machine has other work."""

    def once() -> float:
        begun = time.process_time()
        for each in missions:
            ticking.tick(each, now, BENCH)
        return time.process_time() - begun

    return min(once() for _number in range(7))


def test_point_14_ten_running_missions_and_a_dispatch() -> None:
    ten, thousand = _running(10), _running(1000)
    dispatching = _ticking(ten, 1.0)
    assert dispatching < 0.1
    assert dispatching / 10 < 0.5  # of a task each
    assert _ticking(thousand, 1.0) < 100 * 3 * dispatching  # no mission costs more because there are others
    silent = [evolved(each, ticking.tick(each, 1.0, BENCH)) for each in ten]
    told = [evolved(each, [Fact(Kind.TASK_PROGRESS, 1.0, 1)] * 2000) for each in silent]
    assert _ticking(told, 2.0) < 3 * _ticking(silent, 2.0)  # nor because much has happened
    world = World(EIGHT)
    begun = time.process_time()
    assert world.begin().state == "completed"
    assert (time.process_time() - begun) / 8 < 0.5  # the whole of a task, journal and verification included


def test_point_14_events_grow_with_tasks_and_not_with_ticks() -> None:
    world = World(EIGHT)
    done = world.begin()
    assert done.state == "completed"
    count = len(world.events())
    entries = len(world.run(world.engine.journal("m")))
    assert count <= 8 * 8 + 6
    assert entries <= 8 * 25 + 30


@pytest.mark.quick
def test_the_coordinators_slice_stays_flat() -> None:
    sizes = []
    for count in (10, 100, 1000, 10_000):
        tasks = {n: Task(read_plan(plan([task(n)])).tasks[0], TaskState.COMPLETED, score=0.9) for n in range(1, count)}
        tasks[count] = Task(read_plan(plan([task(count)])).tasks[0], TaskState.AWAITING_HUMAN, error="it is stuck")
        mission = Mission(
            "m", "a goal", state=RunState.RUNNING, tasks=tasks, plan=read_plan(plan([task(count)])), spent=Decimal(1)
        )
        shown = coordinator_slice(mission, BENCH, 1.0, {"trigger": "found"})
        assert shown.tokens <= COORDINATOR_READS
        assert shown.facts["goal"] == "a goal"
        assert "it is stuck" in str(shown.facts["trouble"])
        sizes.append(shown.tokens)
    assert sizes[-1] <= COORDINATOR_READS
    assert replace(mission, goal="b").goal == "b"
