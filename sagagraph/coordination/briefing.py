"""Briefing: what agents are told of a task, and what the coordinator's own model is shown of a mission, within budgets. Pure."""

from __future__ import annotations

from typing import Any, Final

from sagagraph.context.slice import ContextSlice, Fact, select
from sagagraph.coordination.agents import Brief, allowed_tools
from sagagraph.coordination.core.deciding import ACTIVE, Bench
from sagagraph.coordination.core.mission import Mission, Task
from sagagraph.coordination.core.plan import Dependency
from sagagraph.coordination.core.states import TaskState
from sagagraph.coordination.core.tick import waits_for
from sagagraph.coordination.decomposition import roster_of
from sagagraph.coordination.verification import text_of
from sagagraph.workflow.operation import resolve
from sagagraph.workflow.values import Json

AGENT_READS: Final = 8000
COORDINATOR_READS: Final = 2000
_LATEST: Final = 5
_LONGEST_SUMMARY: Final = 2000
_TROUBLED = frozenset({TaskState.AWAITING_RETRY, TaskState.AWAITING_HUMAN, TaskState.FAILED})


def brief_of(mission: Mission, task: Task, has: frozenset[str]) -> Brief:
    """Return what an agent is told: its task, what it builds upon, and what was wrong with its own earlier attempts."""
    spec = task.spec
    edges = mission.plan.needs(spec.order) if mission.plan else ()
    facts = [
        Fact(f"task-{each.prerequisite}", mission.tasks[each.prerequisite].output)
        for each in edges
        if each.type is Dependency.DATA and mission.tasks[each.prerequisite].state is TaskState.COMPLETED
    ]
    context = select(facts, budget_tokens=AGENT_READS)
    left_out = {name: text_of(each.value)[:_LONGEST_SUMMARY] for each in facts if (name := each.name) in context.dropped}
    return Brief(
        mission.goal,
        spec.title,
        spec.description,
        tuple(each.criterion for each in spec.criteria),
        {**context.facts, **left_out},
        task.attempt,
        spec.max_attempts,
        task.turn,
        task.output if task.turn > 1 else None,
        task.feedback,
        mission.instructions,
        resolve(spec.request, {f"task-{order}": each.output for order, each in mission.tasks.items()}),
        tuple(sorted(allowed_tools(mission.config, spec, has))),
        spec.type.value,
    )


def coordinator_slice(mission: Mission, bench: Bench, now: float, trigger: Json = None) -> ContextSlice:
    """Return what the coordinator's model is shown: goal and trouble in any case, the rest if there is room."""
    plan = mission.plan
    troubled = [each for each in mission.tasks.values() if each.state in _TROUBLED or each.parked]
    facts = [
        Fact("goal", mission.goal, critical=True),
        Fact("mission", _mission_json(mission), critical=True),
        Fact("trouble", [_task_json(mission, each) for each in troubled[:_LATEST]], critical=True),
        Fact("instructions", list(mission.instructions[-_LATEST:]), priority=1),
        Fact("roster", roster_of(bench), priority=2),
        Fact("now", now, priority=3),
    ]
    if trigger is not None:
        facts.append(Fact("trigger", trigger, critical=True))
    for each in mission.tasks.values():
        if each.state is TaskState.COMPLETED:
            score = "" if each.score is None else f", scored {each.score:.2f}"
            facts.append(Fact(f"task {each.spec.order}", f"{each.spec.title[:80]}: completed{score}; immutable", priority=4))
        elif each not in troubled and plan is not None:
            facts.append(Fact(f"task {each.spec.order}", _task_json(mission, each), priority=2))
    return select(facts, budget_tokens=COORDINATOR_READS)


def _mission_json(mission: Mission) -> dict[str, Any]:
    return {
        "state": mission.state.value,
        "plan_version": mission.plan_version,
        "spent_usd": str(mission.spent),
        "cap_usd": str(mission.config.max_cost_usd),
        "last_number": max(mission.tasks, default=0),
    }


def _task_json(mission: Mission, task: Task) -> dict[str, Any]:
    told: dict[str, Any] = {"title": task.spec.title[:120], "state": task.state.value, "type": task.spec.type.value}
    if task.state in ACTIVE:
        told |= {"agent": task.agent, "immutable": True}
    if task.state is TaskState.PENDING:
        told["waits_for"] = list(waits_for(mission, task) or ())
    if task.error:
        told["error"] = task.error[:200]
    return told
