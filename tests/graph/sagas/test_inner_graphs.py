"""Plain graphs, agents and tasks that a node runs: LangGraph resumes them from their own checkpoints, and what they did stays."""

from __future__ import annotations

import operator
from contextlib import AsyncExitStack
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.func import task
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from sagagraph import Engine, Refused, SagaGraph, current_saga
from sagagraph.errors import OperationFailedError, OperationHeldError
from tests.graph.inner_scenarios import agent, calls
from tests.graph.world import effect, statuses, thread
from tests.saga.ledger import Ledger

pytestmark = pytest.mark.quick


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


class Chat(TypedDict, total=False):
    messages: list[Any]


def travel_agent(ledger: Ledger, *, then: list[AIMessage] | None = None) -> Any:
    """Books a flight, then asks a person, then books a hotel; each in a step of its own."""
    flight, hotel = (calls(f"book_{name}", city="Rome") for name in ("flight", "hotel"))
    return agent(ledger, flight, calls("ask", question="also a hotel in Rome?"), hotel, *(then or []))


def around(plain: Any, *, fails: bool = False) -> SagaGraph[Any, Any, Any, Any]:
    def last(state: Any) -> Any:
        if fails:
            raise Refused("too expensive")
        return {}

    graph = SagaGraph(Chat).add_node("agent", plain).add_node("last", last)
    return graph.add_edge(START, "agent").add_edge("agent", "last")


HELLO: Any = {"messages": [{"role": "user", "content": "Rome, please"}]}


async def test_what_an_agent_booked_before_it_asked_stays_booked(engine: Engine, ledger: Ledger) -> None:
    app = around(travel_agent(ledger)).compile(engine=engine)
    asked = await app.ainvoke(HELLO, thread("t"))
    assert [each.value for each in asked["__interrupt__"]] == ["also a hotel in Rome?"]
    ended = await app.ainvoke(Command(resume="yes"), thread("t"))
    assert "hotel booked in Rome" in str(ended["messages"])
    assert (await engine.status("t")).status == "committed"
    assert (ledger.live(), ledger.faults()) == ({"flight": 1, "hotel": 1}, ())


async def test_what_an_agent_booked_is_undone_dependents_first(engine: Engine, ledger: Ledger) -> None:
    app = around(travel_agent(ledger), fails=True).compile(engine=engine)
    await app.ainvoke(HELLO, thread("t"))
    with pytest.raises(OperationFailedError, match="too expensive"):
        await app.ainvoke(Command(resume="yes"), thread("t"))
    assert (ledger.live(), ledger.undone()) == ({}, ["hotel", "flight"])


async def test_the_same_call_in_a_later_step_of_a_resumed_agent_is_another_one(engine: Engine, ledger: Ledger) -> None:
    app = around(travel_agent(ledger, then=[calls("book_flight", city="Rome")])).compile(engine=engine)
    await app.ainvoke(HELLO, thread("t"))
    await app.ainvoke(Command(resume="yes"), thread("t"))
    assert ledger.live() == {"flight": 2, "hotel": 1}


@pytest.mark.parametrize("is_plain", [False, True], ids=["async", "sync"])
async def test_a_task_in_a_node_runs_once_and_its_effect_stays(engine: Engine, ledger: Ledger, is_plain: bool) -> None:
    flight, hotel = ledger.action("flight"), ledger.action("hotel")

    if is_plain:

        @task
        def books(which: str) -> Any:
            return current_saga().run({"flight": flight, "hotel": hotel}[which])

        def node(state: State) -> State:
            first = [books("flight"), books("hotel")]
            landed = [each.result() for each in first]
            return {"log": [*(str(each) for each in landed), interrupt("go on?")]}
    else:

        @task
        async def books(which: str) -> Any:
            return await current_saga().run({"flight": flight, "hotel": hotel}[which])

        async def node(state: State) -> State:  # type: ignore[misc]
            first = [books("flight"), books("hotel")]
            landed = [await each for each in first]
            return {"log": [*(str(each) for each in landed), interrupt("go on?")]}

    app = SagaGraph(State).add_node("node", node).add_edge(START, "node").compile(engine=engine)
    assert "__interrupt__" in await app.ainvoke({"log": []}, thread("t"))
    ended = await app.ainvoke(Command(resume="yes"), thread("t"))
    assert ended["log"][-1] == "yes"
    assert (await engine.status("t")).status == "committed"
    assert (ledger.live(), ledger.calls("do flight"), ledger.calls("do hotel")) == ({"flight": 1, "hotel": 1}, 1, 1)


