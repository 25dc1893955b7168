"""Plans of missions: tasks, what each needs, and what a plan must be before anything of it runs (PRD-102, section 6). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from sagagraph.context.slice import content_hash
from sagagraph.errors import WorkflowError
from sagagraph.factory.blueprint import Blueprint, Role, template_of
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.language.document import Edge as FlowEdge
from sagagraph.workflow.language.document import Node, NodeType
from sagagraph.workflow.operation import reference
from sagagraph.workflow.order import descendants
from sagagraph.workflow.reading import converted
from sagagraph.workflow.values import Json

MOST_TASKS: Final = 20
FEWEST_OF_A_MODEL: Final = 3
_TOLERANCE: Final = Decimal("0.01")


class TaskType(StrEnum):
    RESEARCH = "research"
    WRITING = "writing"
    CODING = "coding"
    REVIEW = "review"
    ANALYSIS = "analysis"
    SIMPLE = "simple"


class TriggerRule(StrEnum):
    ALL_SUCCESS = "all_success"
    ALL_DONE = "all_done"
    NONE_FAILED = "none_failed"
    ALWAYS = "always"


class Dependency(StrEnum):
    DATA = "data"
    """The output is handed on."""
    ORDERING = "ordering"


class _Part(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Part of a plan: what is misspelt is refused."""


class Criterion(_Part, frozen=True):
    """Criterion. `check`: how to tell without a model (see `verification`); without it a judge scores it."""

    criterion: str
    weight: float = 1.0
    must_pass: bool = False
    check: dict[str, Json] = {}


class TaskSpec(_Part, frozen=True):
    """Task as planned. `agent` and `model`, a tier, are suggestions; `optional`: the mission can do without it. `request`: what
    an agent that takes a request of its own is asked, instead of the description; it may hold references to `task-N`.
    """

    order: int
    title: str
    description: str = ""
    type: TaskType = TaskType.SIMPLE
    criteria: tuple[Criterion, ...] = ()
    agent: str = ""
    model: Literal["", "cheap", "mid", "top"] = ""
    tools: tuple[str, ...] = ()
    max_attempts: int = msgspec.field(default=3, name="max_retries")
    stall_timeout_s: float = 300.0
    tokens: int = 0
    cost: Decimal = Decimal(0)
    optional: bool = False
    request: Json = None


class Edge(_Part, frozen=True):
    """Edge from a dependent task to its prerequisite, by their orders."""

    dependent: int = msgspec.field(name="from")
    prerequisite: int = msgspec.field(name="to")
    trigger_rule: TriggerRule = TriggerRule.ALL_SUCCESS
    type: Dependency = Dependency.DATA


class MissionPlan(_Part, frozen=True):
    """Plan of a mission, and who made it: a template, or a model with a prompt of a certain version."""

    tasks: tuple[TaskSpec, ...]
    edges: tuple[Edge, ...] = ()
    cost: Decimal | None = None
    """The total that it states; None: the sum of its tasks."""
    tokens: int | None = None
    template: str = ""
    model: str = ""
    prompt_version: str = ""

    @property
    def hash(self) -> str:
        return content_hash(plan_json(self))

    @property
    def estimate(self) -> Decimal:
        """The cost of its tasks, with 3 % for verification and $0.10 for coordination."""
        return sum((each.cost for each in self.tasks), Decimal(0)) * Decimal("1.03") + Decimal("0.10")

    def needs(self, order: int) -> tuple[Edge, ...]:
        return tuple(each for each in self.edges if each.dependent == order)

    def below(self, order: int) -> frozenset[int]:
        """Return all tasks that depend on this one, directly or not."""
        return frozenset(map(int, descendants(_dependents(self), str(order))))


def _dependents(plan: MissionPlan) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in plan.edges:
        found.setdefault(str(each.prerequisite), []).append(str(each.dependent))
    return found


def read_plan(value: object) -> MissionPlan:
    """Read a plan. Raises `InvalidInputError`, naming the place."""
    return converted(value, MissionPlan, "plan")


def plan_json(plan: MissionPlan) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(plan)
    return written


def blueprint_of(plan: MissionPlan, goal: str) -> Blueprint:
    """Return the task graph as a blueprint of the workflow language, with a role for each task."""

    def node_of(task: TaskSpec) -> Node:
        inputs = {f"task-{each.prerequisite}": reference(f"task-{each.prerequisite}") for each in plan.needs(task.order)}
        return Node(f"task-{task.order}", NodeType.TASK, name=task.title, role=f"task-{task.order}", params=inputs)

    roles = tuple(Role(f"task-{each.order}", (each.type.value, *each.tools), context=each.description) for each in plan.tasks)
    edges = tuple(FlowEdge(f"task-{each.prerequisite}", f"task-{each.dependent}") for each in plan.edges)
    return Blueprint(goal, roles, tuple(map(node_of, plan.tasks)), edges)


