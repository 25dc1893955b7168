"""A graph with an interrupt, a `Send`, a loop and a subgraph, for the crash sweep.

`python -m tests.support.sweep tests.graph.crash_scenarios:SCENARIOS` kills it everywhere; docs/langgraph.md.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel

from sagagraph import Engine, Refused, SagaGraph, current_saga
from sagagraph.errors import NotAllowedError, OperationFailedError, SagaClosedError, SagaGraphError, UnknownSagaError
from sagagraph.graph.checkpoints.checkpointer import Saver, open_checkpointer
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import BodyScenario, Judgement, store_of
from tests.graph.world import effect, thread
from tests.saga.ledger import Ledger

THREAD = "trip"
BOOKED = {"bag0": 1, "bag1": 1, "flight": 1, "leg1": 1, "leg2": 1, "meal": 1, "seat": 1}
IN_ORDER = ("flight", ("bag0", "bag1"), "leg1", "leg2", "seat", "meal")
"""What came after what; the members of a tuple are independent."""


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    legs: int
    approved: bool
    number: int
    apologies: int


def build(ledger: Ledger, *, fails: bool = False) -> SagaGraph[Any, Any, Any, Any]:
    graph = SagaGraph(State)
    flight, flight_told = effect(ledger, "flight")
    graph.add_node("flight", flight, **flight_told)
    graph.add_node("bag", _bag(ledger))
    graph.add_node("approve", _approve)
    graph.add_node("leg", _leg(ledger))
    graph.add_node("on board", _on_board(ledger).compile())
    graph.add_node("check", _refusing if fails else _checking)
    graph.add_node("apologise", _apologise)
    graph.add_edge(START, "flight")
    graph.add_conditional_edges("flight", _bags, ["bag"])
    graph.add_edge("bag", "approve")
    graph.add_edge("approve", "leg")
    graph.add_conditional_edges("leg", _further, ["leg", "on board"])
    graph.add_edge("on board", "check")
    graph.add_edge("check", END)
    graph.add_edge("apologise", END)
    return graph


def _on_board(ledger: Ledger) -> SagaGraph[Any, Any, Any, Any]:
    graph = SagaGraph(State)
    for name in ("seat", "meal"):
        node, told = effect(ledger, name, lambda _state, _key: {})
        graph.add_node(name, node, **told)
    graph.add_edge(START, "seat")
    graph.add_edge("seat", "meal")
    return graph


def _bags(state: State) -> list[Send]:
    return [Send("bag", {"number": number}) for number in range(2)]


def _bag(ledger: Ledger) -> Any:
    actions = [ledger.action(f"bag{number}") for number in range(2)]

    async def bag(state: State) -> State:
        await current_saga().run(actions[state["number"]])
        return {"log": [f"bag{state['number']}"]}

    return bag


def _approve(state: State) -> State:
    return {"approved": interrupt("shall we fly?")}


def _leg(ledger: Ledger) -> Any:
    actions = [ledger.action(f"leg{number}") for number in (1, 2)]

    def leg(state: State) -> State:
        current_saga().run(actions[state.get("legs", 0)])
        return {"legs": state.get("legs", 0) + 1}

    return leg


def _further(state: State) -> str:
    return "leg" if state["legs"] < 2 else "on board"


def _checking(state: State) -> State:
    return {"log": ["checked"]}


def _refusing(state: State) -> State:
    raise Refused("overbooked")


def _apologise(state: State) -> State:
    return {"apologies": state.get("apologies", 0) + 1}


@dataclass
class GraphScenario(BodyScenario):
    """`on_failure`: as for compile. `keeps_checkpoints` False: they die with the process, and the journal alone is left.

    `durability`: when LangGraph writes them.
    """

    name: str
    fails: bool = False
    on_failure: str = "raise"
    keeps_checkpoints: bool = True
    durability: Any = None
    booked: Mapping[str, int] = field(default_factory=lambda: BOOKED)

    async def body(self, engine: Engine, folder: Path) -> None:
        await self._travel(engine, folder, CrashPoint(0, folder / "no trace"))

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        store = crash.around_store(await open_store(store_of(folder)))
        engine = Engine(store, around_call=crash.around_call, lease_ttl_s=crash.lease_ttl_s)
        try:
            await self._travel(engine, folder, crash)
        finally:
            await engine.close()

    async def _travel(self, engine: Engine, folder: Path, crash: CrashPoint) -> None:
        ledger = self.ledger(folder)
        ledger.prepare()
        async with open_checkpointer(store_of(folder) if self.keeps_checkpoints else "memory:") as saver:
            await _set_up(saver)
            app = build(ledger, fails=self.fails).compile(
                engine=engine, checkpointer=crash.around_checkpointer(saver), on_failure=self.on_failure
            )
            given = None if await engine.store.headline(THREAD) else {"log": []}
            with suppress(OperationFailedError, SagaClosedError):
                state = await app.ainvoke(given, thread(THREAD), durability=self.durability)
                if "__interrupt__" in state:
                    await app.ainvoke(Command(resume=True), thread(THREAD), durability=self.durability)

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
        faults, live = [*ledger.faults(), *out_of_order(ledger)], ledger.live()
        expected = SagaStatus.COMPENSATED if self.fails else SagaStatus.COMMITTED
        if status is not expected:
            faults.append(f"it is {status.value}, not {expected.value}")
        if live != ({} if self.fails else self.booked):
            faults.append(f"{status.value}, but the ledger holds {live}")
        return Judgement(status.value, tuple(faults))


class Stay(BaseModel):
    log: Annotated[list[str], operator.add] = []
    city: str | None = None
    nights: int | None = None


MISTAKES: tuple[tuple[Any, dict[str, Any], dict[str, Any]], ...] = (
    (Command(resume="yes"), {}, {}),
    (None, {}, {"output_keys": "lgo"}),
    (None, {"recursion_limit": 0}, {}),
    (Command(goto="flihgt"), {}, {}),
)
"""Inputs, what is in the config, and options: none of them may happen."""


@dataclass
class CorrectedScenario(GraphScenario):
    """While two questions wait, a person is mistaken, then corrects the state at a node with a conditional edge, and answers.

    `goes_back`: to the time before the flight, which is undone and booked anew.
    """

    goes_back: bool = False

    def graph(self, ledger: Ledger) -> SagaGraph[Any, Any, Any, Any]:
        flight, told = effect(ledger, "flight", lambda _state, _key: Stay(log=["flight"], nights=3))
        graph = SagaGraph(Stay).add_node("flight", flight, **told).add_edge(START, "flight")
        for name in ("hotel", "car"):
            graph.add_node(name, lambda _state, name=name: Stay(log=[interrupt(name)]))
        graph.add_conditional_edges("flight", lambda _state: ["hotel", "car"], ["hotel", "car"])
        return graph

    async def _travel(self, engine: Engine, folder: Path, crash: CrashPoint) -> None:
        ledger = self.ledger(folder)
        ledger.prepare()
        async with open_checkpointer(store_of(folder)) as saver:
            await _set_up(saver)
            app = self.graph(ledger).compile(engine=engine, checkpointer=crash.around_checkpointer(saver))
            given = None if await engine.store.headline(THREAD) else {"city": "Oslo"}
            with suppress(NotAllowedError):  # it died in the middle of the correction, which is to be made again
                await app.ainvoke(given, thread(THREAD))
            if not await self._was_corrected(engine):
                for mistaken, config, options in MISTAKES:
                    with suppress(RuntimeError, ValueError, SagaGraphError):
                        await app.ainvoke(mistaken, {**thread(THREAD), **config}, **options)
                        (folder / "mistaken").touch()
            await self._correct(app, engine)
            state = await app.ainvoke(None, thread(THREAD))
            if asked := state.get("__interrupt__"):
                state = await app.ainvoke(Command(resume={each.id: each.value for each in asked}), thread(THREAD))
            said = [sorted(state["log"]), state["city"], state["nights"]]
            right = (
                [["car", "flight", "hotel"], "Oslo", 3]
                if self.goes_back
                else [["car", "corrected", "flight", "hotel"], "Oslo", 4]
            )
            (folder / "said").write_text("" if said == right else repr(said))

    async def _was_corrected(self, engine: Engine) -> bool:
        return any(each.id == "branch-2" and each.output for each in (await engine.status(THREAD)).operations)

    async def _correct(self, app: Any, engine: Engine) -> None:
        now = await app.aget_state(thread(THREAD))
        if self.goes_back and not await self._was_corrected(engine):
            (start,) = [each.config async for each in app.aget_state_history(thread(THREAD)) if each.next == ("flight",)]
            await app.ainvoke(None, start, effects={"1/flight": "compensate"})
        elif not self.goes_back and "corrected" not in now.values["log"]:
            correction = Stay(log=["corrected"], nights=4)
            await app.aupdate_state(thread(THREAD), correction, as_node="flight", effects={"1/flight": "keep"})

    async def judge(self, folder: Path) -> Judgement:
        judged = await super().judge(folder)
        twice = "flight landed 2 times"
        faults = [each for each in judged.faults if not (self.goes_back and each == twice)]
        wrong = [each.read_text() or each.name for each in (folder / "mistaken", folder / "said") if each.exists()]
        return Judgement(judged.outcome, (*faults, *(each for each in wrong if each != "said")))


async def _set_up(saver: Saver) -> None:
    if hasattr(saver, "setup") and (made := saver.setup()) is not None:
        await made


def out_of_order(ledger: Ledger) -> list[str]:
    """What was undone before something that came after it."""
    undone = ledger.undone()
    ranks = {name: rank for rank, names in enumerate(IN_ORDER) for name in ([names] if isinstance(names, str) else names)}
    return [
        f"{earlier} was undone before {later}"
        for place, earlier in enumerate(undone)
        for later in undone[place + 1 :]
        if ranks[later] > ranks[earlier]
    ]


SCENARIOS = [
    GraphScenario("it commits"),
    GraphScenario("its last node fails", fails=True),
    GraphScenario("it fails and goes on at a node", fails=True, on_failure="apologise"),
    GraphScenario("its checkpoints are lost", keeps_checkpoints=False),
    GraphScenario("its checkpoints wait for the end", durability="exit"),
    CorrectedScenario("it is corrected", booked={"flight": 1}),
    CorrectedScenario("it goes back", booked={"flight": 1}, goes_back=True),
]
