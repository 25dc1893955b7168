"""Planning graph: intake → plan → validate → approve → execute → (repair | compensate) → finish.

The journal is authoritative: a node first checks there whether its work is done, so the graph may be rerun from its start at any
time, with or without its checkpoint. Its state holds an id and small references only (docs/protocol.md L10).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt
from msgspec import structs

from sagagraph.context.model import Model
from sagagraph.errors import InvalidInputError, NotAllowedError, RetiredError, StoreError
from sagagraph.graph.team.team_planner import Planned, TeamPlanner
from sagagraph.planning.agents.briefing import lessons_of
from sagagraph.planning.agents.speaking import ROUNDS
from sagagraph.planning.agents.team import Agent, Runnable, Teamed
from sagagraph.planning.checking import judged_plan
from sagagraph.planning.domain import Domain, Infeasible, Json, Proposal, Provided, Revision
from sagagraph.planning.models.limits import Limits, Record
from sagagraph.planning.models.model_planner import Assigning, Mending, ModelPlanner
from sagagraph.planning.monitor import is_foreseen
from sagagraph.planning.remedies import remedies_for
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.amendments import amended_by, amendment_of
from sagagraph.saga.core.events import Driver, Entry, ModelAsked, SagaBegun
from sagagraph.saga.core.next_steps import is_quiet, is_ready_for_repair, status_of
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.engine.actions import to_json
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.saga.telemetry.holding import Telemetry
from sagagraph.validators.verdict import VerdictStatus

MAX_PROPOSALS = 3
"""How many plans may be judged before the request counts as infeasible."""

LEARNS_FROM = 20
"""How many earlier sagas a proposing model learns from: it is offered their validators' objections."""

MAX_REPAIRS = 12
"""How often one saga's plan may be repaired before it counts as beyond repair."""

Place = Literal["plan", "repair", "validate", "approve", "execute", "compensate", "finish"]


class PlanningState(TypedDict, total=False):
    saga_id: str
    plan_hash: str | None
    status: str


class Approval(TypedDict):
    """Answer to the graph's one interrupt, bound to a plan by its hash (None: the one that is shown)."""

    approved: bool
    by: str
    plan_hash: str | None


@dataclass(frozen=True, slots=True)
class PlanningContext:
    """Context that the nodes work with; never in a checkpoint. `approved_by` approves without asking."""

    domain: Domain
    coordinator: Coordinator
    telemetry: Telemetry
    journal: Callable[[], Awaitable[Sequence[Entry]]]
    approved_by: str | None = None
    planner: TeamPlanner | ModelPlanner | None = None
    """None: the domain's solver proposes."""


NodeRuntime = Runtime[PlanningContext]


