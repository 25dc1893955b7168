"""Crash scenarios of what nodes run: an agent that asks a person twice, tasks, graphs that a function calls.

`python -m tests.support.sweep tests.graph.inner_scenarios:SCENARIOS` kills them everywhere; docs/langgraph.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.func import task
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import create_react_agent
from langgraph.types import Command, interrupt

from sagagraph import Engine, Refused, SagaGraph, current_call, current_saga, saga_entrypoint, saga_tool
from sagagraph.errors import OperationFailedError, SagaClosedError, UnknownSagaError
from sagagraph.graph.checkpoints.checkpointer import open_checkpointer
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import BodyScenario, Judgement, store_of
from tests.graph.crash_scenarios import _set_up
from tests.graph.world import QUICK, effect, thread
from tests.saga.ledger import Ledger

THREAD = "trip"
ANSWERS = {"what else?": "a hotel, please", "and what else?": "a car, please"}
Build = Callable[[Ledger, Path], Any]


class Chat(TypedDict, total=False):
    messages: list[Any]
    said: list[str]


class Scripted(FakeMessagesListChatModel):
    """A model that says what comes next after the messages that it is shown, as a resumed one must."""

    def bind_tools(self, tools: Any, **_options: Any) -> Scripted:
        return self

    def _generate(self, messages: list[BaseMessage], *arguments: Any, **options: Any) -> Any:
        self.i = sum(isinstance(each, AIMessage) for each in messages)
        return super()._generate(messages, *arguments, **options)


def calls(*names: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": each, "args": arguments, "id": f"{each}-{arguments}"} for each in names])


def booking(ledger: Ledger, name: str) -> BaseTool:
    action = ledger.action(name)

    @tool(f"book_{name}")
    async def book(city: str) -> str:
        """Book something in a city."""
        await action.execute(None, current_call())
        return f"{name} booked in {city}"

    async def cancel(arguments: Any, output: Any, call: Any) -> None:
        await action.compensate(None, output, call)  # type: ignore[misc]

    async def probe(arguments: Any, call: Any) -> Any:
        return await action.probe(None, call)  # type: ignore[misc]

    return saga_tool(book, compensate=cancel, probe=probe, guarantees=action.guarantees, policy=QUICK)


@tool
def ask(question: str) -> str:
    """Ask a person."""
    return str(interrupt(question))


def agent(ledger: Ledger, *said: AIMessage) -> Any:
    """LangGraph's own agent, compiled by LangGraph."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has moved to langchain, and is the same
        tools = [*(booking(ledger, name) for name in ("flight", "hotel", "car")), ask]
        return create_react_agent(Scripted(responses=[*said, AIMessage("done")]), tools)


def an_agent(ledger: Ledger, _folder: Path) -> Any:
    first, second = ANSWERS
    booked = [calls(f"book_{name}", city="Rome") for name in ("flight", "hotel", "car")]
    steps = [booked[0], calls("ask", question=first), booked[1], calls("ask", question=second), booked[2]]
    made = agent(ledger, *steps)

    async def tells(state: Chat) -> Chat:
        return {"said": [each.content for each in state["messages"] if isinstance(each, ToolMessage) and each.name == "ask"]}

    graph = SagaGraph(Chat).add_node("agent", made).add_node("tells", tells)
    return graph.add_edge(START, "agent").add_edge("agent", "tells")


def some_tasks(ledger: Ledger, _folder: Path) -> Any:
    actions = {name: ledger.action(name) for name in ("flight", "hotel", "car")}

    @task
    async def books(which: str) -> Any:
        return await current_saga().run(actions[which])

    async def node(state: Chat) -> Chat:
        first = [books("flight"), books("hotel")]
        for each in first:
            await each
        said = [interrupt("what else?")]
        await books("car")
        return {"said": [*said, interrupt("and what else?")]}

    return SagaGraph(Chat).add_node("node", node).add_edge(START, "node")


@dataclass
class AnEntrypoint:
    """LangGraph's functional API: tasks at once, questions in between, and a task that a checkpointer has forgotten or not."""

    ledger: Ledger
    folder: Path
    fails: bool = False

    def compile(self, *, engine: Engine, checkpointer: Any) -> Any:
        actions = {name: self.ledger.action(name) for name in ("flight", "hotel", "car")}

        @task
        def books(which: str) -> Any:
            return current_saga().run(actions[which])

        @saga_entrypoint(engine, checkpointer)
        def trip(given: Any) -> Any:
            for each in [books("flight"), books("hotel")]:
                each.result()
            said = [interrupt("what else?")]
            books("car").result()
            said.append(interrupt("and what else?"))
            if self.fails:
                raise Refused("overbooked")
            return {"said": said}

        return trip


def called_graphs(ledger: Ledger, _folder: Path) -> Any:
    """Three graphs with nodes of the same name; the function asks between them."""

    def books(name: str) -> Any:
        node, told = effect(ledger, name, lambda _state, _key: {})
        return SagaGraph(Chat).add_node("book", node, **told).add_edge(START, "book").compile(name=name)

    flight, hotel, car = books("flight"), books("hotel"), books("car")

    async def node(state: Chat) -> Chat:
        await flight.ainvoke({"messages": []})
        said = [interrupt("what else?")]
        await hotel.ainvoke({"messages": []})
        said.append(interrupt("and what else?"))
        await car.ainvoke({"messages": []})
        return {"said": said}

    return SagaGraph(Chat).add_node("node", node).add_edge(START, "node")


