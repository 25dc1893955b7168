"""Door 1: the body of `async with engine.saga(...)` as ordinary Python."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from sagagraph import Call, Engine, Refused, action, current_call
from sagagraph.errors import (
    ConflictError,
    InvalidInputError,
    NotAllowedError,
    OperationFailedError,
    SagaClosedError,
    SagaGraphError,
    UnknownOperationError,
)
from sagagraph.saga.core.state import Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus

from .service import Gate, Service, refuses
from .workers import EVERY_STORE, OpenEngine

pytestmark = pytest.mark.quick


@pytest.fixture(params=EVERY_STORE)
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Seat(BaseModel):
    row: int
    letter: str


@dataclass(frozen=True)
class Ticket:
    seat: Seat
    price: float


async def statuses(engine: Engine, saga_id: str = "trip") -> dict[str, str]:
    return {each.id: each.status.value for each in (await engine.status(saga_id)).operations}


# -- results ---------------------------------------------------------------------------------------------------------------


async def test_a_saga_whose_body_ends_is_committed(engine: Engine, service: Service) -> None:
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"), {"to": "Oslo"})
        await saga.run(service.action("hotel"))
    view = await engine.status("trip")
    assert (view.status, service.live) == (SagaStatus.COMMITTED, ["flight", "hotel"])
    assert [(each.id, each.status, each.inputs) for each in view.operations] == [
        ("flight-1", OperationStatus.SUCCEEDED, {"to": "Oslo"}),
        ("hotel-1", OperationStatus.SUCCEEDED, None),
    ]
    assert view.unverified == ("flight-1", "hotel-1")


async def test_requests_and_results_have_the_types_that_the_action_declares(engine: Engine) -> None:
    seen: list[Any] = []

    @action
    async def issue(request: Seat, call: Call) -> Ticket:
        seen.append(request)
        return Ticket(request, 99.5)

    for _run in range(2):
        async with engine.saga("trip") as saga:
            assert await saga.run(issue, Seat(row=7, letter="C")) == Ticket(Seat(row=7, letter="C"), 99.5)
    assert seen == [Seat(row=7, letter="C")]


async def test_a_body_run_again_gets_its_stored_results_and_calls_nothing(open_engine: OpenEngine, service: Service) -> None:
    results = []
    for _process in range(3):
        async with open_engine() as engine, engine.saga("trip") as saga:
            results.append(await saga.run(service.action("flight")))
    assert results[0] == results[1] == results[2]
    assert service.calls == ["do flight"]


async def test_stored_results_outlive_the_process(journal: Path, service: Service, watchdog: None) -> None:
    for _process in range(2):
        async with Engine.open(f"sqlite:///{journal}") as engine, engine.saga("trip") as saga:
            assert await saga.run(service.action("flight")) == {"booked": "flight", "key": "trip/flight-1/1"}
    assert service.calls == ["do flight"]


async def test_a_failure_is_stored_too(engine: Engine, service: Service) -> None:
    service.on("do flight", refuses)
    for _run in range(2):
        async with engine.saga("trip") as saga:
            with pytest.raises(OperationFailedError, match="sold out"):
                await saga.run(service.action("flight"))
            await saga.run(service.action("train"))
    assert service.calls == ["do flight", "do train"]


async def test_functions_that_are_not_coroutines_are_run_in_a_thread(engine: Engine) -> None:
    @action
    def add(request: list[int], call: Call) -> int:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return sum(request)

    async with engine.saga("sum") as saga:
        assert await saga.run(add, [1, 2, 3]) == 6


async def test_a_result_that_is_no_data_cannot_be_journalled_and_is_in_doubt(engine: Engine) -> None:
    @action(compensate=lambda request, result, call: None)
    async def open_socket(request: Any, call: Call) -> Any:
        return object()

    with pytest.raises(Exception, match="object cannot be journalled"):
        async with engine.saga("trip") as saga:
            await saga.run(open_socket)
    assert await statuses(engine) == {"open_socket-1": "held"}


async def test_a_request_that_is_no_data_is_refused_before_anything_is_written(engine: Engine, service: Service) -> None:
    with pytest.raises(InvalidInputError, match="cannot be journalled"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"), object())
    assert not (await engine.load("trip")).operations


async def test_a_request_of_the_wrong_type_fails_without_a_call(engine: Engine) -> None:
    called = []

    @action(compensate=lambda request, result, call: None)
    async def reserve(request: Seat, call: Call) -> None:
        called.append(request)

    with pytest.raises(OperationFailedError, match="row"):
        async with engine.saga("trip") as saga:
            await saga.run(reserve, {"letter": "C"})
    assert called == []


# -- ids and order ------------------------------------------------------------------------------------------------------


async def test_default_ids_count_the_calls_of_each_action(engine: Engine, service: Service) -> None:
    flight, hotel = service.action("flight"), service.action("hotel")
    async with engine.saga("trip") as saga:
        for each in (flight, hotel, flight):
            await saga.run(each)
    assert list(await statuses(engine)) == ["flight-1", "hotel-1", "flight-2"]
    assert service.keys("do flight") == ["trip/flight-1/1", "trip/flight-2/1"]


async def test_two_outstanding_runs_of_one_action_need_ids(engine: Engine, service: Service) -> None:
    flight = service.action("flight")
    gate = Gate()
    service.on("do flight", gate)
    async with engine.saga("trip") as saga:
        first = asyncio.create_task(saga.run(flight))
        await gate.arrived.wait()
        with pytest.raises(InvalidInputError, match="id="):
            await saga.run(flight)
        gate.opened.set()
        await first
        await asyncio.gather(saga.run(flight, id="out"), saga.run(flight, id="back"))
    assert list(await statuses(engine)) == ["flight-1", "out", "back"]


async def test_one_id_cannot_be_run_twice_at_once(engine: Engine, service: Service) -> None:
    gate = Gate()
    service.on("do flight", gate)
    async with engine.saga("trip") as saga:
        first = asyncio.create_task(saga.run(service.action("flight"), id="out"))
        await gate.arrived.wait()
        with pytest.raises(InvalidInputError, match="being run already"):
            await saga.run(service.action("flight"), id="out")
        gate.opened.set()
        await first


async def test_an_operation_comes_after_all_that_had_completed_by_default(engine: Engine, service: Service) -> None:
    async with engine.saga("trip") as saga:
        await asyncio.gather(saga.run(service.action("flight")), saga.run(service.action("hotel")))
        await saga.run(service.action("visa"))
        await saga.run(service.action("taxi"))
    assert {each.id: sorted(each.depends_on) for each in (await engine.status("trip")).operations} == {
        "flight-1": [],
        "hotel-1": [],
        "visa-1": ["flight-1", "hotel-1"],
        "taxi-1": ["visa-1"],
    }


async def test_after_takes_ids_and_results(engine: Engine, service: Service) -> None:
    async with engine.saga("trip") as saga:
        flight = await saga.run(service.action("flight"), after=())
        await saga.run(service.action("hotel"), after=())
        await saga.run(service.action("seat"), after=[flight])
        await saga.run(service.action("spa"), after=["hotel-1"])
    depends_on = {each.id: each.depends_on for each in (await engine.status("trip")).operations}
    assert (depends_on["seat-1"], depends_on["spa-1"]) == (("flight-1",), ("hotel-1",))


async def test_a_result_that_several_operations_returned_stands_for_all_of_them(engine: Engine) -> None:
    @action
    async def yes(request: Any, call: Call) -> bool:
        return True

    async with engine.saga("trip") as saga:
        first = await saga.run(yes, id="first", after=())
        await saga.run(yes, id="second", after=())
        await saga.run(yes, id="third", after=[first])
    assert (await engine.status("trip")).operations[2].depends_on == ("first", "second")


@pytest.mark.parametrize("stranger", ["elsewhere-1", {"booked": "flight"}, 7])
async def test_after_something_that_this_saga_did_not_do_is_refused(engine: Engine, service: Service, stranger: Any) -> None:
    with pytest.raises((InvalidInputError, UnknownOperationError), match="neither an operation"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"), after=[stranger])
    assert service.calls == []


# -- conflicts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "told"), [("arguments", "other arguments"), ("action", "journalled as action 'flight' version 1")]
)
async def test_rule_2_an_id_with_other_content_is_a_conflict_and_leaves_the_saga_open(
    engine: Engine, service: Service, other: str, told: str
) -> None:
    flight = service.action("flight")
    with pytest.raises(asyncio.CancelledError):
        async with engine.saga("trip") as saga:
            await saga.run(flight, {"to": "Oslo"}, id="out")
            raise asyncio.CancelledError
    with pytest.raises(ConflictError, match=told):
        async with engine.saga("trip") as saga:
            if other == "arguments":
                await saga.run(flight, {"to": "Bergen"}, id="out")
            await saga.run(service.action("train"), {"to": "Oslo"}, id="out")
    assert service.calls == ["do flight"]
    assert (await engine.load("trip")).stage is Stage.RUNNING
    async with engine.saga("trip") as saga:
        await saga.run(flight, {"to": "Oslo"}, id="out")
    assert service.calls == ["do flight"]


async def test_a_saga_of_another_kind_with_this_id_is_a_conflict(engine: Engine) -> None:
    from sagagraph.saga.core.events import Driver, SagaBegun

    async with engine.hold("trip", begin=SagaBegun(Driver.WORKFLOW, "travel", "Oslo")):
        pass
    with pytest.raises(ConflictError, match="another request"):
        async with engine.saga("trip"):
            pass


# -- failures -----------------------------------------------------------------------------------------------------------


async def test_rule_4_an_exception_compensates_dependents_first_and_goes_on_to_the_caller(
    engine: Engine, service: Service
) -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(service.action("hotel"))
            await saga.run(service.action("taxi"))
            1 / 0  # noqa: B018
    assert service.calls[3:] == ["undo taxi", "undo hotel", "undo flight"]
    assert service.live == []
    assert raised.value.__notes__ == ["saga 'trip' is compensated"]
    view = await engine.status("trip")
    assert (view.status, view.reason) == (SagaStatus.COMPENSATED, "division by zero")


async def test_rule_4_independent_branches_are_compensated_in_parallel(engine: Engine, service: Service) -> None:
    gates = {name: Gate() for name in ("flight", "hotel")}
    for name, gate in gates.items():
        service.on(f"undo {name}", gate)

    async def body() -> None:
        async with engine.saga("trip") as saga:
            for name in gates:
                await saga.run(service.action(name), after=())
            raise RuntimeError

    running = asyncio.create_task(body())
    await asyncio.gather(*(gate.arrived.wait() for gate in gates.values()))
    for gate in gates.values():
        gate.opened.set()
    with pytest.raises(RuntimeError):
        await running
    assert service.live == []


async def test_compensations_are_given_the_request_the_result_and_the_operations_key(engine: Engine) -> None:
    undone: list[Any] = []

    async def cancel(request: Seat, result: Ticket, call: Call) -> None:
        undone.append((request, result, call.operation_key, call.idempotency_key))

    @action(compensate=cancel)
    async def issue(request: Seat, call: Call) -> Ticket:
        return Ticket(request, 10)

    seat = Seat(row=1, letter="A")
    with pytest.raises(ZeroDivisionError):
        async with engine.saga("trip") as saga:
            await saga.run(issue, seat)
            1 / 0  # noqa: B018
    assert undone == [(seat, Ticket(seat, 10), "trip/issue-1/1", "trip/issue-1/1/undo/1")]


async def test_compensation_starts_after_the_calls_of_this_process_have_settled(engine: Engine, service: Service) -> None:
    gate = Gate()
    service.on("do hotel", gate)

    async def body() -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"), after=())
            outstanding = asyncio.create_task(saga.run(service.action("hotel"), after=()))
            await gate.arrived.wait()
            outstanding.add_done_callback(lambda task: task.exception())
            raise RuntimeError

    running = asyncio.create_task(body())
    await gate.arrived.wait()
    await asyncio.sleep(0.05)
    assert service.calls == ["do flight", "do hotel"]
    gate.opened.set()
    with pytest.raises(RuntimeError):
        await running
    assert sorted(service.calls[2:]) == ["undo flight", "undo hotel"]


async def test_a_refused_operation_fails_and_its_saga_is_compensated(engine: Engine, service: Service) -> None:
    service.on("do hotel", refuses)
    with pytest.raises(OperationFailedError, match="sold out") as raised:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(service.action("hotel"))
    assert (raised.value.saga_id, raised.value.operation_id) == ("trip", "hotel-1")
    assert service.calls == ["do flight", "do hotel", "undo flight"]
    assert await statuses(engine) == {"flight-1": "compensated", "hotel-1": "failed"}


async def test_a_body_may_catch_a_failure_and_go_on_with_an_alternative(engine: Engine, service: Service) -> None:
    service.on("do flight", refuses)
    async with engine.saga("trip") as saga:
        try:
            await saga.run(service.action("flight"))
        except OperationFailedError:
            await saga.run(service.action("train"))
    assert (service.live, (await engine.status("trip")).status) == (["train"], SagaStatus.COMMITTED)


async def test_a_compensated_saga_runs_no_body_again(engine: Engine, service: Service) -> None:
    with pytest.raises(ZeroDivisionError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            1 / 0  # noqa: B018
    with pytest.raises(SagaClosedError, match=r"compensated.*begin another id"):
        async with engine.saga("trip") as saga:
            pytest.fail("the body ran")


async def test_a_committed_saga_starts_nothing_further(engine: Engine, service: Service) -> None:
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
    with pytest.raises(SagaClosedError, match="committed"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("hotel"))
    assert (service.live, (await engine.status("trip")).status) == (["flight"], SagaStatus.COMMITTED)


async def test_a_saga_is_used_inside_its_block_only(engine: Engine, service: Service) -> None:
    saga = engine.saga("trip")
    with pytest.raises(NotAllowedError, match="async with"):
        await saga.run(service.action("flight"))
    async with saga:
        pass
    with pytest.raises(NotAllowedError):
        await asyncio.wait_for(saga.run(service.action("flight")), 2)
    assert saga.status is SagaStatus.COMMITTED


async def test_a_run_that_is_still_waited_for_when_its_saga_is_left_ends(engine: Engine, service: Service) -> None:
    service.on("do hotel", Gate())
    with pytest.raises(KeyboardInterrupt):
        async with engine.saga("trip") as saga:
            outstanding = asyncio.create_task(saga.run(service.action("hotel")))
            await asyncio.sleep(0.02)
            raise KeyboardInterrupt
    with pytest.raises(NotAllowedError):
        await asyncio.wait_for(outstanding, 2)


async def test_an_empty_saga_commits(engine: Engine) -> None:
    async with engine.saga("nothing"):
        pass
    assert (await engine.status("nothing")).status is SagaStatus.COMMITTED


async def test_a_saga_needs_an_id(engine: Engine) -> None:
    with pytest.raises(InvalidInputError, match="saga_id"):
        engine.saga("")


# -- what an action is told -----------------------------------------------------------------------------------------------


async def test_current_call_is_the_call_that_the_action_was_given(engine: Engine) -> None:
    calls: list[tuple[Call, Call]] = []

    @action
    async def awaited(request: Any, call: Call) -> None:
        calls.append((call, current_call()))

    @action
    def threaded(request: Any, call: Call) -> None:
        calls.append((call, current_call()))

    async with engine.saga("trip") as saga:
        await asyncio.gather(saga.run(awaited), saga.run(threaded))
        with pytest.raises(NotAllowedError, match="only inside"):
            current_call()
    assert len(calls) == 2
    assert all(given is current for given, current in calls)
    given = {each.operation_id: each for each, _current in calls}["awaited-1"]
    assert (given.saga_id, given.attempt, given.generation, given.idempotency_key) == ("trip", 1, 1, "trip/awaited-1/1")
    assert given.deadline.tzinfo is not None


async def test_called_outside_of_a_saga_an_action_is_its_function(engine: Engine) -> None:
    @action
    async def double(request: int, call: Any) -> int:
        return 2 * request

    assert await double(21, None) == 42


async def test_of_an_exception_only_its_class_and_text_go_to_the_journal(engine: Engine) -> None:
    class BadGatewayError(Exception):
        def __init__(self, token: str) -> None:
            super().__init__("the gateway is down")
            self.token = token

    @action(compensate=lambda request, result, call: None)
    async def pay_by_card(request: Any, call: Call) -> None:
        secret = "hunter2"
        try:
            raise ValueError(secret)
        except ValueError as exc:
            raise BadGatewayError(secret) from exc

    with pytest.raises(Exception, match="held"):
        async with engine.saga("trip") as saga:
            await saga.run(pay_by_card)
    told = repr(await engine.journal("trip"))
    assert "BadGatewayError: the gateway is down" in told
    assert "hunter2" not in told


@pytest.mark.parametrize("raised", [Refused("no \ud800 seat"), ZeroDivisionError("no \ud800 seat")])
async def test_an_exception_whose_words_are_no_text_is_journalled_all_the_same(
    engine: Engine, service: Service, raised: Exception
) -> None:
    async def breaks(_land: Any) -> Any:
        raise raised

    service.on("do flight", breaks, breaks, breaks)
    with pytest.raises(SagaGraphError, match=r"no \? seat"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
