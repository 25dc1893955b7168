"""Graphs of others as SagaGraphs: the same results, with effects that can be undone."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.managed import RemainingSteps
from langgraph.types import Command, RetryPolicy, Send, interrupt

from sagagraph import Engine, SagaGraph
from sagagraph.errors import InvalidInputError, NotAllowedError, UnknownOperationError
from tests.graph.sagas.test_inner_graphs import State
from tests.graph.world import effect, statuses, thread
from tests.saga.ledger import Ledger

pytestmark = pytest.mark.quick


def written(book: Any = None) -> StateGraph[Any, Any, Any, Any]:
    """Every way on: an edge, a joining edge, a router, `Send`, `Command`, a handler of errors, a deferred node."""
    tries: list[int] = []

    def fails(state: State) -> State:
        tries.append(1)
        raise ConnectionError("no")

    graph = StateGraph(State, input_schema=State, output_schema=State)
    graph.add_node("book", book or (lambda state: {"log": ["book"]}))
    graph.add_node("fails", fails, error_handler=lambda state: {"log": [f"handled {len(tries)}"]})
    graph.add_node("item", lambda state: {"log": [f"item {state['number']}"]})
    graph.add_node("go", lambda state: Command(goto="last", update={"log": ["go"]}), destinations=("last",))
    graph.add_node("last", lambda state: {"log": ["last"]}, defer=True)
    graph.set_node_defaults(retry_policy=RetryPolicy(max_attempts=2, initial_interval=0.001))
    graph.add_edge(START, "book").add_edge(START, "fails").add_edge(["book", "item"], "go")
    graph.add_conditional_edges("book", lambda state: [Send("item", {"number": each}) for each in (1, 2)], ["item"])
    return graph.add_edge("last", END)


async def test_a_converted_graph_says_what_it_said(engine: Engine) -> None:
    plain = await written().compile().ainvoke({"log": []})
    app = SagaGraph.of(written().compile()).compile(engine=engine)
    assert sorted((await app.ainvoke({"log": []}, thread("t")))["log"]) == sorted(plain["log"])
    assert {"handled 2", "last"} <= set(plain["log"])
    assert (await engine.status("t")).status == "committed"
    assert {"1/book", "1/book?condition", "2/item#0", "2/item#1"} <= {
        each.replace("<lambda>", "condition") for each in await statuses(engine, "t")
    }


async def test_what_a_converted_node_did_is_undone(engine: Engine, ledger: Ledger) -> None:
    book, told = effect(ledger, "book")
    by_node = {option: {"book": each} for option, each in told.items()}
    original = written(book)
    app = SagaGraph.of(original, **by_node).compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    assert ledger.live() == {"book": 1}
    assert (await app.acancel(thread("t"))).status == "compensated"  # type: ignore[union-attr]
    assert ledger.live() == {}
    assert not hasattr(original, "declarations")


def test_what_cannot_be_converted_is_refused() -> None:
    with pytest.raises(UnknownOperationError, match="'nobody'"):
        SagaGraph.of(written(), compensate={"nobody": print})
    with pytest.raises(NotAllowedError, match="say there"):
        SagaGraph.of(SagaGraph.of(written()))
    with pytest.raises(InvalidInputError, match="no StateGraph"):
        SagaGraph.of(print)


class Limited(State, total=False):
    remaining_steps: RemainingSteps


async def test_a_node_that_reads_how_many_steps_remain_is_resumed(engine: Engine) -> None:
    """LangGraph computes that number anew in each invocation: the node's state differs, and is the same."""

    def asks(state: Limited) -> State:
        return {"log": [interrupt(f"{state['remaining_steps'] > 0}?")]}

    graph = SagaGraph(Limited).add_node("first", lambda state: {"log": ["first"]}).add_node("asks", asks)
    app = graph.add_edge(START, "first").add_edge("first", "asks").compile(engine=engine)
    assert "__interrupt__" in await app.ainvoke({"log": []}, thread("t"))
    assert (await app.ainvoke(Command(resume="yes"), thread("t")))["log"] == ["first", "yes"]