# -- graphs that a node's function calls -----------------------------------------------------------------------------------


def booking_graph(ledger: Ledger, *names: str, node: str = "book", known_as: str | None = None) -> Any:
    """A SagaGraph whose nodes are all called alike."""
    graph = SagaGraph(State)
    for number, name in enumerate(names):
        made, told = effect(ledger, name)
        graph.add_node(f"{node}{number}", made, **told)
        graph.add_edge(START if not number else f"{node}{number - 1}", f"{node}{number}")
    return graph.compile(name=known_as)


@pytest.mark.parametrize("second", ["the same", "another"])
async def test_each_graph_that_a_function_calls_runs(engine: Engine, ledger: Ledger, second: str) -> None:
    first = booking_graph(ledger, "flight")
    other = first if second == "the same" else booking_graph(ledger, "hotel")

    async def calls_two(state: State) -> State:
        return {"log": [*(await first.ainvoke({"log": []}))["log"], *(await other.ainvoke({"log": []}))["log"]]}

    def refuse(state: State) -> State:
        raise Refused("no")

    graph = SagaGraph(State).add_node("calls", calls_two).add_edge(START, "calls")
    app = graph.compile(engine=engine)
    ended = await app.ainvoke({"log": []}, thread("t"))
    assert ledger.live() == ({"flight": 2} if second == "the same" else {"flight": 1, "hotel": 1})
    assert len(ended["log"]) == 2
    graph.add_node("refuse", refuse).add_edge("calls", "refuse")
    with pytest.raises(OperationFailedError):
        await graph.compile(engine=engine).ainvoke({"log": []}, thread("u"))
    assert ledger.undone() == (["flight"] * 2 if second == "the same" else ["hotel", "flight"])


def _calling_two(ledger: Ledger) -> SagaGraph[Any, Any, Any, Any]:
    out, back = (booking_graph(ledger, name, known_as=name) for name in ("flight", "hotel"))

    async def calls_two(state: State) -> State:
        await out.ainvoke({"log": []})
        await back.ainvoke({"log": []})
        return {"log": [interrupt("go on?")]}

    return SagaGraph(State).add_node("calls", calls_two).add_edge(START, "calls")


async def test_what_called_graphs_did_is_undone_by_a_process_in_which_they_have_not_run(store_url: str, ledger: Ledger) -> None:
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(Engine.open(store_url)) for _ in range(2)]
        apps = [_calling_two(ledger).compile(engine=engine) for engine in engines]
        assert "__interrupt__" in await apps[0].ainvoke({"log": []}, thread("t"))
        assert ledger.live() == {"flight": 1, "hotel": 1}
        view = await apps[1].acancel(thread("t"))
        assert (view.status, ledger.undone()) == ("compensated", ["hotel", "flight"])


async def test_a_graph_called_in_a_loop_with_other_arguments_is_resumed_where_it_was(engine: Engine, ledger: Ledger) -> None:
    inner = booking_graph(ledger, "flight", "hotel")
    breaks = [True]

    async def loops(state: State) -> State:
        for number in range(3):
            await inner.ainvoke({"log": [str(number)]})
            if number == 1 and breaks:
                breaks.pop()
                raise OperationHeldError("the power is gone")
        await current_saga().run(ledger.action("bill"))
        return {}

    app = SagaGraph(State).add_node("loops", loops).add_edge(START, "loops").compile(engine=engine)
    with pytest.raises(OperationHeldError):
        await app.ainvoke({"log": []}, thread("t"))
    await app.ainvoke(None, thread("t"))
    assert (ledger.live(), ledger.calls("do flight")) == ({"bill": 1, "flight": 3, "hotel": 3}, 3)
    bill = next(each for each in (await engine.status("t")).operations if each.action == "bill")
    assert bill.depends_on == ("1/loops/graph~3/2/book1",)
    await app.acancel(thread("t"))
    assert (ledger.live(), ledger.undone()) == ({}, ["bill", *["hotel", "flight"] * 3])


