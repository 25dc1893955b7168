"""Tick: what a running mission does next: dispatch, then reconcile, never mixed (PRD-102, section 4). Pure."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from sagagraph.coordination.core.config import MOST_CONTRACTORS_EVER, MOST_CONTRACTORS_OF_MISSION, STALL_S, TICK_S, Autonomy
from sagagraph.coordination.core.deciding import ACTIVE, Bench, Deciding
from sagagraph.coordination.core.facts import Fact, Kind
from sagagraph.coordination.core.matching import LEAST_SCORE
from sagagraph.coordination.core.mission import Mission, Task
from sagagraph.coordination.core.plan import Edge, TriggerRule
from sagagraph.coordination.core.states import RunState, TaskState

CONTRACTOR: Final = "contractor"


def tick(mission: Mission, now: float, bench: Bench) -> tuple[Fact, ...]:
    """Return the facts of one tick. The same mission, instant and bench give the same facts."""
    if mission.state is not RunState.RUNNING:
        return ()
    deciding = Deciding(mission, now, bench)
    _settle_dependencies(deciding)
    _dispatch(deciding)
    _reconcile(deciding)
    return tuple(deciding.facts)


def next_at(mission: Mission, now: float) -> float:
    """Return when the next tick is due if nothing happens before."""
    waits = [each.not_before for each in mission.of(TaskState.AWAITING_RETRY, TaskState.CONTINUING) if each.not_before > now]
    return min([now + TICK_S, *waits])


# -- dependencies ------------------------------------------------------------------------------------------------------


def _settle_dependencies(deciding: Deciding) -> None:
    """Queue what waits for nothing any more, and skip what never can run, transitively."""
    if deciding.mission.finishing:
        for task in list(deciding.mission.of(TaskState.PENDING, TaskState.QUEUED, TaskState.AWAITING_RETRY)):
            deciding.say(Kind.TASK_CANCELLED, task)
        return
    moved = True
    while moved:
        moved = False
        for task in sorted(deciding.mission.of(TaskState.PENDING), key=lambda each: each.spec.order):
            said = waits_for(deciding.mission, task)
            if said is None:
                deciding.say(Kind.TASK_SKIPPED, task)
            elif not said:
                deciding.say(Kind.TASK_QUEUED, task)
            moved = moved or not said


def waits_for(mission: Mission, task: Task) -> tuple[int, ...] | None:
    """Return the tasks that it waits for; None if what it waits for can never come."""
    edges = mission.plan.needs(task.spec.order) if mission.plan else ()
    answers = {each.prerequisite: _is_met(each, mission.tasks[each.prerequisite].state) for each in edges}
    if None in answers.values():
        return None
    return tuple(order for order, is_met in answers.items() if not is_met)


def _is_met(edge: Edge, state: TaskState) -> bool | None:
    """Tell whether a prerequisite lets its dependent run; None: it never will."""
    match edge.trigger_rule:
        case TriggerRule.ALWAYS:
            return True
        case TriggerRule.ALL_DONE:
            return state.is_terminal
        case TriggerRule.NONE_FAILED:
            return None if state is TaskState.FAILED else state.is_terminal
        case TriggerRule.ALL_SUCCESS:
            return None if state.is_terminal and state is not TaskState.COMPLETED else state is TaskState.COMPLETED


# -- dispatch ----------------------------------------------------------------------------------------------------------


def _dispatch(deciding: Deciding) -> None:
    """Give what is ready to agents, as many as there are slots; nothing new while a plan is being revised."""
    mission = deciding.mission
    for task in list(mission.of(TaskState.CONTINUING)):
        if task.not_before <= deciding.now:
            deciding.say(Kind.TASK_RESUMED, task)
    if mission.triggers or mission.committed >= mission.config.max_cost_usd:
        return
    slots = mission.config.max_concurrent_tasks - sum(1 for _each in deciding.mission.of(*ACTIVE))
    ready = [
        each
        for each in deciding.mission.of(TaskState.QUEUED, TaskState.AWAITING_RETRY)
        if each.state is TaskState.QUEUED or each.not_before <= deciding.now
    ]
    for task in sorted(ready, key=lambda each: each.spec.order):
        if slots <= 0 or deciding.mission.state is not RunState.RUNNING:
            return
        slots -= _assign(deciding, task)


def _assign(deciding: Deciding, task: Task) -> int:
    """Choose who does it, and say so; returns how many slots that takes."""
    if task.spec.agent and task.spec.agent not in task.tried and task.spec.agent != task.avoid:
        profile = deciding.profile(task.spec.agent)
        if profile is not None and profile.online:
            return _given(deciding, task, task.spec.agent, None)
    keeps = task.agent if task.state is TaskState.AWAITING_RETRY and task.agent != task.avoid else ""
    if keeps and (task.agent_type == CONTRACTOR or keeps == task.spec.agent):
        return _given(deciding, task, keeps, None, task.agent_type)
    found = [each for each in deciding.matches(task) if each.score >= LEAST_SCORE]
    if keeps:
        found = [each for each in found if each.agent == keeps] or found
    elif task.avoid:
        found = [each for each in found if each.agent not in task.tried] or found
    if not found:
        return _hired(deciding, task)
    return next((1 for each in found if _given(deciding, task, each.agent, each.score)), 0)


def _given(deciding: Deciding, task: Task, agent: str, score: float | None, agent_type: str = "roster") -> int:
    profile = deciding.profile(agent)
    if profile is not None and profile.busy + deciding.busy(agent) >= profile.limit:
        return 0
    deciding.say(Kind.TASK_ASSIGNED, task, agent=agent, agent_type=agent_type, score=score)
    return 1


def _hired(deciding: Deciding, task: Task) -> int:
    """Have a contractor do what nobody of the roster can; if there may be none, ask a person."""
    mission, order = deciding.mission, task.spec.order
    at_work = sum(1 for each in mission.of(*ACTIVE) if each.agent_type == CONTRACTOR)
    if deciding.bench.contractors < 0 or mission.contractors >= MOST_CONTRACTORS_EVER:
        return _given(deciding, task, "nobody", None)  # whose turn fails, for a person to see
    if at_work >= MOST_CONTRACTORS_OF_MISSION or deciding.bench.contractors <= at_work:
        return 0
    return _given(deciding, task, f"contractor-{order}.{mission.contractors + 1}", None, CONTRACTOR)


# -- reconcile ---------------------------------------------------------------------------------------------------------


def _reconcile(deciding: Deciding) -> None:
    _find_stalls(deciding)
    if deciding.mission.state is RunState.RUNNING:
        _end_if_over(deciding)
    if deciding.mission.state is RunState.RUNNING:
        _watch_budget(deciding)


def _find_stalls(deciding: Deciding) -> None:
    """Find tasks without an event for longer than their state allows."""
    config = deciding.mission.config
    for task in list(deciding.mission.of(*map(TaskState, STALL_S))):
        state, is_running = task.state, task.state is TaskState.RUNNING
        limit_s = config.stall_s.get(state.value, task.spec.stall_timeout_s if is_running else STALL_S[state.value])
        still_s = deciding.now - (task.not_before if state is TaskState.CONTINUING else task.last_at)
        if still_s <= limit_s or deciding.mission.state is not RunState.RUNNING:
            continue
        deciding.say(Kind.TASK_STALLED, task, state=state.value)
        match state:
            case TaskState.ASSIGNED:
                deciding.say(Kind.TASK_QUEUED, task, avoid=task.agent)
            case TaskState.RUNNING:
                deciding.retry_or_climb(task, f"nothing was heard of it for {still_s:.0f} s")
            case TaskState.CONTINUING:
                deciding.say(Kind.TASK_RESUMED, task)
            case TaskState.VERIFYING:
                deciding.say(Kind.HUMAN_REVIEW_REQUESTED, task, error=f"it was not verified within {still_s:.0f} s")


def _end_if_over(deciding: Deciding) -> None:
    mission = deciding.mission
    if not mission.tasks or not all(each.state.is_terminal for each in mission.tasks.values()) or mission.triggers:
        return
    if not any(mission.of(TaskState.COMPLETED)):
        deciding.fail("none of its tasks was completed")
    elif mission.config.autonomy_mode is Autonomy.APPROVE:
        deciding.say(Kind.REVIEW_REQUESTED)
    else:
        deciding.say(Kind.RUN_COMPLETED, by="")


def _watch_budget(deciding: Deciding) -> None:
    mission, config = deciding.mission, deciding.mission.config
    shares = {
        mission.spent / config.max_cost_usd if config.max_cost_usd else Decimal(0),
        Decimal(mission.tokens) / config.max_tokens,
    }
    share = float(max(shares))
    for each in config.warn_at:
        if share >= each and each not in mission.warned:
            deciding.say(Kind.BUDGET_WARNING, share=each, spent=str(mission.spent), cap=str(config.max_cost_usd))
    if share > config.replan_at and "budget" not in mission.replanned_for and _could_save(deciding):
        deciding.say(Kind.REPLAN_TRIGGERED, key="budget", trigger="budget", why=f"{share:.0%} of the budget is spent")
    if mission.spent >= config.max_cost_usd and config.max_cost_usd:
        deciding.over_budget(f"${mission.spent} of ${config.max_cost_usd} are spent")
    elif mission.tokens >= config.max_tokens:
        deciding.over_budget(f"{mission.tokens} of {config.max_tokens} tokens are used")
    elif config.max_seconds and mission.ran_for(deciding.now) > config.max_seconds:
        deciding.over_budget(f"{mission.ran_for(deciding.now):.0f} of {config.max_seconds:.0f} s are over")


def _could_save(deciding: Deciding) -> bool:
    """Tell whether something is left that could be left out, or done more cheaply by another plan."""
    left = [*deciding.mission.of(TaskState.PENDING, TaskState.QUEUED)]
    return bool(left) and (deciding.bench.can_replan or any(each.spec.optional for each in left))
