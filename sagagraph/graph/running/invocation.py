"""Invocation of a thread: which saga it concerns, and what LangGraph is given for it (docs/protocol.md L1)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import EmptyInputError
from langgraph.pregel import Pregel
from langgraph.pregel._utils import is_xxh3_128_hexdigest  # how LangGraph knows the id of an interrupt
from langgraph.types import Command, StateSnapshot
from msgspec import ValidationError, convert

from sagagraph.errors import ConflictError, InvalidInputError, NotAllowedError
from sagagraph.graph.checkpoints.fenced_saver import FencedSaver
from sagagraph.graph.declaration import Journalled
from sagagraph.graph.forks import decide_fork, fork_ahead, fork_point, settle_fork
from sagagraph.graph.nested.reach import graphs_in
from sagagraph.graph.running.interrupts import is_answered_by, record_answer, waiting_nodes
from sagagraph.graph.running.run import COMPENSATE, RUN, GraphRun
from sagagraph.graph.running.undone import is_reset, reset
from sagagraph.graph.state.items import run_id
from sagagraph.graph.state.values import decode, encode, with_message_ids
from sagagraph.saga.core.commands import TrustExceptions
from sagagraph.saga.core.events import Driver, SagaBegun
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import FINAL, Saga, Stage
from sagagraph.saga.engine.engine import Engine

DOMAIN = "langgraph"


class NotBegunError(NotAllowedError, EmptyInputError):
    """Raised when a new thread is given no input; it is LangGraph's error too, so code that catches that one still works."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """Invocation. `given` goes to LangGraph with `config`; `thread_config` names the thread's newest checkpoint."""

    run: GraphRun
    given: Any
    config: RunnableConfig
    thread_config: RunnableConfig


@dataclass(frozen=True, slots=True)
class _Thread:
    id: str
    snapshot: StateSnapshot
    saga: Saga | None
    number: int
    """The number of its latest run; 0 before the first."""

    @property
    def head(self) -> str | None:
        """Return its newest checkpoint."""
        return self.snapshot.config["configurable"].get("checkpoint_id") if self.snapshot.metadata is not None else None

    @property
    def was_moved(self) -> bool:
        """Tell whether its newest checkpoint was made by hand."""
        return (self.snapshot.metadata or {}).get("source") in ("update", "fork")


@dataclass(frozen=True, slots=True)
class Ending:
    """Ending of a run. `on_failure`: "raise", or the node that continues once the saga was compensated; `resets`: whether the
    state is then what it was before the run; `adopt`: as for `astream`; `trusts_exceptions`: as for `compile`.
    """

    on_failure: str
    resets: bool
    adopt: bool
    trusts_exceptions: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """Arguments that a client of a server gives in `configurable`, under `saga`, because it cannot pass those of `invoke`."""

    effects: dict[str, str] | None = None
    adopt: bool = False
    cancel: bool = False


def said_in(config: RunnableConfig | None) -> Said:
    """Read them. Raises `InvalidInputError` for unknown ones."""
    said = (config or {}).get("configurable", {}).get("saga")
    try:
        return convert(said or {}, Said)
    except ValidationError as exc:
        raise InvalidInputError(f"{exc}; it takes effects, adopt and cancel", field="configurable.saga") from exc


def thread_of(config: RunnableConfig | None) -> str:
    thread = (config or {}).get("configurable", {}).get("thread_id")
    if thread is None or thread == "":
        raise InvalidInputError('it is the id of the saga: pass config={"configurable": {"thread_id": ...}}', field="thread_id")
    return str(thread)


def _newest(config: Any) -> RunnableConfig:
    """Return the newest checkpoint of the thread that `config` names."""
    return {"configurable": {"thread_id": config["configurable"]["thread_id"]}}


async def latest_run(engine: Engine, thread: str) -> tuple[str, int]:
    """Return the saga of the thread's newest run and its number; number 0 if there is none. It reads few runs, however many there
    are.
    """

    async def exists(number: int) -> bool:
        return await engine.store.headline(run_id(thread, number)) is not None

    low, high = 0, 1
    while await exists(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if await exists(middle) else (low, middle)
    return run_id(thread, max(low, 1)), low


@asynccontextmanager
async def opened(
    graph: Pregel[Any, Any, Any, Any],
    engine: Engine,
    saver: FencedSaver,
    given: object,
    config: RunnableConfig | None,
    effects: Mapping[str, str] | None,
    ending: Ending,
) -> AsyncIterator[Invocation]:
    on_failure = ending.on_failure
    thread_id = thread_of(config)
    thread_config = _newest(config)
    saga_id, number = await latest_run(engine, thread_id)
    saga = await engine.load(saga_id) if number else None
    snapshot = await graph.aget_state(thread_config)
    if ending.resets and saga is not None and saga.stage is Stage.COMPENSATED and not is_reset(snapshot.metadata, saga):
        async with engine.hold(saga_id) as coordinator:  # somebody else cancelled it, or the process died before it was reset
            with saver.held_by(thread_id, coordinator):
                await reset(saver, saga)
        snapshot = await graph.aget_state(thread_config)
    thread = _Thread(thread_id, snapshot, saga, number)
    point = fork_point(config, thread.head)
    if isinstance(given, Command) and given.resume is not None and point is None:
        _addressed(given, thread.snapshot, graph)  # refused before anybody takes the saga
    if point is not None and thread.saga is not None:
        await decide_fork(engine, saver, thread.saga, point, thread.head, effects)
    if thread.saga is None and _is_answer(given):
        _check_adopted(thread, ending.adopt)
    begun = _begins(thread, given, point, ends_with_failure=on_failure == "raise")
    number = thread.number + 1 if begun else thread.number
    async with engine.hold(run_id(thread_id, number), begin=begun) as coordinator:
        await settle_fork(coordinator, thread.head)
        run = GraphRun(engine, coordinator, graph.name, trusts_exceptions=ending.trusts_exceptions)
        if ending.trusts_exceptions and run.saga.stage is Stage.RUNNING:
            await coordinator.tell(TrustExceptions(graph.name))
        with saver.held_by(thread_id, coordinator):
            snapshot = await graph.aget_state(thread_config)  # checked again, now that nobody else can move it
            now = _Thread(thread_id, snapshot, run.saga, number)
            if run.saga.stage is Stage.COMPENSATED and COMPENSATE not in snapshot.next:
                run.compensated_at = -1.0 if on_failure in snapshot.next else None
            if is_reset(snapshot.metadata, run.saga):
                raise run.failure_in_journal(run.failure_to_raise())
            try:
                yield Invocation(run, *await _what_to_give(graph, run, now, given, config), thread_config)
            finally:
                await run.settle()
                if ending.resets and run.saga.stage is Stage.COMPENSATED:
                    await reset(saver, run.saga)


def _begins(thread: _Thread, given: object, point: str | None, *, ends_with_failure: bool) -> SagaBegun | None:
    """Return how the thread's next run begins; None if the invocation continues the latest one. Raises `ConflictError`."""
    if thread.saga is None:
        if given is None and thread.head is None:
            raise NotBegunError(f"thread {thread.id!r} has not begun: invoke it with an input", saga_id=thread.id)
        return _begun(thread, given, point)
    saga = thread.saga
    is_over = saga.stage in FINAL and (not thread.snapshot.next or (saga.stage is Stage.COMPENSATED and ends_with_failure))
    if given is None or _is_answer(given):
        moved = point is not None or (thread.was_moved and bool(thread.snapshot.next))
        return _begun(thread, given, point) if saga.stage in FINAL and moved else None
    if is_over or (saga.stage in FINAL and point is not None):
        return _begun(thread, given, point)
    if saga.request["input"] != encode(with_message_ids(decode(encode(given)), saga.id)):
        raise ConflictError(
            f"saga {saga.id!r} is {status_of(saga).value} and was begun with another input: resume it with None, cancel it, "
            "or use another thread_id",
            saga_id=saga.id,
        )
    return None


