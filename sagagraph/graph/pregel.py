"""Pregel of a saga: each invocation of a thread is a run of that thread's saga (docs/protocol.md L1 and L7)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph._internal._config import ensure_config
from langgraph._internal._constants import CONFIG_KEY_CHECKPOINTER  # how LangGraph gives a saver to graphs that are nodes
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphBubbleUp
from langgraph.graph import END
from langgraph.pregel import Pregel
from langgraph.pregel._validate import validate_keys  # what LangGraph checks once it has begun
from langgraph.types import Command, Send, StateUpdate
from langgraph.typing import ContextT, InputT, OutputT, StateT

from sagagraph.errors import ConflictError, InvalidInputError, NotAllowedError, SagaClosedError, SagaGraphError
from sagagraph.graph.checkpoints.drafted_saver import DraftedSaver
from sagagraph.graph.checkpoints.fenced_saver import FencedSaver
from sagagraph.graph.declaration import NodeDeclaration
from sagagraph.graph.engine_at import engine_at
from sagagraph.graph.forks import forked
from sagagraph.graph.nested.reach import graphs_in
from sagagraph.graph.running.invocation import Ending, Invocation, latest_run, opened, said_in, thread_of
from sagagraph.graph.running.run import BY_HAND, COMPENSATE, RUN, GraphRun, LeftOpen, active_scope
from sagagraph.graph.running.undone import RESET, OnUndone, reset, update_of
from sagagraph.graph.running.waiting import Waiting
from sagagraph.graph.state.items import Items
from sagagraph.saga.core.state import Stage
from sagagraph.saga.engine.engine import Engine, SyncEngine
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.engine.views.view import SagaView


class SagaPregel(Pregel[StateT, ContextT, InputT, OutputT]):
    """Pregel whose `thread_id` is the id of the saga. The same input again resumes an open thread, and so does None."""

    declarations: dict[str, NodeDeclaration]
    known_as: str
    """The name that it was given: it distinguishes the graphs that one function calls."""
    engine: Engine | str | None
    """A URL, which is opened when the graph first runs."""
    on_failure: str
    on_undone: OnUndone | None
    trusts_exceptions: bool
    waiting: Waiting | None
    """How synchronous calls reach the engine's loop."""

    @classmethod
    def from_compiled(
        cls,
        compiled: Pregel[Any, Any, Any, Any],
        declarations: dict[str, NodeDeclaration],
        engine: Engine | SyncEngine | str | None,
        *,
        known_as: str = "",
        on_failure: str = "raise",
        on_undone: OnUndone | None = None,
        trusts_exceptions: bool = False,
    ) -> Self:
        made = cls.__new__(cls)
        made.__dict__.update(compiled.__dict__)
        made.declarations = declarations
        made.known_as = known_as
        made.engine = engine.engine if isinstance(engine, SyncEngine) else engine
        made.on_failure = on_failure
        made.on_undone = on_undone
        made.trusts_exceptions = trusts_exceptions
        made.waiting = Waiting.on(engine) if engine is not None else None
        made._made()
        return made

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """Return a copy with another checkpointer, as a server makes it, with the fence in front of that one, too."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, **(update or {}))
        made._made()
        return made

    def _made(self) -> None:
        is_for_a_server = isinstance(self.engine, str) and self.checkpointer is None  # which will be given one
        if self.engine is not None and not is_for_a_server:
            self._fence()
        if isinstance(self.engine, Engine):
            self._register(self.engine)

    def _fence(self) -> None:
        if not isinstance(self.checkpointer, FencedSaver | DraftedSaver):
            self.checkpointer = FencedSaver(InMemorySaver() if self.checkpointer in (None, True) else self.checkpointer)

    def _register(self, engine: Engine) -> None:
        """Register how the nodes are undone and probed, here and in the graphs that are nodes."""
        homes: dict[str, int] = {}
        for prefix, graph in _graphs(self.name, self):
            number = homes[prefix] = homes.get(prefix, 0) + 1
            home = prefix if number == 1 else f"{prefix} ({number})"
            for declaration in graph.declarations.values():
                engine.register(declaration.action(prefix, engine, home=home))

    # -- running ---------------------------------------------------------------------------------------------------------

    async def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> AsyncIterator[Any]:  # noqa: A002 - LangGraph's name
        """Stream as LangGraph does. `effects`: if `config` names an earlier checkpoint, "keep" or "compensate" for each effect.

        `adopt`: the answer may be for a thread that plain LangGraph began; what that did before is not part of the saga. Raises
        what failed, after the compensation, unless `on_failure` names a node; `OperationHeldError`, `ConflictError`, `BusyError`,
        `ForkDecisionRequired`.
        """
        effects, adopt = options.pop("effects", None), bool(options.pop("adopt", False))
        if _is_inside(config):
            async for chunk in super().astream(input, config, **options):
                yield chunk
            return
        engine, saver = await self._parts()
        whole = merge_configs(self.config, config)
        said = said_in(whole)
        if said.cancel:
            await self.acancel(whole)
            return
        self._check_call(input, whole, options)
        to_end = Ending(self.on_failure, self.on_undone == RESET, adopt or said.adopt, self.trusts_exceptions)
        async with opened(self, engine, saver, input, whole, effects or said.effects, to_end) as invocation:
            async for chunk in self._streamed(invocation, options):
                yield chunk

    def _check_call(self, given: Any, config: RunnableConfig, options: dict[str, Any]) -> None:
        """Raise what LangGraph raises for a wrong argument, before anything has happened."""
        checked = ensure_config(self.config, config)
        if checked["recursion_limit"] < 1:
            raise ValueError("recursion_limit must be at least 1")
        for option in ("output_keys", "interrupt_before", "interrupt_after"):
            keys = options.get(option)
            known = self.channels if option == "output_keys" else self.nodes
            if keys is not None and keys != "*":
                validate_keys(keys, known)
        for each in goto_of(given):
            if each != END and each not in self.nodes:
                raise InvalidInputError(f"{each!r} is not a node of this graph", field="goto")

    async def _streamed(self, invocation: Invocation, options: dict[str, Any]) -> AsyncIterator[Any]:
        run = invocation.run
        try:
            async for chunk in super().astream(invocation.given, invocation.config, **options):
                yield await run.items.in_chunk(chunk)
        except LeftOpen as exc:
            raise exc.error from None
        except SagaGraphError as exc:
            await self._failed(run, exc)
        except Exception as exc:
            if not isinstance(exc, GraphBubbleUp):
                await self._failed(run, exc)
            raise
        await self._ended(invocation)

    async def _failed(self, run: GraphRun, exc: Exception) -> None:
        """Handle a failure that no node routes: an entrypoint's, a first router's, an invalid update, the recursion limit."""
        if isinstance(exc, SagaClosedError) and run.is_turned_back:  # by somebody else, or in a process that died
            await run.compensated()
            raise run.failure_in_journal(run.failure_to_raise()) from None
        if not (isinstance(exc, SagaGraphError) and exc.leaves_saga_open):
            if run.is_mistake(exc):
                raise exc
            await run.turn_back(exc)
            await run.compensated()
            exc.add_note(f"saga {run.saga.id!r} is {run.status.value}")
        raise exc

    async def _ended(self, invocation: Invocation) -> None:
        run = invocation.run
        snapshot = await self.aget_state(invocation.thread_config)
        if held := run.held():
            raise held
        if snapshot.next:
            return
        if not run.is_turned_back:
            await run.completed()
        elif self.on_failure == "raise" or run.is_stuck:
            raise run.failure_to_raise()

    async def _parts(self) -> tuple[Engine, FencedSaver]:
        engine = self.engine
        if isinstance(engine, str):
            self._fence()
            engine = await engine_at(engine)
            self._register(engine)
        if engine is None or not isinstance(self.checkpointer, FencedSaver):
            raise NotAllowedError(NO_ENGINE)
        return engine, self.checkpointer

    def stream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Iterator[Any]:  # noqa: A002
        """Run `astream` on the engine's loop, and wait for it in this thread."""
        yield from self._waiting(config).iterate(self.astream(input, config, **options))

    def _waiting(self, config: RunnableConfig | None) -> Waiting:
        scope = active_scope()
        if scope is not None and _is_inside(config):
            return Waiting(scope.run.loop)
        if self.waiting is None:
            raise NotAllowedError(NO_ENGINE)
        return self.waiting

    # -- other ways on ---------------------------------------------------------------------------------------------------

    async def aupdate_state(
        self,
        config: RunnableConfig,
        values: Any,
        as_node: str | None = None,
        task_id: str | None = None,
        *,
        effects: Mapping[str, str] | None = None,
    ) -> RunnableConfig:
        """Update the state as LangGraph does; the thread continues from there as another branch of its saga.

        `effects`: for each effect in place, by operation id, "keep" or "compensate". Raises `ForkDecisionRequired`.
        """
        update = [[StateUpdate(values, as_node, task_id)]]
        return await self.abulk_update_state(config, update, effects=effects)

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]], *, effects: Mapping[str, str] | None = None
    ) -> RunnableConfig:
        if CONFIG_KEY_CHECKPOINTER in config.get(
            "configurable", {}
        ):  # LangGraph updates the state of a graph that is a node of this one
            return await super().abulk_update_state(config, supersteps)
        engine, saver = await self._parts()
        thread = thread_of(config)
        effects = effects or said_in(config).effects
        saga_id, number = await latest_run(engine, thread)
        saga = await engine.load(saga_id) if number else None
        head = await self._head(thread)
        drafted = DraftedSaver(saver)
        draft = self.copy({"checkpointer": drafted})
        by_hand = merge_configs(config, {"configurable": {BY_HAND: Items(engine, lambda: saga) if saga else None}})
        written = await super(SagaPregel, draft).abulk_update_state(by_hand, supersteps)
        is_below = bool(config.get("configurable", {}).get("checkpoint_ns"))  # the checkpoint of a graph that is a node
        async with forked(engine, saver, thread, saga, head, effects, point=head if is_below else None):
            if await self._head(thread) != head:
                raise ConflictError(f"thread {thread!r} has moved meanwhile: look at it and update it again", saga_id=saga_id)
            await drafted.write()
        configurable = {key: each for key, each in written["configurable"].items() if not key.startswith("__")}
        return {**written, "configurable": configurable}

    async def _head(self, thread: str) -> str | None:
        """Return the thread's newest checkpoint."""
        newest: RunnableConfig = {"configurable": {"thread_id": thread}}
        head: str | None = (await self.aget_state(newest)).config["configurable"].get("checkpoint_id")
        return head

    def update_state(
        self, config: RunnableConfig, values: Any, as_node: str | None = None, task_id: str | None = None, **options: Any
    ) -> RunnableConfig:
        return self._waiting(config).wait(self.aupdate_state(config, values, as_node, task_id, **options))

    def bulk_update_state(  # type: ignore[override]  # LangGraph's own names the argument in two ways
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]], **options: Any
    ) -> RunnableConfig:
        return self._waiting(config).wait(self.abulk_update_state(config, supersteps, **options))

    async def acancel(self, config: RunnableConfig, *, preview: bool = False, by: str = "user") -> SagaView | CancelPreview:
        """Undo what the thread's latest run did, dependents first, and update the state accordingly; see `Engine.cancel`."""
        engine, saver = await self._parts()
        thread = thread_of(config)
        saga_id, _number = await latest_run(engine, thread)
        was_undone = (await engine.load(saga_id)).stage is Stage.COMPENSATED
        answer = await engine.cancel(saga_id, preview=preview, by=by)
        if self.on_undone is not None and not preview and not was_undone:
            await self._say_undone(engine, saver, saga_id, thread)
        return answer

    async def _say_undone(self, engine: Engine, saver: FencedSaver, saga_id: str, thread: str) -> None:
        newest: RunnableConfig = {"configurable": {"thread_id": thread}}
        async with engine.hold(saga_id) as coordinator:
            saga = coordinator.saga
            if saga.stage is not Stage.COMPENSATED:
                return
            with saver.held_by(thread, coordinator):
                if self.on_undone == RESET:
                    await reset(saver, saga)
                elif update := await update_of(self.on_undone, (await self.aget_state(newest)).values, saga):
                    await super().abulk_update_state(newest, [[StateUpdate(update, COMPENSATE)]])

    def cancel(self, config: RunnableConfig, *, preview: bool = False, by: str = "user") -> SagaView | CancelPreview:
        return self._waiting(config).wait(self.acancel(config, preview=preview, by=by))


