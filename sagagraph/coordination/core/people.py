"""People: what a person may say of a mission, and what follows from it (PRD-102, sections 2, 8, 11 and 13). Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from sagagraph.coordination.core.config import read_config
from sagagraph.coordination.core.deciding import ACTIVE, Deciding
from sagagraph.coordination.core.facts import Kind
from sagagraph.coordination.core.mission import Mission, Task
from sagagraph.coordination.core.states import RunState, TaskState
from sagagraph.errors import ConflictError, InvalidInputError, NotAllowedError

Told = Mapping[str, Any]


def settle(deciding: Deciding, verb: str, told: Told, by: str) -> None:
    """Do what a person says. Raises `NotAllowedError`, `ConflictError` or `InvalidInputError`, and nothing has changed then."""
    if verb not in _VERBS:
        raise InvalidInputError(f"there are {', '.join(_VERBS)}, not {verb!r}", field="verb")
    _VERBS[verb](deciding, told, by)


def rework_of(mission: Mission, orders: list[int]) -> tuple[int, ...]:
    """Return what is done again if these tasks are: they, and all that used what they gave."""
    if mission.plan is None:
        return ()
    begun = {each.spec.order for each in mission.tasks.values() if each.started_at and each.state is not TaskState.SKIPPED}
    below = {each for order in orders for each in mission.plan.below(mission.task(order).spec.order)}
    return tuple(sorted({*orders, *(below & begun)}))


_OPEN: Final = tuple(each for each in RunState if not each.is_terminal)


def _tasks(deciding: Deciding, said: Any, field: str) -> list[tuple[Task, Told]]:
    """Return the tasks that are spoken of, each with what is said about it."""
    try:
        return [(deciding.mission.task(int(each["task_id"])), each) for each in said]
    except (KeyError, TypeError, ValueError) as exc:
        raise InvalidInputError('say {"task_id": NUMBER} of each', field=field) from exc


def _task(deciding: Deciding, told: Told) -> Task:
    return _tasks(deciding, [told], "task_id")[0][0]


def _in_state(deciding: Deciding, *states: RunState) -> None:
    if deciding.mission.state not in states:
        wanted = "open" if states == _OPEN else " or ".join(each.value for each in states)
        raise NotAllowedError(f"mission {deciding.mission.id!r} is {deciding.mission.state.value}, not {wanted}")


def _approve(deciding: Deciding, told: Told, by: str) -> None:
    _in_state(deciding, RunState.AWAITING_APPROVAL)
    plan = deciding.mission.plan
    if told.get("plan") and plan is not None and told["plan"] != plan.hash:
        raise ConflictError(f"mission {deciding.mission.id!r} shows plan {plan.hash}, not {told['plan']}: look at it again")
    for task, each in _tasks(deciding, told.get("reassign") or (), "reassign"):
        agent = str(each.get("agent", ""))
        profile = deciding.profile(agent)
        if profile is None:
            known = ", ".join(each.id for each in deciding.bench.profiles)
            raise InvalidInputError(f"there are {known}, not {agent!r}", field="reassign")
        if lacking := sorted(set(task.spec.tools) - profile.tools):
            raise InvalidInputError(f"{agent!r} lacks {', '.join(lacking)}", field="reassign")
        deciding.say(Kind.TASK_REASSIGNED, task, agent=agent, by=by)
    deciding.say(Kind.HUMAN_APPROVED, by=by, state=RunState.RUNNING.value)


def _reject(deciding: Deciding, told: Told, by: str) -> None:
    _in_state(deciding, RunState.AWAITING_APPROVAL)
    deciding.say(Kind.HUMAN_REJECTED, by=by, reason=str(told.get("reason", "")))
    deciding.fail(f"{by} rejected the plan" + (f": {told['reason']}" if told.get("reason") else ""))


def _pause(deciding: Deciding, _told: Told, by: str) -> None:
    deciding.say(Kind.RUN_PAUSED, by=by)


def _resume(deciding: Deciding, _told: Told, by: str) -> None:
    _in_state(deciding, RunState.PAUSED)
    deciding.say(Kind.RUN_RESUMED, by=by)


def _cancel(deciding: Deciding, _told: Told, by: str) -> None:
    _in_state(deciding, *_OPEN)
    deciding.cancel_rest()
    deciding.say(Kind.RUN_CANCELLED, by=by)


def _review(deciding: Deciding, told: Told, by: str) -> None:
    _in_state(deciding, RunState.AWAITING_REVIEW)
    decision = told.get("decision", "accept")
    if decision == "accept":
        deciding.say(Kind.RUN_COMPLETED, by=by)
    elif decision == "reject_all":
        deciding.say(Kind.HUMAN_REJECTED, by=by)
        deciding.say(Kind.RUN_FAILED, error=f"{by} rejected the result", by=by)
    elif decision == "reject" and told.get("tasks"):
        reasons = {task.spec.order: str(each.get("reason", "")) for task, each in _tasks(deciding, told["tasks"], "tasks")}
        deciding.say(Kind.HUMAN_REJECTED, by=by, state=RunState.RUNNING.value)
        _renew(deciding, reasons, by)
    else:
        raise InvalidInputError("say accept, reject with tasks, or reject_all", field="decision")


def _renew(deciding: Deciding, reasons: Mapping[int, str], by: str) -> None:
    for order in rework_of(deciding.mission, list(reasons)):
        task = deciding.mission.tasks[order]
        deciding.say(Kind.TASK_RENEWED, task, by=by, feedback=_feedback(task, reasons.get(order, ""), by))


def _feedback(task: Task, reason: str, by: str) -> dict[str, Any] | None:
    return {"attempt": task.attempt, "score": task.score, "reason": reason, "by": by} if reason else None


def _budget(deciding: Deciding, told: Told, by: str) -> None:
    mission = deciding.mission
    _in_state(deciding, *_OPEN)
    names = {"max_cost_usd", "max_tokens", "max_seconds"}
    config = {name: told[name] for name in names if told.get(name) is not None}
    after = read_config({**msgspec.to_builtins(mission.config), **config})
    waits = mission.state is RunState.BUDGET_EXCEEDED
    has_room = mission.committed < after.max_cost_usd and mission.tokens < after.max_tokens
    goes_on: dict[str, Any] = {"state": RunState.RUNNING.value} if waits and has_room else {}
    if told.get("complete_current"):
        goes_on = {"state": RunState.RUNNING.value} if waits else {}
        deciding.say(Kind.BUDGET_CHANGED, by=by, complete_current=True, **goes_on)
    elif told.get("downgrade"):
        deciding.say(Kind.BUDGET_DOWNGRADED, by=by, **goes_on)
    elif config:
        written: dict[str, Any] = {name: str(value) if name == "max_cost_usd" else value for name, value in config.items()}
        deciding.say(Kind.BUDGET_CHANGED, by=by, config=written, **goes_on)
    else:
        raise InvalidInputError("say a new cap, downgrade, or complete_current", field="budget")


def _retry(deciding: Deciding, told: Told, by: str) -> None:
    task, reason = _task(deciding, told), str(told.get("reason", ""))
    if task.state is TaskState.AWAITING_HUMAN:
        feedback = _feedback(task, reason, by)
        deciding.say(Kind.TASK_RETRYING, task, error=reason, not_before=deciding.now, again=True, by=by, feedback=feedback)
    elif task.state is TaskState.COMPLETED and deciding.mission.state in (RunState.RUNNING, RunState.PAUSED):
        busy = {each.spec.order for each in deciding.mission.of(*ACTIVE, TaskState.VERIFYING)}
        if at_work := sorted(busy & set(rework_of(deciding.mission, [task.spec.order]))):
            raise NotAllowedError(f"task {at_work[0]} is working with what task {task.spec.order} gave: pause, and let it end")
        _renew(deciding, {task.spec.order: reason or "again"}, by)
    else:
        raise NotAllowedError(f"task {task.spec.order} is {task.state.value}: there is nothing to try again")


def _accept_task(deciding: Deciding, told: Told, by: str) -> None:
    task = _task(deciding, told)
    if task.state is not TaskState.AWAITING_HUMAN:
        raise NotAllowedError(f"task {task.spec.order} is {task.state.value}: it waits for nobody")
    deciding.say(Kind.TASK_COMPLETED, task, by=by)


def _skip(deciding: Deciding, told: Told, by: str) -> None:
    """Do without a task: one that has not begun is skipped, one that waits for a person fails, and others go on as they may."""
    task = _task(deciding, told)
    if task.state is TaskState.PENDING:
        deciding.say(Kind.TASK_SKIPPED, task, by=by)
    elif task.state is TaskState.AWAITING_HUMAN:
        deciding.say(Kind.TASK_FAILED, task, by=by, error=f"{by} does without it")
    elif task.state in (TaskState.QUEUED, TaskState.AWAITING_RETRY):
        deciding.say(Kind.TASK_CANCELLED, task, by=by)
    else:
        raise NotAllowedError(f"task {task.spec.order} is {task.state.value}: only what has not begun, or waits, can be skipped")


def _tell(deciding: Deciding, told: Told, by: str) -> None:
    """Take new instructions in: the plan is looked at again (trigger 2)."""
    _in_state(deciding, RunState.RUNNING, RunState.PAUSED)
    said = str(told.get("text", "")).strip()
    if not said:
        raise InvalidInputError("say what is wanted", field="text")
    key = f"instructions:{len(deciding.mission.instructions) + 1}"
    deciding.say(Kind.REPLAN_TRIGGERED, key=key, trigger="instructions", why=said, said=said, by=by)


_VERBS: Final[Mapping[str, Callable[[Deciding, Told, str], None]]] = {
    "approve": _approve,
    "reject": _reject,
    "pause": _pause,
    "resume": _resume,
    "cancel": _cancel,
    "review": _review,
    "budget": _budget,
    "retry": _retry,
    "accept": _accept_task,
    "skip": _skip,
    "tell": _tell,
}