async def test_a_saga_graph_in_each_pass_of_a_plain_graphs_node_is_another_one(engine: Engine, ledger: Ledger) -> None:
    class Rounds(TypedDict, total=False):
        log: Annotated[list[str], operator.add]
        rounds: Annotated[int, operator.add]

    books = booking_graph(ledger, "flight")

    async def middle(state: Rounds) -> Rounds:
        await books.ainvoke({"log": []})
        if state.get("rounds", 0) == 1:
            interrupt("again?")
        return {"rounds": 1}

    plain = StateGraph(Rounds).add_node("middle", middle).add_edge(START, "middle")
    plain.add_conditional_edges("middle", lambda state: "middle" if state["rounds"] < 3 else "__end__")
    app = SagaGraph(Rounds).add_node("plain", plain.compile()).add_edge(START, "plain").compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    assert ledger.live() == {"flight": 2}
    await app.ainvoke(Command(resume=True), thread("t"))
    assert (ledger.live(), (await engine.status("t")).status) == ({"flight": 3}, "committed")
    assert len(await statuses(engine, "t")) >= 4


def test_a_plain_function_calls_a_plain_graph(ledger: Ledger, store_url: str) -> None:
    """With `invoke`, and with effects in it: its checkpoints are written behind the same fence."""
    flight = ledger.action("flight")

    def book(state: State) -> State:
        current_saga().run(flight)
        return {"log": ["booked"]}

    inner = StateGraph(State).add_node("book", book).add_node("asks", lambda _state: {"log": [interrupt("ok?")]})
    plain = inner.add_edge(START, "book").add_edge("book", "asks").compile()
    graph = SagaGraph(State).add_node("node", lambda state: {"log": plain.invoke(state)["log"]}).add_edge(START, "node")
    with Engine.open(store_url) as engine, SqliteSaver.from_conn_string(":memory:") as saver:
        app = graph.compile(engine=engine, checkpointer=saver)
        assert "__interrupt__" in app.invoke({"log": []}, thread("t"))
        assert app.invoke(Command(resume="yes"), thread("t"))["log"] == ["booked", "yes"]
        assert engine.status("t").status == "committed"
    assert (ledger.live(), ledger.calls("do flight")) == ({"flight": 1}, 1)


async def test_a_graph_on_a_thread_of_its_own_runs_in_a_node(engine: Engine) -> None:
    inner = StateGraph(State).add_node("one", lambda _state: {"log": ["one"]}).add_edge(START, "one").compile()

    async def node(state: State) -> State:
        return {"log": (await inner.ainvoke({"log": []}, thread("other")))["log"]}

    app = SagaGraph(State).add_node("node", node).add_edge(START, "node").compile(engine=engine)
    assert (await app.ainvoke({"log": []}, thread("t")))["log"] == ["one"]


async def test_a_graph_that_keeps_no_checkpoints_runs_from_its_top_with_the_answer(engine: Engine) -> None:
    ran: list[str] = []
    inner = StateGraph(State).add_node("counts", lambda _state: ran.append("x"))
    inner.add_node("asks", lambda _state: {"log": [interrupt("ok?")]}).add_edge(START, "counts").add_edge("counts", "asks")
    graph = SagaGraph(State).add_node("inner", inner.compile(checkpointer=False)).add_edge(START, "inner")
    app = graph.compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    assert (await app.ainvoke(Command(resume="yes"), thread("t")))["log"] == ["yes"]
    assert (len(ran), (await engine.status("t")).status) == (2, "committed")