def _check_adopted(thread: _Thread, adopt: bool) -> None:
    """Check an answer on a thread of which the journal knows nothing: plain LangGraph began it, or this is not its journal."""
    if not thread.snapshot.interrupts:
        raise ConflictError(f"thread {thread.id!r} waits for no answer: it has not begun", saga_id=thread.id)
    if not adopt:
        raise ConflictError(
            f"thread {thread.id!r} waits for an answer, and this journal knows nothing of it: if plain LangGraph began it, say "
            "adopt=True; what it did before is no part of the saga, and is not undone",
            saga_id=thread.id,
        )


def _begun(thread: _Thread, given: object, point: str | None) -> SagaBegun:
    saga_id = run_id(thread.id, thread.number + 1)
    with_ids = encode(with_message_ids(decode(encode(given)), saga_id))
    request = {"input": with_ids, "run": thread.number + 1, "after": thread.head, **({"at": point} if point else {})}
    return SagaBegun(Driver.BODY, DOMAIN, request)


async def _what_to_give(
    graph: Pregel[Any, Any, Any, Any], run: GraphRun, thread: _Thread, given: object, config: RunnableConfig | None
) -> tuple[object, RunnableConfig]:
    saga = run.saga
    begun = saga.request
    configurable = {key: each for key, each in (config or {}).get("configurable", {}).items() if key != "checkpoint_id"}
    configurable[RUN] = run
    whole: RunnableConfig = {**(config or {}), "configurable": configurable}
    if given is None and thread.was_moved and fork_point(config, None) == thread.head:
        configurable["checkpoint_id"] = thread.head  # if named, LangGraph gives the graphs in it their states of that time
    first = decode(begun["input"])
    answer = given if _is_answer(given) else None
    fork = fork_ahead(saga, thread.head)
    if fork is not None and fork["point"] not in (None, thread.head):  # an answer is for what waited there
        configurable["checkpoint_id"] = fork["point"]
        return answer, whole
    if thread.head == begun["after"] and begun.get("at"):
        configurable["checkpoint_id"] = begun["at"]
    if thread.head == begun["after"] and _is_answer(first):
        return first, whole
    if isinstance(answer, Command):
        run.updates = answer.update is not None
        answer = _addressed(answer, thread.snapshot, graph) if await _takes(run, thread, answer) else None
    if fork is not None and fork["point"] is None:
        raise NotAllowedError(f"saga {saga.id!r}: its state was to be updated and was not: update it again", saga_id=saga.id)
    if fork is not None:  # the state of a graph that is a node was updated: the thread itself stays where it was
        return answer, whole
    if thread.head == begun["after"] and not (answer is not None and thread.snapshot.interrupts):
        return first, whole
    if thread.head is None:
        raise NotAllowedError(
            f"saga {saga.id!r} began at a checkpoint of its thread that is lost: it can be cancelled, not resumed",
            saga_id=saga.id,
        )
    return answer, whole


