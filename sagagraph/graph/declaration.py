"""Declaration of a node: the arguments of `add_node`, as an action that the coordinator can undo and probe."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph._internal._constants import CONFIG_KEY_RUNTIME  # not a public name; a claim runs a node outside its graph
from langgraph._internal._runnable import RunnableCallable  # the type into which StateGraph itself wraps functions
from langgraph.runtime import DEFAULT_RUNTIME
from langgraph.types import Command

from sagagraph.graph.state.items import Items
from sagagraph.graph.state.outputs import output_of
from sagagraph.graph.state.values import decode, decode_state, encode
from sagagraph.graph.translated import Attempts
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.reversals import REVERSAL
from sagagraph.saga.engine.actions import Action, Function, Guarantees
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.engine.calling.threads import in_thread
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.exceptions import FailsOn
from sagagraph.validators.protocol import Validator
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Policy
from sagagraph.workflow.values import Json


@dataclass(frozen=True, slots=True)
class NodeDeclaration:
    """The arguments of `add_node`. `depends_on` None: everything that had finished before."""

    name: str
    runnable: Runnable[Any, Any]
    kind: ActionKind
    policy: Policy
    guarantees: Guarantees
    compensate: Function | None = None
    probe: Function | None = None
    validators: tuple[Validator, ...] = ()
    depends_on: tuple[str, ...] | None = None
    offloaded: frozenset[str] = frozenset()
    unkept: frozenset[str] = frozenset()
    """The keys of the state that LangGraph writes to no checkpoint: what it computes, and untracked values."""
    attempts: Attempts | None = None
    """What LangGraph's own options say about its attempts; None if it has a policy."""
    schema: type = dict
    """The type from which LangGraph builds the state that the node receives."""
    provider: str = ""
    fails_on: FailsOn = ()

    @property
    def keeps_state(self) -> bool:
        """Tell whether the journal needs the state that the node received: to undo, probe or judge it."""
        return self.kind is not ActionKind.READ_ONLY or bool(self.validators)

    def action(
        self,
        prefix: str,
        engine: Engine,
        execute: Function | None = None,
        *,
        home: str | None = None,
        callbacks: Callbacks = None,
    ) -> Action:
        """Return the action. `execute` None: registered for a process in which the graph does not run; `home` tells equal names
        apart there.

        `callbacks`: LangChain's, of the node's run: what undoes it is traced below it.
        """
        void = self.guarantees.void
        return Action(
            name=f"{prefix}.{self.name}",
            version=1,
            kind=self.kind,
            execute=execute or self._outside,
            compensate=self._undoing(self.compensate, engine, callbacks) if self.compensate else None,
            probe=self._asking(self.probe, engine) if self.probe else None,
            reverse=None,
            undo_cost=None,
            policy=self.policy,
            validators=self.validators,
            guarantees=replace(self.guarantees, void=self._asking(void, engine)) if callable(void) else self.guarantees,
            request_type=Any,
            result_type=Any,
            home=home or prefix,
            provider=self.provider,
            needs_body=True,
        )

    async def _outside(self, request: Json, _call: Call) -> Json:
        """Execute a claim: the effect is made again under its key, only to be undone."""
        bare: RunnableConfig = {"configurable": {CONFIG_KEY_RUNTIME: DEFAULT_RUNTIME}}
        return encode(await self.runnable.ainvoke(decode_state(request, self.schema), bare))

    def _undoing(self, compensate: Function, engine: Engine, callbacks: Callbacks) -> Function:
        """Adapt `compensate(state, update, call)` to `compensate(request, result, call)`."""
        function = self._with_lists(compensate, engine)
        if getattr(callbacks, "handlers", callbacks):
            function = _traced(function, f"undo {self.name}", callbacks)
        return adapted(function, lambda state, output, call: (decode_state(state, self.schema), _update(output), call))

    def _asking(self, asking: Function, engine: Engine) -> Function:
        """Adapt `probe(state, call)` to `probe(request, call)`, encoding its result as the node's would be."""
        function = self._with_lists(asking, engine)
        return adapted(function, lambda state, call: (decode_state(state, self.schema), call), encoded_result)

    def _with_lists(self, function: Function, engine: Engine) -> Function:
        """Wrap `function` so that its state has the items of off-loaded lists."""
        if not self.offloaded:
            return function

        async def called(state: object, *rest: Any) -> Any:
            saga = await engine.load(rest[-1].saga_id.removesuffix(REVERSAL))
            whole = await Items(engine, lambda: saga).in_place(state)
            if inspect.iscoroutinefunction(function):
                return await function(whole, *rest)
            return await in_thread(function, whole, *rest)

        return called


class Journalled(RunnableCallable):
    """Function that LangGraph calls in place of a node; `written` is what was added to the graph, for drawings."""

    def __init__(self, node: Callable[..., Any], declaration: NodeDeclaration) -> None:
        super().__init__(None, node, name=declaration.name, trace=False, recurse=False)
        self.written = declaration.runnable
        self.tools_by_name = getattr(declaration.runnable, "tools_by_name", None)


def _traced(function: Function, name: str, callbacks: Callbacks) -> Function:
    """Wrap `function` so that LangChain's tracers, such as LangSmith's, see each call as a run of this name."""

    async def undo(given: tuple[object, ...]) -> Any:
        if inspect.iscoroutinefunction(function):
            return await function(*given)
        return await in_thread(function, *given)

    async def called(*given: object) -> Any:
        return await RunnableLambda(undo, name=name).ainvoke(given, {"callbacks": callbacks})

    return called


def _update(output: Json) -> Any:
    returned = decode(output_of(output))
    return returned.update if isinstance(returned, Command) else returned


def encoded_result(said: object) -> object:
    return replace(said, result=encode(said.result)) if isinstance(said, Probe) else said


def adapted(
    function: Function, arguments: Callable[..., tuple[object, ...]], answer: Callable[[Any], Any] = lambda said: said
) -> Function:
    """Keep a coroutine a coroutine; any other function still runs in the coordinator's executor."""
    if inspect.iscoroutinefunction(function):

        async def called(*given: object) -> Any:
            return answer(await function(*arguments(*given)))

        return called
    return lambda *given: answer(function(*arguments(*given)))
