"""A thread that goes on from another point: effects are decided on first, and one branch is live (docs/protocol.md L2)."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.types import Command, interrupt

from sagagraph import Engine, SagaGraph
from sagagraph.errors import ConflictError, ForkDecisionRequired, InvalidInputError, NotAllowedError
from tests.graph.world import effect, statuses, thread
from tests.saga.ledger import Ledger

pytestmark = pytest.mark.quick


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    city: str
    answer: Any


def build(engine: Engine, ledger: Ledger, saver: Any = None, *, asks: bool = True) -> Any:
    graph = SagaGraph(State)
    before = START
    for name in ("flight", "hotel"):
        node, told = effect(ledger, name)
        graph.add_node(name, node, **told).add_edge(before, name)
        before = name
    graph.add_node("ask", lambda state: {"answer": interrupt("ok?") if asks else state.get("city")})
    return graph.add_edge("hotel", "ask").add_edge("ask", END).compile(engine=engine, checkpointer=saver)


async def checkpoint_before(app: Any, node: str) -> Any:
    history = [each async for each in app.aget_state_history(thread("t"))]
    return next(each.config for each in history if each.next == (node,))


async def test_updating_the_state_asks_about_every_effect(engine: Engine, ledger: Ledger) -> None:
    app = build(engine, ledger)
    await app.ainvoke({"log": []}, thread("t"))
    with pytest.raises(ForkDecisionRequired, match="1/flight") as asked:
        await app.aupdate_state(thread("t"), {"city": "Rome"})
    assert asked.value.effects == ("1/flight", "2/hotel")
    with pytest.raises(ForkDecisionRequired) as still:
        await app.aupdate_state(thread("t"), {"city": "Rome"}, effects={"1/flight": "keep"})
    assert still.value.effects == ("2/hotel",)
    assert (await app.aget_state(thread("t"))).values == {"log": ["flight", "hotel"]}
    assert ledger.live() == {"flight": 1, "hotel": 1}


async def test_time_travel_asks_about_every_effect(engine: Engine, ledger: Ledger) -> None:
    app = build(engine, ledger)
    await app.ainvoke({"log": []}, thread("t"))
    with pytest.raises(ForkDecisionRequired):
        await app.ainvoke(None, await checkpoint_before(app, "hotel"))
    assert ledger.calls("do hotel") == 1


async def test_what_is_kept_stays_and_what_is_compensated_is_undone(engine: Engine, ledger: Ledger) -> None:
    app = build(engine, ledger)
    await app.ainvoke({"log": []}, thread("t"))
    point = await checkpoint_before(app, "hotel")
    decided = {"1/flight": "keep", "2/hotel": "compensate"}
    assert "__interrupt__" in await app.ainvoke(None, point, effects=decided)
    now = await statuses(engine, "t")
    assert (now["1/flight"], now["2/hotel"], now["branch-2/3/hotel"]) == ("succeeded", "compensated", "succeeded")
    assert ledger.live() == {"flight": 1, "hotel": 1}
    assert (await app.ainvoke(Command(resume="yes"), thread("t")))["log"] == ["flight", "hotel"]
    view = await engine.status("t")
    assert view.status == "committed"
    assert (await engine.replay("t")).differences == ()
    assert len((await engine.project("t")).operation_state) == len(view.operations)
    assert ledger.live() == {"flight": 1, "hotel": 1}


async def test_a_branch_survives_a_restart_and_a_cancel_undoes_both(engine: Engine, ledger: Ledger) -> None:
    saver = InMemorySaver()
    app = build(engine, ledger, saver)
    await app.ainvoke({"log": []}, thread("t"))
    kept = {"1/flight": "keep", "2/hotel": "keep"}
    await app.ainvoke(None, await checkpoint_before(app, "hotel"), effects=kept)
    assert ledger.live() == {"flight": 1, "hotel": 2}
    again = build(engine, ledger, saver)
    assert "__interrupt__" in await again.ainvoke(None, thread("t"))
    assert (await again.acancel(thread("t"))).status == "compensated"
    assert (ledger.live(), ledger.undone()) == ({}, ["hotel", "hotel", "flight"])


async def test_an_updated_state_goes_on_as_a_branch_of_its_own(engine: Engine, ledger: Ledger) -> None:
    app = build(engine, ledger)
    await app.ainvoke({"log": []}, thread("t"))
    kept = {"1/flight": "keep", "2/hotel": "keep"}
    await app.aupdate_state(thread("t"), {"city": "Rome"}, as_node="flight", effects=kept)
    state = await app.ainvoke(None, thread("t"))
    assert (state["city"], state["log"]) == ("Rome", ["flight", "hotel", "hotel"])
    assert [each for each in await statuses(engine, "t") if "hotel" in each] == ["2/hotel", "branch-2/4/hotel"]


async def test_a_decision_that_was_carried_out_may_be_made_again(engine: Engine, ledger: Ledger) -> None:
    app = build(engine, ledger)
    await app.ainvoke({"log": []}, thread("t"))
    decided = {"1/flight": "keep", "2/hotel": "compensate"}
    for _time in range(2):  # a client that heard of no answer
        await app.aupdate_state(thread("t"), {"answer": "forced"}, as_node="ask", effects=decided)
    assert (await app.ainvoke(None, thread("t")))["answer"] == "forced"
    assert (ledger.live(), ledger.undone()) == ({"flight": 1}, ["hotel"])


async def test_nobody_waits_any_more_on_a_branch_that_was_left(engine: Engine, ledger: Ledger) -> None:
    app = build(engine, ledger)
    await app.ainvoke({"log": []}, thread("t"))
    await app.aupdate_state(thread("t"), {"answer": "forced"}, as_node="ask", effects={"1/flight": "keep", "2/hotel": "keep"})
    with pytest.raises(ConflictError, match="waits for no answer"):
        await app.ainvoke(Command(resume="yes"), thread("t"))
    assert (await app.ainvoke(None, thread("t")))["answer"] == "forced"
    assert (await engine.status("t")).status == "committed"


async def test_a_fork_before_any_effect_needs_no_decision(engine: Engine) -> None:
    graph = SagaGraph(State).add_node("ask", lambda _state: {"answer": interrupt("ok?")}).add_edge(START, "ask")
    app = graph.compile(engine=engine)
    await app.aupdate_state(thread("t"), {"city": "Rome"})
    await app.ainvoke({"log": []}, thread("t"))
    await app.aupdate_state(thread("t"), {"city": "Oslo"})
    assert (await app.ainvoke(Command(resume=1), thread("t")))["city"] == "Oslo"


async def test_a_fork_of_an_ended_saga_begins_another_one(engine: Engine, ledger: Ledger) -> None:
    app = build(engine, ledger, asks=False)
    await app.ainvoke({"log": [], "city": "Rome"}, thread("t"))
    point = await checkpoint_before(app, "hotel")
    with pytest.raises(NotAllowedError, match="as a whole"):
        await app.ainvoke(None, point, effects={"1/flight": "keep", "2/hotel": "compensate"})
    await app.ainvoke(None, point, effects={"1/flight": "keep", "2/hotel": "keep"})
    assert ledger.live() == {"flight": 1, "hotel": 2}
    assert (await engine.status("t/run-2")).operations[0].id == "3/hotel"
    await app.ainvoke(None, point, effects={"3/hotel": "compensate"})
    assert ledger.live() == {"flight": 1, "hotel": 2}
    assert (await engine.status("t/run-2")).status == "compensated"


async def test_decisions_that_decide_nothing_are_refused(engine: Engine, ledger: Ledger) -> None:
    app = build(engine, ledger)
    await app.ainvoke({"log": []}, thread("t"))
    with pytest.raises(InvalidInputError, match="effects: '9/car'"):
        await app.aupdate_state(thread("t"), {"city": "Rome"}, effects={"9/car": "keep"})
    with pytest.raises(InvalidInputError, match="'forget'"):
        await app.aupdate_state(thread("t"), {"city": "Rome"}, effects={"1/flight": "forget"})
    with pytest.raises(ConflictError, match="depends on it"):
        await app.aupdate_state(thread("t"), {"city": "Rome"}, effects={"1/flight": "compensate", "2/hotel": "keep"})
    assert ledger.live() == {"flight": 1, "hotel": 1}


async def test_an_answer_at_a_fork_answers_the_question_that_is_asked_there(engine: Engine) -> None:
    """Also where the thread had ended: the fork begins another saga, and the answer comes with it."""
    graph = SagaGraph(State).add_node("asks", lambda _state: {"log": [interrupt("which?")]}).add_edge(START, "asks")
    app = graph.compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    await app.ainvoke(Command(resume="one"), thread("t"))
    before = await checkpoint_before(app, "asks")
    forked = await app.aupdate_state(before, {"log": ["forked"]})
    assert (await app.ainvoke(Command(resume="two"), forked))["log"] == ["forked", "two"]


async def test_a_question_at_a_fork_is_answered_there(engine: Engine) -> None:
    """The fork asks at the checkpoint at which it began: the answer goes on from there, and does not ask again."""
    graph = SagaGraph(State).add_node("asks", lambda _state: {"log": [interrupt("which?")]}).add_edge(START, "asks")
    app = graph.compile(engine=engine)
    await app.ainvoke({"log": []}, thread("t"))
    await app.ainvoke(Command(resume="one"), thread("t"))
    forked = await app.aupdate_state(await checkpoint_before(app, "asks"), {"log": ["forked"]})
    assert (await app.ainvoke(None, forked))["__interrupt__"][0].value == "which?"
    assert (await app.ainvoke(Command(resume="two"), forked))["log"] == ["forked", "two"]