class PlanningGraph:
    """Graph that runs sagas of one domain. Each call holds the saga's lease while it runs, and returns the saga's state at its
    end.
    """

    def __init__(
        self,
        domain: Domain,
        engine: Engine,
        checkpointer: BaseCheckpointSaver[str] | None,
        model: Model | None = None,
        limits: Limits | None = None,
        agents: Mapping[str, Agent | Runnable | Model] | None = None,
    ) -> None:
        self._domain = domain
        self._engine = engine
        self._planner: TeamPlanner | ModelPlanner | None = None
        if model is not None and not agents and isinstance(domain, Assigning):
            self._planner = ModelPlanner(model, domain, limits=limits, lessons=self._lessons)
        elif isinstance(domain, Teamed):
            self._planner = TeamPlanner(domain, model=model, limits=limits, agents=agents, lessons=self._lessons)
        elif agents:
            raise InvalidInputError(f"{domain.name} has no agents to replace", field="agents")
        self.compiled = _build().compile(checkpointer=checkpointer)
        engine.drives(domain.name, partial(self.resume, wait=False))
        for each in domain.actions:
            engine.register(each)
        if isinstance(domain, Provided):
            engine.work_with(domain.name, domain.provider_here)

    async def start(self, saga_id: str, request: object, *, approved_by: str | None = None) -> SagaView:
        """Begin or resume the saga. Raises `ConflictError` for the same id with another request."""
        begun = SagaBegun(Driver.WORKFLOW, self._domain.name, request, approved_by or "")
        return await self._run(saga_id, begun=begun, approved_by=approved_by)

    async def resume(self, saga_id: str, *, wait: bool = True) -> SagaView:
        """Resume the saga, or the one that amends it after its commit."""
        if (await self._engine.load(saga_id)).amending is not None:
            return await self._amend(saga_id, wait=wait)
        return await self._run(saga_id, wait=wait)

    async def decide(self, saga_id: str, *, approved: bool, by: str, plan_hash: str | None = None) -> SagaView:
        """Approve or reject the plan that is shown, and continue. Raises `ConflictError` if `plan_hash` is another plan's."""
        decision = Approval(approved=approved, by=by, plan_hash=plan_hash)
        if (await self._engine.load(saga_id)).amending is not None:
            return await self._amend(saga_id, decision=decision)
        return await self._run(saga_id, decision=decision)

    async def choose(self, saga_id: str, plan_hash: str) -> SagaView:
        """Ask for approval of one of the alternatives instead. Raises `ConflictError` if it is not among them."""
        saga = await self._engine.load(saga_id)
        shown = self._domain.title(saga.plan.content) if saga.plan.content else ""
        return await self._run(saga_id, wish=c.ChoosePlan(plan_hash, shown))

    async def return_to(self, saga_id: str, request: object, again: c.ProposePlan, *, by: str) -> SagaView:
        """Return to a plan that was proposed for `request` before; it is judged again, and waits for approval like any other."""
        return await self._run(saga_id, wish=c.ChangeRequest(to_json(request), by), again=again)

    async def change(
        self, saga_id: str, request: object, *, by: str, approved_by: str | None = None, lost: Collection[str] = ()
    ) -> SagaView:
        """Replan for a changed request, keeping what still fits; if it cannot be met, return to the old request.

        After the commit this is an amendment, a saga of its own (ADR-0011); only then can reservations be `lost`. Raises
        `NotAllowedError` while the pivot is executing, and while a cancellation or another change is in progress.
        """
        saga = await self._engine.load(saga_id)
        if saga.stage in (Stage.COMMITTED, Stage.REVERSING, Stage.AMENDING):
            await self._engine.begin_amendment(saga_id, to_json(request), lost=lost, by=by, approved_by=approved_by or "")
            return await self._amend(saga_id)
        if lost:
            raise NotAllowedError(
                f"saga {saga_id!r} is {status_of(saga).value}: what fails before it has committed is repaired automatically",
                saga_id=saga_id,
            )
        wish = c.ChangeRequest(to_json(request), by, approved_by or "")
        return await self._run(saga_id, wish=wish)

    async def _amend(self, saga_id: str, *, decision: Approval | None = None, wait: bool = True) -> SagaView:
        """Run the saga that amends `saga_id` as far as it goes; after a crash, resume it."""
        saga = await self._engine.load(saga_id)
        if (amending := saga.amending) is not None:
            begun = SagaBegun(Driver.WORKFLOW, saga.domain, amending.request, amending.approved_by)
            await self._run(amending.saga, begun=begun, decision=decision, wait=wait)
        return await self._engine.status(saga_id)

    async def _run(
        self,
        saga_id: str,
        *,
        begun: SagaBegun | None = None,
        approved_by: str | None = None,
        decision: Approval | None = None,
        wish: c.ChangeRequest | c.ChoosePlan | None = None,
        again: c.ProposePlan | None = None,
        wait: bool = True,
    ) -> SagaView:
        async with self._engine.hold(saga_id, begin=begun, wait=wait) as coordinator:
            config: RunnableConfig = {"configurable": {"thread_id": saga_id}}
            given: Any = PlanningState(saga_id=saga_id)
            if wish is not None:
                await coordinator.tell(wish)
            if again is not None:
                await coordinator.tell(again)
            if decision is not None:
                # Journal it first: a checkpoint keeps the first answer that it is given, even one that was
                # refused.
                await _tell_decision(coordinator, decision)
                if await self._is_interrupted(config):
                    given = Command(resume=decision)
            journal = partial(self._engine.journal, saga_id)
            telemetry = self._engine.telemetry
            context = PlanningContext(self._domain, coordinator, telemetry, journal, approved_by, self._planner)
            await self.compiled.ainvoke(given, config, context=context, durability="sync" if self._keeps_checkpoints else None)
        await self._engine.conclude_amendment(saga_id)
        return await self._engine.status(saga_id)

    async def _lessons(self) -> Sequence[str]:
        """Return lessons from the latest sagas of this domain. A journal that cannot be read contributes none."""
        journals = []
        for latest in await self._engine.store.headlines(most=LEARNS_FROM, domain=self._domain.name):
            with suppress(StoreError, RetiredError):
                journals.append(await self._engine.journal(latest.saga_id))
        return lessons_of(journals)

    @property
    def _keeps_checkpoints(self) -> bool:
        return bool(self.compiled.checkpointer)

    async def _is_interrupted(self, config: RunnableConfig) -> bool:
        return self._keeps_checkpoints and bool((await self.compiled.aget_state(config)).interrupts)


