"""Node: a graph's node as an operation of its saga, and the function that LangGraph calls in its place."""

from __future__ import annotations

import asyncio
import time
from contextvars import Context, copy_context
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph._internal._config import patch_configurable
from langgraph._internal._constants import (  # as LangGraph's own retries do
    CONFIG_KEY_DURABILITY,
    CONFIG_KEY_RESUMING,
    CONFIG_KEY_RUNTIME,
    CONFIG_KEY_SCRATCHPAD,
    CONFIG_KEY_TASK_ID,
)
from langgraph._internal._runnable import RunnableCallable  # the types into which StateGraph itself wraps functions
from langgraph.errors import (
    GraphBubbleUp,
    GraphInterrupt,
    NodeCancelledError,
    NodeTimeoutError,
    ParentCommand,
    is_invalid_resume,
)
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from sagagraph.errors import OperationFailedError, Refused, SagaClosedError, SagaGraphError
from sagagraph.graph.compiled import CompiledSagaGraph
from sagagraph.graph.declaration import Journalled, NodeDeclaration
from sagagraph.graph.nested.frontier import Finished, Level
from sagagraph.graph.nested.reach import graphs_in
from sagagraph.graph.running.interrupts import hand_out_answers, record_interrupt, refuse_last_answer
from sagagraph.graph.running.run import BY_HAND, GraphRun, LeftOpen, Scope, enter_scope, run_of
from sagagraph.graph.state.items import run_number
from sagagraph.graph.state.offload import reference_to
from sagagraph.graph.state.outputs import output_of, output_with, update_of
from sagagraph.graph.state.unkept import without
from sagagraph.graph.state.values import as_kept, decode, encode, encode_state, hash_of, with_message_ids
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.state import Operation
from sagagraph.saga.engine.actions import Function
from sagagraph.saga.engine.call import Paused, enter_call
from sagagraph.saga.engine.exceptions import refusal_in
from sagagraph.saga.engine.turn.stepping import run_in
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.values import Json


def journalled_node(declaration: NodeDeclaration, graph: str = "") -> Runnable[Any, Any]:
    """Return the function. `graph`: its name, which is part of its actions' names if a function calls it."""
    runnable = declaration.runnable  # LangGraph looks for subgraphs in this function's closure
    keeps_nothing = any(each.checkpointer is False for each in graphs_in(runnable))
    is_saga = isinstance(runnable, CompiledSagaGraph)

    async def node(state: object, config: RunnableConfig) -> Any:
        if BY_HAND in config["configurable"]:  # a router, while somebody updates the state
            items = config["configurable"][BY_HAND]
            return await runnable.ainvoke(await items.in_place(state) if items else state, config)
        run = run_of(config, declaration.name)
        scope = run.scope()
        metadata = config["metadata"]
        step = int(metadata["langgraph_step"])
        if run.compensated_at is not None and step > run.compensated_at:
            return await _after_the_end(declaration, runnable, run, state, config)
        path = metadata["langgraph_path"]
        index = f"#{path[1]}" if path[0] == "__pregel_push" and isinstance(path[1], int) else ""
        config = _with_durability(config, keeps_nothing, is_saga)
        called = run.called(scope, metadata["langgraph_checkpoint_ns"], config)
        name = "/".join(filter(None, (scope.operation, called, str(step), f"{declaration.name}{index}")))
        if len(tasks := scope.inner_tasks(config)) > 1:
            run.inner.asked(tasks, name)
        if graph and not scope.is_graph:
            scope = replace(scope, action=f"{scope.action}.{graph}")
        return await Pass(declaration, run, scope, name, step, state, config).run_through()

    return Journalled(node, declaration)


def _with_durability(config: RunnableConfig, keeps_nothing: bool, is_saga: bool) -> RunnableConfig:
    """Set how the graphs in a node keep their checkpoints.

    A plain one continues from them, including what it has asked for: each is there before the next step. One that keeps none
    cannot wait for them.
    """
    if is_saga:
        return config
    return patch_configurable(config, {CONFIG_KEY_DURABILITY: "async" if keeps_nothing else "sync"})


