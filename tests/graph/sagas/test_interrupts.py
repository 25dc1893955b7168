"""Interrupts: what was asked and answered is journalled; no effect before one happens twice (docs/protocol.md L3, L5)."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel, ValidationError

from sagagraph import Engine, Guarantees, SagaGraph, current_saga
from sagagraph.errors import ConflictError, OperationFailedError, OperationHeldError, Refused
from tests.graph.world import QUICK, effect, statuses, thread
from tests.saga.ledger import Ledger

pytestmark = pytest.mark.quick


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    answer: Any
    number: int


def one_node(name: str, node: Any, **told: Any) -> SagaGraph[Any, Any, Any, Any]:
    return SagaGraph(State).add_node(name, node, **told).add_edge(START, name)


async def test_a_thread_that_waits_is_held_and_an_answer_finishes_it(engine: Engine, ledger: Ledger) -> None:
    app = one_node("ask", lambda _state: {"answer": interrupt("ok?")}).compile(engine=engine)
    asked = await app.ainvoke({"log": []}, thread("t"))
    assert [each.value for each in asked["__interrupt__"]] == ["ok?"]
    assert (await engine.status("t")).status == "held"
    assert (await app.ainvoke(None, thread("t")))["__interrupt__"][0].value == "ok?"
    assert (await app.ainvoke(Command(resume="yes"), thread("t")))["answer"] == "yes"
    assert (await engine.status("t")).status == "committed"


async def test_what_was_asked_and_answered_is_in_the_journal(engine: Engine) -> None:
    app = one_node("ask", lambda _state: {"answer": [interrupt("name?"), interrupt("age?")]}).compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    await app.ainvoke(Command(resume="ann"), thread("t"))
    assert (await app.ainvoke(Command(resume=30), thread("t")))["answer"] == ["ann", 30]
    outputs = {each.id: each.output for each in (await engine.status("t")).operations}
    assert outputs["1/ask/interrupt-0"] == "name?"
    assert outputs["1/ask/answer-0"] == "ann"
    assert outputs["1/ask/interrupt-1"] == "age?"
    assert outputs["1/ask/answer-1"] == 30


async def test_an_effect_before_an_interrupt_that_is_an_operation_of_its_own_happens_once(engine: Engine, ledger: Ledger) -> None:
    """Plain LangGraph runs it again on resume (the next test)."""

    async def book_and_ask(state: State) -> State:
        await current_saga().run(ledger.action("flight"))
        return {"answer": interrupt("keep it?")}

    app = one_node("book", book_and_ask).compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    assert (await app.ainvoke(Command(resume=True), thread("t")))["answer"] is True
    assert (ledger.live(), ledger.calls("do flight")) == ({"flight": 1}, 1)


async def test_plain_langgraph_repeats_the_effect_before_an_interrupt() -> None:
    landed: list[str] = []

    def book_and_ask(state: State) -> State:
        landed.append("flight")
        return {"answer": interrupt("keep it?")}

    app = StateGraph(State).add_node("book", book_and_ask).add_edge(START, "book").compile(checkpointer=InMemorySaver())
    await app.ainvoke({"log": []}, thread("t"))
    await app.ainvoke(Command(resume=True), thread("t"))
    assert landed == ["flight", "flight"]


async def test_an_effect_before_an_interrupt_in_the_same_node_holds_it_and_says_why(engine: Engine, ledger: Ledger) -> None:
    node, told = effect(ledger, "flight")

    async def book_and_ask(state: State) -> State:
        await node(state)
        return {"answer": interrupt("keep it?")}

    app = one_node("book", book_and_ask, **told | {"guarantees": Guarantees()}).compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    with pytest.raises(OperationHeldError, match=r"would be done again.*saga\.run, saga_tool"):
        await app.ainvoke(Command(resume=True), thread("t"))
    assert ledger.calls("do flight") == 1
    assert (await engine.cancel("t")).status in ("compensated", "stuck")  # type: ignore[union-attr]


async def test_a_node_whose_provider_remembers_keys_may_wait_after_its_effect(engine: Engine, ledger: Ledger) -> None:
    node, told = effect(ledger, "flight")

    async def book_and_ask(state: State) -> State:
        await node(state)
        return {"answer": interrupt("keep it?")}

    app = one_node("book", book_and_ask, **told).compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    assert (await app.ainvoke(Command(resume=True), thread("t")))["answer"] is True
    assert (ledger.live(), ledger.calls("do flight")) == ({"flight": 1}, 2)


async def test_a_failure_after_an_interrupt_undoes_what_came_before_it(engine: Engine, ledger: Ledger) -> None:
    """A saga that is wrapped around a graph has forgotten that: "rolled back clean, 0 compensated"."""
    node, told = effect(ledger, "flight")

    def check(state: State) -> State:
        if interrupt("go on?") is False:
            raise Refused("nobody wants it")
        return {}

    graph = SagaGraph(State).add_node("flight", node, **told).add_node("check", check)
    app = graph.add_edge(START, "flight").add_edge("flight", "check").compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    with pytest.raises(OperationFailedError, match=r"saga 't': operation '2/check' failed: nobody wants it"):
        await app.ainvoke(Command(resume=False), thread("t"))
    assert (ledger.live(), (await engine.status("t")).status) == ({}, "compensated")


async def test_a_second_answer_does_not_answer_the_next_interrupt_unseen(engine: Engine) -> None:
    """The same answer again, once nobody waits, resumes; another one is a conflict."""
    broken = [True]

    def ask(state: State) -> State:
        return {"answer": interrupt("ok?")}

    def after(state: State) -> State:
        if broken and broken.pop():
            raise OperationHeldError("the power is gone")
        return {"log": ["after"]}

    graph = SagaGraph(State).add_node("ask", ask).add_node("after", after)
    app = graph.add_edge(START, "ask").add_edge("ask", "after").compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    with pytest.raises(OperationHeldError):
        await app.ainvoke(Command(resume="yes"), thread("t"))
    with pytest.raises(ConflictError, match="waits for no answer"):
        await app.ainvoke(Command(resume="no"), thread("t"))
    assert await app.ainvoke(Command(resume="yes"), thread("t")) == {"log": ["after"], "answer": "yes"}


async def test_answers_by_interrupt_id_reach_parallel_nodes(engine: Engine) -> None:
    def ask(state: State) -> State:
        return {"log": [f"{state['number']}: {interrupt(state['number'])}"]}

    graph = SagaGraph(State).add_node("ask", ask)
    graph.add_conditional_edges(START, lambda _state: [Send("ask", {"number": number}) for number in range(2)], ["ask"])
    app = graph.compile(engine=engine)
    asked = (await app.ainvoke({"log": []}, thread("t")))["__interrupt__"]
    answers = {each.id: f"answer {each.value}" for each in asked}
    assert (await app.ainvoke(Command(resume=answers), thread("t")))["log"] == ["0: answer 0", "1: answer 1"]


async def test_an_answer_that_does_not_fit_may_be_given_again(engine: Engine) -> None:
    class Approval(BaseModel):
        approved: bool

    def ask(state: State) -> State:
        return {"answer": interrupt("ok?", response_schema=Approval).approved}

    app = one_node("ask", ask).compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    with pytest.raises(ValidationError):
        await app.ainvoke(Command(resume={"approved": "perhaps"}), thread("t"))
    assert (await app.ainvoke(Command(resume={"approved": True}), thread("t")))["answer"] is True


async def test_answers_survive_lost_checkpoints(engine: Engine, ledger: Ledger) -> None:
    def build() -> Any:
        graph = SagaGraph(State)
        node, told = effect(ledger, "flight")
        graph.add_node("flight", node, **told)
        graph.add_node("ask", lambda _state: {"answer": [interrupt("one?"), interrupt("two?")]})
        return graph.add_edge(START, "flight").add_edge("flight", "ask").compile(engine=engine, checkpointer=InMemorySaver())

    await build().ainvoke({"log": []}, thread("t"))
    assert (await build().ainvoke(Command(resume=1), thread("t")))["__interrupt__"][0].value == "two?"
    assert (await build().ainvoke(None, thread("t")))["__interrupt__"][0].value == "two?"
    assert (await build().ainvoke(Command(resume=2), thread("t")))["answer"] == [1, 2]
    assert ledger.calls("do flight") == 1


async def test_an_interrupt_in_a_subgraph_is_answered_there(engine: Engine, ledger: Ledger) -> None:
    inner = SagaGraph(State)
    node, told = effect(ledger, "seat")
    inner.add_node("seat", node, **told).add_node("ask", lambda _state: {"answer": interrupt("this seat?")})
    inner.add_edge(START, "seat").add_edge("seat", "ask").add_edge("ask", END)
    app = one_node("board", inner.compile()).compile(engine=engine)
    assert (await app.ainvoke({"log": []}, thread("t")))["__interrupt__"][0].value == "this seat?"
    assert (await app.ainvoke(Command(resume="yes"), thread("t")))["answer"] == "yes"
    assert (ledger.calls("do seat"), (await engine.status("t")).status) == (1, "committed")
    assert (await statuses(engine, "t"))["1/board/2/ask/answer-0"] == "succeeded"


async def test_an_interrupt_counts_against_no_policy(engine: Engine) -> None:
    """Not as a failed attempt, and not as time."""
    asked = 0

    def ask(state: State) -> State:
        nonlocal asked
        asked += 1
        return {"answer": interrupt("ok?")}

    app = one_node("ask", ask, policy=QUICK).compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    for _again in range(5):
        await app.ainvoke(None, thread("t"))
    assert asked == 6
    assert (await app.ainvoke(Command(resume=1), thread("t")))["answer"] == 1


async def test_static_interrupts_stop_before_a_node(engine: Engine, ledger: Ledger) -> None:
    node, told = effect(ledger, "flight")
    app = one_node("flight", node, **told).compile(engine=engine, interrupt_before=["flight"])
    await app.ainvoke({"log": []}, thread("t"))
    assert ledger.live() == {}
    assert (await app.ainvoke(None, thread("t")))["log"] == ["flight"]
    assert (await engine.status("t")).status == "committed"


async def test_resuming_without_the_graph_decides_nothing_for_a_person(engine: Engine, ledger: Ledger) -> None:
    """`sagagraph resume` goes over all that is open: what waits for an answer goes on waiting, and undoes nothing."""
    node, told = effect(ledger, "flight")
    graph = SagaGraph(State).add_node("flight", node, **told).add_node("ask", lambda _state: {"answer": interrupt("ok?")})
    app = graph.add_edge(START, "flight").add_edge("flight", "ask").compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    assert (await engine.resume("t")).status == "held"
    assert ledger.live() == {"flight": 1}
    assert (await app.ainvoke(Command(resume=1), thread("t")))["answer"] == 1


async def test_a_thread_that_plain_langgraph_left_waiting_is_adopted_explicitly(engine: Engine) -> None:
    class Trip(TypedDict, total=False):
        approved: bool
        booked: list[str]

    def build(kind: Any) -> Any:
        graph = kind(Trip).add_node("approve", lambda _state: {"approved": interrupt("shall we?")})
        graph.add_node("book", lambda _state: {"booked": ["flight"]})
        return graph.add_edge(START, "approve").add_edge("approve", "book")

    saver = InMemorySaver()
    await build(StateGraph).compile(checkpointer=saver).ainvoke({}, thread("t"))
    app = build(SagaGraph).compile(engine=engine, checkpointer=saver)
    with pytest.raises(ConflictError, match="adopt=True"):
        await app.ainvoke(Command(resume=True), thread("t"))
    assert await app.ainvoke(Command(resume=True), thread("t"), adopt=True) == {"approved": True, "booked": ["flight"]}
    assert (await engine.status("t")).status == "committed"
    with pytest.raises(ConflictError, match="it has not begun"):
        await app.ainvoke(Command(resume=True), thread("never"), adopt=True)