@dataclass(frozen=True, slots=True)
class Means:
    """Means of a mission, by which its plan is judged. None: anybody, any tool, no cap."""

    families: Mapping[str, str] | None = None
    """Agent → the family of its model."""
    tools: frozenset[str] | None = None
    cap: Decimal | None = None
    by_model: bool = False


def judged_plan(plan: MissionPlan, means: Means) -> Verdict:
    """Judge the structure of a plan, whoever made it: every fault with its code."""
    faults = [*_faults_of_tasks(plan, means), *_faults_of_edges(plan), *_faults_of_estimate(plan, means)]
    return Verdict.of(faults or _faults_of_workflow(plan))


def _faults_of_workflow(plan: MissionPlan) -> Iterator[Violation]:
    """Check that the task graph is a workflow like any other."""
    try:
        template_of(blueprint_of(plan, "mission"))
    except WorkflowError as exc:
        yield _fault("MALFORMED", str(exc))


def _fault(code: str, message: str, **scope: Json) -> Violation:
    return Violation(code=code, message=message, scope=scope)


def _faults_of_tasks(plan: MissionPlan, means: Means) -> Iterator[Violation]:
    fewest = FEWEST_OF_A_MODEL if means.by_model else 1
    if not fewest <= len(plan.tasks) <= MOST_TASKS:
        yield _fault("TASK_COUNT", f"a plan has {fewest} to {MOST_TASKS} tasks, and this one {len(plan.tasks)}")
    seen: set[int] = set()
    for task in plan.tasks:
        if task.order in seen:
            yield _fault("DUPLICATE_ORDER", f"two tasks have number {task.order}", task=task.order)
        seen.add(task.order)
        if means.families is not None and task.agent and task.agent not in means.families:
            yield _fault("AGENT_NOT_FOUND", f"task {task.order}: there is no agent {task.agent!r}", task=task.order)
        for tool in task.tools:
            if means.tools is not None and tool not in means.tools:
                yield _fault("TOOL_NOT_FOUND", f"task {task.order}: nobody has a tool {tool!r}", task=task.order)
        if not any(each.must_pass for each in task.criteria):
            yield _fault("NO_MUST_PASS", f"task {task.order} has no criterion that must pass", task=task.order)
        if any(not 0 < each.weight < float("inf") for each in task.criteria):
            yield _fault("BAD_WEIGHT", f"task {task.order}: weights of criteria are above 0", task=task.order)
        yield from _reviewed_by_relatives(plan, task, means)


def _reviewed_by_relatives(plan: MissionPlan, task: TaskSpec, means: Means) -> Iterator[Violation]:
    families = means.families or {}
    own = families.get(task.agent)
    if task.type is TaskType.REVIEW and own:
        for edge in plan.needs(task.order):
            reviewed = next((each for each in plan.tasks if each.order == edge.prerequisite), None)
            if reviewed is not None and families.get(reviewed.agent) == own:
                message = f"task {task.order} reviews task {reviewed.order}, and both are of family {own}"
                yield _fault("SAME_FAMILY", message, task=task.order)


def _faults_of_edges(plan: MissionPlan) -> Iterator[Violation]:
    orders = {each.order for each in plan.tasks}
    for edge in plan.edges:
        for end in (edge.dependent, edge.prerequisite):
            if end not in orders:
                yield _fault("UNKNOWN_TASK", f"an edge names task {end}, which the plan does not have", task=end)
    graph = {order: {each.prerequisite for each in plan.needs(order)} & orders for order in orders}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as exc:
        path = [int(each) for each in exc.args[1]]
        yield _fault("CYCLE", f"tasks wait for each other: {' → '.join(map(str, path))}", path=list(path))
        behind = {int(each) for name in path for each in descendants(_dependents(plan), str(name))}
        for order in sorted(behind - set(path)):
            yield _fault("UNREACHABLE", f"task {order} waits for a circle, and is never reached", task=order)


def _faults_of_estimate(plan: MissionPlan, means: Means) -> Iterator[Violation]:
    total = sum((each.cost for each in plan.tasks), Decimal(0))
    if means.cap is not None and total > means.cap:
        yield _fault("BUDGET_ESTIMATE", f"its tasks cost ${total} by its own estimate, and ${means.cap} may be spent")
    elif plan.cost is not None and abs(total - plan.cost) > _TOLERANCE * max(total, plan.cost):
        yield _fault("BUDGET_ESTIMATE", f"it states a total of ${plan.cost}, and its tasks add up to ${total}")
