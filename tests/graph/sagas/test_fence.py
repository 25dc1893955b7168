"""A worker that was superseded moves no thread (docs/protocol.md L4)."""

from __future__ import annotations

import asyncio
import operator
import sqlite3
import time
from contextlib import closing
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from sagagraph import Engine, SagaGraph
from sagagraph.errors import SagaGraphError, SupersededError
from sagagraph.graph.checkpoints.fenced_saver import FencedSaver
from tests.graph.world import effect, thread
from tests.saga.ledger import Ledger


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


async def test_a_worker_that_wakes_after_it_was_superseded_writes_no_checkpoint(store_url: str, ledger: Ledger) -> None:
    """The first one is frozen within a node for longer than its lease; the second one finishes the thread meanwhile."""
    saver = InMemorySaver()
    frozen, wakes = asyncio.Event(), asyncio.Event()
    times = iter([True, False])
    now = {"skipped": 0.0}

    def clock() -> float:
        return time.time() + now["skipped"]

    async def sleepy(state: State) -> State:
        if next(times):
            frozen.set()
            await wakes.wait()
            return {"log": ["woken"]}
        return {"log": ["second"]}

    def build(engine: Engine) -> Any:
        node, told = effect(ledger, "flight")
        graph = SagaGraph(State).add_node("sleepy", sleepy).add_node("flight", node, **told)
        return (
            graph.add_edge(START, "sleepy")
            .add_edge("sleepy", "flight")
            .add_edge("flight", END)
            .compile(engine=engine, checkpointer=saver)
        )

    async with Engine.open(store_url, clock=clock, lease_ttl_s=1.0) as first, Engine.open(store_url, lease_ttl_s=1.0) as second:
        first._keeper.stop()  # a frozen process has no pulse
        running = asyncio.create_task(build(first).ainvoke({"log": []}, thread("t")))
        await frozen.wait()
        first._keeper.stop()
        await _lease_runs_out(store_url)
        assert (await build(second).ainvoke(None, thread("t")))["log"] == ["second", "flight"]
        head = (await saver.aget_tuple(thread("t"))).config  # type: ignore[union-attr]
        now["skipped"] = 10.0
        wakes.set()
        with pytest.raises(SagaGraphError):
            await running
    assert (await saver.aget_tuple(thread("t"))).config == head  # type: ignore[union-attr]
    assert ledger.live() == {"flight": 1}


async def _lease_runs_out(store_url: str) -> None:
    with closing(sqlite3.connect(store_url.removeprefix("sqlite:///"))) as connection, connection:
        assert connection.execute("UPDATE sagas SET lease_until = 0, owner = 'a machine that is gone'").rowcount == 1


async def test_a_write_after_the_lease_ran_out_asks_whether_the_saga_is_still_held(store_url: str) -> None:
    """Frozen between the end of a node and its checkpoint."""
    inner, skipped = InMemorySaver(), [0.0]
    saver = FencedSaver(inner)
    async with Engine.open(store_url, clock=lambda: time.time() + skipped[0], lease_ttl_s=1.0) as first:
        app = SagaGraph(State).add_node("look", lambda _state: {}).add_edge(START, "look").compile(engine=first)
        await app.ainvoke({"log": []}, thread("t"))
        async with first.hold("t") as coordinator:
            with saver.held_by("t", coordinator):
                first._keeper.stop()
                config = thread("t", checkpoint_ns="")
                await saver.aput(config, empty_checkpoint(), {"step": 1}, {})
                await _lease_runs_out(store_url)
                async with Engine.open(store_url) as second, second.hold("t"):
                    skipped[0] = 10.0
                    with pytest.raises(SupersededError, match="taken over"):
                        await saver.aput(config, empty_checkpoint(), {"step": 2}, {})
                    with pytest.raises(SupersededError, match="taken over"):
                        await saver.aput_writes(thread("t", checkpoint_ns="", checkpoint_id="1"), [("log", ["x"])], "task")
    assert [each.metadata["step"] for each in inner.list(thread("t"))] == [1]


async def test_on_plain_langgraph_a_woken_worker_moves_a_finished_thread_backwards() -> None:
    saver, wakes, frozen = InMemorySaver(), asyncio.Event(), asyncio.Event()
    times = iter([True, False])

    async def sleepy(state: State) -> State:
        if next(times):
            frozen.set()
            await wakes.wait()
        return {"log": ["sleepy"]}

    graph = StateGraph(State).add_node("sleepy", sleepy).add_node("end", lambda _state: {"log": ["end"]})
    app = graph.add_edge(START, "sleepy").add_edge("sleepy", "end").compile(checkpointer=saver)
    running = asyncio.create_task(app.ainvoke({"log": []}, thread("t")))
    await frozen.wait()
    await app.ainvoke(None, thread("t"))
    finished = (await app.aget_state(thread("t"))).config
    wakes.set()
    await running
    assert (await app.aget_state(thread("t"))).config != finished


async def test_whoever_does_not_hold_the_saga_writes_no_checkpoint() -> None:
    saver = FencedSaver(InMemorySaver())
    with pytest.raises(SupersededError, match="not held by this worker"):
        await saver.aput(thread("t", checkpoint_ns=""), {}, {}, {})  # type: ignore[typeddict-item]
    with pytest.raises(SupersededError):
        await saver.aput_writes(thread("t", checkpoint_ns="", checkpoint_id="1"), [], "task")


class _OfOldTimes(InMemorySaver):
    """Written before LangGraph had the paths of tasks."""

    def put_writes(self, config: Any, writes: Any, task_id: str) -> None:  # type: ignore[override]
        super().put_writes(config, writes, task_id)


async def test_a_saver_without_paths_of_tasks_keeps_what_they_wrote(engine: Engine) -> None:
    graph = SagaGraph(State).add_node("asks", lambda _state: {"log": [interrupt("ok?")]}).add_edge(START, "asks")
    app = graph.compile(engine=engine, checkpointer=_OfOldTimes())
    await app.ainvoke({"log": []}, thread("t"))
    assert [each.value for each in (await app.aget_state(thread("t"))).interrupts] == ["ok?"]
    assert (await app.ainvoke(Command(resume="yes"), thread("t")))["log"] == ["yes"]