def _is_answer(given: object) -> bool:
    return isinstance(given, Command) and given.resume is not None


def _addressed(answer: Command[Any], waiting: StateSnapshot, graph: Pregel[Any, Any, Any, Any]) -> Command[Any]:
    """Return the answer, addressed to the one interrupt that waits: LangGraph would hand an answer without an address to the next
    interrupt too, if the process died in between. An interrupt in a graph without checkpoints has no address: it is a different
    one in every run.

    Raises what LangGraph raises if several wait.
    """
    if isinstance(answer.resume, dict) and answer.resume and all(is_xxh3_128_hexdigest(each) for each in answer.resume):
        return answer
    names = {each.id for each in waiting.interrupts}
    if len(names) > 1:
        raise RuntimeError(
            "When there are multiple pending interrupts, you must specify the interrupt id when resuming: "
            f"Command(resume={{{', '.join(f'{each!r}: ...' for each in sorted(names))}}})"
        )
    asking = [graph.nodes[each.name].bound for each in waiting.tasks if each.interrupts]
    reached = [inner for node in asking if isinstance(node, Journalled) for inner in graphs_in(node.written)]
    if not names or any(inner.checkpointer is False for inner in reached):
        return answer
    return replace(answer, resume={names.pop(): answer.resume})


async def _takes(run: GraphRun, thread: _Thread, answer: Command[Any]) -> bool:
    """Tell whether LangGraph should receive `answer`. Raises `ConflictError` if nothing waits for one."""
    if run.is_turned_back:
        return False
    waiting = waiting_nodes(run.saga)
    if thread.head is None and len(waiting) == 1:  # its checkpoint is lost: the node gets the answer from the journal
        await record_answer(run, waiting[0], answer.resume)
        return False
    if thread.snapshot.interrupts or waiting or (thread.was_moved and thread.snapshot.next):
        return True  # after an update of the state, the node that will ask has not run yet
    if is_answered_by(run.saga, answer.resume):
        return False
    raise ConflictError(f"saga {run.saga.id!r} waits for no answer: resume it with None", saga_id=run.saga.id)
