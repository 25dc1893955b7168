"""Decomposition: a goal becomes a plan: by a template if one fits, otherwise by a model (PRD-102, section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sagagraph.context.model import Model, Question
from sagagraph.context.quoting import Quoted, new_nonce
from sagagraph.context.slice import content_hash
from sagagraph.coordination.core.deciding import Bench
from sagagraph.coordination.core.matching import TOKENS
from sagagraph.coordination.core.mission import Mission
from sagagraph.coordination.core.plan import Edge, Means, MissionPlan, TaskSpec, judged_plan
from sagagraph.coordination.core.states import TaskState
from sagagraph.coordination.templates import Template, matched
from sagagraph.coordination.verification import CHECKS
from sagagraph.errors import InvalidInputError, UnusableAnswerError
from sagagraph.workflow.reading import converted, schema_of
from sagagraph.workflow.values import Json

ROUNDS: Final = 3
_ANSWER_TOKENS: Final = 4096
_MOST_TOOLS: Final = 10
_INSTRUCTIONS: Final = (
    "You plan a mission: tasks for agents that reach a goal within a budget. Rules: the tasks form a directed acyclic graph; "
    "task 1 depends on nothing; every task has a criterion that must pass; the type of a task guides the choice of its model, "
    "and a review goes to an agent of another family than the work that it reviews; a simple goal takes 3 or 4 tasks; tasks that "
    "do not need each other have no edge between them; the estimates add up to less than the budget. An edge goes from the "
    "dependent task to its prerequisite. Where the data holds objections to an earlier plan, meet exactly those."
)
_REVISING: Final = (
    "You revise the plan of a running mission because of the trigger. Completed and running tasks are immutable. You may change "
    "or remove tasks that are pending or queued, and the one that the trigger is about, and add tasks with the next numbers. "
    "Answer with changed and new tasks, with their edges, and the numbers of removed ones, and with nothing else."
)
PROMPT_VERSION: Final = content_hash(_INSTRUCTIONS)
_CHECKS_OF_MODELS: Final = CHECKS.keys() - {"regex"}
"""A pattern of a model could take for ever to match."""
_FREE: Final = frozenset({TaskState.PENDING, TaskState.QUEUED})


Form = TypeVar("Form", bound=Struct)


class Decomposed(Struct, frozen=True):
    """Result: a plan, or objections; and how many times a model was asked."""

    plan: MissionPlan | None
    objections: tuple[str, ...] = ()
    rounds: int = 0


def means_of(bench: Bench, cap: Decimal, *, by_model: bool = False) -> Means:
    families = {each.id: each.family for each in bench.profiles}
    tools = frozenset(tool for each in bench.profiles for tool in each.tools)
    return Means(families, tools if bench.contractors < 0 else None, cap, by_model)


async def decomposed(mission: Mission, templates: Iterable[Template], bench: Bench, model: Model | None) -> Decomposed:
    """Plan a mission. Raises `ModelError` if the model cannot be asked, `Refused` where the budget does not allow it."""
    cap = mission.config.max_cost_usd
    template = matched(mission.goal, templates, bench.similarity)
    if template is not None:
        made, agents = template.plan_for(mission.goal), {each.id for each in bench.profiles}
        made = replace(made, tasks=tuple(replace(t, agent=t.agent if t.agent in agents else "") for t in made.tasks))
        objections = tuple(each.message for each in judged_plan(made, means_of(bench, cap)).violations)
        return Decomposed(None, objections) if objections else Decomposed(made)
    if model is None:
        return Decomposed(None, ("no template fits the goal, and no model is available to plan it",))
    objections = ()
    for number in range(1, ROUNDS + 1):
        data: dict[str, Any] = {"goal": mission.goal, "agents": roster_of(bench), "cap_usd": str(cap)}
        data |= {"cap_tokens": mission.config.max_tokens, "objections": list(objections)}
        data["usual_tokens"] = {each.value: sum(count) for each, count in TOKENS.items()}
        plan, objections = await _asked(model, _INSTRUCTIONS, data, MissionPlan)
        if plan is not None:
            faults = judged_plan(plan, means_of(bench, cap, by_model=True)).violations
            strange = {name for task in plan.tasks for each in task.criteria for name in each.check} - _CHECKS_OF_MODELS
            objections = (*(each.message for each in faults), *(f"a criterion cannot be checked by {each!r}" for each in strange))
        if plan is not None and not objections:
            return Decomposed(replace(plan, model=model.name, prompt_version=PROMPT_VERSION), (), number)
    return Decomposed(None, objections, ROUNDS)


def roster_of(bench: Bench) -> list[dict[str, Any]]:
    return [
        {"id": each.id, "skills": list(each.skills), "tier": each.tier.value, "family": each.family}
        | {"tools": sorted(each.tools)[:_MOST_TOOLS]}
        for each in bench.profiles
    ]


async def _asked(model: Model, instructions: str, data: Json, form: type[Form]) -> tuple[Form | None, tuple[str, ...]]:
    """Return the answer in its form; without one, why not."""
    quoted = Quoted(data, new_nonce())
    question = Question(f"{instructions}\n{quoted.rule}", quoted, schema_of(form), max_tokens=_ANSWER_TOKENS)
    try:
        answer = await model.answer(question)
        return converted(answer.content, form, "plan"), ()
    except (UnusableAnswerError, InvalidInputError) as exc:
        return None, (str(exc),)


# -- revisions (section 10) --------------------------------------------------------------------------------------------


class Revision(Struct, frozen=True, forbid_unknown_fields=True):
    """Revision that a model proposes."""

    tasks: tuple[TaskSpec, ...]
    edges: tuple[Edge, ...] = ()
    removed: tuple[int, ...] = ()


class Revised(Struct, frozen=True):
    """Result: the plan with what was changed and removed; or objections."""

    plan: MissionPlan | None
    changed: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()
    objections: tuple[str, ...] = ()


async def revised(mission: Mission, trigger: Mapping[str, Json], shown: Json, bench: Bench, model: Model | None) -> Revised:
    """Revise a plan because of a trigger; what was asked of a model beyond its rights is refused, and counts as a round."""
    if trigger["trigger"] == "budget" and model is None:  # leave out what the mission can do without
        optional = tuple(each.spec.order for each in mission.of(*_FREE) if each.spec.optional)
        return revision_of(mission, trigger, Revision((), removed=optional), bench)
    if model is None:
        return Revised(None, objections=("no model is available to plan anew",))
    found = Revised(None)
    for _number in range(ROUNDS):
        said, why = await _asked(model, _REVISING, {"mission": shown, "objections": list(found.objections)}, Revision)
        found = Revised(None, objections=why) if said is None else revision_of(mission, trigger, said, bench)
        if found.plan is not None:
            return found
    return found


def revision_of(mission: Mission, trigger: Mapping[str, Json], part: Revision, bench: Bench) -> Revised:
    """Judge a revision. Completed and running tasks are immutable, and nothing is renumbered."""
    old, removed = mission.plan, tuple(dict.fromkeys(part.removed))
    if old is None or not (part.tasks or part.edges or removed):
        return Revised(None, objections=("it changes nothing",))
    fresh = {each.order: each for each in part.tasks}
    objections = _oversteps(mission, trigger, part)
    kept = [each for each in old.tasks if each.order not in fresh and each.order not in removed]
    tasks = tuple(sorted([*kept, *fresh.values()], key=lambda each: each.order))
    orders = {each.order for each in tasks}
    edges = [each for each in old.edges if each.dependent not in fresh and {each.dependent, each.prerequisite} <= orders]
    plan = replace(old, tasks=tasks, edges=(*edges, *part.edges), cost=None, tokens=None)
    left = mission.config.max_cost_usd
    faults = [each.message for each in judged_plan(plan, means_of(bench, left)).violations]
    if objections or faults:
        return Revised(None, objections=(*objections, *faults))
    return Revised(plan, tuple(fresh), removed)


def _oversteps(mission: Mission, trigger: Mapping[str, Json], part: Revision) -> tuple[str, ...]:
    about = {each.spec.order for each in mission.tasks.values() if each.parked and each.parked == trigger.get("key")}
    last = max(mission.tasks, default=0)
    found = []
    for order in (*(each.order for each in part.tasks), *part.removed, *(each.dependent for each in part.edges)):
        known = mission.tasks.get(order)
        if known is not None and known.state not in _FREE and order not in about:
            found.append(f"task {order} is {known.state.value}, and immutable")
    news = [each.order for each in part.tasks if each.order not in mission.tasks]
    if sorted(news) != list(range(last + 1, last + 1 + len(news))):
        found.append(f"new tasks have the numbers from {last + 1} on")
    if unknown := [each for each in part.removed if each not in mission.tasks]:
        found.append(f"there is no task {unknown[0]}")
    return tuple(dict.fromkeys(found))
