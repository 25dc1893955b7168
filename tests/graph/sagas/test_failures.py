"""What happens when a node fails past its policy (docs/protocol.md L6, L7 and L8)."""

from __future__ import annotations

import asyncio
import operator
import threading
from datetime import timedelta
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError, InvalidUpdateError, NodeCancelledError, NodeError, NodeTimeoutError
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import CachePolicy, Command, RetryPolicy, TimeoutPolicy, interrupt

from sagagraph import (
    Backoff,
    ContextSlice,
    Engine,
    Guarantees,
    Policy,
    Refused,
    Retry,
    SagaGraph,
    Verdict,
    Violation,
    action,
    current_call,
    current_saga,
)
from sagagraph.errors import (
    DrainedError,
    InvalidInputError,
    OperationFailedError,
    OperationHeldError,
    SagaClosedError,
    UnknownOperationError,
)
from tests.graph.world import QUICK, effect, statuses, thread
from tests.saga.ledger import Ledger

pytestmark = pytest.mark.quick


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    sorry: bool


def refuse(state: State) -> State:
    raise Refused("sold out")


def fan(ledger: Ledger, *first: str, then: Any = refuse, **told: Any) -> SagaGraph[Any, Any, Any, Any]:
    """`first` one after the other, then the node "fails"."""
    graph = SagaGraph(State)
    before = START
    for name in first:
        node, options = effect(ledger, name)
        graph.add_node(name, node, **options).add_edge(before, name)
        before = name
    graph.add_node("fails", then, **told).add_edge(before, "fails")
    return graph


async def test_what_committed_is_compensated_dependents_first(engine: Engine, ledger: Ledger) -> None:
    """A middleware that sorts the graph the wrong way round cancels the flight before the seat on it."""
    app = fan(ledger, "flight", "seat", "meal").compile(engine=engine)
    with pytest.raises(OperationFailedError, match="sold out") as failure:
        await app.ainvoke({"log": []}, thread("t"))
    assert (failure.value.saga_id, failure.value.operation_id) == ("t", "4/fails")
    assert (ledger.live(), ledger.undone()) == ({}, ["meal", "seat", "flight"])
    assert (await engine.status("t")).status == "compensated"


async def test_plain_langgraph_leaves_what_committed_before_a_failure(ledger: Ledger) -> None:
    landed: list[str] = []
    graph = StateGraph(State).add_node("flight", lambda _state: landed.append("flight")).add_node("fails", refuse)
    app = graph.add_edge(START, "flight").add_edge("flight", "fails").compile(checkpointer=InMemorySaver())
    with pytest.raises(Refused):
        await app.ainvoke({"log": []}, thread("t"))
    assert landed == ["flight"]


async def test_the_graph_goes_on_at_the_callers_node_after_the_compensation(engine: Engine, ledger: Ledger) -> None:
    graph = fan(ledger, "flight")
    seen: list[Any] = []

    def apologise(state: State) -> State:
        seen.append((dict(state), ledger.live()))
        return {"sorry": True}

    graph.add_node("apologise", apologise).add_edge("apologise", END)
    app = graph.compile(engine=engine, on_failure="apologise")
    assert await app.ainvoke({"log": []}, thread("t")) == {"log": ["flight"], "sorry": True}
    assert seen == [({"log": ["flight"]}, {})]
    assert await app.ainvoke(None, thread("t")) == {"log": ["flight"], "sorry": True}
    assert len(seen) == 1


async def test_a_failed_thread_reports_its_failure_again_and_a_new_input_begins_anew(engine: Engine, ledger: Ledger) -> None:
    fails = [True]

    def sometimes(state: State) -> State:
        if fails and fails.pop():
            raise Refused("sold out")
        return {"log": ["done"]}

    app = fan(ledger, "flight", then=sometimes).compile(engine=engine)
    with pytest.raises(OperationFailedError):
        await app.ainvoke({"log": []}, thread("t"))
    with pytest.raises(SagaClosedError, match="compensated"):
        await app.ainvoke(None, thread("t"))
    assert (await app.ainvoke({"log": []}, thread("t")))["log"][-1] == "done"
    assert (await engine.status("t/run-2")).status == "committed"