def planning_graph(
    *,
    domain: Domain,
    engine: Engine,
    checkpointer: BaseCheckpointSaver[str] | None = None,
    model: Model | None = None,
    limits: Limits | None = None,
    agents: Mapping[str, Agent | Runnable | Model] | None = None,
) -> PlanningGraph:
    """Return the planning graph of `domain` on `engine`; without a checkpointer, the journal alone carries a saga over a restart.

    `model`: makes whole plans if the domain lets it, and otherwise takes the roles of the domain's agents, within the `limits`;
    if it is down, the domain's solver plans. `agents`: your own, by the names of their roles; the model then takes the other
    roles (docs/agents.md).
    """
    return PlanningGraph(domain, engine, checkpointer, model, limits, agents)


def _build() -> StateGraph[PlanningState, PlanningContext, PlanningState, PlanningState]:
    graph = StateGraph(PlanningState, context_schema=PlanningContext)
    graph.add_node("intake", intake)
    graph.add_node("plan", plan)
    graph.add_node("repair", repair)
    graph.add_node("validate", validate)
    graph.add_node("approve", approve)
    graph.add_node("execute", execute)
    graph.add_node("compensate", compensate)
    graph.add_node("finish", finish)
    graph.add_edge(START, "intake")
    for name in ("intake", "plan", "repair", "validate", "approve", "execute", "compensate"):
        graph.add_conditional_edges(name, _next_place)
    graph.add_edge("finish", END)
    return graph


def _next_place(state: PlanningState, runtime: NodeRuntime) -> Place:
    return place_of(runtime.context.coordinator.saga)


def place_of(saga: Saga) -> Place:
    """Return the node whose turn it is according to the journal."""
    match saga.stage:
        case Stage.PLANNING if saga.plan.hash is None:
            return "plan"
        case Stage.PLANNING if saga.plan.verdict is None:
            return "validate"
        case Stage.PLANNING if saga.plan.verdict["verdict"] != VerdictStatus.VALID:
            return "repair" if saga.plan.version else "plan"
        case Stage.PLANNING if saga.plan.approved_by:
            return "execute"
        case Stage.PLANNING | Stage.AWAITING_APPROVAL:
            return "approve"
        case Stage.RUNNING if is_ready_for_repair(saga):
            return "repair"
        case Stage.RUNNING if not is_quiet(saga):
            return "execute"
        case Stage.COMPENSATING if not is_quiet(saga):
            return "compensate"
        case _:
            return "finish"


# -- nodes -----------------------------------------------------------------------------------------------------------


async def intake(state: PlanningState, runtime: NodeRuntime) -> PlanningState:
    return _reference(runtime.context.coordinator.saga)


