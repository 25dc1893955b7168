"""Missions over REST and on their page: a board of tasks by state, the graph, the budget, and what waits for a person."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from sagagraph.coordination.core.config import read_config
from sagagraph.coordination.core.mission import Mission, Task
from sagagraph.coordination.core.plan import MissionPlan
from sagagraph.coordination.core.states import COLUMNS, RunState, TaskState
from sagagraph.coordination.view import events_json, mission_json, task_json
from sagagraph.errors import InvalidInputError, SagaGraphError, UnknownOperationError
from sagagraph.planning.page import showcase_of
from sagagraph.saga.core.state import Operation
from sagagraph.saga.core.status import OperationStatus
from sagagraph.ui.html.front import page_alone
from sagagraph.ui.missions import Missions
from sagagraph.ui.pictures.dependencies import dependency_graph
from sagagraph.ui.pictures.lanes import lanes
from sagagraph.ui.server.bounds import form_of
from sagagraph.ui.server.routes.api import PREFIX, Body, Json
from sagagraph.ui.visitors import Visitor, visitor_of
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec

_PAGE: Final = "/missions"
_EXAMPLES: Final = (
    "Research what the EU AI Act asks of our product",
    "Compare PostgreSQL and SQLite for a small shop",
    "Write a blog post about our new office",
)
_SHOWCASE: Final = showcase_of(
    ("Researcher", (("Research", 0, 4), ("Analysis", 4, 7))),
    ("Writer", (("Report", 7, 10),)),
    ("Reviewer", (("Review", 10, 12),)),
)
router = APIRouter()


class NewMission(Body):
    goal: str = Field(min_length=1, max_length=4000)
    config: Json = Field(default_factory=dict)


class Said(Body):
    """What goes with a decision. `plan`: the hash of the plan that is approved; `reassign`: `{"task_id", "agent"}` of each task
    that another agent is to do; `tasks`: `{"task_id", "reason"}` of each that is rejected; the budget: one of the last five.
    """

    plan: str | None = Field(None, max_length=200)
    reassign: list[Json] = Field(default_factory=list, max_length=20)
    reason: str = Field("", max_length=1000)
    text: str = Field("", max_length=4000)
    decision: Literal["accept", "reject", "reject_all"] = "accept"
    tasks: list[Json] = Field(default_factory=list, max_length=20)
    max_cost_usd: float | None = Field(None, ge=0)
    max_tokens: int | None = Field(None, ge=1)
    max_seconds: float | None = Field(None, ge=0)
    downgrade: bool = False
    complete_current: bool = False


class Own:
    """A mission that must belong to the caller."""

    def __init__(self, request: Request, mission_id: str) -> None:
        self.id = mission_id
        self.missions: Missions = request.app.state.service.missions
        self.visitor: Visitor = visitor_of(request)

    async def say(self, verb: str, told: Json) -> Json:
        return mission_json(await self.missions.say(self.visitor, self.id, verb, told))

    async def task(self, number: int) -> tuple[Mission, Task]:
        mission = await self.missions.of(self.visitor, self.id)
        if number not in mission.tasks:
            raise UnknownOperationError(f"mission {self.id!r} has no task {number}", saga_id=self.id)
        return mission, mission.tasks[number]


OwnMission = Annotated[Own, Depends(Own)]
Verb = Literal["approve", "reject", "pause", "resume", "review", "budget", "tell"]


@router.post(f"{PREFIX}/missions", status_code=201, summary="Begin a mission")
async def create(body: NewMission, request: Request) -> Json:
    missions: Missions = request.app.state.service.missions
    return mission_json(await missions.begin(visitor_of(request), body.goal, read_config(_exact(body.config))))


@router.get(f"{PREFIX}/missions", summary="Your missions, the latest first")
async def list_missions(request: Request) -> Json:
    found = await request.app.state.service.missions.all_of(visitor_of(request))
    return {"missions": [mission_json(each) for each in found]}


@router.get(f"{PREFIX}/missions/{{mission_id}}", summary="A mission with its tasks and edges")
async def show(own: OwnMission) -> Json:
    told = mission_json(await own.missions.of(own.visitor, own.id))
    return {**told, "problem": own.missions.problem(own.id)}


@router.delete(f"{PREFIX}/missions/{{mission_id}}", summary="Cancel it: what it has done is undone, dependents first")
async def cancel(own: OwnMission) -> Json:
    return await own.say("cancel", {})


@router.post(f"{PREFIX}/missions/{{mission_id}}/routine", summary="Save it as a template")
async def routine(own: OwnMission) -> Json:
    made = await own.missions.save_routine(own.visitor, own.id)
    return {"routine": made.name, "source": made.source, "plan": made.plan}


@router.post(f"{PREFIX}/missions/{{mission_id}}/{{verb}}", summary="Decide what waits for a person; see `Said`")
async def decide(verb: Verb, own: OwnMission, body: Said | None = None) -> Json:
    return await own.say(verb, _exact((body or Said()).model_dump()))


@router.get(f"{PREFIX}/missions/{{mission_id}}/events", summary="What has happened")
async def events(own: OwnMission) -> Json:
    return {"events": events_json(await own.missions.saga(own.visitor, own.id))}


@router.get(f"{PREFIX}/missions/{{mission_id}}/tasks", summary="Its tasks")
async def tasks(own: OwnMission) -> Json:
    mission = await own.missions.of(own.visitor, own.id)
    return {"tasks": [task_json(mission, each) for each in mission.tasks.values()]}


@router.get(f"{PREFIX}/missions/{{mission_id}}/tasks/{{number}}", summary="A task with its output and its verification")
async def one_task(number: int, own: OwnMission) -> Json:
    return task_json(*await own.task(number), whole=True)


@router.post(f"{PREFIX}/missions/{{mission_id}}/tasks/{{number}}/{{verb}}", summary="Retry, skip or accept a task")
async def task_verb(number: int, verb: Literal["retry", "skip", "accept"], own: OwnMission, body: Said | None = None) -> Json:
    await own.task(number)
    return await own.say(verb, {"task_id": number, "reason": body.reason if body else ""})


def _exact(given: Json) -> Json:
    """Return it with amounts as texts: money is never a binary fraction."""
    return {name: str(value) if isinstance(value, float) else value for name, value in given.items()}


# -- the page ----------------------------------------------------------------------------------------------------------


@router.get(_PAGE, include_in_schema=False)
async def front(request: Request, goal: str = "") -> HTMLResponse:
    return await _front(request, {"goal": goal[:4000]})


@router.post(_PAGE, include_in_schema=False, response_model=None)
async def begun(request: Request) -> HTMLResponse | RedirectResponse:
    form = await form_of(request)
    missions: Missions = request.app.state.service.missions
    try:
        config = read_config({name: form[name] for name in ("max_cost_usd", "autonomy_mode") if form.get(name)})
        mission = await missions.begin(visitor_of(request), form.get("goal", "")[:4000], config)
    except SagaGraphError as exc:
        return await _front(request, form, exc)
    return RedirectResponse(f"{_PAGE}/{mission.id}", 303)


async def _front(request: Request, form: dict[str, str], exc: SagaGraphError | None = None) -> HTMLResponse:
    missions: Missions = request.app.state.service.missions
    visitor = visitor_of(request)
    field = exc.field if isinstance(exc, InvalidInputError) else None
    values: dict[str, Any] = {
        "missions": await missions.all_of(visitor),
        "kinds": await missions.kinds(visitor),
        "examples": [each for each in _EXAMPLES if await missions.fits(visitor, each)],
        "picture": lanes(_SHOWCASE),
        "form": {"goal": "", "max_cost_usd": "", **form},
        "field": field,
        "problem": str(exc).removeprefix(f"{field}: ") if field == "goal" else str(exc or ""),
    }
    return page_alone(request, "missions", status_code=422 if exc else 200, **values)


@router.get(f"{_PAGE}/{{mission_id}}", include_in_schema=False)
async def board(own: OwnMission, request: Request) -> HTMLResponse:
    return await _board(own, request)


@router.post(f"{_PAGE}/{{mission_id}}", include_in_schema=False, response_model=None)
async def decided(own: OwnMission, request: Request) -> HTMLResponse | RedirectResponse:
    form = await form_of(request)
    try:
        if form.get("verb") == "routine":
            await own.missions.save_routine(own.visitor, own.id)
        else:
            await own.say(form.get("verb", ""), _told(form))
    except SagaGraphError as exc:
        return await _board(own, request, str(exc))
    return RedirectResponse(f"{_PAGE}/{own.id}", 303)


def _told(form: dict[str, str]) -> Json:
    told: Json = {name: value for name, value in form.items() if name != "verb" and value}
    if told.get("decision") == "reject":
        told["tasks"] = [{"task_id": told.pop("task_id", 0), "reason": told.pop("reason", "")}]
    return told


async def _board(own: Own, request: Request, problem: str = "") -> HTMLResponse:
    mission = await own.missions.of(own.visitor, own.id)
    told = mission_json(mission)
    columns = [(name, [each for each in told["tasks"] if each["column"] == name]) for name in COLUMNS]
    values: dict[str, Any] = {"told": told, "columns": columns, "problem": problem or own.missions.problem(own.id)}
    values["graph"] = _graph(mission.plan, mission) if mission.plan else ""
    values["outputs"] = {order: each.output for order, each in mission.tasks.items() if each.output is not None}
    is_awake = mission.state in (RunState.PENDING, RunState.PLANNING, RunState.RUNNING)
    values["moves"] = is_awake and not (mission.waits and told["waits_for_person"])  # between two tasks nothing runs
    return page_alone(request, "mission", status_code=422 if problem else 200, **values)


def _graph(plan: MissionPlan, mission: Mission) -> Any:
    """Draw the tasks as operations are drawn everywhere in the app."""
    names = {order: f"{order} {each.spec.title}"[:60] for order, each in mission.tasks.items()}
    drawn = []
    for place, (order, task) in enumerate(mission.tasks.items()):
        needs = tuple(names[each.prerequisite] for each in plan.needs(order))
        spec = OperationSpec(names[order], task.agent or task.spec.type.value, ActionKind.READ_ONLY, None, needs)
        drawn.append(Operation(spec, place, 1, _LOOKS.get(task.state, OperationStatus.PLANNED)))
    return dependency_graph(drawn)


_LOOKS: Final = {
    **dict.fromkeys((TaskState.ASSIGNED, TaskState.RUNNING, TaskState.CONTINUING, TaskState.VERIFYING), OperationStatus.STARTED),
    TaskState.AWAITING_HUMAN: OperationStatus.HELD,
    TaskState.COMPLETED: OperationStatus.SUCCEEDED,
    TaskState.FAILED: OperationStatus.FAILED,
    **dict.fromkeys((TaskState.SKIPPED, TaskState.CANCELLED), OperationStatus.SKIPPED),
}
