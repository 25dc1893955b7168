"""Views: a mission, its tasks and its events as rows of PRD-102's tables (section 3), for people and other programs. Pure."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from sagagraph.coordination.core.mission import Mission, Task, facts_in
from sagagraph.coordination.core.people import rework_of
from sagagraph.coordination.core.plan import MissionPlan
from sagagraph.coordination.core.states import RunState, TaskState
from sagagraph.coordination.core.tick import waits_for
from sagagraph.coordination.verification import text_of
from sagagraph.saga.core.state import Saga

_SUMMARY: Final = 2000
_WAITING: Final = {
    RunState.AWAITING_APPROVAL: "the plan waits for approval",
    RunState.AWAITING_REVIEW: "the result waits for review",
    RunState.BUDGET_EXCEEDED: "the budget is used up",
    RunState.PAUSED: "it is paused",
}


def mission_json(mission: Mission) -> dict[str, Any]:
    plan = mission.plan
    states = [each.state for each in mission.tasks.values()]
    return {
        "mission_id": mission.id,
        "title": mission.goal[:500],
        "goal": mission.goal,
        "state": mission.state.value,
        "state_type": mission.state.type.value,
        "waits_for_person": waiting(mission),
        "plan_version": mission.plan_version,
        "plan_hash": plan.hash if plan else None,
        "template": plan.template if plan else None,
        "prompt_version": plan.prompt_version if plan else None,
        "estimate": _estimate(plan),
        "config": msgspec.to_builtins(mission.config),
        "budget": {
            "cap_usd": float(mission.config.max_cost_usd),
            "spent_usd": float(mission.spent),
            "under_way_usd": float(mission.committed - mission.spent),
            "downgraded": mission.downgraded,
        },
        "total_cost": float(mission.spent),
        "total_tokens": mission.tokens,
        "model_calls": mission.calls,
        "task_count": len(states),
        "tasks_completed": states.count(TaskState.COMPLETED),
        "tasks_failed": states.count(TaskState.FAILED),
        "error": mission.error or None,
        "created_by": mission.by,
        "duration_ms": _duration(mission.started_at, mission.ended_at),
        "tasks": [task_json(mission, each) for each in mission.tasks.values()],
        "edges": msgspec.to_builtins(plan.edges) if plan else [],
    }


def _estimate(plan: MissionPlan | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    return {"cost_usd": float(plan.estimate), "recommended_budget_usd": float(2 * plan.estimate), "tokens": plan.tokens}


def _duration(begun: float, ended: float) -> int | None:
    return round((ended - begun) * 1000) if begun and ended else None


def task_json(mission: Mission, task: Task, *, whole: bool = False) -> dict[str, Any]:
    """Return a task. `whole`: with its output and what was verified, and not only a summary."""
    spec = task.spec
    output = None if task.output is None else task.output if whole else text_of(task.output)[:_SUMMARY]
    waits = waits_for(mission, task) if task.state is TaskState.PENDING else ()
    return {
        "task_id": spec.order,
        "title": spec.title,
        "description": spec.description,
        "task_type": spec.type.value,
        "state": task.state.value,
        "state_type": task.state.type.value,
        "column": task.state.column,
        "agent_id": task.agent or spec.agent or None,
        "agent_type": task.agent_type or None,
        "tools_requested": list(spec.tools),
        "success_criteria": msgspec.to_builtins(spec.criteria),
        "attempt_number": task.attempt,
        "generation": task.generation,
        "continuation_count": task.turn - 1,
        "operation": task.operation or None,
        "verifier_score": None if task.score is None else round(task.score, 2),
        "verified_by": task.verified_by or None,
        "verification_status": task.verdict or None,
        "feedback": list(task.feedback),
        "waits_for": list(waits or ()),
        "escalations": list(task.ladder),
        "done_again_with_it": [each for each in rework_of(mission, [spec.order]) if each != spec.order],
        "error": task.error or None,
        "tokens_used": task.tokens,
        "cost": float(task.cost),
        "duration_ms": _duration(task.started_at, task.ended_at),
        "output" if whole else "output_summary": output,
    }


def waiting(mission: Mission) -> list[str]:
    """Return in words what a person is asked to do."""
    own = [_WAITING[mission.state]] if mission.state in _WAITING else []
    tasks = [f"task {each.spec.order} ({each.spec.title}): {each.error}" for each in mission.of(TaskState.AWAITING_HUMAN)]
    return own + tasks


def events_json(saga: Saga) -> list[dict[str, Any]]:
    """Return what has happened, in order."""
    return [msgspec.to_builtins(each) for ordinal in range(len(saga.operations)) for each in facts_in(saga, ordinal)]
