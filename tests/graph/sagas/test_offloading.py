"""Lists whose items stay in the journal (docs/protocol.md L10)."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from sagagraph import Engine, SagaGraph, offload
from tests.graph.world import thread

STEPS = 200
ITEM = "x" * 2048


class State(TypedDict, total=False):
    items: Annotated[list[str], offload]
    step: int


class Plain(TypedDict, total=False):
    items: Annotated[list[str], operator.add]
    step: int


def growing(kind: Any, state: Any, steps: int, seen: list[int]) -> Any:
    def grow(current: Any) -> Any:
        seen.append(len(current.get("items", [])))
        return {"items": [f"{current['step']}{ITEM}"], "step": current["step"] + 1}

    graph = kind(state).add_node("grow", grow).add_edge(START, "grow")
    return graph.add_conditional_edges("grow", lambda current: "grow" if current["step"] < steps else END, ["grow", END])


class Measuring(InMemorySaver):
    """Counts the bytes that it is given, as a database would have to write them."""

    written = 0

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        changed = {key: each for key, each in checkpoint["channel_values"].items() if key in new_versions}
        self.written += sum(len(self.serde.dumps_typed(each)[1]) for each in changed.values())
        rest = {key: each for key, each in checkpoint.items() if key != "channel_values"}
        self.written += len(self.serde.dumps_typed(rest)[1]) + len(self.serde.dumps_typed(metadata)[1])
        return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self.written += sum(len(self.serde.dumps_typed(each)[1]) for _channel, each in writes)
        super().put_writes(config, writes, task_id, task_path)


async def test_checkpoints_of_a_long_graph_stay_within_three_times_what_it_produced(engine: Engine) -> None:
    seen: list[int] = []
    saver = Measuring()
    app = growing(SagaGraph, State, STEPS, seen).compile(engine=engine, checkpointer=saver)
    ended = await app.ainvoke({"step": 0}, thread("t") | {"recursion_limit": 1000})
    assert (len(ended["items"]), ended["items"][7][:5], seen) == (STEPS, "7xxxx", list(range(STEPS)))
    useful = STEPS * len(ITEM)
    assert saver.written <= 3 * useful


async def test_a_plain_list_costs_many_times_as_much() -> None:
    saver = Measuring()
    app = growing(StateGraph, Plain, STEPS, []).compile(checkpointer=saver)
    await app.ainvoke({"step": 0}, thread("t") | {"recursion_limit": 1000})
    assert saver.written > 50 * STEPS * len(ITEM)


async def test_the_journal_of_a_long_graph_does_not_grow_with_its_square(engine: Engine) -> None:
    """Nor where the list is a plain one: of the state of a node without effects it holds a hash."""
    app = growing(SagaGraph, Plain, 50, []).compile(engine=engine)
    await app.ainvoke({"step": 0}, thread("t") | {"recursion_limit": 1000})
    dump = await engine.store.dump("t")
    assert len(str(dump)) < 3 * 50 * (len(ITEM) + 1000)


async def test_items_are_read_in_later_runs_in_streams_and_by_compensations(engine: Engine) -> None:
    undone: list[Any] = []

    def grow(state: State) -> State:
        return {"items": [f"item {len(state['items'])}"]}

    async def undo(state: Any, update: Any, call: Any) -> None:
        undone.append((state["items"], update["items"]))

    def build() -> Any:
        graph = SagaGraph(State).add_node("grow", grow, compensate=undo).add_edge(START, "grow")
        return graph.compile(engine=engine, checkpointer=saver)

    saver = InMemorySaver()
    assert (await build().ainvoke({"items": ["first"]}, thread("t")))["items"] == ["first", "item 1"]
    chunks = [each async for each in build().astream({}, thread("t"), stream_mode="updates")]
    assert chunks == [{"grow": {"items": ["item 2"]}}]
    assert (await build().ainvoke(None, thread("t")))["items"] == ["first", "item 1", "item 2"]
    await build().acancel(thread("t"))
    assert undone == [(["first", "item 1"], ["item 2"])]


@pytest.mark.parametrize("current", [[], ["a"]])
def test_the_reducer_keeps_what_no_operation_returned(current: list[str]) -> None:
    once = offload(current, ["b"])
    assert offload(once, []) == once
