"""What an interruption leaves, and how a saga goes on after it: with its body, without it, or in another process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sagagraph import Engine, action
from sagagraph.errors import BusyError, ConflictError, OperationFailedError, OperationHeldError, SagaClosedError
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.actions import DECLARED

from .service import A_DAY, Gate, Service, refuses
from .workers import EVERY_STORE, OpenEngine

pytestmark = pytest.mark.quick


@pytest.fixture(params=EVERY_STORE)
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def interrupted(engine: Engine, *actions: Any, by: type[BaseException] = asyncio.CancelledError) -> None:
    with pytest.raises(by):
        async with engine.saga("trip") as saga:
            for each in actions:
                await saga.run(each)
            raise by


@pytest.mark.parametrize("interruption", [asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit])
async def test_an_interruption_leaves_the_saga_resumable_and_releases_it(
    open_engine: OpenEngine, service: Service, interruption: type[BaseException]
) -> None:
    async with open_engine() as engine:
        await interrupted(engine, service.action("flight"), by=interruption)
    assert service.calls == ["do flight"]
    async with open_engine() as engine, asyncio.timeout(2), engine.saga("trip") as saga:  # at once: nobody holds it
        await saga.run(service.action("flight"))
        await saga.run(service.action("hotel"))
    assert service.calls == ["do flight", "do hotel"]


async def test_a_call_that_is_out_at_an_interruption_is_in_doubt_and_settled_by_the_next_run(
    open_engine: OpenEngine, service: Service
) -> None:
    gate = Gate()
    service.on("do flight", gate)
    async with open_engine() as engine:

        async def body() -> None:
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight", probe=True, dedup=A_DAY))

        running = asyncio.create_task(body())
        await gate.arrived.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    async with open_engine() as engine, engine.saga("trip") as saga:
        await saga.run(service.action("flight", probe=True, dedup=A_DAY))
    assert service.keys("do flight") == ["trip/flight-1/1"] * 2
    assert service.live == ["flight"]


async def test_a_run_that_the_body_gives_up_waiting_for_goes_on(engine: Engine, service: Service) -> None:
    gate = Gate()
    service.on("do flight", gate)
    async with engine.saga("trip") as saga:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(saga.run(service.action("flight"), id="out"), 0.05)
        gate.opened.set()
        await saga.run(service.action("flight"), id="out")
    assert service.calls == ["do flight"]


async def test_closing_the_engine_stops_its_sagas_resumably(open_engine: OpenEngine, service: Service) -> None:
    gate = Gate()
    service.on("do hotel", gate)
    async with open_engine() as engine:

        async def body() -> None:
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight"))
                await saga.run(service.action("hotel", probe=True, dedup=A_DAY))

        running = asyncio.create_task(body())
        await gate.arrived.wait()
    done, _pending = await asyncio.wait([running], timeout=2)
    assert done
    assert isinstance(running.exception(), BaseException)
    assert "undo flight" not in service.calls
    async with open_engine() as engine, engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
        await saga.run(service.action("hotel", probe=True, dedup=A_DAY))
    assert service.live == ["flight", "hotel"]


# -- without the body ---------------------------------------------------------------------------------------------------


async def test_rule_7_resumed_without_its_body_a_saga_is_settled_and_then_compensated(
    open_engine: OpenEngine, service: Service
) -> None:
    async with open_engine() as engine:
        await interrupted(engine, service.action("flight"), service.action("hotel"))
    async with open_engine() as engine:
        view = await engine.resume("trip")
    assert (view.status, view.reason) == (SagaStatus.COMPENSATED, "resumed without its body")
    assert service.calls[2:] == ["undo hotel", "undo flight"]


async def test_a_finished_saga_is_only_reported(engine: Engine, service: Service) -> None:
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
    journal = await engine.journal("trip")
    assert (await engine.resume("trip")).status is SagaStatus.COMMITTED
    assert await engine.journal("trip") == journal


async def test_a_saga_whose_body_had_ended_is_carried_on(open_engine: OpenEngine, service: Service) -> None:
    service.on("ask flight", gate := Gate())
    async with open_engine() as engine:

        async def body() -> None:
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight", probe=True))

        running = asyncio.create_task(body())
        await gate.arrived.wait()  # the check before the commit
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    async with open_engine() as engine:
        assert (await engine.resume("trip")).status is SagaStatus.COMMITTED
    assert service.live == ["flight"]


# -- a compensation that was killed -------------------------------------------------------------------------------------


async def killed_while_undoing(engine: Engine, service: Service, *, by: BaseException | None = None) -> None:
    """Fail after a flight and a hotel, and let the worker end while it undoes the hotel."""
    service.on("undo hotel", gate := Gate())
    service.on("do visa", refuses)

    async def body() -> None:
        async with engine.saga("trip") as saga:
            for name in ("flight", "hotel", *(() if by else ("visa",))):
                await saga.run(service.action(name, probe=True, dedup=A_DAY))
            if by:
                raise by

    running = asyncio.create_task(body())
    await gate.arrived.wait()
    running.cancel()
    await asyncio.wait([running])


async def test_rule_7_running_the_body_again_finishes_a_killed_compensation_and_raises_what_the_saga_failed_with(
    open_engine: OpenEngine, service: Service
) -> None:
    async with open_engine() as engine:
        await killed_while_undoing(engine, service)
    assert service.live == ["flight", "hotel"]
    for _run in range(2):
        async with open_engine() as engine:
            with pytest.raises(OperationFailedError, match="'visa-1' failed: sold out") as raised:
                async with engine.saga("trip"):
                    pytest.fail("the body ran")
            assert raised.value.operation_id == "visa-1"
            assert (await engine.status("trip")).status is SagaStatus.COMPENSATED
    assert (service.live, service.count("undo flight")) == ([], 1)


async def test_rule_7_what_is_no_failure_of_an_operation_is_named(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as engine:
        await killed_while_undoing(engine, service, by=ValueError("no holiday"))
    async with open_engine() as engine:
        with pytest.raises(SagaClosedError, match=r"compensated \(ValueError: no holiday\)"):
            async with engine.saga("trip"):
                pytest.fail("the body ran")
    assert service.live == []


async def test_rule_7_what_cannot_be_undone_is_named(
    open_engine: OpenEngine, service: Service, nothing_is_imported: Callable[[], None]
) -> None:
    async with open_engine() as engine:
        await killed_while_undoing(engine, service)
    nothing_is_imported()
    async with open_engine() as engine:
        with pytest.raises(OperationHeldError, match=r"hotel-1 .*action 'hotel' version 1 is not registered"):
            async with asyncio.timeout(5), engine.saga("trip"):
                pytest.fail("the body ran")
    assert service.live == ["flight", "hotel"]


# -- rule 8 -------------------------------------------------------------------------------------------------------------


async def test_rule_8_what_a_body_does_not_ask_for_again_is_compensated(engine: Engine, service: Service) -> None:
    await interrupted(engine, service.action("flight"), service.action("hotel"))
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
        await saga.run(service.action("hostel"))
    view = await engine.status("trip")
    assert (view.status, service.live) == (SagaStatus.COMMITTED, ["flight", "hostel"])
    assert {each.id: each.status for each in view.operations}["hotel-1"] is OperationStatus.COMPENSATED


async def test_rule_8_but_not_what_something_that_it_keeps_depends_on(engine: Engine, service: Service) -> None:
    await interrupted(engine, service.action("flight"), service.action("hotel"))
    with pytest.raises(ConflictError, match=r"flight-1.*hotel-1"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("hotel"))
    assert (service.live, (await engine.status("trip")).status) == (["flight", "hotel"], SagaStatus.RUNNING)


async def test_rule_8_a_pivot_that_a_body_does_not_ask_for_again_is_a_conflict(engine: Engine, service: Service) -> None:
    pay = service.action("pay", undoable=False, kind="pivot")
    await interrupted(engine, service.action("flight"), pay)
    with pytest.raises(ConflictError, match="pay-1"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
    assert service.live == ["flight", "pay"]


# -- actions that this process does not have ----------------------------------------------------------------------------


@pytest.fixture
def nothing_is_imported(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setattr(DECLARED, "_actions", {})


async def test_an_action_that_is_missing_is_named_and_its_saga_goes_on_once_it_is_there(
    open_engine: OpenEngine, service: Service, nothing_is_imported: Callable[[], None]
) -> None:
    flight, hotel = service.action("flight"), service.action("hotel", version=2)
    async with open_engine() as engine:
        await interrupted(engine, flight, hotel)
    nothing_is_imported()
    async with open_engine(actions=[flight, service.action("hotel")]) as engine:
        view = await engine.resume("trip")
        assert (view.status, service.live) == (SagaStatus.STUCK, ["flight", "hotel"])
        assert "action 'hotel' version 2 is not registered" in view.operations[1].note
        engine.register(hotel)
        assert (await engine.resume("trip")).status is SagaStatus.COMPENSATED
    assert service.calls[2:] == ["undo hotel", "undo flight"]


async def test_an_action_that_the_body_has_yet_to_define_is_waited_for(
    open_engine: OpenEngine, service: Service, nothing_is_imported: Callable[[], None]
) -> None:
    """A body in a new process may make its actions as it goes; what is in doubt must not be held before it has."""

    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await asyncio.sleep(0.05)
            await saga.run(service.action("hotel", probe=True, dedup=A_DAY))

    gate = Gate()
    service.on("do hotel", gate)
    async with open_engine() as engine:
        running = asyncio.create_task(body(engine))
        await gate.arrived.wait()
        running.cancel()
        await asyncio.wait([running])
    nothing_is_imported()
    async with open_engine() as engine:
        await body(engine)
        assert (await engine.status("trip")).status is SagaStatus.COMMITTED
    assert service.keys("do hotel") == ["trip/hotel-1/1"] * 2


async def test_another_version_of_what_is_in_doubt_is_a_conflict_that_names_it(
    open_engine: OpenEngine, service: Service, nothing_is_imported: Callable[[], None]
) -> None:
    """The body has version 2 of what is in doubt as version 1."""
    gate = Gate()
    service.on("do flight", gate)
    async with open_engine() as engine:
        running = asyncio.create_task(interrupted(engine, service.action("flight", dedup=A_DAY)))
        await gate.arrived.wait()
        running.cancel()
        await asyncio.wait([running])
    nothing_is_imported()
    async with open_engine() as engine:
        with pytest.raises(ConflictError, match="'flight' version 1"):
            async with asyncio.timeout(5), engine.saga("trip") as saga:
                await saga.run(service.action("flight", dedup=A_DAY, version=2))
        assert service.count("do flight") == 1


async def test_what_a_body_does_not_define_any_more_is_named_at_its_end(
    open_engine: OpenEngine, service: Service, nothing_is_imported: Callable[[], None]
) -> None:
    async with open_engine() as engine:
        await interrupted(engine, service.action("flight"))
    nothing_is_imported()
    async with open_engine() as engine:
        with pytest.raises(OperationHeldError, match="action 'flight' version 1 is not registered"):
            async with asyncio.timeout(5), engine.saga("trip") as saga:
                await saga.run(service.action("train"))
    assert service.live == ["flight", "train"]


async def test_of_two_actions_of_one_name_neither_is_guessed(
    open_engine: OpenEngine, service: Service, nothing_is_imported: Callable[[], None]
) -> None:
    async with open_engine() as engine:
        await interrupted(engine, ferry := service.action("ferry"))
    nothing_is_imported()

    async def impostor(request: Any, call: Any) -> None:
        pytest.fail("called")

    other = action(impostor, name="ferry", compensate=impostor)
    async with open_engine(actions=[ferry, other]) as engine:
        view = await engine.resume("trip")
    assert (view.status, "more than once" in view.operations[0].note) == (SagaStatus.STUCK, True)


# -- who may run it -----------------------------------------------------------------------------------------------------


async def test_a_saga_that_another_worker_runs_is_busy(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as first, open_engine(lease_ttl_s=0.2) as second, first.saga("trip"):
        with pytest.raises(BusyError, match="trip"):
            async with second.saga("trip"):
                pytest.fail("the body ran twice at once")
        with pytest.raises(BusyError):
            await second.resume("trip", wait=False)


async def test_in_one_engine_too_a_saga_is_run_once_at_a_time(open_engine: OpenEngine, service: Service) -> None:
    outcomes: list[str] = []

    async def body() -> None:
        try:
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight"))
                await asyncio.sleep(0.6)
        except BaseException as exc:
            outcomes.append(type(exc).__name__)
        else:
            outcomes.append("committed")

    async with open_engine() as engine:
        await interrupted(engine)
        await asyncio.gather(body(), body())
    assert sorted(outcomes) == ["committed", "committed"]
    assert service.calls == ["do flight"]


async def test_a_saga_that_was_cancelled_meanwhile_takes_no_body(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as engine:
        await interrupted(engine, service.action("flight"))
        await engine.cancel("trip")
    async with open_engine() as engine:
        with pytest.raises(SagaClosedError, match="cancelled by user"):
            async with engine.saga("trip"):
                pytest.fail("the body ran")


async def test_a_lease_is_prolonged_as_long_as_its_saga_runs(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine(lease_ttl_s=1.2) as first, open_engine(lease_ttl_s=0.1) as second, first.saga("trip") as saga:
        await asyncio.sleep(1.9)
        with pytest.raises(BusyError):
            await second.resume("trip", wait=False)
        await saga.run(service.action("flight"))
    assert service.live == ["flight"]


async def test_a_hold_is_looked_at_by_whoever_resumes(open_engine: OpenEngine, service: Service) -> None:
    async def lost(_land: Any) -> Any:
        raise ConnectionError("down")

    service.on("do flight", lost)
    async with open_engine() as engine:
        with pytest.raises(OperationHeldError):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight"))
    async with open_engine() as engine:
        view = await engine.resume("trip")
        assert (view.status, view.operations[0].status) == (SagaStatus.STUCK, OperationStatus.HELD)
