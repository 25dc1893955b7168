"""Mission: what its journal says of it. A projection: facts in, the next state out, and nothing else decides what is so. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sagagraph.coordination.core.config import Config, read_config
from sagagraph.coordination.core.facts import Fact, Kind
from sagagraph.coordination.core.plan import MissionPlan, TaskSpec, read_plan
from sagagraph.coordination.core.states import RUN_TRANSITIONS, TASK_TRANSITIONS, RunState, TaskState, checked_move
from sagagraph.errors import NotAllowedError
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.workflow.values import Json

NOTE: Final = "mission.note"
"""The action whose operations carry facts."""


class Task(Struct, frozen=True):
    """Task. `attempt` counts from 1, `turn` within an attempt; `operation` is the one that carries its latest turn out."""

    spec: TaskSpec
    state: TaskState = TaskState.PENDING
    generation: int = 1
    attempt: int = 1
    used: int = 0
    """Attempts that count against its maximum, since the ladder last moved on."""
    turn: int = 1
    agent: str = ""
    agent_type: str = ""
    tier_up: bool = False
    parked: str = ""
    """The trigger of the replanning that it waits for."""
    operation: str = ""
    not_before: float = 0.0
    last_at: float = 0.0
    started_at: float = 0.0
    ended_at: float = 0.0
    score: float | None = None
    verdict: str = ""
    verified_by: str = ""
    feedback: tuple[dict[str, Json], ...] = ()
    """What was wrong with earlier attempts, for the next one only."""
    ladder: tuple[int, ...] = ()
    tried: tuple[str, ...] = ()
    avoid: str = ""
    output: Json = None
    error: str = ""
    tokens: int = 0
    cost: Decimal = Decimal(0)

    @property
    def name(self) -> str:
        """The beginning of the ids of its operations."""
        generation = "" if self.generation == 1 else f".{self.generation}"
        return f"task-{self.spec.order}{generation}"

    @property
    def turn_id(self) -> str:
        return f"{self.name}/{self.attempt}" + ("" if self.turn == 1 else f"+{self.turn}")

    @property
    def check_id(self) -> str:
        return f"{self.turn_id}?verify"


class Mission(Struct, frozen=True):
    id: str
    goal: str = ""
    by: str = ""
    config: Config = Config()
    state: RunState = RunState.PENDING
    plan: MissionPlan | None = None
    plan_version: int = 0
    tasks: dict[int, Task] = {}
    instructions: tuple[str, ...] = ()
    spent: Decimal = Decimal(0)
    tokens: int = 0
    calls: int = 0
    pending: dict[str, Decimal] = {}
    """Model calls that were admitted and whose cost is not booked yet, by their estimates."""
    warned: tuple[float, ...] = ()
    downgraded: bool = False
    finishing: bool = False
    """Only what runs is finished: the person's choice when the budget ended."""
    triggers: tuple[dict[str, Json], ...] = ()
    """Triggers of replanning that nobody has answered."""
    replanned_for: tuple[str, ...] = ()
    contractors: int = 0
    heard: dict[str, str] = {}
    """Wishes that were decided, and why one was refused; empty where it was not."""
    error: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    last_at: float = 0.0
    running_since: float = 0.0
    ran_s: float = 0.0
    """How long it ran before, since a person last decided about its budget."""

    def ran_for(self, now: float) -> float:
        """Return how long it has run: the time in which it waits for a person does not count."""
        return self.ran_s + (now - self.running_since if self.state is RunState.RUNNING else 0.0)

    @property
    def committed(self) -> Decimal:
        """What is spent, and what calls under way may cost."""
        return self.spent + sum(self.pending.values(), Decimal(0))

    @property
    def waits(self) -> bool:
        """Whether, right after a tick, nothing more happens without a person. Between two ticks it can be so for a moment."""
        if self.state is not RunState.RUNNING:
            return self.state not in (RunState.PENDING, RunState.PLANNING)
        return not self.triggers and not any(self.of(*_MOVING))

    def of(self, *states: TaskState) -> Iterator[Task]:
        return (each for each in self.tasks.values() if each.state in states)

    def task(self, order: int) -> Task:
        """Raises `NotAllowedError` for a number that no task has."""
        if order not in self.tasks:
            raise NotAllowedError(f"mission {self.id!r} has tasks {', '.join(map(str, self.tasks))}, and no task {order}")
        return self.tasks[order]


_MOVING = frozenset(TaskState) - {TaskState.PENDING, TaskState.AWAITING_HUMAN} - {e for e in TaskState if e.is_terminal}


