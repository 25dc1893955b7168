"""Cancel, preview and resolve: what people do about sagas."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sagagraph import Engine
from sagagraph.errors import (
    NotAllowedError,
    OperationFailedError,
    OperationHeldError,
    SagaClosedError,
    UnknownOperationError,
    UnknownSagaError,
)
from sagagraph.saga.core import events as e
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.actions import UndoCost
from sagagraph.saga.engine.views.preview import CancelPreview, UndoneOperation

from .service import Gate, Service, is_lost, refuses
from .workers import EVERY_STORE, OpenEngine, until

pytestmark = pytest.mark.quick


@pytest.fixture(params=EVERY_STORE)
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def is_cancelled(engine: Engine) -> Callable[[], Awaitable[bool]]:
    async def ask() -> bool:
        return (await engine.load("trip")).cancel_by is not None

    return ask


async def open_saga(engine: Engine, *actions: Any) -> None:
    """The operations of `actions`, one after the other, in a saga whose body is interrupted then."""
    with pytest.raises(asyncio.CancelledError):
        async with engine.saga("trip") as saga:
            for each in actions:
                await saga.run(each)
            raise asyncio.CancelledError


# -- cancel -------------------------------------------------------------------------------------------------------------


async def test_an_open_saga_that_nobody_runs_is_compensated(engine: Engine, service: Service) -> None:
    await open_saga(engine, service.action("flight"), service.action("hotel"))
    view = await engine.cancel("trip", by="Ada")
    assert not isinstance(view, CancelPreview)
    assert (view.status, view.reason) == (SagaStatus.COMPENSATED, "cancelled by Ada")
    assert service.calls[2:] == ["undo hotel", "undo flight"]


async def test_a_cancel_from_another_worker_reaches_the_one_that_runs_it(open_engine: OpenEngine, service: Service) -> None:
    gate = Gate()
    service.on("do hotel", gate)
    async with open_engine() as running, open_engine() as other:

        async def body() -> None:
            async with running.saga("trip") as saga:
                await saga.run(service.action("flight"))
                await saga.run(service.action("hotel"))

        trip = asyncio.create_task(body())
        await gate.arrived.wait()
        cancelling = asyncio.create_task(other.cancel("trip", by="Ada"))
        await until(is_cancelled(running))
        assert service.live == ["flight"]  # the call that is out is not abandoned
        gate.opened.set()
        with pytest.raises(SagaClosedError, match="cancelled by Ada"):
            await trip
        view = await cancelling
        journal = await running.journal("trip")
    assert not isinstance(view, CancelPreview)
    assert (view.status, service.live) == (SagaStatus.COMPENSATED, [])
    takeovers = [each for each in journal[:-1] if isinstance(each.event, e.LeaseTaken)]
    assert takeovers == []  # the holder did it; whoever asked may have looked once it was done


async def test_a_cancelled_saga_starts_nothing_further(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as running, open_engine() as other:
        cancelling = None
        with pytest.raises(SagaClosedError):
            async with running.saga("trip") as saga:
                await saga.run(service.action("flight"))
                cancelling = asyncio.create_task(other.cancel("trip"))
                await until(is_cancelled(running))
                await saga.run(service.action("hotel"))
        assert cancelling is not None
        await cancelling
    assert service.calls == ["do flight", "undo flight"]


async def test_a_committed_saga_without_a_pivot_can_still_be_cancelled(engine: Engine, service: Service) -> None:
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
        await saga.run(service.action("hotel"))
    view = await engine.cancel("trip")
    assert not isinstance(view, CancelPreview)
    assert (view.status, service.calls[2:]) == (SagaStatus.COMPENSATED, ["undo hotel", "undo flight"])
    assert [each.status for each in view.operations] == [OperationStatus.COMPENSATED] * 2


async def test_a_cancel_of_a_compensated_saga_changes_nothing(engine: Engine, service: Service) -> None:
    await open_saga(engine, service.action("flight"))
    await engine.cancel("trip")
    journal = await engine.journal("trip")
    await engine.cancel("trip")
    assert await engine.journal("trip") == journal


async def test_nobody_can_cancel_a_saga_that_does_not_exist(engine: Engine) -> None:
    for attempt in (engine.cancel("gone"), engine.cancel("gone", preview=True), engine.resume("gone"), engine.status("gone")):
        with pytest.raises(UnknownSagaError, match="gone"):
            await attempt


async def test_a_cancel_within_the_body_of_the_same_engine_is_carried_out(engine: Engine, service: Service) -> None:
    with pytest.raises(SagaClosedError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await asyncio.wait_for(engine.cancel("trip"), 10)
            await saga.run(service.action("hotel"))
    assert (service.live, service.count("do hotel")) == ([], 0)


# -- preview --------------------------------------------------------------------------------------------------------------


async def test_a_preview_tells_order_cost_and_residue_and_changes_nothing(engine: Engine, service: Service) -> None:
    def cost(request: Any, result: Any) -> UndoCost:
        assert result["booked"] == "flight"
        return UndoCost(25.0, "EUR", "the seat reservation is lost")

    async def free(request: Any, result: Any) -> UndoCost:
        return UndoCost(0.0, "EUR")

    await open_saga(engine, service.action("flight", undo_cost=cost), service.action("hotel", undo_cost=free))
    journal, calls = await engine.journal("trip"), list(service.calls)
    preview = await engine.cancel("trip", preview=True)
    assert preview == CancelPreview(
        saga_id="trip",
        possible=True,
        undo=(UndoneOperation("hotel-1", "hotel", True, 0.0, "EUR"), UndoneOperation("flight-1", "flight", True, 25.0, "EUR")),
        fees=25.0,
        currency="EUR",
        residue=("flight-1: the seat reservation is lost",),
    )
    assert (await engine.journal("trip"), service.calls) == (journal, calls)
    await engine.cancel("trip")
    assert service.calls[len(calls) :] == [f"undo {each.action}" for each in preview.undo]


async def test_a_preview_of_a_reversal_names_what_would_remain(engine: Engine, service: Service) -> None:
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
        await saga.run(service.action("pay", kind="pivot"))
        await saga.run(service.action("mail", undoable=False, kind="retriable"))
    preview = await engine.cancel("trip", preview=True)
    assert isinstance(preview, CancelPreview)
    assert (preview.possible, [each.id for each in preview.undo]) == (True, ["pay-1", "flight-1"])
    assert preview.residue == ("mail-1: cannot be undone",)


async def test_a_preview_does_not_count_on_what_is_in_doubt(engine: Engine, service: Service) -> None:
    service.on("do flight", is_lost)
    with pytest.raises(OperationHeldError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", undo_cost=lambda request, result: UndoCost(5.0, "EUR")))
    preview = await engine.cancel("trip", preview=True)
    assert isinstance(preview, CancelPreview)
    assert (preview.undo[0].certain, preview.fees) == (False, 0.0)


# -- resolve --------------------------------------------------------------------------------------------------------------


async def held_saga(engine: Engine, service: Service) -> None:
    service.on("do flight", is_lost)
    with pytest.raises(OperationHeldError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))


async def body(engine: Engine, service: Service) -> Any:
    async with engine.saga("trip") as saga:
        return await saga.run(service.action("flight"))


async def test_resolved_as_landed_it_returns_what_the_person_says(engine: Engine, service: Service) -> None:
    await held_saga(engine, service)
    view = await engine.resolve("trip", "flight-1", "landed", output={"booked": "by phone"}, by="Ada")
    assert view.operations[0].status is OperationStatus.SUCCEEDED
    assert await body(engine, service) == {"booked": "by phone"}
    assert service.calls == ["do flight"]


async def test_resolved_as_absent_it_is_done_again_under_a_new_key(engine: Engine, service: Service) -> None:
    await held_saga(engine, service)
    await engine.resolve("trip", "flight-1", "absent")
    assert await body(engine, service) == {"booked": "flight", "key": "trip/flight-1/2"}
    assert service.keys("do flight") == ["trip/flight-1/1", "trip/flight-1/2"]


async def test_resolved_as_compensated_it_holds_nothing_and_its_body_is_told(engine: Engine, service: Service) -> None:
    await held_saga(engine, service)
    await engine.resolve("trip", "flight-1", "compensated")
    with pytest.raises(OperationFailedError, match="flight-1"):
        await asyncio.wait_for(body(engine, service), 5)
    assert (service.calls, (await engine.status("trip")).status) == (["do flight"], SagaStatus.COMPENSATED)


async def test_a_stuck_compensation_is_resolved_and_its_ancestors_follow(engine: Engine, service: Service) -> None:
    await open_saga(engine, service.action("flight"), service.action("hotel"))
    service.on("undo hotel", refuses)
    stuck = await engine.cancel("trip")
    assert not isinstance(stuck, CancelPreview)
    assert (stuck.status, service.live) == (SagaStatus.STUCK, ["flight", "hotel"])
    service.on("undo hotel", refuses)
    view = await engine.resolve("trip", "hotel-1", "compensated")
    assert (view.status, service.live) == (SagaStatus.COMPENSATED, ["hotel"])  # the person cancelled the hotel, not we
    assert service.calls[-1] == "undo flight"


async def test_only_what_is_held_or_stuck_can_be_resolved(engine: Engine, service: Service) -> None:
    await open_saga(engine, service.action("flight"))
    journal = len(await engine.journal("trip"))
    with pytest.raises(NotAllowedError, match=r"flight-1.*succeeded"):
        await engine.resolve("trip", "flight-1", "compensated")
    with pytest.raises((NotAllowedError, UnknownOperationError), match="no operation 'hotel-1'"):
        await engine.resolve("trip", "hotel-1", "landed")
    with pytest.raises(ValueError, match="vanished"):
        await engine.resolve("trip", "flight-1", "vanished")
    others = [type(each.event) for each in (await engine.journal("trip"))[journal:]]
    assert set(others) == {e.LeaseTaken}
