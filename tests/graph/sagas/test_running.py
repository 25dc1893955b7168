"""Invocations of a thread: what resumes, what conflicts, what begins another saga (docs/protocol.md L1, L3 and L9)."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels import UntrackedValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.runtime import Runtime
from langgraph.types import Command, Send
from pydantic import BaseModel

from sagagraph import Engine, SagaGraph, current_call, current_saga
from sagagraph.errors import BusyError, ConflictError, InvalidInputError, NotAllowedError, OperationHeldError
from sagagraph.graph.running.run import RUN
from sagagraph.graph.state.values import decode
from tests.graph.world import effect, saga_of, statuses, thread
from tests.saga.ledger import Ledger

pytestmark = pytest.mark.quick


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    number: int


def chain(ledger: Ledger, *names: str, last: Callable[[Any], Any] | None = None) -> SagaGraph[Any, Any, Any, Any]:
    graph = SagaGraph(State)
    for name in names:
        node, told = effect(ledger, name)
        graph.add_node(name, node, **told)
    if last is not None:
        graph.add_node("last", last)
    in_order = [START, *names, *(["last"] if last else [])]
    for before, after in pairwise(in_order):
        graph.add_edge(before, after)
    return graph


async def test_a_thread_is_a_saga_that_commits_at_its_end(engine: Engine, ledger: Ledger) -> None:
    app = chain(ledger, "flight", "hotel").compile(engine=engine)
    assert await app.ainvoke({"log": []}, thread("t")) == {"log": ["flight", "hotel"]}
    view = await engine.status("t")
    assert (view.status, [each.id for each in view.operations]) == ("committed", ["1/flight", "2/hotel"])
    assert view.operations[1].depends_on == ("1/flight",)
    assert ledger.live() == {"flight": 1, "hotel": 1}


class _Breaks:
    """A last node that leaves the invocation open, as often as it is told to."""

    def __init__(self, times: int = 1) -> None:
        self.times = times

    async def __call__(self, state: State) -> State:
        if self.times:
            self.times -= 1
            raise OperationHeldError("the power is gone")
        return {"log": ["last"]}


@pytest.mark.parametrize("again", [None, {"log": []}], ids=["none", "the same input"])
async def test_an_open_thread_is_resumed_and_no_effect_happens_twice(engine: Engine, ledger: Ledger, again: Any) -> None:
    app = chain(ledger, "flight", last=_Breaks()).compile(engine=engine)
    with pytest.raises(OperationHeldError, match="power"):
        await app.ainvoke({"log": []}, thread("t"))
    assert await app.ainvoke(again, thread("t")) == {"log": ["flight", "last"]}
    assert (ledger.live(), ledger.calls("do flight")) == ({"flight": 1}, 1)


async def test_another_input_on_an_open_saga_is_a_conflict(engine: Engine, ledger: Ledger) -> None:
    app = chain(ledger, "flight", last=_Breaks()).compile(engine=engine)
    with pytest.raises(OperationHeldError):
        await app.ainvoke({"log": []}, thread("t"))
    with pytest.raises(ConflictError, match="begun with another input"):
        await app.ainvoke({"log": ["other"]}, thread("t"))
    assert (await app.ainvoke(None, thread("t")))["log"] == ["flight", "last"]


async def test_an_input_on_a_finished_thread_begins_another_saga(engine: Engine, ledger: Ledger) -> None:
    app = chain(ledger, "flight").compile(engine=engine)
    for expected in (["flight"], ["flight"] * 2, ["flight"] * 3):
        assert (await app.ainvoke({"log": []}, thread("t")))["log"] == expected
    assert sorted(each.saga_id for each in await engine.sagas()) == ["t", "t/run-2", "t/run-3"]
    assert ledger.live() == {"flight": 3}
    assert (await app.ainvoke(None, thread("t")))["log"] == ["flight"] * 3
    assert ledger.calls("do flight") == 3


async def test_two_invocations_at_once_make_one_effect(store_url: str, ledger: Ledger) -> None:
    """On plain LangGraph both of them run the effect (the test below)."""
    async with Engine.open(store_url) as first, Engine.open(store_url) as second:
        saver = InMemorySaver()
        apps = [chain(ledger, "flight").compile(engine=each, checkpointer=saver) for each in (first, second)]
        ended = await asyncio.gather(*(app.ainvoke({"log": []}, thread("t")) for app in apps), return_exceptions=True)
        assert all(isinstance(each, BusyError) or each == {"log": ["flight"]} for each in ended)
        assert {"log": ["flight"]} in ended
    assert ledger.live() == {"flight": 1}


async def test_plain_langgraph_makes_the_effect_of_two_concurrent_resumes_twice() -> None:
    landed: list[str] = []

    async def book(state: State) -> State:
        await asyncio.sleep(0.01)
        landed.append("flight")
        return {"log": ["flight"]}

    graph = StateGraph(State).add_node("book", book).add_edge(START, "book")
    app = graph.compile(checkpointer=InMemorySaver(), interrupt_before=["book"])
    await app.ainvoke({"log": []}, thread("t"))
    await asyncio.gather(*(app.ainvoke(None, thread("t")) for _ in range(2)))
    assert landed == ["flight", "flight"]


async def test_nodes_without_effects_are_replayed_from_the_journal_when_checkpoints_are_lost(
    engine: Engine, ledger: Ledger
) -> None:
    """A model that would answer otherwise, and route otherwise, does not change history."""
    answers = iter(["flight", "train"])
    routes = iter(["flight", "train"])
    breaks = _Breaks()

    def model(state: State) -> State:
        return {"log": [next(answers)]}

    def build() -> Any:
        graph = chain(ledger, "flight", "train", last=breaks)
        graph.edges.clear()
        graph.add_node("model", model)
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", lambda _state: next(routes), ["flight", "train"])
        for name in ("flight", "train"):
            graph.add_edge(name, "last")
        return graph.compile(engine=engine, checkpointer=InMemorySaver())

    with pytest.raises(OperationHeldError):
        await build().ainvoke({"log": []}, thread("t"))
    assert (await build().ainvoke(None, thread("t")))["log"] == ["flight", "flight", "last"]
    assert (ledger.live(), ledger.calls("do flight")) == ({"flight": 1}, 1)


async def test_the_state_of_a_thread_that_has_ended_comes_back_from_its_journal(engine: Engine, ledger: Ledger) -> None:
    def build() -> Any:
        return chain(ledger, "flight", last=lambda _state: {"log": ["last"]}).compile(engine=engine)

    ended = await build().ainvoke({"log": []}, thread("t"))
    assert await build().ainvoke(None, thread("t")) == ended
    assert ledger.calls("do flight") == 1


async def test_commands_and_sends_are_replayed(engine: Engine, ledger: Ledger) -> None:
    targets = iter([["a", "b"], ["c"]])
    breaks = _Breaks()

    def plan(state: State) -> Any:
        return Command(update={"log": ["plan"]}, goto=[Send("book", {"number": ord(each)}, timeout=60) for each in next(targets)])

    async def book(state: State) -> State:
        await current_saga().run(ledger.action(chr(state["number"])))
        return {"log": [chr(state["number"])]}

    def build() -> Any:
        graph = SagaGraph(State)
        graph.add_node("plan", plan, destinations=("book",)).add_node("book", book).add_node("last", breaks)
        graph.add_edge(START, "plan").add_edge("book", "last")
        return graph.compile(engine=engine, checkpointer=InMemorySaver())

    with pytest.raises(OperationHeldError):
        await build().ainvoke({"log": []}, thread("t"))
    assert (await build().ainvoke(None, thread("t")))["log"] == ["plan", "a", "b", "last"]
    assert ledger.live() == {"a": 1, "b": 1}
    sent = decode((await saga_of(engine, "t")).operations["1/plan"].output).goto
    assert sent == [Send("book", {"number": ord(each)}, timeout=60) for each in "ab"]


async def test_nodes_of_one_step_are_heard_of_in_the_order_in_which_they_end(engine: Engine) -> None:
    graph = SagaGraph(State)

    async def node(state: State, runtime: Runtime[None]) -> State:
        assert runtime.execution_info is not None
        return {"log": [runtime.execution_info.checkpoint_ns.partition(":")[0]]}

    names = list("hgfedcba")
    for name in names:
        graph.add_node(name, node).add_edge(START, name)
    app = graph.compile(engine=engine)
    heard = [name async for update in app.astream({"log": []}, thread("t"), stream_mode="updates") for name in update]
    assert heard == sorted(names)  # LangGraph starts them so


class _Connection:
    """What no serializer can hold."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.lock = Lock()