async def plan(state: PlanningState, runtime: NodeRuntime) -> PlanningState:
    """Propose a plan, but never again one that was judged INVALID."""
    context = runtime.context
    saga = context.coordinator.saga
    proposed = await _planned(context, saga)
    if isinstance(proposed, Infeasible):
        amendment = amendment_of(saga)
        wanted = saga.request if amendment is None else amendment.request
        remedies = tuple(map(asdict, remedies_for(wanted, proposed)))
        await _tell(context.coordinator, saga, c.DeclareInfeasible(proposed.reasons, remedies))
        return _reference(context.coordinator.saga)
    left = [each for each in proposed.proposals if saga.plan.verdict is None or each.plan_hash != saga.plan.hash]
    if not left or saga.plan.proposals >= MAX_PROPOSALS + (ROUNDS if saga.plan.questions else 0):
        await _tell(context.coordinator, saga, c.DeclareInfeasible(_objections(saga)))
        return _reference(context.coordinator.saga)
    await _tell(context.coordinator, saga, _proposing(*left, agents=proposed.agents))
    return _reference(context.coordinator.saga)


async def _planned(context: PlanningContext, saga: Saga) -> Planned | Infeasible:
    """Have the domain's agents plan, if it has any. If something was carried out, the solver changes it as little as possible."""
    planner, record = context.planner, _recording(context.coordinator)
    if planner is None or amended_by(saga) is not None:
        found = await _proposed(context.domain, saga)
    elif isinstance(planner, TeamPlanner):
        return await planner.propose(saga, await context.journal(), record)
    else:
        found = await planner.propose(saga, record)
    return found if isinstance(found, Infeasible) else Planned(found, ())


async def _proposed(domain: Domain, saga: Saga) -> tuple[Proposal, ...] | Infeasible:
    """Propose a plan. One that has been carried out is changed as little as a repair would change it."""
    if amended_by(saga) is None:
        return await domain.propose(saga.request)
    repaired = await domain.repair(saga)
    return repaired if isinstance(repaired, Infeasible) else (repaired,)


async def repair(state: PlanningState, runtime: NodeRuntime) -> PlanningState:
    """Propose what keeps most of the plan, without what has just failed, and nothing that was judged INVALID."""
    context = runtime.context
    saga = context.coordinator.saga
    domain, planner = context.domain, context.planner
    if isinstance(planner, ModelPlanner) and isinstance(domain, Mending):
        proposed = await planner.repair(domain, saga, _recording(context.coordinator))
        saga = context.coordinator.saga
    else:
        proposed = await domain.repair(saga)
    if isinstance(proposed, Infeasible):
        await _tell(context.coordinator, saga, c.GiveUpRepair(proposed.reasons))
    elif proposed.plan_hash == saga.plan.hash and (saga.stage is Stage.PLANNING or saga.index.fatal):
        why = _objections(saga) if saga.stage is Stage.PLANNING else ("nothing but the same plan is left",)
        await _tell(context.coordinator, saga, c.GiveUpRepair(why))
    else:
        await _tell(context.coordinator, saga, _proposing(proposed))
    return _reference(context.coordinator.saga)


def _proposing(first: Proposal, *others: Proposal, agents: tuple[Json, ...] = ()) -> c.ProposePlan:
    alternatives = tuple(to_json(asdict(each)) for each in others)  # in the form in which the journal will return them
    return c.ProposePlan(
        first.plan_hash, first.plan, asdict(first.cost), alternatives, first.reasons, first.proposed_by, first.reasoning, agents
    )


def _recording(coordinator: Coordinator) -> Record:
    async def record(asked: ModelAsked) -> Saga:
        await coordinator.tell(c.RecordModel(asked))
        return coordinator.saga

    return record


def _objections(saga: Saga) -> tuple[str, ...]:
    verdict = saga.plan.verdict or {}
    said = [verdict.get("reason", ""), *(str(each["message"]) for each in verdict.get("violations", ()))]
    return ("no proposal passed its validators", *filter(None, said))


async def validate(state: PlanningState, runtime: NodeRuntime) -> PlanningState:
    """Have the domain's validators judge the journalled plan; they see it and the request, and nothing about how it was made."""
    context = runtime.context
    saga = context.coordinator.saga
    with context.telemetry.judging_plan(saga, context.domain.name) as judging:
        shown = to_json(await context.domain.evidence(saga))
        verdict = await judged_plan(context.domain, saga.request, saga.plan.content, shown)
        judging.answered(verdict.verdict.value)
    await _tell(context.coordinator, saga, c.JudgePlan(str(saga.plan.hash), verdict.model_dump(mode="json"), shown))
    return _reference(context.coordinator.saga)


