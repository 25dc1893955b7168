"""Run of a graph: the body of a saga, whose operations are the graph's nodes (ADR-0012)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp, GraphRecursionError, InvalidUpdateError

from sagagraph.errors import (
    NotAllowedError,
    OperationHeldError,
    SagaClosedError,
    SagaGraphError,
    words_of,
)
from sagagraph.graph.nested.frontier import RECORD, Level, Levels, parent_of
from sagagraph.graph.nested.inner import CONSUMED, InnerTask, InnerTasks, called_graph, tasks_of
from sagagraph.graph.state.items import Items
from sagagraph.graph.state.outputs import asked_by
from sagagraph.graph.state.values import encode
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.dependencies import is_done_with
from sagagraph.saga.core.doubt.in_doubt import waits_for_answer
from sagagraph.saga.core.events import Fault
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.actions import Action, Guarantees
from sagagraph.saga.engine.body import failure_of, is_over, open_end_of
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.engine.engine import Engine
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Policy

RUN = "__pregel_sagagraph_run"
"""Where nodes find the run in LangGraph's `configurable`; keys with this prefix enter no checkpoint and no stream."""


BY_HAND = "__pregel_sagagraph_by_hand"
"""In `configurable` while somebody updates the state: routers run outside a run. Its value provides off-loaded items."""

COMPENSATE = "__compensate__"
"""The node that waits for the compensation."""


