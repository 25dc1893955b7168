"""Run: one mission under one lease: decisions are journalled, and then what they ask for is begun (PRD-102, section 4)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from msgspec import structs

from sagagraph.context.metering import MeteredModel
from sagagraph.context.model import Model, Usage
from sagagraph.coordination.agents import ONCE, Agent, Turn, allowed_tools, enter_turn, reply_of
from sagagraph.coordination.briefing import brief_of, coordinator_slice
from sagagraph.coordination.core.budget import Priced, why_not
from sagagraph.coordination.core.deciding import Bench, Deciding
from sagagraph.coordination.core.facts import Fact, Kind
from sagagraph.coordination.core.matching import EXPECTED, TIERS, Tier
from sagagraph.coordination.core.mission import NOTE, Mission, Task, advanced
from sagagraph.coordination.core.people import settle
from sagagraph.coordination.core.states import RunState, TaskState
from sagagraph.coordination.core.tick import CONTRACTOR, next_at, tick
from sagagraph.coordination.decomposition import Decomposed, Revised, decomposed, revised
from sagagraph.coordination.outcomes import (
    BUDGET,
    CONFIGURATION,
    HELD,
    STALLED,
    output_verified,
    planned,
    replanned,
    turn_failed,
    turn_replied,
    verifier_broke,
)
from sagagraph.coordination.templates import owner_of
from sagagraph.coordination.verification import Verification, verified
from sagagraph.errors import ModelError, Refused, SagaGraphError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.events import Fault, Resolution
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.engine.actions import Action, action
from sagagraph.saga.engine.body import is_over
from sagagraph.saga.engine.coordinator import Coordinator as Holder
from sagagraph.workflow.kind import ActionKind

if TYPE_CHECKING:
    from sagagraph.coordination.coordinator import Coordinator

WISH: Final = "mission wish"
"""The kind of document with which a person's wish reaches whoever holds the mission."""
_PLAN: Final = "mission.plan"
_REPLAN: Final = "mission.replan"
_VERIFY: Final = "mission.verify"
_CONTRACT: Final = "mission.contract"
"""What contractors do: they are made in memory, so that no process knows an action of theirs beforehand."""

F = TypeVar("F", Decomposed, Revised)


@action(name=NOTE, kind=ActionKind.READ_ONLY)
def note(request: Any, call: Call) -> None:
    """Keep facts in the journal: what is asked for is what is kept."""


def work_actions(agents: Iterable[Agent], find: Callable[[str], Run | None]) -> Iterator[Action]:
    """Return the actions of missions; each finds the run that it belongs to."""

    def performing(perform: Callable[[Run, Any, Call], Awaitable[Any]]) -> Callable[[Any, Call], Awaitable[Any]]:
        async def execute(request: Any, call: Call) -> Any:
            run = find(call.saga_id)
            if run is None:
                raise Refused("its mission is not running here", code="not_here", transient=True)
            return await perform(run, request, call)

        return execute

    yield note
    for name, perform in ((_PLAN, Run.plan), (_REPLAN, Run.replan), (_VERIFY, Run.verify), (_CONTRACT, Run.work)):
        yield replace(note, name=name, execute=performing(perform), policy=ONCE, home=f"{__name__}.{name}")
    for each in agents:
        yield replace(each.work, execute=performing(Run.work))


