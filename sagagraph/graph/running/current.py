"""Current saga: the saga of the running node, for effects that are operations of their own (docs/protocol.md L5)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any

from langgraph.config import get_config

from sagagraph.errors import InvalidInputError, NotAllowedError, OperationHeldError
from sagagraph.graph.nested.frontier import Finished
from sagagraph.graph.nested.inner import place_of
from sagagraph.graph.running.run import GraphRun, Scope, active_scope
from sagagraph.graph.running.waiting import running_loop
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.body import checked_id


def current_saga() -> NodeSaga:
    """Return the saga of the SagaGraph node that is running. Raises `NotAllowedError` anywhere else."""
    scope = active_scope()
    if scope is None:
        raise NotAllowedError("current_saga() works only inside a node of a SagaGraph")
    return NodeSaga(scope)


class NodeSaga:
    """Saga of a node. In a plain function, `run` returns the result; in a coroutine it is awaited."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    @property
    def id(self) -> str:
        return self._scope.run.saga.id

    def run(self, action: Action, request: object = None, *, id: str | None = None, after: Iterable[str] | None = None) -> Any:  # noqa: A002 - as in door 1
        """Run `action` as an operation below the node's, or return what the journal has of it.

        Ids are local to the node, also in `after` (by default all that had finished before). Errors are those of `BodySaga.run`.
        """
        running = self._run(action, request, id, after)
        if running_loop() is not None:
            return running
        return asyncio.run_coroutine_threadsafe(running, self._scope.run.loop).result()

    async def _run(self, action: Action, request: object, given: str | None, after: Iterable[str] | None) -> Any:
        name = self._named(action, given)
        local = None if after is None else tuple(self._of_node(each) for each in after)
        operation = await perform_below(self._scope, name, action, request, local)
        return action.result_from_json(operation.output)

    def _named(self, action: Action, given: str | None) -> str:
        if given is None:
            config = get_config()
            place = f"{place_of(config)}/" if self._scope.inner_tasks(config) else ""
            return numbered(self._scope, f"{place}{action.name}")
        if "/" in checked_id(given, "id"):
            raise InvalidInputError("a slash stands between a node and what is below it", field="id")
        return given

    def _of_node(self, name: str) -> str:
        own = f"{self._scope.operation}/{name}"
        if own not in self._scope.asked and own not in self._scope.consumed():
            raise InvalidInputError(f"{name!r} is not an operation of node {self._scope.operation!r}", field="after")
        return own


async def perform_below(scope: Scope, local: str, action: Action, request: object, after: Iterable[str] | None) -> Operation:
    """Perform operation `local` of the node. A new one waits until what an earlier pass left in doubt is settled (rule 2)."""
    name = f"{scope.operation}/{local}"
    run = scope.run
    run.engine.register(action)
    scope.asked.add(name)
    tasks = scope.inner_tasks(get_config())
    run.inner.asked(tasks, name)
    for each in scope.consumed(but_for=tasks):
        scope.level.finish(Finished(each, each, None, run.saga.operations[each].spec.depends_on))
    if name not in run.saga.operations:
        await _settled(run, scope)
    prerequisites = scope.level.before(None) if after is None else after
    operation = await run.perform(name, action, request, prerequisites, None)
    scope.level.finish(Finished(name, local, None, operation.spec.depends_on))
    return operation


def numbered(scope: Scope, local: str) -> str:
    """Number equal calls: the second of two in one pass is another operation, and so is one after a consumed one."""
    taken = scope.asked | scope.consumed(but_for=scope.inner_tasks(get_config())).keys()
    count = 1
    while f"{scope.operation}/{local}-{count}" in taken:
        count += 1
    return f"{local}-{count}"


async def _settled(run: GraphRun, scope: Scope) -> None:
    """Settle operations that an earlier pass asked for and this one did not."""
    left = [name for name in run.levels.own_of(run.saga, scope.operation) if name not in scope.asked]
    if not left:
        return
    for name in left:
        saga = await run.coordinator.until(partial(_moves_no_more, name=name), operation=name)
        operation = saga.operations[name]
        if operation.status in (OperationStatus.HELD, OperationStatus.IN_DOUBT):
            why = operation.hold or "it is in doubt, and only a call for it could settle it"
            raise OperationHeldError(
                f"saga {saga.id!r}: operation {name!r} is held ({why}); what replaces it waits for that: resolve it",
                saga_id=saga.id,
                operation_id=name,
            )


def _moves_no_more(saga: Saga, name: str) -> bool:
    """Tell whether the operation stays as it is unless somebody asks for it."""
    operation = saga.operations[name]
    if operation.in_flight:
        return False
    return operation.status is not OperationStatus.IN_DOUBT or operation.probe is not None or not operation.spec.has_probe
