"""Rule 5: at most one pivot, after everything that can be undone, and nothing is undone behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from sagagraph import Engine, Retry
from sagagraph.errors import NotAllowedError, OperationFailedError, OperationHeldError, SagaClosedError, WorkflowError
from sagagraph.saga.core.events import CancelRequested, Entry
from sagagraph.saga.core.evolve.evolve import evolve
from sagagraph.saga.core.state import FINAL, Stage
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import Lease, RequestKind

from .service import A_DAY, Gate, Land, Service, is_lost, lands_but_is_lost, quick, refuses
from .workers import EVERY_STORE, OpenEngine

pytestmark = pytest.mark.quick


@pytest.fixture(params=EVERY_STORE)
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def pivot(service: Service, **declared: object) -> Action:
    return service.action("pay", undoable=False, kind="pivot", **declared)  # type: ignore[arg-type]


def retriable(service: Service, name: str = "mail", **declared: object) -> Action:
    return service.action(name, undoable=False, kind="retriable", **declared)  # type: ignore[arg-type]


async def status(engine: Engine) -> SagaStatus:
    return (await engine.status("trip")).status


async def test_rule_5_what_can_be_undone_then_the_pivot_then_what_is_retried(engine: Engine, service: Service) -> None:
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
        await saga.run(pivot(service))
        await saga.run(retriable(service))
    assert service.calls == ["do flight", "do pay", "do mail"]
    assert await status(engine) is SagaStatus.COMMITTED


async def test_rule_5_a_pivot_within_an_operation_with_an_effect_is_rejected_instead_of_waiting_for_it(
    engine: Engine, service: Service
) -> None:
    """That operation ends only when the pivot has, and the pivot starts only when that operation has ended."""
    async with engine.saga("trip") as saga:

        async def runs_the_pivot(land: Land) -> Any:
            with pytest.raises(WorkflowError, match="the pivot 'node/pay' would wait for 'node'"):
                await saga.run(pivot(service), id="node/pay", after=())
            return land()

        service.on("do node", runs_the_pivot)
        await saga.run(service.action("node"), id="node")
    assert service.calls == ["do node"]


async def test_rule_5_a_compensatable_operation_after_the_pivot_is_rejected(engine: Engine, service: Service) -> None:
    with pytest.raises(WorkflowError, match=r"compensatable.*before the pivot"):
        async with engine.saga("trip") as saga:
            await saga.run(pivot(service))
            await saga.run(service.action("flight"))
    assert service.calls == ["do pay"]


async def test_rule_5_so_is_a_second_pivot(engine: Engine, service: Service) -> None:
    with pytest.raises(WorkflowError, match="pivot"):
        async with engine.saga("trip") as saga:
            await saga.run(pivot(service))
            await saga.run(pivot(service), id="again")
    assert service.calls == ["do pay"]


async def test_rule_5_and_a_retriable_operation_before_it(engine: Engine, service: Service) -> None:
    with pytest.raises(WorkflowError, match="does not come after a pivot"):
        async with engine.saga("trip") as saga:
            await saga.run(retriable(service))
    assert service.calls == []


async def test_rule_5_a_retriable_operation_depends_on_the_pivot_whatever_its_after_says(
    engine: Engine, service: Service
) -> None:
    async with engine.saga("trip") as saga:
        await saga.run(pivot(service))
        await saga.run(retriable(service), after=())
    assert (await engine.status("trip")).operations[1].depends_on == ("pay-1",)


async def test_rule_5_the_pivot_waits_for_everything_that_does_not_come_after_it(engine: Engine, service: Service) -> None:
    gate = Gate()
    service.on("do flight", gate)
    async with engine.saga("trip") as saga:
        flight = asyncio.create_task(saga.run(service.action("flight")))
        await gate.arrived.wait()
        paying = asyncio.create_task(saga.run(pivot(service), after=()))
        await asyncio.sleep(0.05)
        assert service.calls == ["do flight"]
        gate.opened.set()
        await asyncio.gather(flight, paying)
    assert service.calls == ["do flight", "do pay"]


async def test_rule_5_while_the_pivot_is_in_doubt_nothing_is_undone(engine: Engine, service: Service) -> None:
    service.on("do pay", is_lost)
    with pytest.raises(ZeroDivisionError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            with pytest.raises(OperationHeldError):
                await saga.run(pivot(service))
            1 / 0  # noqa: B018
    assert (service.live, await status(engine)) == (["flight"], SagaStatus.HELD)


async def test_rule_5_a_cancel_is_queued_while_the_pivot_is_in_doubt(engine: Engine, service: Service) -> None:
    service.on("do pay", is_lost)
    with pytest.raises(OperationHeldError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(pivot(service))
    await engine.cancel("trip")
    assert (service.live, await status(engine)) == (["flight"], SagaStatus.HELD)
    await engine.resolve("trip", "pay-1", "absent")
    assert (service.live, await status(engine)) == ([], SagaStatus.COMPENSATED)


async def test_rule_5_a_pivot_in_doubt_that_can_be_voided_gives_way_to_a_cancel(engine: Engine, service: Service) -> None:
    service.on("do pay", lands_but_is_lost)
    service.on("ask pay", *[is_lost] * 3)
    with pytest.raises(OperationHeldError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(pivot(service, void=True, probe=True))
    assert service.live == ["flight", "pay"]
    await engine.cancel("trip")
    assert (service.live, await status(engine)) == ([], SagaStatus.COMPENSATED)


async def test_a_refused_pivot_compensates_what_came_before_it(engine: Engine, service: Service) -> None:
    service.on("do pay", refuses)
    with pytest.raises(OperationFailedError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(pivot(service))
    assert (service.live, await status(engine)) == ([], SagaStatus.COMPENSATED)


async def test_rule_5_an_exception_after_the_pivot_undoes_nothing_and_the_body_can_be_run_again(
    engine: Engine, service: Service
) -> None:
    problems: list[Exception] = [ValueError("no printer")]

    async def body() -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(pivot(service))
            if problems:
                raise problems.pop()
            await saga.run(retriable(service))

    with pytest.raises(ValueError, match="no printer") as raised:
        await body()
    assert raised.value.__notes__ == ["saga 'trip' is held"]
    assert (service.live, await status(engine)) == (["flight", "pay"], SagaStatus.HELD)
    assert (await engine.status("trip")).reason == "no printer"
    await asyncio.wait_for(body(), 5)
    assert (service.live, await status(engine)) == (["flight", "mail", "pay"], SagaStatus.COMMITTED)
    assert service.count("do pay") == 1


async def test_rule_5_resumed_without_its_body_a_saga_behind_its_pivot_stays_open(
    open_engine: OpenEngine, service: Service
) -> None:
    async with open_engine() as engine:
        with pytest.raises(asyncio.CancelledError):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight"))
                await saga.run(pivot(service))
                raise asyncio.CancelledError
    async with open_engine() as engine:
        assert (await engine.resume("trip")).status is SagaStatus.HELD
    assert service.live == ["flight", "pay"]


async def test_rule_5_after_the_pivot_an_operation_that_uses_up_its_attempts_is_held(engine: Engine, service: Service) -> None:
    service.on("do mail", *[refuses] * 3)
    body_runs = 0

    async def body() -> None:
        nonlocal body_runs
        body_runs += 1
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(pivot(service))
            await saga.run(retriable(service, policy=quick(retry=Retry(max_attempts=1))))

    for _run in range(3):
        with pytest.raises(OperationHeldError, match=r"mail-1.*sold out"):
            await body()
    assert (service.live, await status(engine)) == (["flight", "pay"], SagaStatus.HELD)
    await body()
    assert (service.live, await status(engine)) == (["flight", "mail", "pay"], SagaStatus.COMMITTED)


# -- reversal -----------------------------------------------------------------------------------------------------------


async def commit(engine: Engine, service: Service, *, with_mail: bool = True, reversible: bool = True) -> None:
    async def refund(request: object, result: object, call: object) -> object:
        return await service._answer("refund pay", call, lambda: service._undo(call))  # type: ignore[arg-type]

    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
        await saga.run(service.action("hotel"))
        await saga.run(pivot(service, **({"reverse": refund} if reversible else {})))
        if with_mail:
            await saga.run(retriable(service))


async def test_rule_5_a_cancel_after_the_pivot_is_a_reversal_in_the_right_order(engine: Engine, service: Service) -> None:
    await commit(engine, service)
    view = await engine.cancel("trip", by="Ada")
    assert not isinstance(view, CancelPreview)
    assert view.status is SagaStatus.COMPENSATED
    assert service.calls[4:] == ["refund pay", "undo hotel", "undo flight"]
    assert service.live == ["mail"]
    assert view.residue == ("mail-1: cannot be undone",)
    reversal = await engine.status("trip~reversal")
    assert reversal.status is SagaStatus.COMMITTED
    assert all(each.idempotency_key.startswith("trip~reversal/") for each in reversal.operations)
    assert (await engine.cancel("trip")) == view  # asked twice, done once
    assert service.count("refund pay") == 1


async def test_rule_5_a_cancel_whose_worker_died_right_after_it_was_journalled_goes_on_when_resumed(
    engine: Engine, service: Service
) -> None:
    await commit(engine, service)
    lease = await engine.store.take("trip", owner="somebody", ttl_s=0.0)
    saga = await engine.load("trip")
    cancelled = evolve(saga, entry := Entry(saga.version + 1, lease.epoch, saga.last_at, CancelRequested("Ada")))
    await engine.store.append(lease, [entry], stage=cancelled.headline_stage)
    assert await status(engine) is SagaStatus.COMPENSATING
    (headline,) = await engine.sagas()
    assert headline.stage not in FINAL
    assert (await engine.resume("trip")).status is SagaStatus.COMPENSATED


async def test_rule_6_a_cancel_that_nobody_has_heard_is_heard_by_whoever_takes_a_saga_that_has_ended(
    engine: Engine, service: Service
) -> None:
    await commit(engine, service)
    await engine.store.ask("trip", RequestKind.CANCEL, "Ada", None)
    async with engine.hold("trip") as coordinator:
        await coordinator.until_quiet()
    assert (await status(engine), service.live) == (SagaStatus.COMPENSATED, ["mail"])


async def test_rule_5_without_a_reverse_a_cancel_is_refused_and_names_what_would_remain(engine: Engine, service: Service) -> None:
    await commit(engine, service, reversible=False)
    preview = await engine.cancel("trip", preview=True)
    assert isinstance(preview, CancelPreview)
    assert not preview.possible
    with pytest.raises(NotAllowedError, match=r"pay-1.*would remain") as raised:
        await engine.cancel("trip")
    assert (raised.value.saga_id, raised.value.operation_id) == ("trip", "pay-1")
    assert (service.count("undo flight"), await status(engine)) == (0, SagaStatus.COMMITTED)


async def test_rule_5_a_reversal_that_is_refused_is_stuck_and_goes_on_when_resumed(engine: Engine, service: Service) -> None:
    await commit(engine, service, with_mail=False)
    service.on("refund pay", *[refuses] * 1)
    await engine.cancel("trip")
    assert (service.live, await status(engine)) == (["flight", "hotel", "pay"], SagaStatus.STUCK)
    await engine.resume("trip")
    assert (service.live, await status(engine)) == ([], SagaStatus.COMPENSATED)


async def test_rule_5_a_reversal_that_was_interrupted_goes_on_where_it_was(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as engine:
        await commit(engine, service, with_mail=False)
        gate = Gate()
        service.on("undo hotel", gate)
        cancelling = asyncio.create_task(engine.cancel("trip"))
        await gate.arrived.wait()
        cancelling.cancel()
        await asyncio.wait([cancelling])
    async with open_engine() as engine:
        view = await engine.resume("trip")
        assert view.status is SagaStatus.STUCK  # "undo hotel" is in doubt, and nothing says whether it landed
        assert view.reversal == "trip~reversal"
        assert "'trip~reversal' is held at undo hotel-1: resolve that, and resume" in view.reason
        await engine.resolve("trip~reversal", "undo hotel-1", "landed")
        view = await engine.resume("trip")
        assert (view.status, view.reason) == (SagaStatus.COMPENSATED, "saga 'trip~reversal' undid it")
    assert service.count("refund pay") == 1


async def test_a_cancel_of_a_saga_behind_its_pivot_reverses_it_although_its_body_had_not_ended(
    engine: Engine, service: Service
) -> None:
    with pytest.raises(asyncio.CancelledError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(service.action("pay", kind="pivot"))
            raise asyncio.CancelledError
    await engine.cancel("trip")
    assert (service.live, await status(engine)) == ([], SagaStatus.COMPENSATED)
    with pytest.raises(SagaClosedError):
        async with engine.saga("trip"):
            pass


async def test_a_repeatable_operation_after_the_pivot_is_repeated(engine: Engine, service: Service) -> None:
    service.on("do mail", is_lost, is_lost)
    async with engine.saga("trip") as saga:
        await saga.run(pivot(service))
        await saga.run(retriable(service, dedup=A_DAY))
    assert service.keys("do mail") == ["trip/mail-1/1"] * 3


class Slow(MemorySagaStore):
    """Takes its time over a commit, as a database far away does."""

    async def append(self, lease: Lease, entries: Sequence[Entry], **options: Any) -> None:
        await asyncio.sleep(0.05)
        await super().append(lease, entries, **options)


@pytest.mark.parametrize("looks_after_s", [0.0, 0.02])
async def test_rule_5_a_cancel_that_is_being_written_is_not_taken_for_quiet(
    open_engine: OpenEngine, service: Service, looks_after_s: float
) -> None:
    """It has left the inbox and is not in the state yet: whoever looks in between must wait."""
    async with open_engine(Slow()) as engine:
        await commit(engine, service)
        await engine.store.ask("trip", RequestKind.CANCEL, "Ada", None)
        async with engine.hold("trip") as coordinator:
            await asyncio.sleep(looks_after_s)
            ended = await coordinator.until_quiet()
        assert ended.stage is Stage.COMPENSATED
    assert service.live == ["mail"]