def folded(saga: Saga) -> Mission:
    """Fold a saga's facts. One that somebody cancelled as a saga is cancelled."""
    mission = advanced(Mission(saga.id), saga, 0)
    was_stopped = saga.stage in (Stage.COMPENSATING, Stage.COMPENSATED) or saga.cancel_by is not None
    return replace(mission, state=RunState.CANCELLED) if was_stopped and not mission.state.is_terminal else mission


def advanced(mission: Mission, saga: Saga, seen: int) -> Mission:
    """Fold what a saga has beyond the first `seen` operations."""
    for ordinal in range(seen, len(saga.operations)):
        mission = evolved(mission, facts_in(saga, ordinal))
    return mission


def facts_in(saga: Saga, ordinal: int) -> tuple[Fact, ...]:
    spec = saga.operations[saga.index.names[ordinal]].spec
    return tuple(msgspec.convert(each, Fact) for each in spec.inputs) if spec.action == NOTE else ()


def evolved(mission: Mission, facts: Iterable[Fact]) -> Mission:
    """Return the next mission. Raises `NotAllowedError` for a transition that there is not; the mission is as it was then."""
    for fact in facts:
        mission = replace(_EVOLVE.get(fact.type, _with_task)(mission, fact), last_at=fact.at)
    return mission


def _moved(mission: Mission, fact: Fact, then: RunState, **changes: Any) -> Mission:
    state = checked_move(RUN_TRANSITIONS, mission.state, then, f"mission {mission.id!r}")
    if state.is_terminal:
        changes["ended_at"] = fact.at
    if state is RunState.RUNNING:
        changes["running_since"] = fact.at
    elif mission.state is RunState.RUNNING:
        changes["ran_s"] = mission.ran_for(fact.at)
    return replace(mission, state=state, **changes)


def _with_task(mission: Mission, fact: Fact, then: TaskState | None = None, **changes: Any) -> Mission:
    task = mission.task(fact.task or 0)
    if then is not None:
        changes["state"] = checked_move(TASK_TRANSITIONS, task.state, then, f"task {task.spec.order}")
        if then.is_terminal:
            changes["ended_at"] = fact.at
    return replace(mission, tasks={**mission.tasks, task.spec.order: replace(task, last_at=fact.at, **changes)})


def _begun(mission: Mission, fact: Fact) -> Mission:
    data: Mapping[str, Any] = fact.data
    goal = str(data["goal"])
    return replace(mission, goal=goal, by=data.get("by", ""), config=read_config(data["config"]), started_at=fact.at)


def _planned(mission: Mission, fact: Fact) -> Mission:
    plan = read_plan(fact.data["plan"])
    tasks = {each.order: Task(each, last_at=fact.at) for each in plan.tasks}
    return replace(_state_said(mission, fact), plan=plan, plan_version=1, tasks=tasks)


def _state_said(mission: Mission, fact: Fact) -> Mission:
    """Move to the state that the fact names, if it names one."""
    then = fact.data.get("state")
    return mission if then is None else _moved(mission, fact, RunState(str(then)))


def _revised(mission: Mission, fact: Fact) -> Mission:
    """Take a revised plan over: tasks that it keeps stand as they are."""
    plan = read_plan(fact.data["plan"])
    changed = frozenset(map(int, fact.data.get("changed", ())))
    tasks = dict(mission.tasks)
    for spec in plan.tasks:
        if spec.order not in tasks:
            tasks[spec.order] = Task(spec, last_at=fact.at)
        elif spec.order in changed:
            tasks[spec.order] = replace(tasks[spec.order], spec=spec, used=0)
    mission = replace(_answered(mission, fact), plan=plan, plan_version=mission.plan_version + 1)
    mission = replace(mission, tasks=dict(sorted(tasks.items())))
    for order in map(int, fact.data.get("removed", ())):
        mission = _with_task(mission, replace(fact, task=order), TaskState.CANCELLED, parked="")
    return mission


def _triggered(mission: Mission, fact: Fact) -> Mission:
    key = str(fact.data["key"])
    told = (*mission.instructions, str(fact.data["said"])) if fact.data.get("said") else mission.instructions
    return replace(
        mission, triggers=(*mission.triggers, fact.data), replanned_for=(*mission.replanned_for, key), instructions=told
    )


def _answered(mission: Mission, fact: Fact) -> Mission:
    answered = fact.data.get("trigger")
    return replace(mission, triggers=tuple(each for each in mission.triggers if each.get("key") != answered))