async def test_independent_branches_do_not_depend_on_each_other(engine: Engine, ledger: Ledger) -> None:
    graph = SagaGraph(State)
    for name in ("flight", "hotel"):
        node, told = effect(ledger, name)
        graph.add_node(name, node, **told).add_edge(START, name)
    node, told = effect(ledger, "seat")
    graph.add_node("seat", node, depends_on=["flight"], **told).add_edge(["flight", "hotel"], "seat")
    await graph.compile(engine=engine).ainvoke({"log": []}, thread("t"))
    after = {each.id: each.depends_on for each in (await engine.status("t")).operations}
    assert after == {"1/flight": (), "1/hotel": (), "2/seat": ("1/flight",)}


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
async def test_a_failing_sibling_does_not_lose_an_effect_in_mid_flight(engine: Engine, ledger: Ledger, is_async: bool) -> None:
    """Plain LangGraph cancels an async sibling, whose effect may have landed (the next test)."""
    started = threading.Event()
    hotel = ledger.action("hotel")

    async def slow_async(state: State) -> State:
        started.set()
        await asyncio.sleep(0.05)
        await hotel.execute(None, current_call())
        return {"log": ["hotel"]}

    def slow_sync(state: State) -> State:
        return asyncio.run(slow_async(state))  # type: ignore[return-value]

    async def fails(state: State) -> State:
        await asyncio.to_thread(started.wait)
        raise Refused("sold out")

    async def undo(state: State, update: Any, call: Any) -> None:
        await hotel.compensate(None, update, call)  # type: ignore[misc]

    graph = SagaGraph(State).add_node("hotel", slow_async if is_async else slow_sync, compensate=undo, policy=QUICK)
    graph.add_node("fails", fails).add_edge(START, "hotel").add_edge(START, "fails")
    with pytest.raises(OperationFailedError, match="sold out"):
        await graph.compile(engine=engine).ainvoke({"log": []}, thread("t"))
    assert (ledger.calls("do hotel"), ledger.live()) == (1, {})
    assert (await statuses(engine, "t"))["1/hotel"] == "compensated"


async def test_plain_langgraph_forgets_an_effect_that_a_failing_sibling_cancels() -> None:
    landed: list[str] = []

    async def slow(state: State) -> State:
        landed.append("hotel")
        await asyncio.sleep(1)
        return {"log": ["hotel"]}

    async def fails(state: State) -> State:
        await asyncio.sleep(0.01)
        raise Refused("sold out")

    graph = StateGraph(State).add_node("hotel", slow).add_node("fails", fails).add_edge(START, "hotel").add_edge(START, "fails")
    app = graph.compile(checkpointer=InMemorySaver())
    with pytest.raises(Refused):
        await app.ainvoke({"log": []}, thread("t"))
    assert landed == ["hotel"]
    assert (await app.aget_state(thread("t"))).values == {"log": []}


async def test_an_invocation_that_is_cancelled_waits_for_the_effect_that_is_out(engine: Engine, ledger: Ledger) -> None:
    hotel = ledger.action("hotel")
    started = asyncio.Event()

    async def slow(state: State) -> State:
        started.set()
        await asyncio.sleep(0.05)
        await hotel.execute(None, current_call())
        return {"log": ["hotel"]}

    async def undo(state: State, update: Any, call: Any) -> None:
        await hotel.compensate(None, update, call)  # type: ignore[misc]

    app = SagaGraph(State).add_node("hotel", slow, compensate=undo).add_edge(START, "hotel").compile(engine=engine)
    running = asyncio.create_task(app.ainvoke({"log": []}, thread("t")))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await statuses(engine, "t"))["1/hotel"] == "succeeded"
    assert (await app.ainvoke(None, thread("t")))["log"] == ["hotel"]
    assert ledger.calls("do hotel") == 1