class _Untracked(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    connection: Annotated[_Connection, UntrackedValue]


async def test_an_untracked_value_is_there_for_the_nodes_and_in_no_journal(engine: Engine, ledger: Ledger) -> None:
    def connects(state: _Untracked) -> _Untracked:
        return {"log": ["connects"], "connection": _Connection("1")}

    def sends(state: _Untracked) -> Any:
        again = Send("books", {"connection": _Connection(f"{state['connection'].token}3")})
        return Command(update={"connection": _Connection("2")}, goto=[again])

    async def undo(state: _Untracked, update: Any, call: Any) -> None:
        assert (state, update) == ({}, {"log": ["13"]})

    def books(state: _Untracked) -> _Untracked:
        return {"log": [state["connection"].token], "connection": _Connection("4")}

    graph = SagaGraph(_Untracked).add_node("connects", connects).add_node("sends", sends, destinations=("books",))
    graph.add_node("books", books, compensate=undo).add_edge(START, "connects").add_edge("connects", "sends")
    app = graph.compile(engine=engine)
    ended = await app.ainvoke({"log": []}, thread("t"))
    assert (ended["log"], ended["connection"].token) == (["connects", "13"], "4")
    saga = await saga_of(engine, "t")
    assert (saga.operations["1/connects"].output, saga.operations["3/books#0"].spec.inputs) == ({"log": ["connects"]}, {})
    assert (await engine.cancel("t")).status == "compensated"


async def test_a_node_whose_state_has_changed_is_a_conflict(engine: Engine, ledger: Ledger) -> None:
    """Somebody edited the graph meanwhile: what is before the node returns something else now, under another name."""
    breaks = _Breaks()

    def build(before: str) -> Any:
        graph = chain(ledger, "flight", last=breaks)
        graph.edges.discard((START, "flight"))
        graph.add_node(before, lambda _state: {"log": [before]}).add_edge(START, before).add_edge(before, "flight")
        return graph.compile(engine=engine, checkpointer=InMemorySaver())

    with pytest.raises(OperationHeldError):
        await build("ask").ainvoke({"log": []}, thread("t"))
    with pytest.raises(ConflictError, match="journalled with other arguments"):
        await build("guess").ainvoke(None, thread("t"))
    assert ledger.calls("do flight") == 1


async def test_outcomes_are_durable_before_anybody_is_told_them(engine: Engine, ledger: Ledger) -> None:
    """So the journal never lags the checkpoint. Door 1 may be a few turns of the loop behind, where that settles itself."""
    durable: list[int] = []

    async def books(state: State) -> State:
        for name in ("flight", "hotel"):
            await current_saga().run(ledger.action(name))
            entries = await engine.store.read("t")
            durable.append(sum(type(each.event).__name__ == "OperationSucceeded" for each in entries))
        return {}

    await SagaGraph(State).add_node("books", books).add_edge(START, "books").compile(engine=engine).ainvoke({}, thread("t"))
    assert durable == [1, 2]


# -- LangGraph's signatures and modes ------------------------------------------------------------------------------------


@dataclass
class Context:
    traveller: str


async def test_nodes_keep_their_signatures_and_are_told_their_call(engine: Engine) -> None:
    keys: list[str] = []

    def plain(state: State) -> State:
        keys.append(current_call().idempotency_key)
        return {"log": ["plain"]}

    async def with_runtime(state: State, runtime: Runtime[Context]) -> State:
        keys.append(current_call().idempotency_key)
        assert current_call().attempt == 1
        assert current_call().deadline.tzinfo is not None
        return {"log": [runtime.context.traveller]}

    graph = SagaGraph(State, context_schema=Context).add_node("plain", plain).add_node("rt", with_runtime)
    app = graph.add_edge(START, "plain").add_edge("plain", "rt").compile(engine=engine)
    assert (await app.ainvoke({"log": []}, thread("t"), context=Context("ann")))["log"] == ["plain", "ann"]
    assert keys == ["t/1%2Fplain/1", "t/2%2Frt/1"]


@pytest.mark.parametrize("mode", ["values", "updates", "custom", "messages", "debug", "tasks", "checkpoints"])
async def test_every_stream_mode_yields_what_plain_langgraph_yields(engine: Engine, mode: Any) -> None:
    def talk(state: State) -> State:
        get_stream_writer()({"said": "hello"})
        return {"log": ["talk"]}

    def build(kind: Any) -> Any:
        return kind(State).add_node("talk", talk).add_edge(START, "talk").add_edge("talk", END)

    plain = build(StateGraph).compile(checkpointer=InMemorySaver())
    app = build(SagaGraph).compile(engine=engine)
    expected = [each async for each in plain.astream({"log": []}, thread("t"), stream_mode=mode)]
    streamed = [each async for each in app.astream({"log": []}, thread("t"), stream_mode=mode)]
    assert len(streamed) == len(expected)
    if mode in ("values", "updates", "custom"):
        assert streamed == expected


async def test_pydantic_states_come_back_as_themselves(engine: Engine) -> None:
    class Trip(BaseModel):
        city: str = ""
        nights: int = 0

    undone: list[Any] = []

    async def book(state: Trip) -> dict[str, Any]:
        assert isinstance(state, Trip)
        return {"nights": state.nights + 1}

    async def cancel(state: Trip, update: Any, call: Any) -> None:
        undone.append((state, update))

    app = SagaGraph(Trip).add_node("book", book, compensate=cancel).add_edge(START, "book").compile(engine=engine)
    assert await app.ainvoke({"city": "Rome"}, thread("t")) == {"city": "Rome", "nights": 1}
    await engine.cancel("t")
    assert undone == [(Trip(city="Rome"), {"nights": 1})]


async def test_messages_survive_the_journal_and_keep_their_ids(engine: Engine) -> None:
    class Chat(TypedDict):
        messages: Annotated[list[AnyMessage], add_messages]

    breaks, seen = [True], []

    def model(state: Chat) -> Any:
        return {"messages": [AIMessage("hello", tool_calls=[{"name": "x", "args": {"a": 1}, "id": "call-1"}])]}

    def last(state: Chat) -> Any:
        seen.append([each.id for each in state["messages"]])
        if breaks and breaks.pop():
            raise OperationHeldError("the power is gone")
        return {}

    def build() -> Any:
        graph = SagaGraph(Chat).add_node("model", model).add_node("last", last)
        return graph.add_edge(START, "model").add_edge("model", "last").compile(engine=engine, checkpointer=InMemorySaver())

    with pytest.raises(OperationHeldError):
        await build().ainvoke({"messages": [HumanMessage("hi")]}, thread("t"))
    first, second = (await build().ainvoke(None, thread("t")))["messages"]
    assert (first.content, second.content, second.tool_calls[0]["id"]) == ("hi", "hello", "call-1")
    assert seen == [[first.id, second.id]] * 2


async def test_subgraphs_and_loops_have_operations_of_their_own_in_every_pass(engine: Engine, ledger: Ledger) -> None:
    inner = SagaGraph(State)
    node, told = effect(ledger, "seat", lambda state, _key: {"number": state["number"] + 1})
    inner.add_node("seat", node, **told).add_edge(START, "seat")
    outer = SagaGraph(State).add_node("row", inner.compile()).add_edge(START, "row")
    outer.add_conditional_edges("row", lambda state: "row" if state["number"] < 3 else END, ["row", END])
    app = outer.compile(engine=engine)
    assert (await app.ainvoke({"number": 0}, thread("t")))["number"] == 3
    seats = [name for name in await statuses(engine, "t") if name.endswith("seat")]
    assert seats == ["1/row/1/seat", "2/row/1/seat", "3/row/1/seat"]
    assert ledger.live() == {"seat": 3}


# -- synchronous ---------------------------------------------------------------------------------------------------------


def test_invoke_and_stream_work_without_an_event_loop(store_url: str, tmp_path: Path, ledger: Ledger) -> None:
    with Engine.open(store_url) as engine, SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        app = chain(ledger, "flight", last=lambda _state: {"log": ["last"]}).compile(engine=engine, checkpointer=saver)
        assert app.invoke({"log": []}, thread("t")) == {"log": ["flight", "last"]}
        assert list(app.stream({"log": []}, thread("u"))) == [{"flight": {"log": ["flight"]}}, {"last": {"log": ["last"]}}]
        assert app.get_state(thread("u")).values == {"log": ["flight", "last"]}
        assert engine.status("t").status == "committed"
        assert app.cancel(thread("t")).status == "compensated"
    assert ledger.live() == {"flight": 1}


async def test_invoke_within_the_engines_own_loop_is_refused(engine: Engine, ledger: Ledger) -> None:
    app = chain(ledger, "flight").compile(engine=engine)
    with pytest.raises(InvalidInputError, match="ainvoke"):
        app.invoke({"log": []}, thread("t"))
    assert (await asyncio.to_thread(app.invoke, {"log": []}, thread("t")))["log"] == ["flight"]


# -- what is not possible --------------------------------------------------------------------------------------------------


async def test_a_thread_may_be_bound_to_the_graph(engine: Engine, ledger: Ledger) -> None:
    app = chain(ledger, "flight").compile(engine=engine).with_config(thread("t"))
    assert await app.ainvoke({"log": []}) == {"log": ["flight"]}
    assert (await engine.status("t")).status == "committed"


async def test_what_names_no_thread_or_no_beginning_is_refused(engine: Engine, ledger: Ledger) -> None:
    app = chain(ledger, "flight").compile(engine=engine)
    with pytest.raises(InvalidInputError, match="thread_id"):
        await app.ainvoke({"log": []})
    with pytest.raises(NotAllowedError, match="not begun"):
        await app.ainvoke(None, thread("t"))
    with pytest.raises(ConflictError, match="not begun"):
        await app.ainvoke(Command(resume=1), thread("t"))
    assert await engine.sagas() == ()


async def test_a_graph_without_an_engine_runs_only_inside_another(ledger: Ledger) -> None:
    app = chain(ledger, "flight").compile()
    with pytest.raises(NotAllowedError, match="engine="):
        await app.ainvoke({"log": []}, thread("t"))
    assert ledger.live() == {}


async def test_the_run_is_in_no_checkpoint(engine: Engine, ledger: Ledger) -> None:
    app = chain(ledger, "flight").compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    assert all(RUN not in each.metadata for each in [each async for each in app.aget_state_history(thread("t"))])


async def test_cancelling_a_finished_thread_undoes_its_effects(engine: Engine, ledger: Ledger) -> None:
    app = chain(ledger, "flight", "hotel").compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    view = await app.acancel(thread("t"))
    assert (view.status, ledger.live(), ledger.undone()) == ("compensated", {}, ["hotel", "flight"])
    assert (await saga_of(engine, "t")).stage == "compensated"


async def test_the_journal_of_a_thread_replays_without_a_difference(engine: Engine, ledger: Ledger) -> None:
    app = chain(ledger, "flight", "hotel").compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    assert (await engine.replay("t")).differences == ()


async def test_whoever_stops_reading_a_stream_leaves_a_thread_that_can_be_resumed(engine: Engine, ledger: Ledger) -> None:
    app = chain(ledger, "flight", "hotel").compile(engine=engine)
    async for chunk in app.astream({"log": []}, thread("t"), stream_mode="updates"):
        assert chunk == {"flight": {"log": ["flight"]}}
        break
    assert (await app.ainvoke(None, thread("t")))["log"] == ["flight", "hotel"]
    assert (ledger.calls("do flight"), ledger.calls("do hotel")) == (1, 1)


def test_whoever_stops_reading_a_synchronous_stream_does_too(ledger: Ledger) -> None:
    with Engine.open("memory:") as engine:
        app = chain(ledger, "flight", "hotel").compile(engine=engine)
        for chunk in app.stream({"log": []}, thread("t"), stream_mode="updates"):
            assert chunk == {"flight": {"log": ["flight"]}}
            break
        assert app.invoke(None, thread("t"))["log"] == ["flight", "hotel"]
    assert (ledger.calls("do flight"), ledger.calls("do hotel")) == (1, 1)


async def test_checkpoints_are_written_when_the_caller_says(engine: Engine, ledger: Ledger) -> None:
    saver = InMemorySaver()
    app = chain(ledger, "flight", "hotel").compile(engine=engine, checkpointer=saver)
    kept = {}
    for durability in ("exit", "sync"):
        await app.ainvoke({"log": []}, thread(durability), durability=durability)
        kept[durability] = len([each async for each in saver.alist(thread(durability))])
    assert kept == {"exit": 1, "sync": 4}


async def test_a_result_is_the_object_that_the_node_returned(engine: Engine) -> None:
    class Seat(BaseModel):
        number: int

    class Booked(TypedDict, total=False):
        seat: Any

    graph = SagaGraph(Booked).add_node("book", lambda _state: {"seat": Seat(number=4)}).add_edge(START, "book")
    booked = await graph.compile(engine=engine).ainvoke({}, thread("t"))
    assert booked == {"seat": Seat(number=4)}  # a serializer would not find this type again


def test_a_compile_leaves_the_graph_as_it_was_written() -> None:
    def book(_state: State) -> State:
        return {}

    def further(_state: State) -> str:
        return END

    graph = SagaGraph(State).add_node("book", book).add_edge(START, "book").add_conditional_edges("book", further)
    with Engine.open("memory:") as engine:
        app = graph.compile(engine=engine)
    assert (graph.nodes["book"].runnable.func, set(graph.nodes)) == (book, {"book"})  # type: ignore[attr-defined]
    assert app.get_graph().nodes["book"].data is graph.nodes["book"].runnable
    assert set(graph.compile().nodes) == {START, "book"}
