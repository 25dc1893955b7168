"""Mistakes of a caller: they are refused before anything happens, and the saga goes on as if nobody had made them."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.errors import InvalidUpdateError
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from sagagraph import Engine, SagaGraph
from sagagraph.errors import ForkDecisionRequired, InvalidInputError
from tests.graph.world import effect, statuses, thread
from tests.saga.ledger import Ledger

pytestmark = pytest.mark.quick


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


def asking_twice(engine: Engine, ledger: Ledger) -> Any:
    flight, told = effect(ledger, "flight")
    graph = SagaGraph(State).add_node("flight", flight, **told).add_edge(START, "flight")
    for name in ("hotel", "car"):
        graph.add_node(name, lambda _state, name=name: {"log": [interrupt(f"a {name}?")]}).add_edge("flight", name)
    return graph.compile(engine=engine)


MISTAKES: dict[str, tuple[Any, dict[str, Any], dict[str, Any], type[Exception]]] = {
    "one answer to two questions": (Command(resume="yes"), {}, {}, RuntimeError),
    "a key that no state has": (None, {}, {"output_keys": "lgo"}, ValueError),
    "no steps": (None, {"recursion_limit": 0}, {}, ValueError),
    "an unknown node": (Command(goto="hotle"), {}, {}, InvalidInputError),
}


@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_callers_mistake_undoes_nothing(engine: Engine, ledger: Ledger, mistake: str) -> None:
    given, config, options, error = MISTAKES[mistake]
    app = asking_twice(engine, ledger)
    asked = (await app.ainvoke({"log": []}, thread("t")))["__interrupt__"]
    before = await statuses(engine, "t")
    with pytest.raises(error):
        await app.ainvoke(given, {**thread("t"), **config}, **options)
    assert (ledger.live(), await statuses(engine, "t")) == ({"flight": 1}, before)
    ended = await app.ainvoke(Command(resume={each.id: "yes" for each in asked}), thread("t"))
    assert (ended["log"], ledger.live()) == (["flight", "yes", "yes"], {"flight": 1})
    assert (await engine.status("t")).status == "committed"


@pytest.mark.parametrize("mistake", ["a key that no state has", "no steps"])
async def test_a_mistake_at_the_beginning_begins_nothing(engine: Engine, ledger: Ledger, mistake: str) -> None:
    _given, config, options, error = MISTAKES[mistake]
    with pytest.raises(error):
        await asking_twice(engine, ledger).ainvoke({"log": []}, {**thread("t"), **config}, **options)
    assert (await engine.sagas(), ledger.live()) == ((), {})


def looping(engine: Engine, ledger: Ledger) -> Any:
    """As an agent loops: the node with effects has a conditional edge."""
    flight, told = effect(ledger, "flight")
    graph = SagaGraph(State).add_node("flight", flight, **told).add_node("asks", lambda _state: {"log": [interrupt("ok?")]})
    graph.add_edge(START, "flight")
    graph.add_conditional_edges("flight", lambda _state: "asks", ["asks", END])
    graph.add_conditional_edges("asks", lambda state: END if "enough" in state["log"] else "flight", ["flight", END])
    return graph.compile(engine=engine)


async def test_the_state_is_updated_as_a_node_with_a_conditional_edge(engine: Engine, ledger: Ledger) -> None:
    app = looping(engine, ledger)
    await app.ainvoke({"log": []}, thread("t"))
    moved = await app.aupdate_state(thread("t"), {"log": ["enough"]}, as_node="asks", effects={"1/flight": "keep"})
    assert set(moved["configurable"]) == {"thread_id", "checkpoint_ns", "checkpoint_id"}
    assert (await app.aget_state(thread("t"))).next == ()
    assert (await app.ainvoke(None, thread("t")))["log"] == ["flight", "enough"]
    assert (ledger.live(), (await engine.status("t")).status) == ({"flight": 1}, "committed")


async def test_an_update_that_routes_onwards_is_gone_on_with(engine: Engine, ledger: Ledger) -> None:
    app = looping(engine, ledger)
    await app.ainvoke({"log": []}, thread("t"))
    await app.aupdate_state(thread("t"), {"log": ["more"]}, as_node="asks", effects={"1/flight": "keep"})
    assert (await app.ainvoke(None, thread("t")))["__interrupt__"][0].value == "ok?"
    assert (await app.ainvoke(Command(resume="enough"), thread("t")))["log"] == ["flight", "more", "flight", "enough"]
    assert ledger.live() == {"flight": 2}


@pytest.mark.parametrize("as_node", ["nobody", None])
async def test_an_update_that_langgraph_refuses_changes_nothing(engine: Engine, ledger: Ledger, as_node: str | None) -> None:
    app = looping(engine, ledger)
    await app.ainvoke({"log": []}, thread("t"))
    values = {"log": ["x"]} if as_node else 3
    before = await statuses(engine, "t")
    with pytest.raises(InvalidUpdateError):
        await app.aupdate_state(thread("t"), values, as_node=as_node or "asks", effects={"1/flight": "compensate"})
    with pytest.raises(ForkDecisionRequired):
        await app.aupdate_state(thread("t"), {"log": ["x"]}, as_node="asks")
    assert (ledger.live(), await statuses(engine, "t")) == ({"flight": 1}, before)
    assert (await app.ainvoke(Command(resume="enough"), thread("t")))["log"] == ["flight", "enough"]


class Trip(BaseModel):
    city: str | None = None
    nights: int | None = None
    seat: str | None = "12A"


async def test_a_partial_update_with_a_model_changes_only_what_was_set(engine: Engine) -> None:
    """As LangGraph does it: what was not set and has no default is left alone, and None is set where somebody set it."""

    def build(kind: Any) -> Any:
        graph = kind(Trip).add_node("city", lambda _trip: Trip(city="Oslo")).add_node("nights", lambda _trip: Trip(nights=3))
        graph.add_node("seat", lambda _trip: Command(update=Trip(seat=None)))
        return graph.add_edge(START, "city").add_edge("city", "nights").add_edge("nights", "seat")

    ended = await build(SagaGraph).compile(engine=engine).ainvoke({"seat": "3B"}, thread("t"))
    assert ended == await build(StateGraph).compile().ainvoke({"seat": "3B"}) == {"city": "Oslo", "nights": 3, "seat": None}


async def test_an_answer_may_come_with_an_update(engine: Engine) -> None:
    graph = SagaGraph(State).add_node("asks", lambda state: {"log": [*state["log"], interrupt("ok?"), interrupt("sure?")]})
    app = graph.add_edge(START, "asks").compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    await app.ainvoke(Command(resume="yes", update={"log": ["noted"]}), thread("t"))
    ended = await app.ainvoke(Command(resume="very"), thread("t"))
    assert ended["log"] == ["noted", "noted", "yes", "very"]