async def _after_the_end(
    declaration: NodeDeclaration, runnable: Runnable[Any, Any], run: GraphRun, state: object, config: RunnableConfig
) -> Any:
    """Return where the graph continues after its saga was compensated: outside the saga, and so without effects."""
    if declaration.kind is not ActionKind.READ_ONLY:
        ended = f"saga {run.saga.id!r} is {run.status.value}: node {declaration.name!r}, which has effects, comes too late"
        raise LeftOpen(SagaClosedError(ended, saga_id=run.saga.id))
    return await runnable.ainvoke(await run.items.in_place(state), config)


class Pass:
    """Pass of LangGraph through one node."""

    def __init__(
        self,
        declaration: NodeDeclaration,
        run: GraphRun,
        scope: Scope,
        name: str,
        step: int,
        state: object,
        config: RunnableConfig,
    ) -> None:
        self._declaration = declaration
        self._run = run
        self._scope = scope
        self._name = name
        self._step = step
        self._state = state
        self._config = config
        self._attempts = 0
        self._attempted_at = 0.0
        """When its last attempt began, by the monotonic clock."""
        self._raised: BaseException | None = None
        """The exception of the node's function, if that is not the node's outcome."""
        self._failed_with: Exception | None = None
        """The exception of the node's function that made it fail."""
        self._fresh: tuple[Json, Any] | None = None
        """What the function returned in this process, following what the journal has of it."""

    async def run_through(self) -> Any:
        try:
            operation = await self._operation()
        except SagaClosedError:
            raise
        except SagaGraphError as exc:
            stopped = await self._stopped_by(exc)
            raise stopped from stopped.__cause__
        return await self._returned(operation)

    async def _operation(self) -> Operation:
        await hand_out_answers(self._run, self._name, self._config)
        await self._learn_update()
        declaration = self._declaration
        callbacks = self._config.get("callbacks")
        action = declaration.action(self._scope.action, self._run.engine, self._execute(), callbacks=callbacks)
        after = declaration.depends_on
        named = None if after is None else self._run.operations_of(after, self._scope)
        return await self._run.perform(self._name, action, self._request(), named, self._step)

    async def _stopped_by(self, exc: SagaGraphError) -> BaseException:
        raised = self._raised
        if isinstance(raised, GraphInterrupt):
            await record_interrupt(self._run, self._name, self._config, raised)
        elif raised is not None and is_invalid_resume(raised):
            await refuse_last_answer(self._run, self._name)
            return LeftOpen(raised)
        if isinstance(raised, GraphBubbleUp | SagaClosedError):
            return raised
        failed = raised or self._own_failure(exc)
        saga = self._run.saga
        if saga.pivot_has_landed or saga.pivot_is_open:  # past the pivot the saga only goes forward: the node stays where it is
            failed.add_note(f"the pivot {saga.pivot!r} cannot be taken back: resume saga {saga.id!r} once this can be done")
            return LeftOpen(failed)
        return LeftOpen(failed) if raised is None and exc.leaves_saga_open else failed

    def _own_failure(self, exc: SagaGraphError) -> BaseException:
        """Return the exception of the node's function, so that `except` works; what the saga says about it is a note, or the
        error.
        """
        own = self._failed_with or self._timed_out()
        if own is None:
            return exc
        if isinstance(own, SagaGraphError) or exc.leaves_saga_open:
            exc.__cause__ = own
            return exc
        own.add_note(str(exc))
        return own

    def _timed_out(self) -> NodeTimeoutError | None:
        """Return what LangGraph raises if `timeout=` has stopped the last attempt."""
        attempts, known = self._declaration.attempts, self._run.saga.operations.get(self._name)
        fault = known.fault if known is not None else None
        if attempts is None or attempts.timeout_s is None or fault is None or fault.code != TimeoutError.__name__:
            return None
        elapsed_s = time.monotonic() - self._attempted_at
        return NodeTimeoutError(self._declaration.name, elapsed_s, kind="run", run_timeout=attempts.timeout_s)

    def _request(self) -> Json:
        """Return the request, or the journalled one if they differ only in the ids that a reducer gave to messages."""
        state = encode_state(self._state, but_for=self._declaration.unkept)
        request = state if self._declaration.keeps_state else {"state_hash": hash_of(state)}
        known = self._run.saga.operations.get(self._name)
        if known is None:
            return request
        if as_kept(known.spec.inputs) == as_kept(request) or self._is_updated(known, request):
            return known.spec.inputs
        return request

    def _is_updated(self, known: Operation, request: Json) -> bool:
        """Tell whether a person changed the state while the node waited for an answer (`Command(resume=…, update=…)`)."""
        return (
            not self._declaration.keeps_state
            and not known.succeeded
            and self._run.recorded(f"{self._name}/state-{request['state_hash'][:12]}") is not None
        )

    async def _learn_update(self) -> None:
        known = self._run.saga.operations.get(self._name)
        if known is None or known.succeeded or self._declaration.keeps_state or not self._run.updates:
            return
        request = self._request()
        if request != known.spec.inputs:
            await self._run.record(f"{self._name}/state-{request['state_hash'][:12]}", None, what="state")

    async def _returned(self, operation: Operation) -> Any:
        if self._scope.operation:
            leaves = self._run.levels.leaves_of(self._run.saga, self._name)
            self._scope.level.finish(Finished(self._name, self._name, None, operation.spec.depends_on, leaves))
        returned = self._value_of(operation.output)
        if isinstance(returned, dict) and _PARENT in returned:
            raise ParentCommand(returned[_PARENT])
        update = update_of(returned)
        for key in self._declaration.offloaded & update.keys():
            update[key] = reference_to(run_number(self._run.saga), operation.ordinal)
        return returned

    def _value_of(self, output: Json) -> Any:
        """Return what the node returned: the very objects, as in LangGraph, if it ran here."""
        fresh = self._fresh[1] if self._fresh is not None and self._fresh[0] == output else None
        if fresh is not None and not self._declaration.offloaded:
            return fresh
        returned = decode(output_of(output))
        update_of(returned).update({key: each for key, each in update_of(fresh).items() if key in self._declaration.unkept})
        return returned

    # -- the call of the node's function ---------------------------------------------------------------------------------

    def _execute(self) -> Function:
        """Execute for the coordinator, in its task or thread but in the context that LangGraph made for the node."""
        context = copy_context()
        runnable = self._declaration.runnable
        if _is_plain(runnable):

            def execute(_request: Json, call: Call) -> Any:
                scope, config = self._entered(context, call), self._config_of_attempt()
                state = asyncio.run_coroutine_threadsafe(self._run.items.in_place(self._state), self._run.loop).result()
                with _Ends(self):
                    try:
                        returned = context.copy().run(runnable.invoke, state, config)
                    except ParentCommand as exc:
                        returned = _for_parent(exc)
                    except asyncio.CancelledError as exc:  # a thread of its own: nobody can cancel a thread
                        raise NodeCancelledError(self._declaration.name) from exc
                    return self._output(returned, scope)

            return execute

        async def execute_async(_request: Json, call: Call) -> Any:
            scope, config = self._entered(context, call), self._config_of_attempt()
            state = await self._run.items.in_place(self._state)
            with _Ends(self):
                try:
                    returned = await run_in(context.copy(), runnable.ainvoke(state, config))
                except ParentCommand as exc:
                    returned = _for_parent(exc)
                except asyncio.CancelledError as exc:
                    if (task := asyncio.current_task()) is not None and task.cancelling():
                        raise
                    raise NodeCancelledError(self._declaration.name) from exc
                return self._output(returned, scope)

        return execute_async

    def _entered(self, context: Context, call: Call) -> Scope:
        self._raised = self._failed_with = None
        run, configurable = self._run, self._config["configurable"]
        level = Level(run.saga.operations[self._name].spec.depends_on)
        for each in run.levels.of_graphs_below(run.saga, self._name):
            level.finish(Finished(each.id, each.id, None, each.spec.depends_on))
        run.inner.begin_pass(self._name)
        action = f"{self._scope.action}.{self._declaration.name}"
        task, namespace = configurable[CONFIG_KEY_TASK_ID], configurable["checkpoint_ns"]
        is_graph = isinstance(self._declaration.runnable, CompiledStateGraph)
        scope = Scope(run, self._name, action, task, namespace, level=level, is_graph=is_graph)
        context.run(enter_call, call)
        context.run(enter_scope, scope)
        return scope

    def _config_of_attempt(self) -> RunnableConfig:
        """Return the node's config: each attempt counts its interrupts, tasks and graphs anew, and a later one resumes the
        graphs.
        """
        self._attempts += 1
        self._attempted_at = time.monotonic()
        if self._attempts == 1:
            return self._config
        configurable = self._config["configurable"]
        scratchpad = replace(
            configurable[CONFIG_KEY_SCRATCHPAD],
            call_counter=count().__next__,
            interrupt_counter=count().__next__,
            subgraph_counter=count().__next__,
        )
        runtime = configurable[CONFIG_KEY_RUNTIME].patch_execution_info(node_attempt=self._attempts)
        again = {CONFIG_KEY_SCRATCHPAD: scratchpad, CONFIG_KEY_RUNTIME: runtime, CONFIG_KEY_RESUMING: True}
        return patch_configurable(self._config, again)

    def _output(self, returned: object, scope: Scope) -> Json:
        returned = with_message_ids(returned, f"{self._run.saga.id}/{self._name}")
        output = encode(without(returned, self._declaration.unkept))
        if self._run.levels.own_of(self._run.saga, self._name):
            output = output_with(output, scope.asked | scope.consumed().keys())
        self._fresh = output, returned
        return output

    def ended_with(self, exc: BaseException) -> BaseException:
        """Return what the coordinator is told instead of `exc`."""
        if isinstance(exc, GraphBubbleUp) or (isinstance(exc, SagaGraphError) and exc.leaves_saga_open):
            self._raised = exc if isinstance(exc, GraphBubbleUp | SagaClosedError) else LeftOpen(exc)
            return Paused(f"it waits for an answer at {self._name!r}" if isinstance(exc, GraphInterrupt) else str(exc))
        if isinstance(exc, Exception) and is_invalid_resume(exc):
            self._raised = exc
            return Paused("it was given an answer that does not fit")
        if isinstance(exc, OperationFailedError) or any(exc is each for each in self._run.failed_below):
            self._raised = exc
            return Refused(str(exc), code=type(exc).__name__)
        if isinstance(exc, Exception):
            self._failed_with = exc
            attempts = None if isinstance(exc, Refused) else self._declaration.attempts
            is_reading = self._declaration.kind is ActionKind.READ_ONLY
            if attempts is not None and is_reading and not attempts.is_worth(exc, self._attempts):
                return Refused(str(exc), code=type(exc).__name__)
            if not is_reading:
                return self._refusal_in(exc) or exc
        return exc

    def _refusal_in(self, exc: Exception) -> Refused | None:
        """Return the refusal if the exception says that nothing happened; LangGraph's `retry_policy` may try that again."""
        said = refusal_in(exc, Exception if self._run.trusts_exceptions else self._declaration.fails_on)
        attempts = self._declaration.attempts
        if said is None or said is exc or attempts is None or not attempts.retry:
            return said
        return Refused(str(said), code=said.code, transient=attempts.is_worth(exc, self._attempts))


def _for_parent(raised: ParentCommand) -> dict[str, object]:
    """Return a subgraph's command for an outer graph, under names that are equal in every run: LangGraph adds task ids to
    them.
    """
    command: Command[Any] = raised.args[0]
    names = (part.partition(":")[0] for part in str(command.graph).split("|"))
    return {_PARENT: replace(command, graph="|".join(name for name in names if not name.isdecimal()))}


_PARENT = "$parent"


class _Ends:
    """Context around the node's function."""

    def __init__(self, passing: Pass) -> None:
        self._passing = passing

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, exc: BaseException | None, _trace: object) -> None:
        if exc is not None and (told := self._passing.ended_with(exc)) is not exc:
            raise told from exc


def _is_plain(runnable: Runnable[Any, Any]) -> bool:
    """Tell whether it is a function and not a coroutine: it gets one of the coordinator's threads."""
    if not isinstance(runnable, RunnableCallable) or runnable.func is None:
        return False
    return runnable.afunc is None or isinstance(runnable.afunc, partial)
