"""Tools of models as operations: told apart by what they do, not by the ids that a model gives to its calls
(docs/protocol.md rule 2)."""

from __future__ import annotations

import asyncio
import uuid
from datetime import datetime, timedelta
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.graph import END, START, add_messages
from langgraph.prebuilt import InjectedState, ToolNode
from langgraph.types import Command, interrupt

from sagagraph import Backoff, Engine, Guarantees, Policy, Refused, SagaGraph, current_call, saga_tool
from sagagraph.errors import NotAllowedError, OperationFailedError, OperationHeldError
from tests.graph.world import QUICK, statuses, thread
from tests.saga.ledger import Ledger

pytestmark = pytest.mark.quick


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    passes: int


def booking(ledger: Ledger, name: str = "book", **told: Any) -> BaseTool:
    action = ledger.action(name)

    @tool(name)
    async def book(city: str) -> str:
        """Book a hotel in a city."""
        key = await action.execute(None, current_call())
        return f"booked {city} under {key}"

    async def cancel(arguments: Any, output: Any, call: Any) -> None:
        await action.compensate(None, output, call)  # type: ignore[misc]

    return saga_tool(book, **{"compensate": cancel, "guarantees": action.guarantees, "policy": QUICK, **told})


def calling(name: str, *arguments: dict[str, Any]) -> AIMessage:
    """As a model does it: with ids that are new each time."""
    calls = [{"name": name, "args": each, "id": uuid.uuid4().hex, "type": "tool_call"} for each in arguments]
    return AIMessage("", tool_calls=calls)


def agent(model: Any, tools: list[BaseTool], *, last: Any = None) -> SagaGraph[Any, Any, Any, Any]:
    graph = SagaGraph(State).add_node("model", model).add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model").add_edge("model", "tools")
    if last is not None:
        graph.add_node("last", last).add_edge("tools", "last")
    return graph


async def test_what_a_model_calls_is_an_operation_below_its_node(engine: Engine, ledger: Ledger) -> None:
    rome, oslo = {"city": "Rome"}, {"city": "Oslo"}
    app = agent(lambda _state: {"messages": [calling("book", rome, oslo)]}, [booking(ledger)]).compile(engine=engine)
    answers = (await app.ainvoke({"messages": []}, thread("t")))["messages"][-2:]
    assert [(type(each), each.content[:11]) for each in answers] == [(ToolMessage, "booked Rome"), (ToolMessage, "booked Oslo")]
    below = [each for each in await statuses(engine, "t") if "/book-" in each]
    assert len(below) == 2
    assert all(each.startswith("2/tools/book-") for each in below)
    assert ledger.live() == {"book": 2}


async def test_a_failure_later_undoes_what_the_tools_did(engine: Engine, ledger: Ledger) -> None:
    def refuse(state: State) -> State:
        raise Refused("too expensive")

    app = agent(lambda _state: {"messages": [calling("book", {"city": "Rome"})]}, [booking(ledger)], last=refuse)
    with pytest.raises(OperationFailedError, match="too expensive"):
        await app.compile(engine=engine).ainvoke({"messages": []}, thread("t"))
    assert (ledger.calls("do book"), ledger.live()) == (1, {})


def react(ledger: Ledger, plans: Any, breaks: list[bool], booked: BaseTool) -> SagaGraph[Any, Any, Any, Any]:
    """A model and its tools in one node: when it runs again, the model is asked again."""
    tools = ToolNode([booked])

    async def whole(state: State) -> State:
        said = await tools.ainvoke({"messages": [calling("book", *next(plans))]})
        if breaks and breaks.pop():
            raise OperationHeldError("the power is gone")
        return {"messages": said["messages"]}

    return SagaGraph(State).add_node("whole", whole).add_edge(START, "whole")