def another_mind(ledger: Ledger, folder: Path) -> Any:
    """An inner node that books something else each time it runs: only what was checkpointed may stay."""
    actions = {name: ledger.action(name) for name in ("flight", "hotel", "car", "bus", "train")}

    async def books(state: Chat) -> Chat:
        passes = folder / "passes"
        with passes.open("a") as trace:
            trace.write(".")
        name = list(actions)[min(len(passes.read_text()), len(actions)) - 1]
        await current_saga().run(actions[name], id=name)
        return {"said": [name]}

    plain = StateGraph(Chat).add_node("books", books).add_edge(START, "books").compile()
    return SagaGraph(Chat).add_node("plain", plain).add_edge(START, "plain")


@dataclass
class InnerScenario(BodyScenario):
    """`fails`: a last node refuses, and everything is to be undone; `free`: what it books is told by what it says.

    `durability`: when LangGraph writes checkpoints.
    """

    name: str
    build: Build
    fails: bool = False
    free: bool = False
    durability: Any = None

    async def body(self, engine: Engine, folder: Path) -> None:
        await self._travel(engine, folder, CrashPoint(0, folder / "no trace"))

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        store = crash.around_store(await open_store(store_of(folder)))
        engine = Engine(store, around_call=crash.around_call, lease_ttl_s=crash.lease_ttl_s)
        try:
            await self._travel(engine, folder, crash)
        finally:
            await engine.close()

    def graph(self, ledger: Ledger, folder: Path) -> Any:
        graph = self.build(ledger, folder)
        if isinstance(graph, AnEntrypoint):
            graph.fails = self.fails
        elif self.fails:

            def refuse(state: Chat) -> Chat:
                raise Refused("overbooked")

            (last,) = [name for name in graph.nodes if name not in {start for start, _end in graph.edges}]
            graph.add_node("refuse", refuse).add_edge(last, "refuse")
        return graph

    async def _travel(self, engine: Engine, folder: Path, crash: CrashPoint) -> None:
        ledger = self.ledger(folder)
        ledger.prepare()
        async with open_checkpointer(store_of(folder)) as saver:
            await _set_up(saver)
            app = self.graph(ledger, folder).compile(engine=engine, checkpointer=crash.around_checkpointer(saver))
            given: Any = None if await engine.store.headline(THREAD) else {"messages": [("user", "go")], "said": []}
            with suppress(OperationFailedError, SagaClosedError):
                state = await app.ainvoke(given, thread(THREAD), durability=self.durability)
                while "__interrupt__" in state:
                    (asked,) = state["__interrupt__"]
                    state = await app.ainvoke(Command(resume=ANSWERS[asked.value]), thread(THREAD), durability=self.durability)
                (folder / "said").write_text("\n".join(state.get("said", [])))

    def ledger(self, folder: Path) -> Ledger:
        return Ledger(folder / "ledger.db")

    async def judge(self, folder: Path) -> Judgement:
        engine = Engine(await open_store(store_of(folder)))
        ledger = self.ledger(folder)
        ledger.prepare()
        try:
            status = (await engine.status(THREAD)).status
        except UnknownSagaError:
            return Judgement("never begun", ledger.faults())
        finally:
            await engine.close()
        faults, live = list(ledger.faults()), ledger.live()
        expected = SagaStatus.COMPENSATED if self.fails else SagaStatus.COMMITTED
        if status is not expected:
            faults.append(f"it is {status.value}, not {expected.value}")
        said = (folder / "said").read_text().split("\n") if (folder / "said").exists() else []
        booked = dict.fromkeys(said, 1) if self.free else {"car": 1, "flight": 1, "hotel": 1}
        if live != ({} if self.fails else booked):
            faults.append(f"{status.value}, but the ledger holds {live}")
        if not self.fails and not self.free and said != list(ANSWERS.values()):
            faults.append(f"it was told {said}")
        order = [name for name in ledger.undone() if name in ("hotel", "car")]
        if not self.free and ledger.undone() and (order[:1] != ["car"] or ledger.undone()[0] != "car"):
            faults.append(f"undone in the order {ledger.undone()}")
        return Judgement(status.value, tuple(faults))


SCENARIOS = [
    InnerScenario("an agent", an_agent),
    InnerScenario("an agent, and the last node fails", an_agent, fails=True),
    InnerScenario("tasks", some_tasks),
    InnerScenario("tasks, and the last node fails", some_tasks, fails=True),
    InnerScenario("an entrypoint", AnEntrypoint),
    InnerScenario("an entrypoint that fails", AnEntrypoint, fails=True),
    InnerScenario("called graphs", called_graphs),
    InnerScenario("called graphs, and the last node fails", called_graphs, fails=True),
    InnerScenario("an inner node of another mind", another_mind, free=True),
    InnerScenario("an agent, and checkpoints wait for the end", an_agent, durability="exit"),
    InnerScenario("another mind, and checkpoints wait for the end", another_mind, free=True, durability="exit"),
]
