"""Exceptions of nodes and tools: a node that raises is the first thing that somebody tries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypedDict

import pytest
from langchain_core.tools import ToolException, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import RetryPolicy
from pydantic import BaseModel

from sagagraph import Engine, Guarantees, Probe, Refused, SagaGraph, UndoneBy, saga_agent, saga_tool
from sagagraph.errors import InvalidInputError, OperationHeldError, UnknownOperationError
from sagagraph.testing.models import ScriptedModel

pytestmark = pytest.mark.quick

THREAD: Any = {"configurable": {"thread_id": "trip"}}
HERE = Guarantees(settles=timedelta(0), here=True)


class Trip(TypedDict, total=False):
    flight: str
    hotel: str


def graph(booked: list[str], failures: list[Exception], **hotel: Any) -> SagaGraph[Any, Any, Any, Any]:
    def book_flight(trip: Trip) -> Trip:
        booked.append("flight")
        return {"flight": "MD1"}

    def book_hotel(trip: Trip) -> Trip:
        if failures:
            raise failures.pop(0)
        booked.append("hotel")
        return {"hotel": "R1"}

    def cancel_hotel(trip: Trip, update: Trip | None, call: Any) -> None:
        if "hotel" in booked:
            booked.remove("hotel")

    made = SagaGraph(Trip).add_node("flight", book_flight, compensate=lambda *_given: booked.remove("flight"))
    made.add_node("hotel", book_hotel, compensate=cancel_hotel, **hotel)
    return made.add_edge(START, "flight").add_edge("flight", "hotel")


def absent(trip: Trip, call: Any) -> Probe:
    return Probe.absent()


@pytest.mark.parametrize(
    ("hotel", "compiled"),
    [
        ({"fails_on": ValueError}, {}),
        ({}, {"trusts_exceptions": True}),
        ({"guarantees": Guarantees(void=True)}, {}),
        ({"probe": absent, "guarantees": HERE}, {}),
    ],
    ids=["fails_on", "trusts_exceptions", "void", "settles"],
)
def test_a_node_that_raises_is_undone_with_one_declared_line(hotel: dict[str, Any], compiled: dict[str, Any]) -> None:
    booked: list[str] = []
    with Engine.open("memory:") as engine:
        app = graph(booked, [ValueError("no seats")] * 3, **hotel).compile(engine=engine, **compiled)
        with pytest.raises(ValueError, match="no seats") as raised:
            app.invoke({}, THREAD)
        view = engine.status("trip")
    assert (booked, view.status) == ([], "compensated")
    assert "saga 'trip' is compensated" in raised.value.__notes__
    assert view.trusts_exceptions is bool(compiled)


def test_a_node_that_raises_is_held_without_one_and_says_what_to_declare() -> None:
    booked: list[str] = []
    with Engine.open("memory:") as engine:
        app = graph(booked, [ValueError("no seats")]).compile(engine=engine)
        with pytest.raises(OperationHeldError, match="fails_on=ValueError") as held:
            app.invoke({}, THREAD)
        assert "1/flight cannot be undone" in str(held.value)
        assert "sagagraph resolve trip 2/hotel --as" in str(held.value)
        engine.resolve("trip", "2/hotel", "failed", because="it checks before it sends")
        with pytest.raises(Exception, match="no seats"):
            app.invoke(None, THREAD)
        assert engine.status("trip").status == "compensated"
    assert booked == []


def test_a_trusted_exception_with_a_retry_policy_is_tried_again() -> None:
    booked: list[str] = []
    retry = RetryPolicy(initial_interval=0.01, max_attempts=3)
    with Engine.open("memory:") as engine:
        app = graph(booked, [ConnectionError("reset")] * 2, fails_on=ConnectionError, retry_policy=retry).compile(engine=engine)
        assert app.invoke({}, THREAD)["hotel"] == "R1"
    assert booked == ["flight", "hotel"]


def test_only_the_graph_with_the_engine_says_that_exceptions_are_trusted() -> None:
    with pytest.raises(InvalidInputError, match="trusts_exceptions"):
        graph([], []).compile(trusts_exceptions=True)


# -- agents --------------------------------------------------------------------------------------------------------------


def run_agent(failure: Exception, *, options: dict[str, Any] | None = None, **hotel: Any) -> tuple[Any, Any, list[str]]:
    """Return what the agent returned or raised, its saga, and what is booked afterwards."""
    booked: list[str] = []

    @tool
    def book_flight(city: str) -> str:
        """Book a flight."""
        booked.append(city)
        return f"a seat to {city}"

    @tool
    def book_hotel(city: str) -> str:
        """Book a hotel."""
        raise failure

    tools = [
        saga_tool(book_flight, compensate=lambda arguments, output, call: booked.remove(arguments["city"])),
        saga_tool(book_hotel, compensate=lambda arguments, output, call: None, **hotel),
    ]
    model = ScriptedModel.saying([("book_flight", {"city": "Rome"})], [("book_hotel", {"city": "Rome"})], "Have a good flight!")
    with Engine.open("memory:") as engine:
        agent = saga_agent(model, tools, engine=engine, **(options or {}))
        try:
            ended: Any = agent.invoke({"messages": [("user", "Rome, please")]}, THREAD)
        except Exception as exc:  # whatever it was, the test looks at it
            ended = exc
        return ended, engine.status("trip"), booked


@pytest.mark.parametrize(
    ("failure", "hotel"),
    [
        (Refused("fully booked"), {}),
        (ToolException("fully booked"), {}),
        (LookupError("fully booked"), {"fails_on": LookupError}),
    ],
    ids=["Refused", "ToolException", "fails_on"],
)
def test_the_model_is_told_what_a_provider_refuses(failure: Exception, hotel: dict[str, Any]) -> None:
    ended, view, booked = run_agent(failure, **hotel)
    assert (view.status, booked) == ("committed", ["Rome"])
    assert [each.content for each in ended["messages"] if each.type == "tool"] == ["a seat to Rome", "fully booked"]


@pytest.mark.parametrize(
    ("options", "hotel"),
    [
        ({"trusts_exceptions": True}, {}),
        ({}, {"probe": lambda arguments, call: Probe.absent(), "guarantees": HERE}),
        ({}, {"guarantees": Guarantees(void=True)}),
    ],
    ids=["trusts_exceptions", "settles", "void"],
)
def test_every_other_failure_of_a_tool_ends_the_run_and_undoes_it(options: dict[str, Any], hotel: dict[str, Any]) -> None:
    ended, view, booked = run_agent(RuntimeError("no seats"), options=options, **hotel)
    assert (repr(ended), view.status, booked) == ("RuntimeError('no seats')", "compensated", [])


def test_without_a_promise_a_tool_that_raises_is_held_and_says_what_to_declare() -> None:
    ended, view, booked = run_agent(RuntimeError("no seats"))
    assert (type(ended), view.status, booked) == (OperationHeldError, "held", ["Rome"])
    assert "fails_on=RuntimeError" in str(ended)


# -- undone by another tool ----------------------------------------------------------------------------------------------

ROOMS: dict[str, str] = {}


class Room(BaseModel):
    number: str
    nights: int


@tool
def book_room(city: str) -> Room:
    """Book a room."""
    ROOMS["12"] = city
    return Room(number="12", nights=2)


@tool
def book_table(city: str) -> str:
    """Book a table."""
    raise RuntimeError("no table")


@tool
def cancel_room(number: str, city: str) -> str:
    """Cancel a room."""
    assert ROOMS.pop(number) == city
    return "cancelled"


@tool
def cancel_by_id(code: str) -> str:
    """Cancel by an id."""
    ROOMS.pop(code)
    return "cancelled"


@pytest.mark.parametrize(
    ("undo", "by"),
    [(cancel_room, "cancel_room"), (cancel_by_id, UndoneBy("cancel_by_id", {"code": "result.number"}))],
    ids=["by name and type", "by a mapping"],
)
def test_a_tool_is_undone_by_another_one_that_the_model_does_not_see(undo: Any, by: Any) -> None:
    ROOMS.clear()
    model = ScriptedModel.saying([("book_room", {"city": "Rome"})], [("book_table", {"city": "Rome"})], "Done")
    tools = [book_room, saga_tool(book_table, compensate=lambda *_given: None, fails_on=()), undo]
    with Engine.open("memory:") as engine:
        agent = saga_agent(model, tools, engine=engine, undoes={"book_room": by}, trusts_exceptions=True)
        with pytest.raises(RuntimeError, match="no table"):
            agent.invoke({"messages": [("user", "Rome, please")]}, THREAD)
        assert engine.status("trip").status == "compensated"
    assert ROOMS == {}
    assert undo.name not in str(agent.get_graph().to_json())


@pytest.mark.parametrize(
    ("undoes", "named"),
    [
        ({"book_room": "cancel_by_id"}, "'code'"),
        ({"book_room": "cancel_car"}, "cancel_car"),
        ({"book_car": "cancel_room"}, "book_car"),
        ({"book_room": UndoneBy("cancel_by_id", {"code": "the number"})}, "the number"),
        ({"book_room": UndoneBy("cancel_by_id", {"number": "result.number"})}, "number"),
    ],
    ids=["cannot be filled", "no such undo", "no such tool", "no such source", "no such argument"],
)
def test_what_an_undo_lacks_is_an_error_when_the_agent_is_made(undoes: Any, named: str) -> None:
    with Engine.open("memory:") as engine, pytest.raises(InvalidInputError, match=named):
        saga_agent(ScriptedModel.saying("Done"), [book_room, cancel_room, cancel_by_id], engine=engine, undoes=undoes)


def _plain_agent(model: Any, tools: list[Any]) -> StateGraph[Any, Any, Any, Any]:
    """A loop of a model and its tools, as people write it without SagaGraph."""

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    made = StateGraph(MessagesState).add_node("think", think).add_node("tools", ToolNode(tools, handle_tool_errors=False))
    return made.add_edge(START, "think").add_conditional_edges("think", tools_condition).add_edge("tools", "think")


def test_a_converted_graph_names_the_tool_that_undoes_another_one() -> None:
    ROOMS.clear()
    model = ScriptedModel.saying([("book_room", {"city": "Rome"})], [("book_table", {"city": "Rome"})], "Done")
    tools = [book_room, saga_tool(book_table, compensate=lambda *_given: None, fails_on=RuntimeError), cancel_room]
    plain = _plain_agent(model, tools)
    with Engine.open("memory:") as engine:
        app = SagaGraph.of(plain, undoes={"book_room": "cancel_room"}).compile(engine=engine)
        with pytest.raises(RuntimeError, match="no table"):
            app.invoke({"messages": [("user", "Rome, please")]}, THREAD)
        assert engine.status("trip").status == "compensated"
    assert ROOMS == {}
    assert set(plain.nodes["tools"].runnable.tools_by_name) == {"book_room", "book_table", "cancel_room"}


def test_a_converted_graph_tells_a_model_that_there_is_no_undo() -> None:
    ROOMS.clear()
    model = ScriptedModel.saying([("book_room", {"city": "Rome"})], [("cancel_room", {"number": "12", "city": "Rome"})], "Done")
    with Engine.open("memory:") as engine:
        app = SagaGraph.of(_plain_agent(model, [book_room, cancel_room]), undoes={"book_room": "cancel_room"}).compile(
            engine=engine
        )
        told = app.invoke({"messages": [("user", "Rome, please")]}, THREAD)["messages"]
    assert ROOMS == {"12": "Rome"}
    assert "cancel_room is not a valid tool" in told[-2].content


def test_an_unknown_tool_of_a_converted_graph_is_named() -> None:
    with pytest.raises(UnknownOperationError, match="book_car"):
        SagaGraph.of(_plain_agent(None, [book_room, cancel_room]), undoes={"book_car": "cancel_room"})