async def test_a_model_that_makes_the_same_call_again_under_another_id_lands_nothing(engine: Engine, ledger: Ledger) -> None:
    rome = {"city": "Rome"}
    plans, breaks, booked = iter([[rome, rome]] * 2), [True], booking(ledger)
    app = react(ledger, plans, breaks, booked).compile(engine=engine)
    with pytest.raises(OperationHeldError):
        await app.ainvoke({"messages": []}, thread("t"))
    await app.ainvoke(None, thread("t"))
    assert (ledger.calls("do book"), ledger.live()) == (2, {"book": 2})


async def test_a_call_that_the_model_does_not_make_again_is_undone(engine: Engine, ledger: Ledger) -> None:
    plans, breaks, booked = iter([[{"city": "Rome"}], [{"city": "Oslo"}]]), [True], booking(ledger)
    app = react(ledger, plans, breaks, booked).compile(engine=engine)
    with pytest.raises(OperationHeldError):
        await app.ainvoke({"messages": []}, thread("t"))
    assert "Oslo" in (await app.ainvoke(None, thread("t")))["messages"][-1].content
    assert (ledger.calls("do book"), ledger.calls("undo book"), ledger.live()) == (2, 1, {"book": 1})
    assert (await engine.status("t")).status == "committed"


async def test_another_call_waits_for_one_that_is_in_doubt(engine: Engine, ledger: Ledger) -> None:
    """Rule 2: a replan is accepted only when what it removes is settled."""

    @tool("book")
    async def lost(city: str) -> str:
        """Book a hotel in a city."""
        raise ConnectionError("the answer was lost")

    async def cancel(arguments: Any, output: Any, call: Any) -> None:
        raise AssertionError("nobody knows whether there is anything to cancel")

    plans = iter([[{"city": "Rome"}], [{"city": "Oslo"}]])
    booked = saga_tool(lost, compensate=cancel, guarantees=Guarantees(), policy=QUICK)
    app = react(ledger, plans, [], booked).compile(engine=engine)
    for _again in range(2):
        with pytest.raises(OperationHeldError, match=r"book-.*is held"):
            await app.ainvoke({"messages": []}, thread("t"))
    assert sum("/book-" in each for each in await statuses(engine, "t")) == 1


async def test_a_call_in_doubt_whose_provider_remembers_its_key_is_settled_first(engine: Engine, ledger: Ledger) -> None:
    """Its answer did not come, and the node ended meanwhile: as a crash would have left it."""
    action = ledger.action("book")
    landed = asyncio.Event()

    @tool("book")
    async def book(city: str) -> str:
        """Book a hotel in a city."""
        await action.execute(None, current_call())
        if not landed.is_set():
            landed.set()
            await asyncio.sleep(60)
        return city

    async def cancel(arguments: Any, output: Any, call: Any) -> None:
        await action.compensate(None, output, call)  # type: ignore[misc]

    policy = Policy(timeout_s=0.3, backoff=Backoff(base_s=0.05))
    tools = ToolNode([saga_tool(book, compensate=cancel, guarantees=action.guarantees, policy=policy)])

    async def whole(state: State) -> State:
        if landed.is_set():
            return {"messages": (await tools.ainvoke({"messages": [calling("book", {"city": "Oslo"})]}))["messages"]}
        calls = asyncio.create_task(tools.ainvoke({"messages": [calling("book", {"city": "Rome"})]}))
        await landed.wait()
        calls.cancel()
        raise OperationHeldError("the power is gone")

    app = SagaGraph(State).add_node("whole", whole).add_edge(START, "whole").compile(engine=engine)
    with pytest.raises(OperationHeldError):
        await app.ainvoke({"messages": []}, thread("t"))
    assert sorted((await statuses(engine, "t")).values()) == ["held", "in_doubt"]
    assert (await app.ainvoke(None, thread("t")))["messages"][-1].content == "Oslo"
    assert (ledger.calls("do book"), ledger.calls("undo book"), ledger.live()) == (3, 1, {"book": 1})


