"""What ordinary code can promise (docs/protocol.md rules 0 and 3): exceptions, a settling time, an undo that copes."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import Any

import pytest

from sagagraph import Call, Guarantees, Policy, Probe, Refused, Retry, action
from sagagraph.errors import InvalidInputError, NotAllowedError, OperationFailedError, OperationHeldError, SagaGraphError
from sagagraph.saga.core.events import CallsEnded, OperationResolved, VoidStarted
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.memory import MemorySagaStore

from .service import Service, hangs, is_lost, lands_but_is_lost, quick
from .workers import OpenEngine, a_minute_ahead, on_every_store

pytestmark = pytest.mark.quick

HERE = Guarantees(settles=timedelta(0), here=True)
ONCE = quick(retry=Retry(max_attempts=1))


class SoldOutError(Exception):
    pass


def raising(failure: Exception, **declared: Any) -> Action:
    async def undo(request: Any, result: Any, call: Call) -> None: ...

    async def hotel(request: Any, call: Call) -> None:
        raise failure

    return action(hotel, **{"compensate": undo, "policy": quick(), **declared})


async def holiday(engine: Engine, service: Service, hotel: Action) -> None:
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
        await saga.run(hotel)


# -- what an exception says ----------------------------------------------------------------------------------------------


@on_every_store
@pytest.mark.parametrize(
    "fails_on", [SoldOutError, (KeyError, SoldOutError), lambda exc: "sold" in str(exc)], ids=["type", "types", "function"]
)
async def test_rule_3a_a_declared_exception_says_that_nothing_happened(engine: Engine, service: Service, fails_on: Any) -> None:
    with pytest.raises(OperationFailedError, match="sold out"):
        await holiday(engine, service, raising(SoldOutError("sold out"), fails_on=fails_on))
    view = await engine.status("trip")
    assert (view.status, service.live, view.operations[1].error) == (
        SagaStatus.COMPENSATED,
        [],
        {"code": "SoldOutError", "message": "sold out"},
    )


async def test_rule_3a_any_other_exception_leaves_it_in_doubt(engine: Engine, service: Service) -> None:
    with pytest.raises(OperationHeldError, match="ConnectionError"):
        await holiday(engine, service, raising(ConnectionError("reset"), fails_on=SoldOutError))
    assert service.live == ["flight"]


async def test_rule_3a_a_declared_exception_of_a_later_attempt_says_nothing_about_an_earlier_call(
    engine: Engine, service: Service
) -> None:
    failures: list[Exception] = [ConnectionError("reset"), SoldOutError("sold out")]

    async def undo(request: Any, result: Any, call: Call) -> None: ...

    @action(compensate=undo, fails_on=SoldOutError, guarantees=Guarantees(dedup=timedelta(days=1)), policy=quick())
    async def hotel(request: Any, call: Call) -> str:
        raise failures.pop(0)

    with pytest.raises(OperationHeldError, match="an earlier call of it may still land"):
        await holiday(engine, service, hotel)


async def test_a_function_may_say_more_about_an_exception(engine: Engine, service: Service) -> None:
    failures = [ConnectionError("503"), ConnectionError("503")]

    async def undo(request: Any, result: Any, call: Call) -> None: ...

    @action(compensate=undo, fails_on=lambda exc: Refused(str(exc), code="busy", transient=True), policy=quick())
    async def hotel(request: Any, call: Call) -> str:
        if failures:
            raise failures.pop()
        return call.idempotency_key

    await holiday(engine, service, hotel)
    view = await engine.status("trip")
    assert (view.status, view.operations[1].idempotency_key) == (SagaStatus.COMMITTED, "trip/hotel-1/3")


@pytest.mark.parametrize("fails_on", ["SoldOutError", 3, (SoldOutError, "other"), BaseException], ids=str)
def test_fails_on_takes_exceptions_or_a_function(fails_on: Any) -> None:
    with pytest.raises(InvalidInputError, match="fails_on"):
        raising(SoldOutError(), fails_on=fails_on)


# -- when absence is final -----------------------------------------------------------------------------------------------


@on_every_store
async def test_rule_3a_what_is_absent_when_everything_has_settled_is_tried_again(engine: Engine, service: Service) -> None:
    service.on("do hotel", is_lost)
    await holiday(engine, service, service.action("hotel", probe=True, guarantees=HERE))
    view = await engine.status("trip")
    assert (view.status, service.live, view.operations[1].attempts) == (SagaStatus.COMMITTED, ["flight", "hotel"], 2)


@on_every_store
async def test_rule_3b_what_is_absent_when_everything_has_settled_fails_in_the_end(engine: Engine, service: Service) -> None:
    service.on("do hotel", is_lost)
    with pytest.raises(OperationFailedError, match="went dead"):
        await holiday(engine, service, service.action("hotel", probe=True, guarantees=HERE, policy=ONCE))
    assert ((await engine.status("trip")).status, service.live) == (SagaStatus.COMPENSATED, [])


async def test_rule_3a_nothing_is_believed_before_it_has_settled(engine: Engine, service: Service) -> None:
    """The call lands after its answer was lost, and within the time that was promised."""

    async def lands_late(land: Any) -> None:
        asyncio.get_running_loop().call_later(0.2, land)
        raise ConnectionError("the line went dead")

    service.on("do hotel", lands_late)
    settles = Guarantees(settles=timedelta(seconds=0.3), clock_margin=timedelta(seconds=0.1))
    await holiday(engine, service, service.action("hotel", probe=True, guarantees=settles))
    assert (service.live, service.count("do hotel"), service.count("ask hotel")) == (["flight", "hotel"], 1, 3)


async def test_rule_4_an_undo_in_doubt_is_closed_or_repeated_once_it_has_settled(engine: Engine, service: Service) -> None:
    service.on("undo hotel", is_lost, lands_but_is_lost)
    hotel = service.action("hotel", probe=True, guarantees=HERE)
    with pytest.raises(SoldOutError):
        async with engine.saga("trip") as saga:
            await saga.run(hotel)
            raise SoldOutError
    assert ((await engine.status("trip")).status, service.live) == (SagaStatus.COMPENSATED, [])
    assert service.count("undo hotel") == 2  # the first never landed, the second was found to have


async def test_rule_3a_a_function_that_does_not_stop_may_still_send(open_engine: OpenEngine, service: Service) -> None:
    """A thread cannot be stopped: absence is a fact when it has ended."""
    goes_on = threading.Event()

    def hotel(request: Any, call: Call) -> Any:
        goes_on.wait(20)
        raise ConnectionError("too late")

    def undo(request: Any, result: Any, call: Call) -> None: ...

    slow = action(
        hotel, compensate=undo, probe=lambda _request, _call: Probe.absent(), guarantees=HERE, policy=Policy(timeout_s=0.1)
    )
    async with open_engine() as engine:
        with pytest.raises(OperationHeldError, match="may still be alive"):
            await holiday(engine, service, slow)
        goes_on.set()
        await asyncio.sleep(0.1)
        view = await engine.resume("trip")
    assert (view.status, service.live) == (SagaStatus.COMPENSATED, [])


async def test_rule_6_a_superseded_worker_says_that_its_call_has_ended(
    open_engine: OpenEngine, memory: MemorySagaStore, service: Service
) -> None:
    goes_on = asyncio.Event()

    async def is_lost_later(_land: Any) -> None:
        await goes_on.wait()
        raise ConnectionError("the line went dead")

    service.on("do hotel", is_lost_later)
    hotel = service.action("hotel", probe=True, guarantees=HERE, policy=ONCE)
    alive = {"has_ended": lambda _saga, _operation, _owner: False}
    async with open_engine(memory, lease_ttl_s=0.2) as first, open_engine(memory, clock=a_minute_ahead, **alive) as second:
        running = asyncio.create_task(holiday(first, service, hotel))
        while service.count("do hotel") == 0:  # noqa: ASYNC110 - what the service counts sets no event
            await asyncio.sleep(0.01)
        memory._sagas["trip"].headline = _expired(memory)
        with pytest.raises(OperationHeldError):
            await holiday(second, service, hotel)
        goes_on.set()
        await asyncio.wait([running])
        assert running.exception() is not None
        view = await second.resume("trip")
        events = [each.event for each in await second.journal("trip")]
    assert (view.status, service.live) == (SagaStatus.COMPENSATED, [])
    assert any(isinstance(each, CallsEnded) for each in events)


def _expired(memory: MemorySagaStore) -> Any:
    from dataclasses import replace

    return replace(memory._sagas["trip"].headline, lease_until=0.0)


# -- an undo that copes --------------------------------------------------------------------------------------------------


@on_every_store
@pytest.mark.parametrize("ending", [is_lost, lands_but_is_lost], ids=["absent", "landed"])
async def test_rule_3b_a_compensation_that_copes_ends_a_doubt(engine: Engine, service: Service, ending: Any) -> None:
    service.on("do hotel", ending)
    with pytest.raises(OperationFailedError):
        await holiday(engine, service, service.action("hotel", guarantees=Guarantees(void=True)))
    view = await engine.status("trip")
    assert (view.status, view.operations[1].status, service.live) == (SagaStatus.COMPENSATED, OperationStatus.VOIDED, [])
    assert service.keys("undo hotel") == ["trip/hotel-1/1/undo/1"]  # never the key of the booking
    assert any(isinstance(each.event, VoidStarted) for each in await engine.journal("trip"))


def test_only_a_compensation_can_void() -> None:
    with pytest.raises(InvalidInputError, match="void"):
        action(lambda request, call: None, name="pay", kind="pivot", guarantees=Guarantees(void=True))


@pytest.mark.parametrize("said", [{"here": True}, {"settles": timedelta(-1)}])
def test_a_settling_time_is_a_time(said: Any) -> None:
    with pytest.raises(InvalidInputError):
        Guarantees(**said)


# -- what is held says what would settle it ------------------------------------------------------------------------------


async def test_what_is_held_names_the_line_and_the_command(engine: Engine, service: Service) -> None:
    with pytest.raises(OperationHeldError) as held:
        await holiday(engine, service, raising(SoldOutError("no rooms")))
    (remedy,) = (each.remedy for each in (await engine.status("trip")).operations if each.remedy)
    assert remedy.stays == ("flight-1",)
    assert remedy.command == "sagagraph resolve trip hotel-1 --as landed|absent|failed|compensated"
    for words in ("fails_on=SoldOutError", "raise Refused", "settles=", "void=True", remedy.command, "flight-1 cannot be undone"):
        assert words in str(held.value)


async def test_a_person_says_of_several_that_they_failed_and_how_they_know(engine: Engine, service: Service) -> None:
    with pytest.raises(OperationHeldError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            results = await asyncio.gather(
                saga.run(raising(SoldOutError("no")), id="one"),
                saga.run(raising(SoldOutError("no")), id="two"),
                return_exceptions=True,
            )
            raise next(each for each in results if isinstance(each, BaseException))
    assert await engine.held_alike("hotel", "SoldOutError") == {"trip": ("one", "two")}
    assert await engine.held_alike("hotel", "KeyError") == {}
    await engine.resolve("trip", ("one", "two"), "failed", because="the hotel has no such guest", by="Ada")
    said = [each.event for each in await engine.journal("trip") if isinstance(each.event, OperationResolved)]
    assert [(each.operation, each.by, each.because) for each in said] == [
        ("one", "Ada", "the hotel has no such guest"),
        ("two", "Ada", "the hotel has no such guest"),
    ]
    assert ((await engine.resume("trip")).status, service.live) == (SagaStatus.COMPENSATED, [])


async def test_what_has_been_carried_out_cannot_have_failed(engine: Engine, service: Service) -> None:
    service.on("undo flight", is_lost, is_lost, hangs)
    with pytest.raises(SoldOutError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", policy=ONCE))
            raise SoldOutError
    assert (await engine.status("trip")).status is SagaStatus.STUCK
    with pytest.raises(NotAllowedError, match="has been carried out"):
        await engine.resolve("trip", "flight-1", "failed")


# -- what was not kept ---------------------------------------------------------------------------------------------------


def lands_later(failure: Exception, **declared: Any) -> Action:
    """Its probe finds nothing, when that is believed, and finds it at the last check."""
    answers = [Probe.absent()] if declared.get("guarantees") == HERE else []

    async def find(request: Any, call: Call) -> Probe:
        return answers.pop() if answers else Probe.landed("R1")

    return raising(failure, probe=find, **{"policy": ONCE, **declared})


@pytest.mark.parametrize(
    ("hotel", "named"),
    [
        (lands_later(ConnectionError("reset"), guarantees=HERE), "its provider does not keep 'settles'"),
        (lands_later(SoldOutError("sold out"), fails_on=SoldOutError), "'SoldOutError' said that nothing had happened"),
    ],
    ids=["settles", "fails_on"],
)
async def test_rule_9_the_last_check_names_the_promise_that_was_broken(
    engine: Engine, service: Service, hotel: Action, named: str
) -> None:
    with pytest.raises(SagaGraphError):
        await holiday(engine, service, hotel)
    held = (await engine.status("trip")).operations[1]
    assert held.status is OperationStatus.HELD
    assert held.note == f"the last check found it landed, the journal says failed: {named}"