async def test_a_node_that_reads_stops_where_its_invocation_is_cancelled_and_runs_again(engine: Engine, ledger: Ledger) -> None:
    started, ended = asyncio.Event(), []

    async def reads(state: State) -> State:
        started.set()
        try:
            await asyncio.sleep(0 if ended else 30)
        finally:
            ended.append(asyncio.current_task())
        return {"log": ["read"]}

    app = fan(ledger, "flight", then=reads).compile(engine=engine)
    running = asyncio.create_task(app.ainvoke({"log": []}, thread("t")))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(ended) == 1
    assert (await app.ainvoke(None, thread("t")))["log"] == ["flight", "read"]
    assert (len(ended), await statuses(engine, "t")) == (2, {"1/flight": "succeeded", "2/fails": "succeeded"})


async def test_a_node_that_reads_stops_when_its_worker_is_told_to_end(store_url: str, ledger: Ledger) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def reads(state: State) -> State:
        started.set()
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()
        return {}

    async with Engine.open(store_url) as engine:
        app = fan(ledger, "flight", then=reads).compile(engine=engine)
        running = asyncio.create_task(app.ainvoke({"log": []}, thread("t")))
        await started.wait()
        await engine.drain(within_s=0.1)
        async with asyncio.timeout(20):
            with pytest.raises(DrainedError):
                await running
        assert (ended.is_set(), running.cancelling()) == (True, 0)


async def test_an_effect_below_a_node_is_waited_for_too(engine: Engine, ledger: Ledger) -> None:
    slow = Ledger(ledger.path, calls_take_s=0.1)

    async def books(state: State) -> State:
        await current_saga().run(slow.action("hotel"))
        return {"log": ["hotel"]}

    app = SagaGraph(State).add_node("books", books).add_edge(START, "books").compile(engine=engine)
    running = asyncio.create_task(app.ainvoke({"log": []}, thread("t")))
    while not ledger.calls("do hotel"):  # noqa: ASYNC110 - the ledger is a file
        await asyncio.sleep(0.001)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await statuses(engine, "t"))["1/books/hotel-1"] == "succeeded"


async def test_no_intent_is_accepted_once_a_node_has_failed(engine: Engine, ledger: Ledger) -> None:
    """The sibling of the node that failed ends, and what comes after it does not begin."""
    begun: list[str] = []

    async def sibling(state: State) -> State:
        await asyncio.sleep(0.02)
        return {"log": ["sibling"]}

    async def after(state: State) -> State:
        begun.append("after")
        return {}

    node, told = effect(ledger, "hotel")
    graph = fan(ledger).add_node("sibling", sibling).add_node("after", after).add_node("hotel", node, **told)
    graph.add_edge(START, "sibling").add_edge("sibling", "after").add_edge("sibling", "hotel")
    with pytest.raises(OperationFailedError):
        await graph.compile(engine=engine).ainvoke({"log": []}, thread("t"))
    assert (begun, ledger.calls("do hotel")) == ([], 0)


async def test_compensation_is_a_step_of_the_graph(engine: Engine, ledger: Ledger) -> None:
    app = fan(ledger, "flight").compile(engine=engine)
    nodes: list[str] = []
    with pytest.raises(OperationFailedError):
        async for chunk in app.astream({"log": []}, thread("t"), stream_mode="updates"):
            nodes += chunk
    assert nodes[0] == "flight"
    assert nodes[-1] == "__compensate__"


async def test_a_held_node_leaves_the_saga_open_and_its_siblings_finished(engine: Engine, ledger: Ledger) -> None:
    """Any exception but `Refused` leaves an effect in doubt."""

    async def breaks(state: State) -> State:
        raise ConnectionError("the answer was lost")

    node, told = effect(ledger, "hotel")
    graph = SagaGraph(State).add_node("flight", breaks, compensate=lambda *_: None, policy=QUICK)
    graph.add_node("hotel", node, **told).add_edge(START, "flight").add_edge(START, "hotel")
    app = graph.compile(engine=engine)
    with pytest.raises(OperationHeldError, match=r"operation '1/flight' is held.*the answer was lost"):
        await app.ainvoke({"log": []}, thread("t"))
    assert await statuses(engine, "t") == {"1/flight": "held", "1/hotel": "succeeded"}
    await engine.resolve("t", "1/flight", "landed", output={"log": ["flight"]})
    assert (await app.ainvoke(None, thread("t")))["log"] == ["flight", "hotel"]
    assert (await engine.status("t")).status == "committed"


