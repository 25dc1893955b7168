"""Outcomes: what follows from what agents, verifiers and planners said (PRD-102, sections 5, 7, 9 and 10). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sagagraph.coordination.core.config import Autonomy
from sagagraph.coordination.core.deciding import Deciding
from sagagraph.coordination.core.facts import Kind
from sagagraph.coordination.core.mission import Task
from sagagraph.coordination.core.plan import plan_json
from sagagraph.coordination.core.states import RunState, TaskState
from sagagraph.coordination.decomposition import Decomposed, Revised
from sagagraph.coordination.verification import Outcome, Verification
from sagagraph.workflow.values import Json

BUDGET: Final = "budget"
STALLED: Final = "stalled"
HELD: Final = "held"
"""It may have had an effect, and nobody can tell: it is not done again before a person has."""
CONFIGURATION: Final = frozenset({"configuration", "unknown_model", "unknown_tool", "auth", "invalid_input"})
"""Codes of failures that no repetition mends."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of an agent. `done=False`: it ended cleanly and needs another turn. `found`: why more is needed than was planned."""

    output: Json = None
    done: bool = True
    found: str = ""


def turn_replied(deciding: Deciding, task: Task, reply: Reply) -> None:
    if reply.found:
        key = f"found:{task.turn_id}"
        deciding.say(Kind.REPLAN_TRIGGERED, task, key=key, trigger="found", why=reply.found)
    if reply.done:
        deciding.say(Kind.TASK_SUBMITTED, task, output=reply.output)
        deciding.say(Kind.VERIFICATION_STARTED, deciding.again(task))
    elif task.turn < deciding.mission.config.max_turns:
        wait = deciding.now + deciding.mission.config.continue_after_s
        deciding.say(Kind.TASK_CONTINUING, task, output=reply.output, not_before=wait)
    else:
        why = f"it is not done after {task.turn} turns"
        deciding.say(Kind.TASK_CRASHED, task, error_code="turns", error=why)
        deciding.retry_or_climb(deciding.again(task), why)


def turn_failed(deciding: Deciding, task: Task, code: str, why: str) -> None:
    """Handle an agent that ended without a reply; what ran into the budget waits, and that counts as no attempt."""
    if code == BUDGET:
        deciding.say(Kind.TASK_RETRYING, task, error=why, not_before=deciding.now, counts=False)
        deciding.over_budget(why)
        return
    deciding.say(Kind.TASK_CRASHED, task, error_code=code, error=why)
    if code == HELD and deciding.mission.config.may_ask:
        deciding.say(Kind.HUMAN_REVIEW_REQUESTED, task, error=why)
    elif code == HELD:
        deciding.give_up(deciding.again(task), why)
    elif code in CONFIGURATION:
        deciding.climb(deciding.again(task), why)
    else:
        deciding.retry_or_climb(deciding.again(task), why)


def output_verified(deciding: Deciding, task: Task, found: Verification) -> None:
    reasons = [{"criterion": each.criterion, "reason": each.reason} for each in found.unmet]
    deciding.say(
        Kind.VERIFICATION_COMPLETED,
        task,
        score=found.score,
        verdict=found.outcome.value,
        confidence=found.confidence,
        verified_by=found.by,
        unmet=reasons,
    )
    task, score = deciding.again(task), f"it scores {found.score:.2f}"
    why = "; ".join(f"{each.criterion}: {each.reason}" for each in found.unmet) or score
    feedback: dict[str, Json] = {
        "attempt": task.attempt,
        "of": task.spec.max_attempts,
        "score": round(found.score, 2),
        "unmet": reasons,
    }
    if found.confidence < deciding.mission.config.least_confidence and deciding.mission.config.may_ask:
        deciding.say(Kind.HUMAN_REVIEW_REQUESTED, task, error=f"the verifier is not sure ({found.confidence:.2f})")
    elif found.outcome is Outcome.PASS:
        deciding.say(Kind.TASK_COMPLETED, task)
    elif found.task_wrong and deciding.bench.can_replan and f"task_wrong:{task.name}" not in deciding.mission.replanned_for:
        deciding.replan(task, "task_wrong", f"task_wrong:{task.name}", found.task_wrong)
    elif found.outcome is Outcome.PARTIAL and task.used + 1 >= task.spec.max_attempts and deciding.mission.config.may_ask:
        deciding.say(Kind.HUMAN_REVIEW_REQUESTED, task, error=why)
    else:
        deciding.retry_or_climb(task, why, quality=True, feedback=feedback)


def verifier_broke(deciding: Deciding, task: Task, code: str, why: str) -> None:
    """Leave the task to a person: a verifier that cannot answer says nothing about it. One without a budget waits for that."""
    if code == BUDGET:
        deciding.over_budget(why)
        if deciding.mission.state is not RunState.RUNNING:
            return
    deciding.say(Kind.VERIFICATION_BROKE, task, why=why)
    task = deciding.again(task)
    if deciding.mission.config.may_ask:
        deciding.say(Kind.HUMAN_REVIEW_REQUESTED, task, error=f"the verifier broke: {why}")
    else:
        deciding.retry_or_climb(task, f"the verifier broke: {why}")


# -- plans -------------------------------------------------------------------------------------------------------------


def planned(deciding: Deciding, found: Decomposed) -> None:
    config, plan = deciding.mission.config, found.plan
    if plan is None:
        deciding.say(Kind.RUN_FAILED, error=f"no plan: {'; '.join(found.objections)}")
        return
    is_cheap = config.autonomy_mode is Autonomy.AUTONOMOUS and plan.estimate <= config.auto_approve_threshold
    runs = is_cheap or not config.may_ask
    state = RunState.RUNNING if runs else RunState.AWAITING_APPROVAL
    about: dict[str, Any] = {"plan": plan_json(plan), "hash": plan.hash, "estimate": str(plan.estimate)}
    deciding.say(Kind.PLAN_READY, **about, state=state.value, rounds=found.rounds)


def replanned(deciding: Deciding, trigger: dict[str, Json], found: Revised) -> None:
    """Take a revised plan over; without one go on with the plan as it is, and what failed climbs on."""
    key, plan, objections = str(trigger["key"]), found.plan, list(found.objections)
    known = [each for order in (*found.changed, *found.removed) if (each := deciding.mission.tasks.get(order))]
    moved = [each for each in known if each.state not in (TaskState.PENDING, TaskState.QUEUED) and each.parked != key]
    objections += [f"task {each.spec.order} has moved on meanwhile" for each in moved]
    if plan is None or objections:
        deciding.say(Kind.REVISION_REFUSED, trigger=key, objections=objections)
    else:
        about: dict[str, Any] = {"plan": plan_json(plan), "changed": list(found.changed), "removed": list(found.removed)}
        deciding.say(Kind.PLAN_REVISED, **about, hash=plan.hash, trigger=key, why=trigger.get("why"))
    for task in [each for each in deciding.mission.of(TaskState.VERIFYING) if each.parked == key]:
        if not objections and task.spec.order in found.changed:
            deciding.say(Kind.TASK_RETRYING, task, error="it was planned anew", not_before=deciding.now, counts=False)
        else:
            deciding.climb(task, task.error or str(trigger.get("why")))