def _warned(mission: Mission, fact: Fact) -> Mission:
    return replace(mission, warned=(*mission.warned, float(fact.data["share"])))


def _budget_changed(mission: Mission, fact: Fact) -> Mission:
    config = read_config({**msgspec.to_builtins(mission.config), **fact.data.get("config", {})})
    changes = {"finishing": True} if fact.data.get("complete_current") else {}
    left = tuple(each for each in mission.warned if mission.spent >= config.max_cost_usd * Decimal(str(each)))
    return replace(_state_said(mission, fact), config=config, warned=left, ran_s=0.0, **changes)


def _assigned(mission: Mission, fact: Fact) -> Mission:
    data: Mapping[str, Any] = fact.data
    task = mission.task(fact.task or 0)
    fresh = {"attempt": task.attempt + 1} if task.state is TaskState.AWAITING_RETRY else {}
    hired = 1 if data.get("agent_type") == "contractor" else 0
    mission = replace(mission, contractors=mission.contractors + hired)
    who = {"agent": data["agent"], "agent_type": data.get("agent_type", "roster")}
    tried = tuple(dict.fromkeys((*task.tried, data["agent"])))
    return _with_task(mission, fact, TaskState.ASSIGNED, turn=1, tried=tried, **who, **fresh)


def _started(mission: Mission, fact: Fact) -> Mission:
    task = mission.task(fact.task or 0)
    return _with_task(mission, fact, TaskState.RUNNING, operation=task.turn_id, started_at=task.started_at or fact.at)


def _continuing(mission: Mission, fact: Fact) -> Mission:
    turn = mission.task(fact.task or 0).turn + 1
    wait = float(fact.data["not_before"])
    return _with_task(mission, fact, TaskState.CONTINUING, turn=turn, not_before=wait, output=fact.data.get("output"))


def _retrying(mission: Mission, fact: Fact) -> Mission:
    """Have a task tried again; where a person says so (`again`), as if for the first time."""
    data: Mapping[str, Any] = fact.data
    task = mission.task(fact.task or 0)
    changes: dict[str, Any] = {name: data[name] for name in ("not_before", "tier_up", "avoid", "error") if name in data}
    if data.get("feedback"):
        changes["feedback"] = (*task.feedback, data["feedback"])
    if data.get("again"):
        changes |= {"used": 0, "ladder": ()}
    elif data.get("counts", True):
        changes["used"] = task.used + 1
    return _with_task(mission, fact, TaskState.AWAITING_RETRY, parked="", **changes)


def _handed_in(mission: Mission, fact: Fact) -> Mission:
    """Hand in, with nothing, what broke without an output: only from there can others decide about it."""
    is_running = mission.task(fact.task or 0).state is TaskState.RUNNING
    return _with_task(mission, fact, TaskState.VERIFYING) if is_running else mission


def _asks_person(mission: Mission, fact: Fact) -> Mission:
    mission = _handed_in(mission, fact)
    error = fact.data.get("error", mission.task(fact.task or 0).error)
    return _with_task(mission, fact, TaskState.AWAITING_HUMAN, error=error, parked="")


def _escalated(mission: Mission, fact: Fact) -> Mission:
    level = int(fact.data["level"])
    parked = str(fact.data.get("trigger", ""))
    mission = _handed_in(mission, fact) if parked else mission
    return _with_task(mission, fact, ladder=(*mission.task(fact.task or 0).ladder, level), parked=parked)


def _reassigned(mission: Mission, fact: Fact) -> Mission:
    task = mission.task(fact.task or 0)
    plan = mission.plan
    spec = replace(task.spec, agent=str(fact.data["agent"]))
    if plan is not None:
        plan = replace(plan, tasks=tuple(spec if each.order == spec.order else each for each in plan.tasks))
    return replace(_with_task(mission, fact, spec=spec), plan=plan)


def _renewed(mission: Mission, fact: Fact) -> Mission:
    """Begin a task again: what earlier generations did stays in the journal."""
    task = mission.task(fact.task or 0)
    feedback = ({**fact.data["feedback"]},) if fact.data.get("feedback") else ()
    fresh = Task(task.spec, generation=task.generation + 1, last_at=fact.at, tokens=task.tokens, cost=task.cost)
    return replace(mission, tasks={**mission.tasks, task.spec.order: replace(fresh, feedback=feedback)})