async def approve(state: PlanningState, runtime: NodeRuntime) -> PlanningState:
    context = runtime.context
    coordinator = context.coordinator
    if place_of(coordinator.saga) != "approve":  # the journal already has the decision
        return _reference(coordinator.saga)
    await _tell(coordinator, coordinator.saga, c.AskApproval())
    saga = coordinator.saga
    if place_of(saga) != "approve":
        return _reference(saga)
    approver = context.approved_by or saga.plan.approved_in_advance_by or _approver_before(context)
    if approver:
        await _tell(coordinator, saga, c.ApprovePlan(approver))
        return _reference(coordinator.saga)
    decision: Approval = interrupt({"saga_id": saga.id, "plan_hash": saga.plan.hash, "cost": saga.plan.cost})
    await _tell_decision(coordinator, decision)
    return _reference(coordinator.saga)


def _approver_before(context: PlanningContext) -> str:
    """Return who approved before, if this plan asks no more of people than the approved one; empty if it does."""
    saga = context.coordinator.saga
    if _is_first_plan(saga) or is_foreseen(saga) or context.domain.needs_approval(saga):
        return ""
    return "nobody new: it costs no more, and no times change"


def _is_first_plan(saga: Saga) -> bool:
    """Tell whether nothing was planned before it, here or in a saga that this one amends."""
    return not saga.plan.version and amended_by(saga) is None


async def _tell(coordinator: Coordinator, seen: Saga, command: c.Command) -> None:
    """Append what follows from `seen`, unless the saga has moved on: a cancellation does not wait for planners or validators."""
    try:
        await coordinator.tell(command)
    except NotAllowedError:
        if coordinator.saga.stage is seen.stage and seen.stage is not Stage.COMPENSATING:
            raise


async def _tell_decision(coordinator: Coordinator, decision: Approval) -> None:
    await coordinator.tell(_command_of(decision))


def _command_of(decision: Approval) -> c.ApprovePlan | c.RejectPlan:
    kind = c.ApprovePlan if decision["approved"] else c.RejectPlan
    return kind(decision["by"], decision["plan_hash"])


async def execute(state: PlanningState, runtime: NodeRuntime) -> PlanningState:
    """Mint a plan's operations once, then let the coordinator run them until nothing moves or the saga turns back."""
    context = runtime.context
    coordinator = context.coordinator
    if coordinator.saga.stage is Stage.PLANNING:
        await _tell(coordinator, coordinator.saga, _accepting(context.domain, coordinator.saga))
    turned_or_quiet = await _until(coordinator, Stage.RUNNING)
    return _reference(turned_or_quiet)


def _accepting(domain: Domain, saga: Saga) -> c.AcceptPlan:
    revision = Revision(domain.workflow(saga.plan.content)) if _is_first_plan(saga) else domain.revision(saga)
    revisable = saga.plan.version < MAX_REPAIRS
    operations = tuple(structs.replace(each, reasoning=each.reasoning or saga.plan.reasoning) for each in revision.operations)
    return c.AcceptPlan(operations, revision.removed, revision.replaced, revisable=revisable)


async def compensate(state: PlanningState, runtime: NodeRuntime) -> PlanningState:
    """Have the coordinator undo what committed, dependents first."""
    return _reference(await _until(runtime.context.coordinator, Stage.COMPENSATING))


async def _until(coordinator: Coordinator, stage: Stage) -> Saga:
    """Run until the saga has left `stage`, or nothing in it moves any more."""
    return await coordinator.until(lambda saga: saga.stage is not stage or coordinator.is_idle)


async def finish(state: PlanningState, runtime: NodeRuntime) -> PlanningState:
    return _reference(await runtime.context.coordinator.until_quiet())


def _reference(saga: Saga) -> PlanningState:
    return PlanningState(saga_id=saga.id, plan_hash=saga.plan.hash, status=status_of(saga).value)
