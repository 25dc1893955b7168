"""`SagaGraph`: a `StateGraph` whose nodes are operations of a saga (door 2)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Any, NoReturn, Self, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import NodeError
from langgraph.graph import END, StateGraph
from langgraph.types import Command
from langgraph.typing import ContextT, InputT, OutputT, StateT

from sagagraph.errors import InvalidInputError, SagaClosedError, UnknownOperationError
from sagagraph.graph.checkpoints.fenced_saver import FencedSaver
from sagagraph.graph.compiled import CompiledSagaGraph
from sagagraph.graph.declaration import NodeDeclaration
from sagagraph.graph.node import journalled_node
from sagagraph.graph.run import COMPENSATE, LeftOpen, active_scope, run_of
from sagagraph.graph.state.offload import offloaded_keys
from sagagraph.saga.engine.actions import Function, Guarantees, kind_of
from sagagraph.saga.engine.engine import Engine, SyncEngine
from sagagraph.validators.protocol import Validator
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import DEFAULT_POLICY
from sagagraph.workflow.policy import LoopGuards, Policy, Retry

RAISE = "raise"
READING = Policy(timeout_s=600.0)
"""The default policy of a node without effects: a model may take long."""
CONTAINING = Policy(retry=Retry(max_attempts=1), timeout_s=86_400.0, loop_guards=LoopGuards(deadline_s=86_400.0))
"""The policy of a node that is a graph: what fails in it has used its own attempts."""

_REPLACED = {
    "retry_policy": "policy=Policy(retry=...)",
    "timeout": "policy=Policy(timeout_s=...)",
    "error_handler": "on_failure= of compile",
}
"""What LangGraph offers instead of a policy, and what to use here."""


class SagaGraph(StateGraph[StateT, ContextT, InputT, OutputT]):
    """A `StateGraph` whose nodes may declare how they are undone and probed."""

    def __init__(self, state_schema: type[StateT], context_schema: type[ContextT] | None = None, **options: Any) -> None:
        super().__init__(state_schema, context_schema, **options)
        self.declarations: dict[str, NodeDeclaration] = {}
        self.known_as = ""
        """The name that `compile` was given: it tells the graphs apart that one function calls."""

    def set_node_defaults(self, **defaults: Any) -> Self:
        """Accepts `cache_policy` only, and only for graphs without effects: the nodes' policies decide the rest."""
        _check_replaced(defaults)
        return super().set_node_defaults(**defaults)

    def add_node(
        self,
        node: Any,
        action: Any = None,
        *,
        compensate: Function | None = None,
        probe: Function | None = None,
        validators: Iterable[Validator] = (),
        policy: Policy | None = None,
        kind: ActionKind | str | None = None,
        guarantees: Guarantees | None = None,
        depends_on: Iterable[str] | None = None,
        provider: str = "",
        **options: Any,
    ) -> Self:
        """Adds a node as in LangGraph. Without `kind`, a node with a compensation is compensatable, any other read-only.

        `compensate(state, update, call)`: `update` is what the node returned (None where that was never learnt), without the
        rest of a `Command`. `probe(state, call)` returns a `Probe`. `depends_on`: names of nodes; by default all that had
        finished in earlier steps. `provider`: which one the node calls, as in `@action`.
        """
        _check_replaced(options)
        before = set(self.nodes)
        super().add_node(node, action, **options)
        (name,) = set(self.nodes) - before
        spec = self.nodes[name]
        of_kind = kind_of(name, kind, compensate, probe)
        if of_kind is not ActionKind.READ_ONLY and options.get("cache_policy") is not None:
            _refuse_cache(name)
        runnable = cast(Runnable[Any, Any], spec.runnable)
        declaration = NodeDeclaration(
            name=name,
            runnable=runnable,
            kind=of_kind,
            policy=policy or _default_policy(runnable, of_kind),
            guarantees=guarantees or Guarantees(),
            compensate=compensate,
            probe=probe,
            validators=tuple(validators),
            depends_on=None if depends_on is None else tuple(depends_on),
            offloaded=offloaded_keys(self.channels),
            schema=spec.input_schema,
            provider=provider,
        )
        self.declarations[name] = declaration
        self.nodes[name] = replace(spec, runnable=journalled_node(declaration))
        return self

    def add_conditional_edges(
        self,
        source: str,
        path: Callable[..., Any] | Runnable[Any, Any],
        path_map: dict[Hashable, str] | list[str] | None = None,
    ) -> Self:
        before = set(self.branches[source])
        super().add_conditional_edges(source, path, path_map)
        (name,) = set(self.branches[source]) - before
        branch = self.branches[source][name]
        router = NodeDeclaration(f"{source}?{name}", branch.path, ActionKind.READ_ONLY, READING, Guarantees())
        self.branches[source][name] = branch._replace(path=journalled_node(router))
        return self

    def compile(
        self,
        checkpointer: BaseCheckpointSaver[Any] | bool | None = None,
        *,
        engine: Engine | SyncEngine | None = None,
        on_failure: str = RAISE,
        name: str | None = None,
        **options: Any,
    ) -> CompiledSagaGraph[StateT, ContextT, InputT, OutputT]:
        """`on_failure`: "raise" the failure after the compensation, or the name of the node with which the graph then continues.

        Without an `engine` it serves as a node of another SagaGraph. Without a `checkpointer` threads are kept
        in memory; the journal brings them back. Actions are named after `name`: it tells graphs with the same node names apart.
        """
        self._check(on_failure)
        known = name or "LangGraph"
        self.known_as = name or ""
        for declaration in self.declarations.values():
            spec = self.nodes[declaration.name]
            self.nodes[declaration.name] = replace(spec, runnable=journalled_node(declaration, self.known_as))
        saver = FencedSaver(InMemorySaver() if checkpointer in (None, True) else checkpointer) if engine else checkpointer
        if engine is not None:
            self._add_compensation(on_failure)
        compiled = super().compile(saver, name=known, **options)
        made: CompiledSagaGraph[StateT, ContextT, InputT, OutputT] = CompiledSagaGraph.from_compiled(compiled, engine, on_failure)
        if engine is not None:
            made.register(known)
        return made

    def _check(self, on_failure: str) -> None:
        if on_failure != RAISE and on_failure not in self.nodes:
            raise InvalidInputError(f"{on_failure!r} is neither 'raise' nor a node of this graph", field="on_failure")
        cached = self._node_defaults.cache_policy is not None
        for declaration in self.declarations.values():
            if cached and declaration.kind is not ActionKind.READ_ONLY:
                _refuse_cache(declaration.name)
            for each in declaration.depends_on or ():
                if each not in self.nodes:
                    raise UnknownOperationError(f"node {declaration.name!r} depends on {each!r}, which is no node of this graph")

    def _add_compensation(self, on_failure: str) -> None:
        """Adds the node once, however often the graph is compiled; the newest `on_failure` counts."""
        self.nodes.pop(COMPENSATE, None)
        self.compiled = False  # LangGraph warns of nodes that are added after a compile, and every compile needs this one
        goto = END if on_failure == RAISE else on_failure

        async def compensate(state: Any, config: RunnableConfig) -> Command[Any]:
            run = run_of(config, COMPENSATE)
            await run.compensated()
            run.compensated_at = int(config["metadata"]["langgraph_step"])
            return Command(goto=goto)

        super().add_node(COMPENSATE, compensate, destinations=(goto,), input_schema=self.state_schema)
        super().set_node_defaults(error_handler=_route_failure)
        self.nodes.pop("__default_error_handler__", None)