def _admitted(mission: Mission, fact: Fact) -> Mission:
    pending = {**mission.pending, str(fact.data["call"]): Decimal(str(fact.data["estimate"]))}
    mission = replace(mission, pending=pending)
    return mission if fact.task is None else _with_task(mission, fact)


def _booked(mission: Mission, fact: Fact) -> Mission:
    data: Mapping[str, Any] = fact.data
    cost, tokens = Decimal(str(data["cost"])), int(data["tokens_in"]) + int(data["tokens_out"])
    pending = {name: each for name, each in mission.pending.items() if name != data["call"]}
    mission = replace(
        mission, spent=mission.spent + cost, tokens=mission.tokens + tokens, calls=mission.calls + 1, pending=pending
    )
    if fact.task is None or fact.task not in mission.tasks:
        return mission
    task = mission.tasks[fact.task]
    return _with_task(mission, fact, tokens=task.tokens + tokens, cost=task.cost + cost)


def _heard(mission: Mission, fact: Fact) -> Mission:
    return replace(mission, heard={**mission.heard, str(fact.data["key"]): str(fact.data.get("refused", ""))})


def _run(then: RunState | None = None, *names: str, **changes: Any) -> Callable[[Mission, Fact], Mission]:
    """Return what moves a mission, to the state that the fact names if none is given, and takes these of its data over."""

    def evolve(mission: Mission, fact: Fact) -> Mission:
        mission = _state_said(mission, fact) if then is None else _moved(mission, fact, then)
        return replace(mission, **changes, **{name: fact.data[name] for name in names if name in fact.data})

    return evolve


def _task(then: TaskState | None = None, *names: str) -> Callable[[Mission, Fact], Mission]:
    """Return what moves a task, and takes these of the fact's data over."""
    return lambda mission, fact: _with_task(mission, fact, then, **{name: fact.data[name] for name in names if name in fact.data})


_EVOLVE: Final[Mapping[Kind, Callable[[Mission, Fact], Mission]]] = {  # the others only tell that something happens to a task
    Kind.RUN_STARTED: _begun,
    Kind.PLANNING_STARTED: _run(RunState.PLANNING),
    Kind.PLAN_READY: _planned,
    Kind.PLAN_REVISED: _revised,
    Kind.REVISION_REFUSED: _answered,
    Kind.REPLAN_TRIGGERED: _triggered,
    Kind.HUMAN_APPROVED: _run(),
    Kind.HUMAN_REJECTED: _run(),
    Kind.REVIEW_REQUESTED: _run(RunState.AWAITING_REVIEW),
    Kind.RUN_PAUSED: _run(RunState.PAUSED),
    Kind.RUN_RESUMED: _run(RunState.RUNNING),
    Kind.BUDGET_WARNING: _warned,
    Kind.BUDGET_EXCEEDED: _run(RunState.BUDGET_EXCEEDED),
    Kind.BUDGET_CHANGED: _budget_changed,
    Kind.BUDGET_DOWNGRADED: _run(downgraded=True, ran_s=0.0),
    Kind.RUN_COMPLETED: _run(RunState.COMPLETED),
    Kind.RUN_FAILED: _run(RunState.FAILED, "error"),
    Kind.RUN_CANCELLED: _run(RunState.CANCELLED),
    Kind.TASK_QUEUED: _task(TaskState.QUEUED, "avoid"),
    Kind.TASK_ASSIGNED: _assigned,
    Kind.TASK_STARTED: _started,
    Kind.TASK_CONTINUING: _continuing,
    Kind.TASK_RESUMED: _started,
    Kind.TASK_SUBMITTED: _task(TaskState.VERIFYING, "output"),
    Kind.VERIFICATION_COMPLETED: _task(None, "score", "verdict", "verified_by"),
    Kind.HUMAN_REVIEW_REQUESTED: _asks_person,
    Kind.TASK_COMPLETED: _task(TaskState.COMPLETED),
    Kind.TASK_RETRYING: _retrying,
    Kind.TASK_CRASHED: _task(None, "error"),
    Kind.TASK_SKIPPED: _task(TaskState.SKIPPED),
    Kind.TASK_CANCELLED: _task(TaskState.CANCELLED),
    Kind.TASK_FAILED: _task(TaskState.FAILED, "error"),
    Kind.TASK_ESCALATED: _escalated,
    Kind.TASK_REASSIGNED: _reassigned,
    Kind.TASK_RENEWED: _renewed,
    Kind.MODEL_ADMITTED: _admitted,
    Kind.MODEL_BOOKED: _booked,
    Kind.WISH_HEARD: _heard,
}
