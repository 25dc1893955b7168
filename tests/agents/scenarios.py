"""Crash scenarios of agents that others prebuilt: ReAct, `create_agent` with a human in the loop, a supervisor with handoffs.

`python -m tests.support.sweep tests.agents.scenarios:SCENARIOS` kills them everywhere (`--store postgresql` too).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph import START
from langgraph.prebuilt import create_react_agent
from langgraph.types import Command
from langgraph_supervisor import create_supervisor

from sagagraph import Engine, Refused, SagaGraph, saga_agent
from sagagraph.errors import OperationFailedError, SagaClosedError, UnknownSagaError
from sagagraph.graph.checkpoints.checkpointer import open_checkpointer
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.models import Call, ScriptedModel
from sagagraph.testing.scenario import BodyScenario, Judgement, store_of
from tests.graph.crash_scenarios import _set_up
from tests.graph.inner_scenarios import Chat, ask, booking
from tests.graph.world import thread
from tests.saga.ledger import Ledger

THREAD = "trip"
HELLO: Any = {"messages": [("user", "Rome, please")]}
Build = Callable[[Ledger, Sequence[BaseTool], bool], Any]
"""Makes an agent of tools; it is told whether the last tool fails."""


@tool
def look(city: str) -> str:
    """Look whether all is well."""
    raise Refused("overbooked")


def books(*names: str) -> list[Call]:
    return [(f"book_{name}", {"city": "Rome"}) for name in names]


def asks(question: str) -> list[Call]:
    return [("ask", {"question": question})]


def script(fails: bool) -> list[Any]:
    return [
        books("flight"),
        asks("what else?"),
        books("hotel", "car"),
        *([[("look", {"city": "Rome"})]] if fails else []),
        "done",
    ]


def react(_ledger: Ledger, tools: Sequence[BaseTool], fails: bool) -> Any:
    return create_react_agent(ScriptedModel.saying(*script(fails)), [*tools])


def with_a_human(_ledger: Ledger, tools: Sequence[BaseTool], fails: bool) -> Any:
    return create_agent(ScriptedModel.saying(*script(fails)), [*tools], middleware=[HumanInTheLoopMiddleware({"book_car": True})])


def supervisor(_ledger: Ledger, tools: Sequence[BaseTool], fails: bool) -> Any:
    """Two agents, which a third one hands the conversation to, one after the other."""
    flyer = create_react_agent(ScriptedModel.saying(books("flight"), "flown", name="flyer"), [*tools], name="flyer")
    sleeper = ScriptedModel.saying(*script(fails)[1:], name="sleeper")
    hands = ScriptedModel.saying([("transfer_to_flyer", {})], [("transfer_to_sleeper", {})], "all is booked")
    return create_supervisor([flyer, create_react_agent(sleeper, [*tools], name="sleeper")], model=hands).compile()


def answer_to(asked: Any) -> Any:
    return (
        "a hotel and a car"
        if isinstance(asked, str)
        else {"decisions": [{"type": "approve"}]}
        if "action_requests" in asked
        else {"type": "approve"}
    )


@dataclass
class AgentScenario(BodyScenario):
    """`is_node`: the agent stays as it is, as a node of a SagaGraph; otherwise it is converted. `fails`: all is to be undone."""

    name: str
    build: Build
    is_node: bool = False
    fails: bool = False

    async def body(self, engine: Engine, folder: Path) -> None:
        await self._travel(engine, folder, CrashPoint(0, folder / "no trace"))

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        engine = Engine(
            crash.around_store(await open_store(store_of(folder))), around_call=crash.around_call, lease_ttl_s=crash.lease_ttl_s
        )
        try:
            await self._travel(engine, folder, crash)
        finally:
            await engine.close()

    def graph(self, ledger: Ledger) -> Any:
        tools = [*(booking(ledger, name) for name in ("flight", "hotel", "car")), ask, look]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some have moved to langchain, and are the same
            made = self.build(ledger, tools, self.fails)
        if self.is_node:
            return SagaGraph(Chat).add_node("agent", made).add_edge(START, "agent")
        return SagaGraph.of(made)

    async def _travel(self, engine: Engine, folder: Path, crash: CrashPoint) -> None:
        ledger = Ledger(folder / "ledger.db")
        ledger.prepare()
        async with open_checkpointer(store_of(folder)) as saver:
            await _set_up(saver)
            app = self.compiled(engine, crash.around_checkpointer(saver), ledger)
            with suppress(OperationFailedError, SagaClosedError):
                state = await app.ainvoke(None if await engine.store.headline(THREAD) else HELLO, thread(THREAD))
                while "__interrupt__" in state:
                    (asked,) = state["__interrupt__"]
                    state = await app.ainvoke(Command(resume=answer_to(asked.value)), thread(THREAD))
                said = [each.content for each in state["messages"] if isinstance(each, ToolMessage)]
                (folder / "said").write_text("\n".join(map(str, said)))

    def compiled(self, engine: Engine, saver: Any, ledger: Ledger) -> Any:
        return self.graph(ledger).compile(engine=engine, checkpointer=saver)

    async def judge(self, folder: Path) -> Judgement:
        engine = Engine(await open_store(store_of(folder)))
        ledger = Ledger(folder / "ledger.db")
        ledger.prepare()
        try:
            status = (await engine.status(THREAD)).status
        except UnknownSagaError:
            return Judgement("never begun", ledger.faults())
        finally:
            await engine.close()
        return Judgement(status.value, (*ledger.faults(), *self._faults(ledger, status, folder / "said")))

    def _faults(self, ledger: Ledger, status: SagaStatus, told: Path) -> list[str]:
        expected = SagaStatus.COMPENSATED if self.fails else SagaStatus.COMMITTED
        faults = [] if status is expected else [f"it is {status.value}, not {expected.value}"]
        live, undone = ledger.live(), ledger.undone()
        if live != ({} if self.fails else {"car": 1, "flight": 1, "hotel": 1}):
            faults.append(f"{status.value}, but the ledger holds {live}")
        if "flight" in undone and undone[-1] != "flight":
            faults.append(f"undone in the order {undone}")
        if not self.fails and told.exists() and self.build is not supervisor and len(told.read_text().splitlines()) != 4:
            faults.append(f"its messages say {told.read_text()!r}")
        return faults


class PlanScenario(AgentScenario):
    """`saga_agent`, where a person approves the plan before each effect."""

    def compiled(self, engine: Engine, saver: Any, ledger: Ledger) -> Any:
        tools = [*(booking(ledger, name) for name in ("flight", "hotel", "car")), ask, look]
        return saga_agent(
            ScriptedModel.saying(*script(self.fails)), tools, engine=engine, checkpointer=saver, asks_before="effects"
        )


SCENARIOS = [
    *(
        AgentScenario(f"{name}{', as a node' if is_node else ''}{', and it fails' if fails else ''}", build, is_node, fails)
        for name, build in (("ReAct", react), ("a human in the loop", with_a_human), ("a supervisor", supervisor))
        for is_node in (False, True)
        for fails in (False, True)
    ),
    *(PlanScenario(f"a plan{', and it fails' if fails else ''}", react, fails=fails) for fails in (False, True)),
]
SAMPLE = [each for each in SCENARIOS if each.fails and not each.is_node]
"""What is killed in each run of the tests: every kind of agent once."""