class Run:
    """Run of one mission. `mission` is always what is journalled, or about to be."""

    def __init__(self, mission_id: str, coordinator: Coordinator) -> None:
        self.id = mission_id
        self.mission = Mission(mission_id)
        self._coordinator = coordinator
        self._team = coordinator.team
        self._clock = coordinator.clock
        self._store = coordinator.engine.store
        self._holder: Holder
        self.ready = asyncio.Event()
        self.nudged = asyncio.Event()
        """Has it look again at once."""
        self._booked = asyncio.Event()
        self._notes = 0
        self._calls = 0
        self._jobs: dict[str, asyncio.Task[None]] = {}
        """Operation → whoever waits for it."""
        self._workers: dict[str, asyncio.Task[Any]] = {}
        self._hired: dict[str, Agent] = {}
        self._failure: BaseException | None = None

    async def through(self, holder: Holder) -> None:
        """Go on until the mission has ended, or waits for a person."""
        self._holder = holder
        saga = holder.saga
        self.mission = advanced(self.mission, saga, 0)
        self._notes = sum(1 for each in saga.operations.values() if each.spec.action == NOTE)
        self._calls = self.mission.calls + len(self.mission.pending)
        self.ready.set()
        if saga.stage is not Stage.RUNNING or saga.cancel_by:
            await holder.until_quiet()
            return
        await self._settle_lost_calls()
        for task in self.mission.of(TaskState.RUNNING, TaskState.VERIFYING):  # silent until now, for nobody was there
            await self._note(Fact(Kind.TASK_PROGRESS, self._clock(), task.spec.order, {"what": "taken over"}))
        if self.mission.state is RunState.PENDING:
            told: Any = saga.request
            await self._note(
                Fact(Kind.RUN_STARTED, self._clock(), None, {name: told[name] for name in ("goal", "config", "by")}),
                Fact(Kind.PLANNING_STARTED, self._clock()),
            )
        while not self.mission.state.is_terminal:
            if holder.saga.stage is not Stage.RUNNING or holder.saga.cancel_by:
                break
            if self._failure is not None:
                raise self._failure
            self.nudged.clear()
            await self._hear()
            await self._note(*tick(self.mission, self._clock(), self._bench()))
            await self._undo_stale()
            await self._begin_due()
            if self.mission.waits and not self.mission.state.is_terminal and not self._jobs:
                return
            if not self.mission.state.is_terminal:
                await self._wait()
        await self._finish()

    async def _wait(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, next_at(self.mission, now := self._clock()) - now)):
                await self.nudged.wait()

    async def _finish(self) -> None:
        """End the saga: what is completed is committed; anything else is undone, dependents first."""
        for each in list(self._workers.values()):
            each.cancel()
        saga = self._holder.saga
        if saga.stage is Stage.RUNNING and not saga.cancel_by and not saga.body_completed:
            await self._undo_stale()
            if self.mission.state is RunState.COMPLETED:
                kept = frozenset(each.id for each in saga.operations.values() if not each.removed)
                await self._holder.tell(c.CompleteBody(kept))
            else:
                why = self.mission.error or self.mission.state.value
                await self._holder.tell(c.RaiseBody(Fault(f"mission_{self.mission.state.value}", why)))
        await self._holder.until_quiet()

    async def end(self) -> None:
        for each in [*self._jobs.values(), *self._workers.values()]:
            each.cancel()
        await asyncio.gather(*self._jobs.values(), *self._workers.values(), return_exceptions=True)

    # -- the journal ---------------------------------------------------------------------------------------------------

    def _bench(self) -> Bench:
        return self._coordinator.bench(self.mission)

    def _deciding(self) -> Deciding:
        return Deciding(self.mission, self._clock(), self._bench())

    async def _note(self, *facts: Fact) -> None:
        """Journal facts; they hold from now on, and are durable when this returns."""
        if not facts:
            return
        deciding = Deciding(self.mission, facts[-1].at, Bench(()))
        for each in facts:
            deciding.take(each)
        self.mission = deciding.mission
        self._notes += 1
        written = [msgspec.to_builtins(each) for each in facts]
        await self._holder.tell(c.PlanOperation(note.spec(f"note-{self._notes}", written)))

    async def _hear(self) -> None:
        """Decide what people have said since; what cannot be any more is answered, and changes nothing."""
        for each in await self._store.documents(self.id, WISH):
            if each.key in self.mission.heard:
                continue
            deciding = self._deciding()
            heard: dict[str, Any] = {"key": each.key, "verb": each.data["verb"], "by": each.data["by"]}
            try:
                settle(deciding, each.data["verb"], each.data["told"], each.data["by"])
            except SagaGraphError as exc:
                deciding = self._deciding()
                heard["refused"] = str(exc)
            deciding.say(Kind.WISH_HEARD, None, **heard)
            await self._note(*deciding.facts)

    async def _settle_lost_calls(self) -> None:
        """Book calls that were under way when another process died, at their estimates: they may have cost that."""
        for call, estimate in self.mission.pending.items():
            data: dict[str, Any] = {"call": call, "cost": str(estimate), "tokens_in": 0, "tokens_out": 0, "lost": True}
            await self._note(Fact(Kind.MODEL_BOOKED, self._clock(), None, data))

    async def _undo_stale(self) -> None:
        """Undo what rejected and abandoned attempts left, dependents with it, before anything new is begun."""
        if stale := stale_operations(self.mission, self._holder.saga):
            await self._holder.tell(c.AcceptPlan((), stale))

    # -- beginning operations ------------------------------------------------------------------------------------------

    async def _begin_due(self) -> None:
        """Begin whatever the mission's state asks for, unless it is under way."""
        mission = self.mission
        if mission.state is RunState.PLANNING:
            self._begin("plan-1", self._planned)
        if mission.state is RunState.RUNNING and mission.triggers:
            self._begin(f"replan-{mission.triggers[0]['key']}", partial(self._replanned, mission.triggers[0]))
        for task in mission.tasks.values():
            if task.state is TaskState.ASSIGNED and mission.state is RunState.RUNNING:
                if all(is_over(self._holder.saga, each.id) for each in self._turns_of(task)):
                    await self._note(Fact(Kind.TASK_STARTED, self._clock(), task.spec.order))
                    self.nudged.set()
            elif task.state is TaskState.RUNNING:
                self._begin(task.turn_id, partial(self._turned, task.spec.order))
            elif task.state is TaskState.VERIFYING and not task.parked:
                self._begin(task.check_id, partial(self._checked, task.spec.order))
            elif task.state is not TaskState.CONTINUING and (worker := self._workers.get(task.operation)) is not None:
                worker.cancel(STALLED)

    def _turns_of(self, task: Task) -> list[Operation]:
        """Return the operations of all its turns: some may still have an effect."""
        return [each for each in self._holder.saga.operations.values() if _task_of(each.id) == task.spec.order]

    def _begin(self, name: str, job: Callable[[str], Awaitable[None]]) -> None:
        if name not in self._jobs:
            self._jobs[name] = asyncio.create_task(self._guarded(name, job(name)), name=f"{self.id}/{name}")

    async def _guarded(self, name: str, job: Awaitable[None]) -> None:
        try:
            await job
        except Exception as exc:  # noqa: BLE001 - whoever runs the mission raises it
            self._failure = self._failure or exc
        finally:
            self._jobs.pop(name, None)
            self.nudged.set()

    async def _run(self, name: str, made: Action | str, request: Any, after: Iterable[str] = ()) -> Operation:
        """Run an operation, or wait for it if it has begun. `made`: an action, or the name of one of ours."""
        made = replace(note, name=made, policy=ONCE) if isinstance(made, str) else made
        is_done = partial(is_over, name=name)
        if name in self._holder.saga.operations:
            saga = await self._holder.until(is_done, operation=name)
        else:
            plan = c.PlanOperation(made.spec(name, request, tuple(after)))
            saga = await self._holder.tell_until(plan, is_done, operation=name)
        if saga.operations[name].hold and made.kind is ActionKind.READ_ONLY:  # after a pivot nothing fails; but this only reads
            await self._holder.tell(c.Resolve(name, Resolution.FAILED, "mission", because="it changes nothing"))
        return self._holder.saga.operations[name]

    async def _decide(self, decide: Callable[..., None], *told: Any) -> None:
        """Take in what came of an operation."""
        deciding = self._deciding()
        decide(deciding, *told)
        await self._note(*deciding.facts)

    async def _planned(self, name: str) -> None:
        found = _found(await self._run(name, _PLAN, {"goal": self.mission.goal}), Decomposed)
        if self.mission.state is RunState.PLANNING:
            await self._decide(planned, found)

    async def _replanned(self, trigger: dict[str, Any], name: str) -> None:
        found = _found(await self._run(name, _REPLAN, dict(trigger)), Revised)
        if not self.mission.state.is_terminal:
            await self._decide(replanned, trigger, found)

    async def _turned(self, order: int, name: str) -> None:
        """Have an agent work on a task, and take in what came of it."""
        task = self.mission.tasks[order]
        agent = self._agent(task)
        brief = brief_of(self.mission, task, agent.tools if agent else frozenset())
        made = _CONTRACT if agent is None or task.agent_type == CONTRACTOR else agent.work
        after = [each for each in self._before(task) if each in self._holder.saga.operations]
        held = [each for each in self._turns_of(task) if each.hold]
        output: Any = None
        fault: tuple[str, str] | None
        try:
            operation = held[0] if held else await self._run(name, made, agent.ask(brief) if agent else None, after)
            fault, output = _fault_of(operation), operation.output
        except SagaGraphError as exc:
            if exc.exit_code == 3 or self._holder.saga.stage is not Stage.RUNNING:
                raise
            fault = "configuration", str(exc)
        task = self.mission.tasks[order]
        if task.operation != name or task.state is not TaskState.RUNNING or self.mission.state.is_terminal:
            return  # it was decided meanwhile
        if fault is None:
            await self._decide(turn_replied, task, reply_of(output))
        else:
            await self._decide(turn_failed, task, *fault)

    def _before(self, task: Task) -> list[str]:
        """Return the operations that it builds upon, and is undone before."""
        edges = self.mission.plan.needs(task.spec.order) if self.mission.plan else ()
        before = [self.mission.tasks[each.prerequisite] for each in edges]
        own = [structs.replace(task, turn=task.turn - 1).turn_id] if task.turn > 1 else []
        return [*(each.operation for each in before if each.state is TaskState.COMPLETED and each.operation), *own]

    async def _checked(self, order: int, name: str) -> None:
        """Have an output verified, and take in the verdict."""
        worked = self.mission.tasks[order].operation
        operation = await self._run(name, _VERIFY, {"task": order, "of": worked}, (worked,))
        task, fault = self.mission.tasks[order], _fault_of(operation)
        if task.check_id != name or task.state is not TaskState.VERIFYING or self.mission.state.is_terminal:
            return
        if fault is None:
            await self._decide(output_verified, task, msgspec.convert(operation.output, Verification))
        else:
            await self._decide(verifier_broke, task, *fault)

    # -- what operations do --------------------------------------------------------------------------------------------

    async def plan(self, _request: Any, _call: Call) -> Any:
        await self.ready.wait()
        found = await decomposed(
            self.mission, await self._coordinator.templates(owner_of(self.id)), self._bench(), self._planner()
        )
        return msgspec.to_builtins(found)

    async def replan(self, trigger: Any, _call: Call) -> Any:
        await self.ready.wait()
        shown = coordinator_slice(self.mission, self._bench(), self._clock(), trigger).facts
        return msgspec.to_builtins(await revised(self.mission, trigger, shown, self._bench(), self._planner()))

    async def verify(self, request: Any, _call: Call) -> Any:
        await self.ready.wait()
        task = self.mission.tasks[int(request["task"])]
        agent = self._agent(task)
        own = agent.profile.family if agent else ""
        judge = next((each for each in self._team.judges if each.kin != own), None)
        model = self._metered(judge, task.spec.order) if judge else None
        try:
            return msgspec.to_builtins(await verified(task.spec, task.output, self.mission.config, model))
        except ModelError as exc:
            raise Refused(f"the judge could not be asked: {exc}", code="judge") from exc

    async def work(self, request: Any, call: Call) -> Any:
        """Let an agent work; one that is not heard of for too long is stopped."""
        await self.ready.wait()
        order = _task_of(call.operation_id)
        task = self.mission.tasks[order]
        doer = self._agent(task)
        if doer is None:
            wanted = ", ".join(task.spec.tools) or "no tools"
            raise Refused(f"there is no agent {task.agent!r} here, and the task needs {wanted}", code="configuration")
        tools = allowed_tools(self.mission.config, task.spec, doer.tools)
        brief = brief_of(self.mission, task, doer.tools)
        turn = Turn(brief, self._model_of(doer, task), tools, partial(self._progress, order))
        paid = await self._admit(order, doer.id, 0, doer.price) if doer.price else ""
        worker = asyncio.create_task(_worked(doer.work, request, call, turn), name=f"{self.id}/{call.operation_id}")
        self._workers[call.operation_id] = worker
        try:
            return await worker
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                worker.cancel()
                raise
            if doer.work.kind is ActionKind.READ_ONLY:
                raise Refused("nothing was heard of it", code=STALLED) from None
            raise TimeoutError("nothing was heard of it") from None
        finally:
            self._workers.pop(call.operation_id, None)
            if paid:
                await self._book(order, paid, Usage(doer.id, 0, 0, 0.0), doer.price)

    async def _progress(self, order: int, what: str) -> None:
        await self._note(Fact(Kind.TASK_PROGRESS, self._clock(), order, {"what": what}))

    def _agent(self, task: Task) -> Agent | None:
        if task.agent_type == CONTRACTOR and self._team.hires is not None:
            if task.agent not in self._hired:
                made = self._team.hires(task.agent, EXPECTED[task.spec.type])
                self._hired[task.agent] = replace(made, tools=frozenset(task.spec.tools))
            return self._hired[task.agent]
        return next((each for each in self._team.agents if each.id == task.agent), None)

    # -- models --------------------------------------------------------------------------------------------------------

    def _model_of(self, agent: Agent, task: Task) -> Model | None:
        """Return its model, of the tier that is preferred: one up where the ladder says so, one down where the budget does."""
        priced = agent.model
        if priced is None:
            return None
        step = (1 if task.tier_up else 0) - (1 if self.mission.downgraded else 0)
        own: str = task.spec.model or self.mission.config.model_preferences.get(task.spec.type.value, "") or priced.tier
        tier = TIERS[min(max(TIERS.index(Tier(own)) + step, 0), len(TIERS) - 1)]
        return self._metered(self._team.models.get(tier, priced) if tier is not priced.tier else priced, task.spec.order)

    def _planner(self) -> Model | None:
        return self._metered(self._team.planner) if self._team.planner else None

    def _metered(self, priced: Priced, order: int | None = None) -> Model:
        return MeteredModel(
            priced.model, priced.prices, partial(self._admit, order, priced.model.name), partial(self._book, order)
        )

    async def _admit(self, order: int | None, name: str, tokens: int, cost: Decimal) -> str:
        while why := why_not(self.mission, tokens, cost):
            if not self.mission.pending:
                raise Refused(why, code=BUDGET)
            self._booked.clear()
            await self._booked.wait()  # a call under way may cost less than was reckoned with
        self._calls += 1
        call = f"call-{self._calls}"
        data: dict[str, Any] = {"call": call, "estimate": str(cost), "model": name}
        await self._note(Fact(Kind.MODEL_ADMITTED, self._clock(), order, data))
        return call

    async def _book(self, order: int | None, call: str, usage: Usage, cost: Decimal) -> None:
        data: dict[str, Any] = {"call": call, "cost": str(cost), "model": usage.model}
        data |= {"tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out}
        await self._note(Fact(Kind.MODEL_BOOKED, self._clock(), order, data))
        self._booked.set()


async def _worked(work: Action, request: Any, call: Call, turn: Turn) -> Any:
    enter_turn(turn)
    found = work.execute(request, call)
    return await found if asyncio.iscoroutine(found) else found


_TURN: Final = re.compile(r"task-(\d+)[./][^?]+")


def _task_of(operation: str) -> int:
    """Return the task of whose turns an operation is one; 0 for any other one."""
    found = _TURN.fullmatch(operation)
    return int(found[1]) if found else 0


def stale_operations(mission: Mission, saga: Saga) -> tuple[str, ...]:
    """Return operations with an effect of attempts that do not count any more. What counts: the latest turn, with those before
    it in its attempt, of a task that is not being tried again.
    """
    found = []
    for each in saga.operations.values():
        if each.has_effect and each.succeeded and not each.removed and (order := _task_of(each.id)):
            task = mission.tasks.get(order)
            counts = task is not None and task.state in _COUNTS and each.id.partition("+")[0] == task.operation.partition("+")[0]
            found += [] if counts else [each.id]
    return tuple(found)


_COUNTS: Final = frozenset(
    {TaskState.RUNNING, TaskState.CONTINUING, TaskState.VERIFYING, TaskState.AWAITING_HUMAN, TaskState.COMPLETED}
)


def _found(operation: Operation, kind: type[F]) -> F:
    fault = _fault_of(operation)
    return msgspec.convert(operation.output, kind, strict=False) if fault is None else kind(None, objections=(fault[1],))


def _fault_of(operation: Operation) -> tuple[str, str] | None:
    """Return code and reason; None if it succeeded."""
    if operation.succeeded:
        return None
    if operation.hold:
        return HELD, f"it may have had an effect: {operation.hold}; say sagagraph resolve"
    if operation.fault is None:
        return "unknown", operation.status.value
    code = "configuration" if operation.fault.code in CONFIGURATION else operation.fault.code
    return code, operation.fault.message