async def _route_failure(state: Any, error: NodeError, config: RunnableConfig) -> Command[Any]:
    """Routes a failed node, or one refused because another failed, to the compensation: no further intent, then undo."""
    run = run_of(config, error.node)
    raised = error.error if isinstance(error.error, BaseException) else RuntimeError(str(error.error))
    if active_scope() is not None:  # in a graph that is a node: the outermost one compensates
        raise raised
    is_after_the_end = run.compensated_at is not None and not isinstance(raised, SagaClosedError)
    if error.node == COMPENSATE or is_after_the_end:
        raise LeftOpen(raised)
    await run.turn_back(raised)
    return Command(goto=COMPENSATE if run.routes_first() else END)


def _default_policy(runnable: Runnable[Any, Any], kind: ActionKind) -> Policy:
    if isinstance(runnable, CompiledSagaGraph):
        return CONTAINING
    return READING if kind is ActionKind.READ_ONLY else DEFAULT_POLICY


def _check_replaced(options: dict[str, Any]) -> None:
    for option, instead in _REPLACED.items():
        if options.get(option) is not None:
            raise InvalidInputError(f"a SagaGraph decides this by its policy: say {instead}", field=option)


def _refuse_cache(name: str) -> NoReturn:
    raise InvalidInputError(
        f"node {name!r} has effects: a cached answer would be one that never happened; leave cache_policy out",
        field="cache_policy",
    )