async def test_what_langgraph_injects_identifies_nothing_and_arrives(engine: Engine, ledger: Ledger) -> None:
    seen: list[Any] = []

    @tool
    async def pay(amount: int, state: Annotated[Any, InjectedState], call_id: Annotated[str, InjectedToolCallId]) -> str:
        """Pay."""
        seen.append((amount, state["passes"], bool(call_id)))
        return "paid"

    app = agent(lambda _state: {"messages": [calling("pay", {"amount": 3})]}, [saga_tool(pay, kind="read-only")])
    await app.compile(engine=engine).ainvoke({"messages": [], "passes": 7}, thread("t"))
    assert seen == [(3, 7, True)]
    (inputs,) = [each.inputs for each in (await engine.status("t")).operations if each.action == "pay"]
    assert inputs == {"amount": 3}


async def test_a_tool_may_ask_a_person_before_it_acts(engine: Engine, ledger: Ledger) -> None:
    action = ledger.action("book")

    @tool("book")
    def book(city: str) -> str:
        """Book a hotel in a city."""
        if not interrupt(f"book {city}?"):
            raise Refused("a person said no")
        return str(asyncio.run(action.execute(None, current_call())))

    async def cancel(arguments: Any, output: Any, call: Any) -> None:
        await action.compensate(None, output, call)  # type: ignore[misc]

    booked = saga_tool(book, compensate=cancel, guarantees=action.guarantees, policy=QUICK)
    app = agent(lambda _state: {"messages": [calling("book", {"city": "Rome"})]}, [booked]).compile(engine=engine)
    asked = await app.ainvoke({"messages": []}, thread("t"))
    assert asked["__interrupt__"][0].value == "book Rome?"
    assert ledger.live() == {}
    await app.ainvoke(Command(resume=True), thread("t"))
    assert ledger.live() == {"book": 1}


async def test_a_graph_that_calls_its_model_until_it_is_done_is_one_saga(engine: Engine, ledger: Ledger) -> None:
    def model(state: State) -> State:
        return {"messages": [calling("book", {"city": f"city {state.get('passes', 0)}"})], "passes": state.get("passes", 0) + 1}

    graph = agent(model, [booking(ledger)])
    graph.add_conditional_edges("tools", lambda state: "model" if state["passes"] < 3 else END, ["model", END])
    app = graph.compile(engine=engine)
    await app.ainvoke({"messages": []}, thread("t"))
    assert ledger.live() == {"book": 3}
    await app.acancel(thread("t"))
    assert ledger.live() == {}


async def test_a_saga_tool_outside_of_a_saga_does_nothing(ledger: Ledger) -> None:
    with pytest.raises(NotAllowedError, match="only in a node of a SagaGraph"):
        await booking(ledger).ainvoke({"city": "Rome"})
    assert ledger.live() == {}


async def test_a_compensation_gets_the_types_of_its_tool(engine: Engine) -> None:
    undone: list[Any] = []

    @tool(response_format="content_and_artifact")
    async def rent(day: datetime, sizes: tuple[int, int]) -> tuple[str, Any]:
        """Rent a car."""
        return "rented", {"car": 7, "until": day + timedelta(days=1), "sizes": sizes}

    async def give_back(arguments: Any, output: Any, call: Any) -> None:
        undone.append((arguments, output))

    def refuse(state: State) -> State:
        raise Refused("too expensive")

    rented = saga_tool(rent, compensate=give_back, policy=QUICK)
    model = calling("rent", {"day": "2025-06-01T10:00:00", "sizes": [1, 2]})
    app = agent(lambda _state: {"messages": [model]}, [rented], last=refuse).compile(engine=engine)
    with pytest.raises(OperationFailedError):
        await app.ainvoke({"messages": []}, thread("t"))
    day = datetime(2025, 6, 1, 10)  # noqa: DTZ001 - as the model said it
    (arguments, (said, artifact)) = undone[0]
    assert (arguments, said) == ({"day": day, "sizes": (1, 2)}, "rented")
    assert artifact == {"car": 7, "until": day + timedelta(days=1), "sizes": (1, 2)}