AnyPregel = SagaPregel[Any, Any, Any, Any]
NO_ENGINE = "this SagaGraph was compiled without an engine: it is a node of another one, or compile it with engine="


def goto_of(given: Any) -> list[str]:
    """Return the nodes to which a command goes that is given as input."""
    goto = given.goto or () if isinstance(given, Command) and given.graph is None else ()  # a server passes None
    several = [goto] if isinstance(goto, str | Send) else goto
    return [each.node if isinstance(each, Send) else each for each in several]


def _is_inside(config: RunnableConfig | None) -> bool:
    """Tell whether another SagaGraph runs this one, as a node or from a node's function."""
    return active_scope() is not None or RUN in (config or {}).get("configurable", {})


def _graphs(prefix: str, graph: AnyPregel, above: tuple[AnyPregel, ...] = ()) -> Iterator[tuple[str, AnyPregel]]:
    """Yield `graph` and all SagaGraphs that its nodes are or call, each with the prefix of its actions' names."""
    yield prefix, graph
    for name, declaration in graph.declarations.items():
        for each in graphs_in(declaration.runnable):
            if isinstance(each, SagaPregel) and each is not graph and each not in above:
                own = "" if each is declaration.runnable else each.known_as
                yield from _graphs(".".join(filter(None, (prefix, name, own))), each, (*above, graph))
