"""`SagaGraph`: a `StateGraph` whose nodes are operations of a saga."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn, Self, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import NodeError
from langgraph.graph import END, StateGraph
from langgraph.types import Command
from langgraph.typing import ContextT, InputT, OutputT, StateT

from sagagraph.errors import InvalidInputError, SagaClosedError, UnknownOperationError
from sagagraph.graph.compiled import CompiledSagaGraph
from sagagraph.graph.conversion import builder_of, copy_into
from sagagraph.graph.declaration import NodeDeclaration
from sagagraph.graph.running.node import journalled_node
from sagagraph.graph.running.run import COMPENSATE, LeftOpen, active_scope, run_of
from sagagraph.graph.running.undone import RESET, OnUndone, update_of
from sagagraph.graph.state.offload import offloaded_keys
from sagagraph.graph.state.unkept import untracked_keys
from sagagraph.graph.translated import Attempts
from sagagraph.graph.undone_by import UndoneBy
from sagagraph.saga.engine.actions import Function, Guarantees, check_void, kind_of
from sagagraph.saga.engine.engine import Engine, SyncEngine
from sagagraph.saga.engine.exceptions import FailsOn, check_fails_on
from sagagraph.validators.protocol import Validator
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import DEFAULT_POLICY
from sagagraph.workflow.policy import LoopGuards, Policy, Retry

RAISE = "raise"
READING = Policy(timeout_s=600.0)
"""The default policy of a node without effects: a model may take long."""
CONTAINING = Policy(retry=Retry(max_attempts=1), timeout_s=86_400.0, loop_guards=LoopGuards(deadline_s=86_400.0))
"""The policy of a node that is a graph: whatever fails in it has used its own attempts."""


class SagaGraph(StateGraph[StateT, ContextT, InputT, OutputT]):
    """A `StateGraph` whose nodes may declare how they are undone and probed."""

    def __init__(self, state_schema: type[StateT], context_schema: type[ContextT] | None = None, **options: Any) -> None:
        super().__init__(state_schema, context_schema, **options)
        self.declarations: dict[str, NodeDeclaration] = {}
        self.known_as = ""
        """The name that `compile` was given: it distinguishes the graphs that one function calls."""
        self._default_attempts = Attempts()

    @classmethod
    def of(
        cls, graph: Any, *, undoes: Mapping[str, str | UndoneBy] | None = None, **told: Mapping[str, Any]
    ) -> SagaGraph[Any, Any, Any, Any]:
        """Convert `graph`, a StateGraph or a compiled one: an agent, a supervisor, a graph of a library.

        `told`: options of `add_node`, each as a mapping from the names of nodes: `compensate={"pay": refund}`. `undoes`: tools of
        its `ToolNode`s, each with the tool of the same node that undoes it: `{"book_flight": "cancel_flight"}`; a model that
        calls that one is told that there is no such tool. What `graph` was compiled with (a checkpointer, breakpoints, a store,
        a name) is not part of it: pass that to `compile`. `graph` itself is not changed.
        """
        builder = builder_of(graph)
        schemas = {"input_schema": builder.input_schema, "output_schema": builder.output_schema}
        made: SagaGraph[Any, Any, Any, Any] = cls(builder.state_schema, builder.context_schema, **schemas)
        copy_into(made, builder, told, undoes or {})
        return made

    def set_node_defaults(self, **defaults: Any) -> Self:
        """Set `retry_policy` and `timeout` for nodes without a policy, and `cache_policy` for graphs without effects."""
        if defaults.pop("error_handler", None) is not None:
            raise InvalidInputError("give it to the nodes that need it, or say on_failure= of compile", field="error_handler")
        given = Attempts.of(defaults.pop("retry_policy", None), defaults.pop("timeout", None))
        self._default_attempts = given.or_else(self._default_attempts)
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
        fails_on: FailsOn = (),
        **options: Any,
    ) -> Self:
        """Add a node as in LangGraph. Without `kind`, a node with a compensation is compensatable, any other read-only.

        `compensate(state, update, call)`: `update` is what the node returned (None if that was never learnt), without the rest of
        a `Command`. `probe(state, call)` returns a `Probe`. `depends_on`: names of nodes; by default all that had finished in
        earlier steps. `provider` and `fails_on`: as in `@action`, which provider the node calls, and which of its exceptions say
        that nothing happened. `retry_policy` and `timeout` become a policy if that means the same; `error_handler` runs once the
        node has failed and none of its effects is left.
        """
        attempts = Attempts.of(options.pop("retry_policy", None), options.pop("timeout", None))
        if policy is not None and attempts != Attempts():
            raise InvalidInputError("a node has one policy: leave out retry_policy and timeout", field="policy")
        before = set(self.nodes)
        super().add_node(node, action, **options)
        added = set(self.nodes) - before
        (name,) = (each for each in added if not self.nodes[each].is_error_handler)
        for handler in added - {name}:
            self._declare_handler(handler)
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
            attempts=None if policy else attempts,
            guarantees=guarantees or Guarantees(),
            compensate=compensate,
            probe=probe,
            validators=tuple(validators),
            depends_on=None if depends_on is None else tuple(depends_on),
            offloaded=offloaded_keys(self.channels),
            unkept=self._unkept(),
            schema=spec.input_schema,
            provider=provider,
            fails_on=fails_on,
        )
        check_void(name, declaration.guarantees, compensate)
        check_fails_on(name, fails_on)
        with_attempts(declaration, Attempts())  # refused here, where it was given
        self.declarations[name] = declaration
        return self

    def _declare_handler(self, name: str) -> None:
        """Declare the handler of a failed node, which is a node without effects."""
        spec = self.nodes[name]
        runnable = cast(Runnable[Any, Any], spec.runnable)
        self.declarations[name] = NodeDeclaration(
            name,
            runnable,
            ActionKind.READ_ONLY,
            READING,
            Guarantees(),
            offloaded=offloaded_keys(self.channels),
            unkept=self._unkept(),
            schema=spec.input_schema,
        )

    def _unkept(self) -> frozenset[str]:
        return frozenset(self.managed) | untracked_keys(self.channels)

    def compile(
        self,
        checkpointer: BaseCheckpointSaver[Any] | bool | None = None,
        *,
        engine: Engine | SyncEngine | str | None = None,
        on_failure: str = RAISE,
        on_undone: OnUndone | None = None,
        trusts_exceptions: bool = False,
        name: str | None = None,
        **options: Any,
    ) -> CompiledSagaGraph[StateT, ContextT, InputT, OutputT]:
        """Compile. `on_failure`: "raise" the failure after the compensation, or the name of the node with which the graph then
        continues.

        `on_undone(state, undone)` returns an update of the state that reports the undoing: `undone` has the ids of the undone
        operations. "reset": the state is again what it was before the run.

        `trusts_exceptions`: an exception of a node, or of a tool in it, says that nothing of it stays. It is journalled with each
        saga. A call that was stopped at its time limit, or with its process, is in doubt all the same.

        Without an `engine` it serves as a node of another SagaGraph. Without a `checkpointer` threads are kept in memory; the
        journal brings them back. Actions are named after `name`: it tells graphs with the same node names apart. `engine` may be
        a store's URL: it is opened where the graph first runs, in each event loop, and closed with that; such a graph has no
        synchronous calls.
        """
        self._check(on_failure)
        if trusts_exceptions and engine is None:
            raise InvalidInputError("say it of the outermost graph, which has the engine", field="trusts_exceptions")
        if on_undone == RESET and on_failure != RAISE:
            raise InvalidInputError(f"the state that {on_failure!r} makes would be lost: say only one of them", field="on_undone")
        known = name or "LangGraph"
        self.known_as = name or ""
        with self._journalled():
            if engine is not None:
                self._add_compensation(on_failure, on_undone)
            compiled = super().compile(checkpointer, name=known, **options)
        told: dict[str, Any] = {
            "known_as": self.known_as,
            "on_failure": on_failure,
            "on_undone": on_undone,
            "trusts_exceptions": trusts_exceptions,
        }
        return CompiledSagaGraph.from_compiled(compiled, self.declarations, engine, **told)

    @contextmanager
    def _journalled(self) -> Iterator[None]:
        """Make nodes and routers operations while entered; compiling leaves the graph as it was written."""
        written = self.nodes, self.branches, self._node_defaults
        self.nodes, self._node_defaults = dict(self.nodes), replace(self._node_defaults)
        self.branches = defaultdict(dict)
        self.compiled = False  # LangGraph warns of nodes that are added after a compile
        for name, declaration in self.declarations.items():
            whole = with_attempts(declaration, self._default_attempts)
            self.nodes[name] = replace(self.nodes[name], runnable=journalled_node(whole, self.known_as))
        unkept = self._unkept()
        for source, branches in written[1].items():
            for name, branch in branches.items():
                name_of = f"{source}?{name}"
                router = NodeDeclaration(name_of, branch.path, ActionKind.READ_ONLY, READING, Guarantees(), unkept=unkept)
                self.branches[source][name] = branch._replace(path=journalled_node(router))
        try:
            yield
        finally:
            self.nodes, self.branches, self._node_defaults = written

    def _check(self, on_failure: str) -> None:
        if on_failure != RAISE and on_failure not in self.nodes:
            raise InvalidInputError(f"{on_failure!r} is neither 'raise' nor a node of this graph", field="on_failure")
        cached = self._node_defaults.cache_policy is not None
        for declaration in self.declarations.values():
            if cached and declaration.kind is not ActionKind.READ_ONLY:
                _refuse_cache(declaration.name)
            for each in declaration.depends_on or ():
                if each not in self.nodes:
                    raise UnknownOperationError(
                        f"node {declaration.name!r} depends on {each!r}, which is not a node of this graph"
                    )

    def _add_compensation(self, on_failure: str, on_undone: OnUndone | None) -> None:
        goto = END if on_failure == RAISE else on_failure

        async def compensate(state: Any, config: RunnableConfig) -> Command[Any]:
            run = run_of(config, COMPENSATE)
            saga = await run.compensated()
            run.compensated_at = int(config["metadata"]["langgraph_step"])
            return Command(goto=goto, update=await update_of(on_undone, state, saga))

        super().add_node(COMPENSATE, compensate, destinations=(goto,), input_schema=self.state_schema)
        super().set_node_defaults(error_handler=_route_failure)


async def _route_failure(state: Any, error: NodeError, config: RunnableConfig) -> Command[Any]:
    """Route a failed node, or one refused because another failed, to the compensation: no further intent, then undo."""
    run = run_of(config, error.node)
    raised = error.error if isinstance(error.error, BaseException) else run.failure_in_journal(RuntimeError(str(error.error)))
    if active_scope() is not None:  # for a graph that is a node, the outermost graph compensates
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


def with_attempts(declaration: NodeDeclaration, defaults: Attempts) -> NodeDeclaration:
    """Return the declaration with the policy that LangGraph's own options ask for; `defaults`: those of the graph."""
    if declaration.attempts is None:
        return declaration
    attempts = declaration.attempts.or_else(defaults)
    is_definite = declaration.fails_on != ()
    policy = attempts.policy(
        declaration.name, declaration.policy, declaration.kind, declaration.guarantees, is_definite=is_definite
    )
    return replace(declaration, policy=policy, attempts=attempts)


def _refuse_cache(name: str) -> NoReturn:
    raise InvalidInputError(
        f"node {name!r} has effects: a cached answer would be one that never happened; leave cache_policy out",
        field="cache_policy",
    )
