"""Agents of langchain, with OpenAI's own client over a wire: what their tools did is undone, or approved as a plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START
from langgraph.types import Command

from sagagraph import Engine, Refused, SagaGraph, SagaMiddleware, current_call, saga_agent, saga_tool
from sagagraph.errors import InvalidInputError, NotAllowedError, OperationFailedError
from tests.graph.inner_scenarios import Chat, booking
from tests.graph.world import QUICK, thread
from tests.saga.ledger import Ledger
from tests.support.models.script import CallTools, Step, Text
from tests.support.models.server import ModelServer

pytestmark = pytest.mark.quick
ROME = {"city": "Rome"}
HELLO: Any = {"messages": [{"role": "user", "content": "Rome, please"}]}


@pytest.fixture
def says() -> Iterator[Any]:
    """Makes a model that says this; its server keeps what it was asked."""
    servers: list[ModelServer] = []

    def model(*script: Step) -> ChatOpenAI:
        servers.append(ModelServer(script).__enter__())
        made = ChatOpenAI(model="gpt-4o", base_url=servers[-1].openai_url, api_key="a-key", max_retries=0)  # type: ignore[arg-type]
        made.metadata = {"server": servers[-1]}
        return made

    yield model
    for each in servers:
        each.__exit__()


def paying(ledger: Ledger, kind: str = "pivot") -> BaseTool:
    """Money that does not come back."""
    action = ledger.action("payment", compensate=None, kind="pivot")

    @tool("pay")
    async def pay(euros: int) -> str:
        """Pay."""
        await action.execute(None, current_call())
        return f"paid {euros} euros"

    async def probe(arguments: Any, call: Any) -> Any:
        return await action.probe(None, call)  # type: ignore[misc]

    return saga_tool(pay, kind=kind, probe=probe, guarantees=action.guarantees, policy=QUICK)


@tool
def full(city: str) -> str:
    """Book the opera."""
    raise Refused(f"sold out in {city}")


@tool
def breaks(city: str) -> str:
    """Look something up."""
    raise RuntimeError("the lookup is gone")


def flight(*more: str) -> CallTools:
    return CallTools(*((f"book_{each}", ROME) for each in ("flight", *more)))


async def test_the_tools_of_an_agent_that_fails_are_undone_dependents_first(engine: Engine, ledger: Ledger, says: Any) -> None:
    model = says(flight(), CallTools(("book_hotel", ROME)), CallTools(("breaks", ROME)), Text("I am sorry."))
    tools = [booking(ledger, "flight"), booking(ledger, "hotel"), breaks]
    app = saga_agent(model, tools, engine=engine)
    with pytest.raises(RuntimeError, match="the lookup is gone"):
        await app.ainvoke(HELLO, thread("t"))
    assert (ledger.live(), ledger.undone()) == ({}, ["hotel", "flight"])
    assert (await engine.status("t")).status == "compensated"
    messages = (await app.aget_state(thread("t"))).values["messages"]
    assert "flight, book_hotel" in messages[-1].content
    assert messages[-2].content == "This did not happen: the run was undone."
    # The next turn of the same thread: a provider refuses calls without an answer.
    await app.ainvoke({"messages": [("user", "and now?")]}, thread("t"))
    asked = model.metadata["server"].asked[-1].body["messages"]
    called = {each["id"] for said in asked for each in said.get("tool_calls") or ()}
    assert called == {said["tool_call_id"] for said in asked if said["role"] == "tool"}


@pytest.mark.parametrize("asks_before", ["irreversible", "effects", "nothing"])
async def test_a_plan_is_approved_before_what_cannot_be_undone(
    engine: Engine, ledger: Ledger, says: Any, asks_before: str
) -> None:
    pays = CallTools(("pay", {"euros": 100}))
    both = CallTools(("book_hotel", ROME), ("pay", {"euros": 100}))
    model = says(flight(), both, pays, Text("All is booked."))
    tools = [booking(ledger, "flight"), booking(ledger, "hotel"), paying(ledger)]
    app = saga_agent(model, tools, engine=engine, asks_before=asks_before)
    state = await app.ainvoke(HELLO, thread("t"))
    plans = []
    while "__interrupt__" in state:
        plans.append(state["__interrupt__"][0].value)
        state = await app.ainvoke(Command(resume={"type": "approve"}), thread("t"))
    last = {
        "type": "plan",
        "done": [
            {"id": each, "name": name}
            for each, name in zip(_ids(await engine.status("t")), ("book_flight", "book_hotel"), strict=False)
        ],
        "next": [{"name": "pay", "args": {"euros": 100}, "kind": "pivot"}],
    }
    assert [len(each["done"]) for each in plans] == {"irreversible": [2], "effects": [0, 1, 2], "nothing": []}[asks_before]
    assert plans[-1:] == ([last] if asks_before != "nothing" else [])
    assert state["messages"][-1].content == "All is booked."
    assert ledger.live() == {"flight": 1, "hotel": 1, "payment": 1}
    assert (await engine.status("t")).status == "committed"


def _ids(view: Any) -> list[str]:
    return [each.id for each in view.operations if "/book_" in each.id]


async def test_a_person_has_everything_undone_or_has_the_model_plan_again(engine: Engine, ledger: Ledger, says: Any) -> None:
    pays, cheaper = CallTools(("pay", {"euros": 100})), CallTools(("pay", {"euros": 50}))
    app = saga_agent(says(flight(), pays, cheaper), [booking(ledger, "flight"), paying(ledger)], engine=engine)
    await app.ainvoke(HELLO, thread("t"))
    state = await app.ainvoke(Command(resume={"type": "reply", "message": "50 at most"}), thread("t"))
    assert state["__interrupt__"][0].value["next"][0]["args"] == {"euros": 50}
    assert "50 at most" in [each for each in state["messages"] if isinstance(each, ToolMessage)][-1].content
    with pytest.raises(Exception, match="type"):
        await app.ainvoke(Command(resume="perhaps"), thread("t"))  # no answer to a plan: it is asked again
    with pytest.raises(OperationFailedError, match="too dear"):
        await app.ainvoke(Command(resume={"type": "undo", "message": "too dear"}), thread("t"))
    assert (ledger.live(), ledger.calls("do payment"), ledger.undone()) == ({}, 0, ["flight"])


async def test_after_a_payment_only_what_never_has_to_be_undone_follows(engine: Engine, ledger: Ledger, says: Any) -> None:
    pays, again = CallTools(("pay", {"euros": 100})), CallTools(("pay", {"euros": 7}))
    model = says(pays, flight(), again, Text("Done."))
    app = saga_agent(model, [booking(ledger, "flight"), paying(ledger)], engine=engine, asks_before="nothing")
    state = await app.ainvoke(HELLO, thread("t"))
    assert [each.content[:9] for each in state["messages"] if isinstance(each, ToolMessage)] == [
        "paid 100 ",
        "Not done:",
        "paid 7 eu",
    ]
    assert ledger.live() == {"payment": 2}
    kinds = [each.kind for each in (await engine.status("t")).operations if "/pay-" in each.id]
    assert kinds == ["pivot", "retriable"]


async def test_a_refusal_is_told_to_the_model_and_what_was_booked_stays(engine: Engine, ledger: Ledger, says: Any) -> None:
    opera = saga_tool(full, compensate=lambda arguments, output, call: None, policy=QUICK)
    app = saga_agent(
        says(flight(), CallTools(("full", ROME)), Text("No opera.")), [booking(ledger, "flight"), opera], engine=engine
    )
    state = await app.ainvoke(HELLO, thread("t"))
    assert [each.content for each in state["messages"][-2:]] == ["sold out in Rome", "No opera."]
    assert (ledger.live(), (await engine.status("t")).status) == ({"flight": 1}, "committed")


async def test_the_middleware_beside_langchains_own_in_a_node(engine: Engine, ledger: Ledger, says: Any) -> None:
    """An agent that langchain made is a node; a person edits one of its calls."""
    plans = SagaMiddleware([booking(ledger, "flight"), booking(ledger, "hotel")])
    asks = HumanInTheLoopMiddleware({"book_hotel": True})
    agent = create_agent(says(flight("hotel"), Text("Booked.")), [], middleware=[plans, asks])

    def refuse(state: Chat) -> Chat:
        raise Refused("too expensive")

    graph = SagaGraph(Chat).add_node("agent", agent).add_node("last", refuse).add_edge(START, "agent").add_edge("agent", "last")
    app = graph.compile(engine=engine)
    await app.ainvoke(HELLO, thread("t"))
    edited = {"type": "edit", "edited_action": {"name": "book_hotel", "args": {"city": "Ostia"}}}
    with pytest.raises(OperationFailedError, match="too expensive"):
        await app.ainvoke(Command(resume={"decisions": [edited]}), thread("t"))
    assert (ledger.live(), sorted(ledger.undone())) == ({}, ["flight", "hotel"])


async def test_an_agent_in_no_saga_and_an_unknown_word_say_what_to_do(ledger: Ledger, says: Any) -> None:
    agent = create_agent(says(flight()), [], middleware=[SagaMiddleware([booking(ledger, "flight")])])
    with pytest.raises(NotAllowedError, match=r"SagaGraph\.of\(agent\)"):
        await agent.ainvoke(HELLO)
    with pytest.raises(InvalidInputError, match="irreversible"):
        SagaMiddleware(asks_before="always")
    assert ledger.live() == {}


def test_an_agent_is_a_graph_for_code_without_a_loop(ledger: Ledger, says: Any) -> None:
    with Engine.open("memory:") as engine:
        app = saga_agent(says(flight(), Text("Booked.")), [booking(ledger, "flight")], engine=engine)
        state = app.invoke(HELLO, thread("t"))
        assert isinstance(state["messages"][-1], AIMessage)
        assert ledger.live() == {"flight": 1}
