"""The tree of spans: saga → operation → attempt, probe, void, compensation, validator."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode

from sagagraph import Call, ContextSlice, Engine, Refused, Retry, Verdict, Violation, action
from sagagraph.errors import OperationFailedError, OperationHeldError, SupersededError
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from tests.saga.service import A_DAY, Gate, Service, hangs, is_lost, is_too_busy, lands_but_is_lost, quick, refuses
from tests.saga.workers import OpenEngine, a_minute_ahead

from .conftest import Recorded


def attempt(operation: str, outcome: str = "succeeded") -> tuple[Any, ...]:
    return ("attempt", operation, outcome, [])


def undone(name: str) -> Any:
    return ("operation", name, "compensated", [("compensation", name, "succeeded", [])])


async def test_a_committed_saga(open_engine: OpenEngine, service: Service, recorded: Recorded) -> None:
    async with open_engine(tracer=recorded.tracer) as engine, engine.saga("trip") as saga:
        await saga.run(service.action("flight"), id="out")
        await saga.run(service.action("hotel"), id="bed")
    assert recorded.tree() == [
        (
            "saga",
            None,
            "committed",
            [
                ("operation", "out", "succeeded", [attempt("out")]),
                ("operation", "bed", "succeeded", [attempt("bed")]),
            ],
        )
    ]
    about = recorded.named("attempt")[0].attributes
    assert dict(about or {}) == {
        "saga.id": "trip",
        "saga.epoch": 1,
        "operation.id": "out",
        "action.name": "flight",
        "action.version": 1,
        "action.kind": "compensatable",
        "attempt": 1,
        "generation": 1,
        "outcome": "succeeded",
    }
    assert {span.status.status_code for span in recorded.spans} == {StatusCode.UNSET}


async def test_a_failing_saga_with_its_compensation(open_engine: OpenEngine, service: Service, recorded: Recorded) -> None:
    service.on("do hotel", refuses)
    async with open_engine(tracer=recorded.tracer) as engine:
        with pytest.raises(OperationFailedError):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight"), id="out")
                await saga.run(service.action("hotel"), id="bed")
    assert recorded.tree() == [
        (
            "saga",
            None,
            "compensated",
            [
                ("operation", "out", "succeeded", [attempt("out"), undone("out")]),
                ("operation", "bed", "failed", [attempt("bed", "refused")]),
            ],
        )
    ]
    refused = recorded.named("attempt")[1]
    assert (refused.attributes or {})["fault.code"] == "sold_out"
    assert (refused.status.status_code, refused.status.description) == (StatusCode.ERROR, "sold_out")


async def test_attempts_that_are_refused_or_lost_are_siblings(
    open_engine: OpenEngine, service: Service, recorded: Recorded
) -> None:
    service.on("do flight", is_too_busy, is_lost)
    flight = service.action("flight", probe=True, dedup=A_DAY, policy=quick(retry=Retry(max_attempts=5)))
    async with open_engine(tracer=recorded.tracer) as engine, engine.saga("trip") as saga:
        await saga.run(flight, id="out")
    children = [
        attempt("out", "refused"),
        attempt("out", "lost"),
        ("probe", "out", "absent", []),
        attempt("out"),
    ]
    last_check = ("probe", "out", "landed", [])
    assert recorded.tree() == [("saga", None, "committed", [("operation", "out", "succeeded", children), last_check])]
    attempts = [dict(span.attributes or {}) for span in recorded.named("attempt")]
    assert [(each["generation"], each["attempt"]) for each in attempts] == [(1, 1), (2, 1), (2, 2)]
    assert [each.get("fault.code") for each in attempts] == ["rate_limit", "ConnectionError", None]


async def test_a_void_and_a_time_out(open_engine: OpenEngine, service: Service, recorded: Recorded) -> None:
    service.on("do flight", hangs)
    flight = service.action("flight", void=True, dedup=A_DAY, policy=quick(timeout_s=0.05, retry=Retry(max_attempts=1)))
    async with open_engine(tracer=recorded.tracer) as engine:
        with pytest.raises(OperationFailedError):
            async with engine.saga("trip") as saga:
                await saga.run(flight, id="out")
    (operation,) = recorded.tree()[0][3]
    assert operation == ("operation", "out", "voided", [attempt("out", "lost"), ("void", "out", "succeeded", [])])
    assert (recorded.one("attempt").attributes or {})["fault.code"] == "TimeoutError"


class Budget:
    name, version = "budget", 3

    def validate(self, artifact: Any, _context: ContextSlice) -> Verdict:
        trace.get_current_span().add_event("judged")
        return Verdict.of([Violation(code="TOO_DEAR", message="too dear")] if artifact["key"] else [])


async def test_a_validator_and_what_it_rejects(open_engine: OpenEngine, service: Service, recorded: Recorded) -> None:
    async with open_engine(tracer=recorded.tracer) as engine:
        with pytest.raises(OperationFailedError):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight", validators=[Budget()]), id="out")
    assert recorded.tree()[0][3] == [
        (
            "operation",
            "out",
            "compensated",
            [attempt("out"), ("validator", "out", "INVALID", []), ("compensation", "out", "succeeded", [])],
        )
    ]
    judged = recorded.one("validator")
    assert {"validator.name": "budget", "validator.version": 3}.items() <= dict(judged.attributes or {}).items()
    assert [event.name for event in judged.events] == ["judged"], "a validator's own spans are its children"


async def test_spans_of_user_code_are_children_also_in_a_thread(
    open_engine: OpenEngine, service: Service, recorded: Recorded
) -> None:
    @action(name="synchronous", policy=quick())
    def synchronous(request: str, call: Call) -> str:
        with recorded.tracer.start_as_current_span("GET in a thread"):
            return request

    @action(name="asynchronous", policy=quick())
    async def asynchronous(request: str, call: Call) -> str:
        with recorded.tracer.start_as_current_span("GET in the loop"):
            await asyncio.sleep(0)
            return request

    async with open_engine(tracer=recorded.tracer) as engine, engine.saga("trip") as saga:
        await saga.run(synchronous, "a")
        await saga.run(asynchronous, "b")
    for name, operation in [("GET in a thread", "synchronous-1"), ("GET in the loop", "asynchronous-1")]:
        parent = recorded.one(name).parent
        (around,) = [span for span in recorded.named("attempt") if (span.attributes or {})["operation.id"] == operation]
        assert parent is not None
        assert parent.span_id == around.context.span_id
    assert len({span.context.trace_id for span in recorded.spans}) == 1


async def test_a_saga_is_a_child_of_what_began_it(open_engine: OpenEngine, service: Service, recorded: Recorded) -> None:
    with recorded.tracer.start_as_current_span("request") as request:
        async with open_engine(tracer=recorded.tracer) as engine, engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            assert trace.get_current_span() is request, "the body's own spans are its own business"
    (top,) = recorded.tree()
    assert (top[0], [child[0] for child in top[3]]) == ("request", ["saga"])


async def test_a_takeover_continues_under_the_same_ids(
    open_engine: OpenEngine, journal: Path, service: Service, recorded: Recorded
) -> None:
    gate = Gate()
    service.on("do flight", gate)
    flight = service.action("flight", probe=True, dedup=A_DAY)

    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await saga.run(flight, id="out")

    first_store, second_store = await SqliteSagaStore.open(journal), await SqliteSagaStore.open(journal, a_minute_ahead)
    async with (
        open_engine(first_store, tracer=recorded.tracer) as first,
        open_engine(second_store, tracer=recorded.tracer) as second,
    ):
        stale = asyncio.create_task(body(first))
        await gate.arrived.wait()
        await body(second)
        gate.opened.set()
        with pytest.raises(SupersededError):
            await stale
    sagas = {(span.attributes or {})["saga.epoch"]: span for span in recorded.named("saga")}
    assert {epoch: (span.attributes or {})["outcome"] for epoch, span in sagas.items()} == {1: "superseded", 2: "committed"}
    assert sagas[1].status.status_code is StatusCode.ERROR
    operations = recorded.named("operation")
    assert {(span.attributes or {})["operation.id"] for span in operations} == {"out"}
    assert {(span.attributes or {})["saga.epoch"] for span in operations} == {1, 2}


async def test_an_abandoned_call_and_a_held_one(open_engine: OpenEngine, service: Service, recorded: Recorded) -> None:
    service.on("do hotel", lands_but_is_lost)
    gate = Gate()
    service.on("do flight", gate)
    engine_options = {"tracer": recorded.tracer}
    async with open_engine(**engine_options) as engine:
        with pytest.raises(OperationHeldError):
            async with engine.saga("held") as saga:
                await saga.run(service.action("hotel"), id="bed")

        async def body() -> None:
            async with engine.saga("left") as saga:
                await saga.run(service.action("flight"), id="out")

        left = asyncio.create_task(body())
        await gate.arrived.wait()
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
    held, abandoned = recorded.tree()
    assert held == ("saga", None, "held", [("operation", "bed", "held", [attempt("bed", "lost")])])
    assert abandoned == ("saga", None, "running", [("operation", "out", "started", [attempt("out", "abandoned")])])


async def test_what_is_not_sampled_makes_no_spans_and_its_callees_are_not_sampled(
    open_engine: OpenEngine, recorded: Recorded
) -> None:
    seen: list[trace.SpanContext] = []

    @action(name="look", policy=quick())
    async def look(request: None, call: Call) -> None:
        seen.append(trace.get_current_span().get_span_context())

    off = TracerProvider(sampler=ALWAYS_OFF).get_tracer("test")
    async with open_engine(tracer=off) as engine, engine.saga("trip") as saga:
        await saga.run(look)
    assert recorded.spans == []
    assert seen[0].is_valid
    assert not seen[0].trace_flags.sampled


class Breaks(SpanProcessor):
    def __init__(self, at: str) -> None:
        self._at = at

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        if self._at == f"start of {span.name}":
            raise RuntimeError("no space left on device")

    def on_end(self, span: ReadableSpan) -> None:
        if self._at == f"end of {span.name}":
            raise RuntimeError("no space left on device")


@pytest.mark.parametrize("place", [f"{end} of {name}" for end in ("start", "end") for name in ("saga", "operation", "attempt")])
async def test_an_exporter_that_breaks_does_not_break_a_saga(open_engine: OpenEngine, service: Service, place: str) -> None:
    provider = TracerProvider()
    provider.add_span_processor(Breaks(place))
    async with open_engine(tracer=provider.get_tracer("test")) as engine:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
        assert (await engine.status("trip")).status == "committed"
    assert service.calls == ["do flight"]


async def test_a_reversal_is_a_child_of_the_saga_that_it_undoes(
    open_engine: OpenEngine, service: Service, recorded: Recorded
) -> None:
    async def give_back(request: Any, result: Any, call: Call) -> None:
        return None

    pay = service.action("pay", undoable=False, kind="pivot", reverse=give_back)
    async with open_engine(tracer=recorded.tracer) as engine:
        async with engine.saga("trip") as saga:
            await saga.run(pay, id="pay")
        await engine.cancel("trip")
    _first, second = recorded.tree()
    (reversal,) = second[3]
    assert (second[0], second[2], reversal[0]) == ("saga", "compensated", "saga")
    assert reversal[3] == [("operation", "undo pay", "succeeded", [attempt("undo pay")])]


async def test_a_refusal_carries_its_code_and_not_its_words(open_engine: OpenEngine, recorded: Recorded) -> None:
    @action(name="refusing", policy=quick())
    async def refusing(request: None, call: Call) -> None:
        raise Refused("card 4111 is over its limit", code="over_limit")

    async with open_engine(tracer=recorded.tracer) as engine:
        with pytest.raises(OperationFailedError):
            async with engine.saga("trip") as saga:
                await saga.run(refusing)
    assert "4111" not in recorded.text()
    assert "over_limit" in recorded.text()