class LeftOpen(GraphBubbleUp):
    """Carrier of an error that leaves the saga open, through LangGraph: siblings end, and nothing is recorded as failed."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True, slots=True)
class Scope:
    """Scope: the operation whose code is running; "" is the graph itself. `action` prefixes the names of the actions below it.

    `asked`: the operations that this code itself has asked for in this pass, without the nodes of graphs that it runs; `level`:
    those of them that have finished. `task` and `namespace`: LangGraph's names for the node's own task. `called`: the names of
    the graphs in its code, by the inner task that they run in.
    """

    run: GraphRun
    operation: str
    action: str
    task: str = ""
    namespace: str = ""
    asked: set[str] = field(default_factory=set)
    level: Level = field(default_factory=lambda: Level(()))
    called: dict[str, str] = field(default_factory=dict)
    is_graph: bool = True

    def inner_tasks(self, config: RunnableConfig) -> tuple[InnerTask, ...]:
        """Return the inner tasks in which code of this node runs with `config`."""
        return tasks_of(config, self.operation, self.task, self.namespace)

    def consumed(self, *, but_for: Iterable[InnerTask] = ()) -> dict[str, None]:
        """Return what inner tasks that LangGraph will not run again have asked for."""
        return self.run.inner.consumed(self.operation, self.task, but_for=but_for)


_SCOPE: ContextVar[Scope | None] = ContextVar("sagagraph_scope", default=None)


def enter_scope(scope: Scope) -> None:
    _SCOPE.set(scope)


def active_scope() -> Scope | None:
    return _SCOPE.get()


class GraphRun:
    """Run of a graph. `name`: the graph's. `root`: the prefix of the live branch's ids, empty for the first."""

    def __init__(self, engine: Engine, coordinator: Coordinator, name: str, *, trusts_exceptions: bool = False) -> None:
        self.engine = engine
        self.trusts_exceptions = trusts_exceptions
        self.coordinator = coordinator
        self.loop = asyncio.get_running_loop()
        self.root = live_branch(coordinator.saga)
        self.levels = Levels(coordinator.saga, self.root)
        self._scope = Scope(self, self.root, name)
        self.asked: set[str] = set(coordinator.saga.operations) if coordinator.saga.body_completed else set()
        self.updates = False
        """Whether this invocation brings an update of the state together with an answer."""
        self.inner = InnerTasks(coordinator.saga)
        self._ending: set[asyncio.Future[None]] = set()
        self._asking: set[str] = set()
        """The operations that somebody waits for."""
        self.asked_interrupts: set[str] = set()
        """Ids of the interrupts that this run has journalled."""
        self.failed_below: list[Exception] = []
        """Exceptions of tools whose operations have failed: trying their nodes again would change nothing."""
        self.failure: BaseException | None = None
        """The failure that turned the saga back in this process."""
        self.compensated_at: float | None = None
        """The step of the node that waited for the compensation; later steps are not part of the saga."""
        self._has_routed = False
        self.items = Items(engine, lambda: coordinator.saga)
        coordinator.asked = self.asked

    @property
    def saga(self) -> Saga:
        return self.coordinator.saga

    def scope(self) -> Scope:
        active = active_scope()
        return active if active is not None and active.run is self else self._scope

    def called(self, scope: Scope, namespace: str, config: RunnableConfig) -> str:
        """Return the part of an id for one of several graphs in a node's code; empty for the first that its function calls.

        If a SagaGraph runs in a node of LangGraph's own, passes of that node are distinguished by what they have consumed.
        """
        parts: list[str] = []
        tasks = {each.id: each for each in scope.inner_tasks(config)}
        for each in called_graph(namespace, scope.namespace):
            if each.isdecimal():
                parts.append(f"graph~{int(each) + 1}")
            elif ":" in each:
                parts.append(self._called_in(scope, tasks[each.rpartition(":")[2]], each.partition(":")[0], parts))
        return "/".join(parts)

    def _called_in(self, scope: Scope, task: InnerTask, node: str, above: Sequence[str]) -> str:
        if task.id not in scope.called:
            taken = scope.consumed(but_for=[task])
            number = 1
            while (part := f"{node}~{number}") in scope.called.values() or any(
                each.startswith("/".join((scope.operation, *above, part, ""))) for each in taken
            ):
                number += 1
            scope.called[task.id] = part
        return scope.called[task.id]

    # -- operations ----------------------------------------------------------------------------------------------------

    async def perform(
        self, name: str, action: Action, request: object, after: Iterable[str] | None, step: int | None
    ) -> Operation:
        """Run `action` as operation `name`, or find it in the journal.

        Its outcome is durable when this returns; if it is a graph's node (with a `step`), before the next checkpoint or effect. A
        cancellation waits until the outcome of an effect is journalled, for as long as its policy allows.
        """
        parent = parent_of(self.saga, name, self.root)
        self.asked.add(name)
        self._asking.add(name)
        self.coordinator.give(name, action)
        try:
            await asyncio.sleep(0)  # nodes of one step come together
            prerequisites = self.before(name, step) if after is None else tuple(after)
            planned = c.PlanOperation(action.spec(name, request, prerequisites), action.formerly)
            self.levels.plan(name, parent)
            saga = await self._told(name, action, planned, is_alone=len(self._asking) == 1)
        finally:
            self._asking.discard(name)
            if name in self.saga.operations:
                self.levels.finish(self.saga, name, parent)
        operation = saga.operations[name]
        if not operation.succeeded:
            raise failure_of(saga, operation)
        if step is None:
            await self.coordinator.flush()
        return operation

    async def _told(self, name: str, action: Action, planned: c.PlanOperation, *, is_alone: bool) -> Saga:
        """Have an operation performed. A cancellation stops what only reads, and waits for the outcome of anything else."""
        done = partial(is_over, name=name)
        if action.kind is ActionKind.READ_ONLY and is_alone:
            return await self.coordinator.tell_and_perform(planned, done, operation=name)
        answer = self.coordinator.ask(planned, done, operation=name, is_alone=is_alone)
        if action.kind is ActionKind.READ_ONLY:
            return await answer
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            answer.add_done_callback(_looked_at)
            await asyncio.wait({answer}, timeout=action.policy.timeout_s)
            raise

    def before(self, name: str, step: int | None) -> tuple[str, ...]:
        return self.levels.at(self.saga, parent_of(self.saga, name, self.root)).before(step)

    def operations_of(self, nodes: Iterable[str], scope: Scope) -> tuple[str, ...]:
        return self.levels.at(self.saga, scope.operation).of_nodes(nodes)

    async def record(self, name: str, value: object, *, what: str) -> None:
        """Journal a fact as an operation without effect; one that is already there is kept."""
        known = self.saga.operations.get(name)
        if known is None or not known.succeeded:
            self.asked.add(name)
            await write_down(self.coordinator, name, encode(value), what=what)

    def recorded(self, name: str) -> Operation | None:
        known = self.saga.operations.get(name)
        return known if known is not None and known.succeeded else None

    async def task_ends(self, task: str, writes: Sequence[tuple[str, Any]]) -> None:
        """Journal what an inner task asked for; LangGraph is about to keep its `writes`, and will not run it again."""
        ending = self.inner.ending(task, writes)
        if ending is not None and self.saga.stage is Stage.RUNNING:
            recording = asyncio.ensure_future(self.record(*ending, what=CONSUMED))
            self._ending.add(recording)
            recording.add_done_callback(self._ending.discard)
            with suppress(SagaClosedError):
                await recording

    async def is_journalled(self) -> None:
        """Return when the journal has what LangGraph is about to keep."""
        if self._ending:
            await asyncio.gather(*self._ending, return_exceptions=True)
        await self.coordinator.flush()

    # -- the end ---------------------------------------------------------------------------------------------------------

    @property
    def status(self) -> SagaStatus:
        return status_of(self.saga)

    @property
    def is_stuck(self) -> bool:
        """Tell whether the compensation could not be completed, or not even begun."""
        return self.saga.stage is not Stage.COMPENSATED

    @property
    def is_turned_back(self) -> bool:
        saga = self.saga
        if saga.stage is Stage.RUNNING:
            return bool(saga.cancel_by) or saga.body_fault is not None
        return saga.stage is not Stage.COMMITTED

    def is_mistake(self, error: BaseException) -> bool:
        """Tell whether the caller of an open saga asked for something impossible: no node has run in this invocation."""
        has_begun_here = len(self.saga.operations) == 0
        return not (self.asked or has_begun_here or isinstance(error, InvalidUpdateError | GraphRecursionError))

    async def turn_back(self, error: BaseException) -> None:
        """Turn the saga back: no further intent is accepted, and what committed will be compensated."""
        if self.failure is None:
            self.failure = error
        if self.saga.stage is Stage.RUNNING and self.saga.body_fault is None:
            await self.coordinator.tell(c.RaiseBody(Fault(type(error).__name__, words_of(error) or type(error).__name__)))

    def routes_first(self) -> bool:
        """Tell whether nothing in this process has routed to the compensation before."""
        first, self._has_routed = not self._has_routed, True
        return first

    async def compensated(self) -> Saga:
        self.coordinator.asked = None
        return await self.coordinator.until_quiet()

    async def completed(self) -> None:
        """Complete the run: all nodes are done. Raises `OperationHeldError` if a person must settle something first."""
        saga = self.saga
        if saga.stage is Stage.COMMITTED:
            return
        self.coordinator.asked = None
        await remove(self.coordinator, abandoned(saga))
        await self.coordinator.tell(c.CompleteBody(self._wanted()))
        saga = await self.coordinator.until_quiet()
        if saga.stage is not Stage.COMMITTED:
            raise open_end_of(saga)

    def _wanted(self) -> frozenset[str]:
        """Return the operations still asked for: not those of an abandoned pass that its rerun left out (ADR-0005)."""
        saga = self.saga
        stale: set[str] = set()
        for operation in saga.in_order():
            if operation.succeeded and (asked := asked_by(operation.output)) is not None:
                stale |= set(self.levels.own_of(saga, operation.id)).difference(asked)
        return frozenset(name for name, each in saga.operations.items() if name not in stale or not each.has_effect)

    def failure_to_raise(self) -> BaseException:
        saga = self.saga
        ended = f"saga {saga.id!r} is {status_of(saga).value}"
        if isinstance(self.failure, SagaGraphError) and not isinstance(self.failure, SagaClosedError):
            self.failure.add_note(ended)
            return self.failure
        if self.failure is None or isinstance(self.failure, SagaClosedError):
            return open_end_of(saga)
        self.failure.add_note(ended)
        return self.failure

    def failure_in_journal(self, otherwise: BaseException) -> BaseException:
        """Return what a node failed with in another process; `otherwise`, if none has failed."""
        failed = next((each for each in self.saga.in_order() if each.failed), None)
        return failure_of(self.saga, failed) if failed is not None else otherwise

    async def settle(self) -> None:
        """Let running effects end, within their policies, before the lease is released."""
        with suppress(SagaGraphError, TimeoutError):
            waits_s = max((each.spec.policy.timeout_s for each in self._effects_out()), default=0.0)
            async with asyncio.timeout(waits_s + 1.0):
                await self.coordinator.until(lambda _saga: not any(self._effects_out()))

    def _effects_out(self) -> list[Operation]:
        return [each for each in self.saga.operations.values() if each.in_flight and each.has_effect]

    def held(self) -> SagaGraphError | None:
        """Return what waits for a person, other than an answer to an interrupt."""
        for each in self.saga.in_order():
            if each.status is OperationStatus.HELD and each.has_effect and not waits_for_answer(each):
                return failure_of(self.saga, each)
        return OperationHeldError(str(open_end_of(self.saga))) if status_of(self.saga) is SagaStatus.STUCK else None


def _looked_at(answer: asyncio.Future[Saga]) -> None:
    """Report how the operation ended to the journal only: a cancelled caller no longer asks."""
    if not answer.cancelled():
        answer.exception()


def run_of(config: RunnableConfig, node: str) -> GraphRun:
    run = config.get("configurable", {}).get(RUN)
    if run is None:
        raise NotAllowedError(
            f"node {node!r} of a SagaGraph runs only in an invocation of a graph that was compiled with an engine: "
            "compile the outermost SagaGraph with engine="
        )
    return run  # type: ignore[no-any-return]


# -- ids ---------------------------------------------------------------------------------------------------------------


BRANCH = "branch-"


def live_branch(saga: Saga) -> str:
    """Return the newest branch; the first has no prefix."""
    branches = [each.id for each in saga.in_order() if each.id.startswith(BRANCH) and "/" not in each.id and each.succeeded]
    return branches[-1] if branches else ""


def abandoned(saga: Saga) -> tuple[str, ...]:
    """Return passes without effects that nothing will finish: of another branch, or of a node that is no longer reached."""
    return tuple(each.id for each in saga.in_order() if not (each.has_effect or is_done_with(each)))


async def remove(coordinator: Coordinator, names: Iterable[str]) -> None:
    """Remove operations from the plan (docs/protocol.md rule 8): those with effects are compensated while the saga continues."""
    if removed := tuple(names):
        await coordinator.tell(c.AcceptPlan((), removed))


async def write_down(coordinator: Coordinator, name: str, value: object, *, what: str) -> None:
    """Record `value`, JSON, as the output of an operation without effect; durable when this returns."""
    action = _recording(what, value)
    coordinator.give(name, action)
    await coordinator.tell_until(c.PlanOperation(action.spec(name, None)), partial(is_over, name=name), operation=name)
    await coordinator.flush()


def _recording(what: str, value: object) -> Action:
    async def execute(_request: object, _call: Call) -> Any:
        return value

    return Action(
        name=RECORD + what,
        version=1,
        kind=ActionKind.READ_ONLY,
        execute=execute,
        compensate=None,
        probe=None,
        reverse=None,
        undo_cost=None,
        policy=Policy(),
        validators=(),
        guarantees=Guarantees(),
        request_type=Any,
        result_type=Any,
        home=__name__,
    )