async def test_the_policy_retries_and_a_node_without_effects_fails_after_it(engine: Engine, ledger: Ledger) -> None:
    tries: list[int] = []

    def breaks(state: State) -> State:
        tries.append(current_call().attempt)
        raise ValueError("out of range")

    policy = Policy(retry=Retry(max_attempts=2), backoff=Backoff(base_s=0.001))
    app = fan(ledger, "flight", then=breaks, policy=policy).compile(engine=engine)
    with pytest.raises(ValueError, match="out of range"):
        await app.ainvoke({"log": []}, thread("t"))
    assert (tries, ledger.live()) == ([1, 2], {})


@pytest.mark.parametrize("has_engine", [False, True], ids=["a graph for a node", "a graph of its own"])
async def test_a_failure_in_a_subgraph_compensates_the_whole(engine: Engine, ledger: Ledger, has_engine: bool) -> None:
    inner = fan(ledger, "seat")
    outer = SagaGraph(State)
    node, told = effect(ledger, "flight")
    outer.add_node("flight", node, **told).add_node("board", inner.compile(engine=engine if has_engine else None))
    app = outer.add_edge(START, "flight").add_edge("flight", "board").compile(engine=engine)
    with pytest.raises(OperationFailedError, match=r"operation '2/board/2/fails' failed: sold out"):
        await app.ainvoke({"log": []}, thread("t"))
    assert ledger.undone() == ["seat", "flight"]


@pytest.mark.parametrize("at_start", [True, False], ids=["at the start", "after a node"])
async def test_a_router_that_fails_compensates(engine: Engine, ledger: Ledger, at_start: bool) -> None:
    def route(state: State) -> str:
        raise Refused("nowhere to go")

    node, told = effect(ledger, "flight")
    graph = SagaGraph(State).add_node("flight", node, **told)
    if at_start:
        graph.add_conditional_edges(START, route, ["flight"])
    else:
        graph.add_edge(START, "flight").add_conditional_edges("flight", route, [END])
    with pytest.raises(OperationFailedError, match="nowhere to go"):
        await graph.compile(engine=engine).ainvoke({"log": []}, thread("t"))
    assert (ledger.live(), (await engine.status("t")).status) == ({}, "compensated")


async def test_what_langgraph_itself_refuses_compensates(engine: Engine, ledger: Ledger) -> None:
    loop = fan(ledger, "flight", then=lambda _state: Command(goto="fails"))
    with pytest.raises(GraphRecursionError):
        await loop.compile(engine=engine).ainvoke({"log": []}, thread("t") | {"recursion_limit": 5})
    assert ledger.live() == {}
    wrong = fan(ledger, "flight", then=lambda _state: "no update")
    with pytest.raises(InvalidUpdateError, match="Expected dict"):
        await wrong.compile(engine=engine).ainvoke({"log": []}, thread("u"))
    assert ledger.live() == {}


async def test_a_graph_is_compiled_as_often_as_one_likes_and_nobody_is_warned(
    engine: Engine, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    graph = fan(ledger, "flight", then=refuse)
    for name in ("t", "u"):
        app = graph.compile(engine=engine, name=name)
        with pytest.raises(OperationFailedError):
            await app.ainvoke({"log": []}, thread(name))
    assert (ledger.calls("do flight"), ledger.live()) == (2, {})
    assert [each.message for each in caplog.records if each.levelname == "WARNING"] == []


async def test_an_output_that_a_validator_rejects_is_undone(engine: Engine, ledger: Ledger) -> None:
    class NoFlights:
        name, version = "no flights", 1

        def validate(self, artifact: Any, context: Any) -> Verdict:
            return Verdict.of([Violation(code="FLIGHT", message=f"not {artifact['log'][0]}")])

    node, told = effect(ledger, "flight")
    graph = SagaGraph(State).add_node("flight", node, validators=[NoFlights()], **told).add_edge(START, "flight")
    app = graph.compile(engine=engine)
    with pytest.raises(OperationFailedError, match="not flight"):
        await app.ainvoke({"log": []}, thread("t"))
    assert (ledger.calls("do flight"), ledger.live()) == (1, {})


async def test_a_validator_of_a_node_is_shown_what_fits_of_a_large_state(engine: Engine, ledger: Ledger) -> None:
    shown: list[ContextSlice] = []

    class Looks:
        name, version = "looks", 1

        def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
            shown.append(context)
            return Verdict.of([])

    class Large(State, total=False):
        wish: str
        history: str

    node, told = effect(ledger, "flight")
    graph = SagaGraph(Large).add_node("flight", node, validators=[Looks()], **told).add_edge(START, "flight")
    await graph.compile(engine=engine).ainvoke({"log": [], "wish": "the sea", "history": "x" * 50_000}, thread("t"))
    (context,) = shown
    assert context.facts["state: wish"] == "the sea"
    assert context.dropped == ("state: history",)
    assert context.tokens <= 1000
    assert list(ledger.live()) != []


async def test_a_cancel_from_outside_stops_a_running_thread_and_undoes_it(store_url: str, ledger: Ledger) -> None:
    started = asyncio.Event()

    async def waits(state: State) -> State:
        started.set()
        while not (await engine.load("t")).cancel_by:  # noqa: ASYNC110 - the journal is asked, and rings no bell
            await asyncio.sleep(0.02)
        return {}

    graph = fan(ledger, "flight", then=waits)
    node, told = effect(ledger, "hotel")
    graph.add_node("hotel", node, **told).add_edge("fails", "hotel")
    async with Engine.open(store_url) as engine, Engine.open(store_url) as other:
        app = graph.compile(engine=engine)
        running = asyncio.create_task(app.ainvoke({"log": []}, thread("t")))
        await started.wait()
        assert (await other.cancel("t", by="ann")).status == "compensated"
        with pytest.raises(SagaClosedError, match="cancelled by ann"):
            await running
    assert (ledger.live(), ledger.calls("do hotel")) == ({}, 0)


async def test_a_cancel_of_a_waiting_thread_needs_only_its_compiled_graph(store_url: str, ledger: Ledger) -> None:
    from langgraph.types import interrupt

    def build(engine: Engine) -> Any:
        return fan(ledger, "flight", then=lambda _state: {"sorry": interrupt("go on?")}).compile(engine=engine)

    async with Engine.open(store_url) as first:
        await build(first).ainvoke({"log": []}, thread("t"))
    async with Engine.open(store_url) as second:
        app = build(second)
        preview = await app.acancel(thread("t"), preview=True)
        assert [each.id for each in preview.undo] == ["1/flight"]
        assert (await app.acancel(thread("t"))).status == "compensated"
        with pytest.raises(SagaClosedError, match="cancelled by user"):
            await app.ainvoke(Command(resume=True), thread("t"))
    assert ledger.live() == {}


async def test_after_the_pivot_a_failure_undoes_nothing_and_the_node_can_be_resumed(engine: Engine, ledger: Ledger) -> None:
    breaks = [True]
    pay, told = effect(ledger, "pay")
    mail, mail_told = effect(ledger, "mail")

    async def mails(state: State) -> State:
        if breaks and breaks.pop():
            raise ConnectionError("the answer was lost")
        return await mail(state)  # type: ignore[no-any-return]

    flight, flight_told = effect(ledger, "flight")
    graph = SagaGraph(State).add_node("flight", flight, **flight_told)
    graph.add_node("pay", pay, kind="pivot", **told | {"compensate": None})
    once = Policy(retry=Retry(max_attempts=1))
    graph.add_node("mail", mails, kind="retriable", guarantees=mail_told["guarantees"], policy=once)
    graph.add_edge(START, "flight").add_edge("flight", "pay").add_edge("pay", "mail")
    app = graph.compile(engine=engine)
    with pytest.raises(OperationHeldError, match=r"operation '3/mail' is held"):
        await app.ainvoke({"log": []}, thread("t"))
    assert ledger.live() == {"flight": 1, "pay": 1}
    assert (await app.ainvoke(None, thread("t")))["log"] == ["flight", "pay", "mail"]
    assert (await engine.status("t")).status == "committed"


async def test_what_fails_below_a_node_after_the_pivot_keeps_the_thread_there(engine: Engine, ledger: Ledger) -> None:
    sold_out = [True, True]

    @action(kind="retriable", name="print")
    async def prints(request: Any, call: Any) -> str:
        if sold_out and sold_out.pop():
            raise Refused("no paper")
        return "printed"

    async def ticket(state: State) -> State:
        return {"log": [await current_saga().run(prints)]}

    pay, told = effect(ledger, "pay")
    graph = SagaGraph(State).add_node("pay", pay, kind="pivot", **told | {"compensate": None}).add_node("ticket", ticket)
    app = graph.add_edge(START, "pay").add_edge("pay", "ticket").compile(engine=engine)
    for _again in range(2):
        with pytest.raises(OperationHeldError, match="no paper"):
            await app.ainvoke({"log": []}, thread("t"))
        assert (await app.aget_state(thread("t"))).next == ("ticket",)
    assert (await app.ainvoke(None, thread("t")))["log"] == ["pay", "printed"]
    assert (ledger.live(), (await engine.status("t")).status) == ({"pay": 1}, "committed")


# -- what a policy replaces ----------------------------------------------------------------------------------------------


async def test_langgraphs_retry_policy_decides_about_a_node_without_effects(engine: Engine) -> None:
    tries: list[str] = []

    def breaks(state: State) -> State:
        tries.append("x")
        raise ConnectionError("lost") if len(tries) < 3 else ValueError("out of range")

    retry = RetryPolicy(initial_interval=0.001, max_attempts=5, retry_on=ConnectionError)
    app = SagaGraph(State).add_node("breaks", breaks, retry_policy=retry).add_edge(START, "breaks").compile(engine=engine)
    with pytest.raises(ValueError, match="out of range"):
        await app.ainvoke({"log": []}, thread("t"))
    assert len(tries) == 3


async def test_of_several_retry_policies_the_first_that_takes_the_exception_counts(engine: Engine) -> None:
    numbers: list[int] = []

    async def breaks(state: State, runtime: Runtime[None]) -> State:
        assert runtime.execution_info is not None
        numbers.append(runtime.execution_info.node_attempt)
        raise ConnectionError("lost") if len(numbers) < 3 else KeyError("gone")

    often = RetryPolicy(initial_interval=0.001, max_interval=0.002, max_attempts=9, retry_on=ConnectionError)
    seldom = RetryPolicy(initial_interval=0.001, max_interval=0.002, max_attempts=4, retry_on=KeyError)
    graph = SagaGraph(State).add_node("breaks", breaks, retry_policy=[often, seldom]).add_edge(START, "breaks")
    with pytest.raises(KeyError, match="gone"):
        await graph.compile(engine=engine).ainvoke({"log": []}, thread("t"))
    assert numbers == [1, 2, 3, 4]


@pytest.mark.parametrize("stopped", [NodeTimeoutError, NodeCancelledError])
async def test_an_attempt_that_is_stopped_raises_what_langgraph_raises(engine: Engine, stopped: type[Exception]) -> None:
    async def sleeps(state: State) -> State:
        if stopped is NodeCancelledError:
            raise asyncio.CancelledError
        await asyncio.sleep(60)
        return {}

    graph = SagaGraph(State).set_node_defaults(timeout=0.05).add_node("sleeps", sleeps).add_edge(START, "sleeps")
    with pytest.raises(stopped, match="sleeps"):
        await graph.compile(engine=engine).ainvoke({"log": []}, thread("t"))
    assert (await engine.status("t")).status == "compensated"


async def test_langgraphs_error_handler_continues_where_nothing_stands(engine: Engine, ledger: Ledger) -> None:
    def handles(state: State, error: NodeError) -> Command[Any]:
        return Command(update={"log": [str(error.error)]}, goto="after")

    def after(state: State) -> State:
        return {"log": ["after"]}

    flight, told = effect(ledger, "flight")
    graph = SagaGraph(State).add_node("flight", flight, **told).add_node("fails", refuse, error_handler=handles)
    graph.add_node("after", after).add_edge(START, "flight").add_edge("flight", "fails")
    ended = await graph.compile(engine=engine).ainvoke({"log": []}, thread("t"))
    assert (ended["log"][0], ended["log"][2:]) == ("flight", ["after"])
    assert "no" in ended["log"][1] or "failed" in ended["log"][1]
    assert (ledger.live(), (await engine.status("t")).status) == ({"flight": 1}, "committed")


def test_what_a_policy_cannot_say_is_refused_with_the_reason(ledger: Ledger) -> None:
    graph = SagaGraph(State)
    node, told = effect(ledger, "flight")
    told = {"compensate": told["compensate"]}
    with pytest.raises(InvalidInputError, match=r"retry_policy: .*remembers no keys"):
        graph.add_node("a", node, retry_policy=RetryPolicy(), **told)
    with pytest.raises(InvalidInputError, match=r"retry_policy: .*leave retry_on out"):
        keys = Guarantees(dedup=timedelta(days=1))
        graph.add_node("b", node, retry_policy=RetryPolicy(retry_on=ValueError), guarantees=keys, **told)
    with pytest.raises(InvalidInputError, match=r"timeout: .*run_timeout"):
        graph.add_node("c", refuse, timeout=TimeoutPolicy(idle_timeout=3))
    with pytest.raises(InvalidInputError, match=r"error_handler: .*on_failure"):
        graph.set_node_defaults(error_handler=refuse)
    with pytest.raises(InvalidInputError, match=r"policy: a node has one"):
        graph.add_node("d", refuse, timeout=3, policy=QUICK)


def test_a_cache_on_a_node_with_effects_is_refused(ledger: Ledger) -> None:
    node, told = effect(ledger, "flight")
    with pytest.raises(InvalidInputError, match="cache_policy: node 'flight' has effects"):
        SagaGraph(State).add_node("flight", node, cache_policy=CachePolicy(), **told)
    graph = SagaGraph(State).add_node("flight", node, **told).add_edge(START, "flight")
    graph.set_node_defaults(cache_policy=CachePolicy())
    with pytest.raises(InvalidInputError, match="cache_policy"):
        graph.compile()


async def test_a_cache_on_a_node_without_effects_works(engine: Engine) -> None:
    ran: list[int] = []
    graph = SagaGraph(State).add_node("look", lambda _state: ran.append(1), cache_policy=CachePolicy()).add_edge(START, "look")
    app = graph.compile(engine=engine, cache=InMemoryCache())
    await app.ainvoke({"log": []}, thread("t"))
    await app.ainvoke({"log": []}, thread("u"))
    assert len(ran) == 1


def test_names_that_do_not_exist_are_refused(ledger: Ledger) -> None:
    graph = SagaGraph(State).add_node("a", refuse, depends_on=["b"]).add_edge(START, "a")
    with pytest.raises(UnknownOperationError, match="'a' depends on 'b'"):
        graph.compile()
    with pytest.raises(InvalidInputError, match="on_failure: 'nowhere'"):
        fan(ledger).compile(on_failure="nowhere")


async def test_current_saga_is_only_there_inside_a_node() -> None:
    with pytest.raises(Exception, match="only inside a node"):
        current_saga()


class NoRoomError(Exception):
    pass


@pytest.mark.parametrize("is_plain", [False, True], ids=["async", "sync"])
async def test_the_exception_of_a_node_reaches_its_caller_with_its_cause(engine: Engine, ledger: Ledger, is_plain: bool) -> None:
    def fails(state: State) -> State:
        try:
            raise KeyError("room")
        except KeyError as exc:
            raise NoRoomError("nothing free") from exc

    async def fails_too(state: State) -> State:
        return fails(state)

    graph = fan(ledger, "flight", then=fails if is_plain else fails_too, policy=QUICK)
    with pytest.raises(NoRoomError, match="nothing free") as raised:
        await graph.compile(engine=engine).ainvoke({"log": []}, thread("t"))
    assert isinstance(raised.value.__cause__, KeyError)
    assert any("compensated" in each for each in raised.value.__notes__)
    assert ledger.live() == {}


async def test_the_state_can_say_what_was_undone(engine: Engine, ledger: Ledger) -> None:
    def says(state: State, undone: tuple[str, ...]) -> State:
        return {"log": [f"undone: {each}" for each in undone]}

    app = fan(ledger, "flight", "hotel").compile(engine=engine, on_undone=says)
    with pytest.raises(OperationFailedError):
        await app.ainvoke({"log": []}, thread("t"))
    log = (await app.aget_state(thread("t"))).values["log"]
    assert log == ["flight", "hotel", "undone: 1/flight", "undone: 2/hotel"]


async def test_a_graph_with_an_engine_may_also_be_a_node_and_is_drawn_as_written(engine: Engine, ledger: Ledger) -> None:
    inner = fan(ledger, "flight", then=lambda _state: {"log": ["fine"]})
    drawn = inner.compile(engine=engine).get_graph()
    assert set(drawn.nodes) == {"__start__", "flight", "fails", "__end__"}
    whole = SagaGraph(State).add_node("inner", inner.compile()).add_edge(START, "inner").compile(engine=engine)
    assert (await whole.ainvoke({"log": []}, thread("t")))["log"] == ["flight", "fine"]


async def test_a_state_is_reset_to_what_it_was_before_the_run(engine: Engine, ledger: Ledger) -> None:
    """After a failure, and after a cancellation from elsewhere; the next run begins from there."""

    def fails_then_asks(state: State) -> State:
        if not state["log"]:
            raise Refused("nothing was asked for")
        return {"log": [interrupt("go on?")] if state["log"][0] == "ask" else ["fine"]}

    graph = SagaGraph(State).add_node("node", fails_then_asks).add_edge(START, "flight").add_edge("flight", "node")
    node, told = effect(ledger, "flight", lambda _state, _key: {"sorry": True})
    app = graph.add_node("flight", node, **told).compile(InMemorySaver(), engine=engine, on_undone="reset")

    with pytest.raises(OperationFailedError, match="nothing was asked for"):
        await app.ainvoke({"log": []}, thread("t"))
    assert (await app.aget_state(thread("t"))).values == {"log": []}
    with pytest.raises(OperationFailedError, match="nothing was asked for"):
        await app.ainvoke(None, thread("t"))
    await app.ainvoke({"log": ["first"]}, thread("t"))
    before = (await app.aget_state(thread("t"))).values
    assert before == {"log": ["first", "fine"], "sorry": True}

    await app.ainvoke({"log": ["ask"]}, thread("other"))
    await app.acancel(thread("other"))
    assert (await app.aget_state(thread("other"))).values == {"log": []}
    await app.ainvoke({"log": ["ask"]}, thread("other"))
    await engine.cancel("other/run-2")  # runs no graph: the next run is the first to know
    state = await app.ainvoke({"log": ["third"]}, thread("other"))
    assert state == {"log": ["third", "fine"], "sorry": True}
    assert (await app.aget_state(thread("other"))).next == ()
    assert ledger.live() == {"flight": 2}


async def test_a_cancelled_thread_says_so_once(engine: Engine, ledger: Ledger) -> None:
    node, told = effect(ledger, "flight")
    graph = SagaGraph(State).add_node("flight", node, **told).add_node("ask", lambda _state: {"log": [interrupt("?")]})
    graph = graph.add_edge(START, "flight").add_edge("flight", "ask")
    app = graph.compile(engine=engine, on_undone=lambda state, undone: {"log": [f"undone: {each}" for each in undone]})
    await app.ainvoke({"log": []}, thread("t"))
    for _again in range(2):
        await app.acancel(thread("t"))
    snapshot = await app.aget_state(thread("t"))
    assert (snapshot.values["log"], snapshot.next) == (["flight", "undone: 1/flight"], ())
