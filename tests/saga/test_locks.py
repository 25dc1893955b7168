"""Rule 12 with real engines: two sagas that want the same thing, side by side."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sagagraph import Call, Engine, Lock, Policy, action
from sagagraph.errors import InvalidInputError, LockedError, NotAllowedError, OperationFailedError, WorkflowError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.locks import Holding, holdings_of
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.workflow.lock import LockMode

from .service import A_DAY, Gate, Service, is_lost, quick, refuses
from .workers import EVERY_STORE, OpenEngine, until

pytestmark = [pytest.mark.quick]
on_every_store = pytest.mark.parametrize("store_kind", EVERY_STORE)
AT_ONCE = quick(lock_wait_s=0)
PATIENT = quick(lock_wait_s=20)


def car(request: Any) -> list[Lock]:
    return [Lock("the car", begins=request["from"], ends=request["to"])]


def drive(service: Service, policy: Policy = AT_ONCE, **declared: Any) -> Any:
    return service.action("drive", locks=car, policy=policy, **declared)


def during(begins: float, ends: float) -> dict[str, float]:
    return {"from": begins, "to": ends}


async def _once_it_waits(engine: Engine, saga_id: str) -> SagaView:
    async def waits() -> bool:
        return await engine.store.headline(saga_id) is not None and bool((await engine.status(saga_id)).awaits)

    await until(waits)
    return await engine.status(saga_id)


async def kept(engine: Engine) -> list[tuple[str, str, str]]:
    """Who keeps what, by the store's table; it must be what the journals say."""
    found = await engine.store.holdings()
    told: list[Holding] = []
    for headline in await engine.sagas():
        saga = fold(headline.saga_id, await engine.store.read(headline.saga_id))
        told += holdings_of(saga, saga.index.locking)
    assert sorted(each[:4] for each in found) == sorted(each[:4] for each in told)
    return [(each.saga_id, each.operation, each.lock.key) for each in found]


@on_every_store
async def test_rule_12_of_two_sagas_with_one_car_the_second_is_told_who_keeps_it(
    open_engine: OpenEngine, service: Service
) -> None:
    async with open_engine() as one, open_engine() as other:
        async with one.saga("first") as first:
            await first.run(drive(service), during(10, 12))
            assert await kept(other) == [("first", "drive-1", "the car")]
            with pytest.raises(
                OperationFailedError, match="saga 'first' keeps 'the car' from 10 to 12 for its operation 'drive-1'"
            ):
                async with other.saga("second") as second:
                    await second.run(drive(service), during(11, 13))
        assert (await one.status("first")).status is SagaStatus.COMMITTED
        assert (await one.status("second")).status is SagaStatus.COMPENSATED
        assert await kept(one) == []
    assert service.count("do drive") == 1


@on_every_store
async def test_rule_12_one_car_serves_two_sagas_at_different_times(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as one, open_engine() as other, one.saga("first") as first, other.saga("second") as second:
        await first.run(drive(service), during(10, 12))
        await second.run(drive(service), during(12, 13))
        assert len(await kept(one)) == 2
    assert service.count("do drive") == 2


@on_every_store
async def test_rule_12_who_waits_takes_the_car_when_the_other_has_ended(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as one, open_engine() as other:

        async def wait_for_it() -> None:
            async with other.saga("second") as second:
                await second.run(drive(service, PATIENT), during(11, 13))

        async with one.saga("first") as first:
            await first.run(drive(service), during(10, 12))
            waiting = asyncio.create_task(wait_for_it())
            view = await _once_it_waits(one, "second")
            assert [(each.key, each.saga, each.operation) for each in view.awaits] == [("the car", "first", "drive-1")]
            assert service.count("do drive") == 1
        await waiting
        view = await one.status("second")
        assert (view.status, view.awaits) == (SagaStatus.COMMITTED, ())
        assert [type(each.event) for each in await one.store.read("second")].count(e.LocksAwaited) == 1
    assert service.count("do drive") == 2


@on_every_store
async def test_rule_12_what_is_undone_is_free_before_its_saga_ends(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as one, open_engine() as other:
        hotel = Gate()
        service.on("undo hotel", hotel)

        async def fail() -> None:
            async with one.saga("first") as first:
                await first.run(service.action("hotel"))
                await first.run(drive(service), during(10, 12))
                raise RuntimeError("no")

        failing = asyncio.create_task(fail())
        await hotel.arrived.wait()
        assert await kept(other) == []
        async with other.saga("second") as second:
            await second.run(drive(service), during(10, 12))
        hotel.opened.set()
        with pytest.raises(RuntimeError, match="no"):
            await failing


@on_every_store
async def test_rule_12_a_refused_operation_keeps_nothing(open_engine: OpenEngine, service: Service) -> None:
    service.on("do drive", refuses)
    async with open_engine() as one, one.saga("first") as first:
        with pytest.raises(OperationFailedError):
            await first.run(drive(service), during(10, 12), id="a")
        assert await kept(one) == []
        await first.run(drive(service), during(10, 12), id="b")
        assert await kept(one) == [("first", "b", "the car")]


# -- plans ---------------------------------------------------------------------------------------------------------------


async def accepted(engine: Engine, saga_id: str, *specs: Any) -> None:
    begun = e.SagaBegun(e.Driver.WORKFLOW, "", None)
    async with engine.hold(saga_id, begin=begun) as coordinator:
        await coordinator.tell(c.AcceptPlan(specs))
        await coordinator.until_quiet()


@on_every_store
async def test_rule_12_a_plan_takes_all_of_its_locks_or_none(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as one, open_engine() as other:
        drives, flies = drive(service), service.action("fly", locks=lambda _request: [Lock("the plane")], policy=AT_ONCE)
        for engine in (one, other):
            engine.register(drives)
            engine.register(flies)
        async with one.saga("first") as first:
            await first.run(drives, during(10, 12))
            with pytest.raises(LockedError, match="saga 'second' took nothing: saga 'first' keeps 'the car'") as told:
                await accepted(other, "second", flies.spec("fly", None), drives.spec("drive", during(11, 13)))
            assert told.value.holders == ("first",)
            assert await kept(one) == [("first", "drive-1", "the car")]
        await accepted(other, "second", flies.spec("fly", None), drives.spec("drive", during(11, 13)))
        assert (await other.status("second")).status is SagaStatus.COMMITTED
    assert service.count("do fly") == 1


@on_every_store
async def test_rule_12_a_dozen_sagas_never_have_one_car_at_once(open_engine: OpenEngine, service: Service) -> None:
    driving: list[str] = []

    async def go(engine: Engine, name: str) -> None:
        async with engine.saga(name) as saga:
            await saga.run(drive(service, PATIENT), during(10, 12))
            driving.append(name)
            assert driving == [name]
            await asyncio.sleep(0.001)
            driving.remove(name)

    async with open_engine() as one, open_engine() as two:
        await asyncio.gather(*(go(engine, f"{engine is one} {number}") for engine in (one, two) for number in range(6)))
        assert await kept(one) == []
    assert service.count("do drive") == 12


# -- modes ---------------------------------------------------------------------------------------------------------------


def taking(service: Service, name: str, lock: Lock) -> Any:
    return service.action(name, locks=lambda _request: [lock], policy=AT_ONCE)


@on_every_store
async def test_rule_12_a_voucher_is_spent_by_as_many_as_it_is_for(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as one:
        voucher = taking(service, "spend", Lock("voucher", LockMode.COUNTED, amount=2, capacity=5))
        async with one.saga("a") as a, one.saga("b") as b, one.saga("c") as third:
            await a.run(voucher)
            await b.run(voucher)
            with pytest.raises(OperationFailedError, match="2 of 5 of 'voucher'"):
                await third.run(voucher)
            with pytest.raises(WorkflowError, match="takes more of 'voucher' than 5"):
                await a.run(taking(service, "spend all", Lock("voucher", LockMode.COUNTED, amount=4, capacity=5)))


@on_every_store
async def test_rule_12_readers_share_and_keep_writers_out(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as one:
        reads, writes = taking(service, "read", Lock("price", LockMode.SHARED)), taking(service, "write", Lock("price"))
        async with one.saga("a") as a, one.saga("b") as b, one.saga("c") as third:
            await a.run(reads)
            await b.run(reads)
            with pytest.raises(OperationFailedError, match=r"saga 'a' keeps 'price'.*; saga 'b' keeps 'price'"):
                await third.run(writes)


# -- waiting without end -----------------------------------------------------------------------------------------------


@on_every_store
async def test_rule_12_two_that_want_what_the_other_keeps_do_not_wait_for_each_other(
    open_engine: OpenEngine, service: Service
) -> None:
    def both(first: str, second: str) -> list[Any]:
        return [service.action(name, locks=lambda _request, name=name: [Lock(name)], policy=PATIENT) for name in (first, second)]

    async def go(engine: Engine, name: str, order: list[Any], meeting: asyncio.Barrier) -> str:
        try:
            async with engine.saga(name) as saga:
                await saga.run(order[0])
                await meeting.wait()
                await saga.run(order[1])
        except OperationFailedError:
            return "told"
        return "committed"

    async with open_engine() as one, open_engine() as other:
        meeting = asyncio.Barrier(2)
        ended = await asyncio.gather(go(one, "a", both("x", "y"), meeting), go(other, "b", both("y", "x"), meeting))
        assert sorted(ended) == ["committed", "told"]
        assert await kept(one) == []


@on_every_store
async def test_rule_12_a_person_lets_others_have_what_a_held_saga_keeps(open_engine: OpenEngine, service: Service) -> None:
    service.on("do hotel", is_lost)
    async with open_engine() as one, open_engine() as other:
        with pytest.raises(Exception, match="is held"):
            async with one.saga("first") as first:
                await first.run(drive(service), during(10, 12))
                await first.run(service.action("hotel"), id="hotel")
        assert (await other.status("first")).status is SagaStatus.HELD
        assert len(await kept(other)) == 1
        view = await other.yield_locks("first", by="Ann")
        assert (view.status, view.locks, view.yielded_by) == (SagaStatus.HELD, (), "Ann")
        assert e.LocksYielded("Ann") in [each.event for each in await other.store.read("first")]
        async with other.saga("second") as second:
            await second.run(drive(service), during(11, 13))
    assert service.count("do drive") == 2


@on_every_store
async def test_rule_12_a_saga_that_yielded_goes_forward_only_with_its_locks(open_engine: OpenEngine, service: Service) -> None:
    service.on("do hotel", is_lost)
    async with open_engine() as one, open_engine() as other:

        async def trip() -> None:
            async with one.saga("first") as first:
                await first.run(drive(service), during(10, 12))
                await first.run(service.action("hotel"), id="hotel")
                await first.run(service.action("museum"), id="museum")

        with pytest.raises(Exception, match="is held"):
            await trip()
        await other.yield_locks("first", by="Ann")
        async with other.saga("second") as second:
            await second.run(drive(service), during(11, 13))
            await one.resolve("first", "hotel", "landed")
            going_on = asyncio.create_task(trip())
            assert [each.saga for each in (await _once_it_waits(other, "first")).awaits] == ["second"]
            assert service.count("do museum") == 0
        await going_on
        events = [type(each.event) for each in await other.store.read("first")]
        assert events.count(e.LocksRetaken) == 1
        assert (await other.status("first")).status is SagaStatus.COMMITTED
        assert await kept(other) == []


async def test_rule_12_a_saga_that_can_go_on_does_not_yield(open_engine: OpenEngine, service: Service) -> None:
    gate = Gate()
    service.on("do hotel", gate)
    async with open_engine() as one, one.saga("first") as first:
        await first.run(drive(service), during(10, 12))
        hotel = asyncio.create_task(first.run(service.action("hotel")))
        await gate.arrived.wait()
        with pytest.raises(NotAllowedError, match="goes on with its locks"):
            await one._held["first"].tell(c.YieldLocks("Ann"))
        gate.opened.set()
        await hotel


# -- what a plan rests on ------------------------------------------------------------------------------------------------


class Price:
    """A reading, on which a plan rests, that anybody may change."""

    def __init__(self) -> None:
        self.amount = 100
        self.asked = 0
        self.is_away = False

    def action(self) -> Any:
        async def price(_request: Any, _call: Call) -> int:
            self.asked += 1
            if self.is_away:
                raise ConnectionError("nobody answers")
            return self.amount

        return action(price, read_again=True, policy=AT_ONCE)


def paying(service: Service) -> Any:
    return service.action("pay", kind="pivot", undoable=False, dedup=A_DAY)


@on_every_store
async def test_rule_12_a_plan_is_carried_out_if_what_it_rests_on_says_the_same_before_the_pivot(
    open_engine: OpenEngine, service: Service
) -> None:
    price = Price()
    async with open_engine() as one, one.saga("trip") as trip:
        await trip.run(price.action())
        await trip.run(service.action("hotel"))
        await trip.run(paying(service))
        events = [type(each.event) for each in await one.store.read("trip")]
    assert (price.asked, service.count("do pay")) == (2, 1)
    assert events.index(e.ReadingsConfirmed) < len(events)


@pytest.mark.parametrize("is_away", [False, True])
@on_every_store
async def test_rule_12_a_reading_that_has_changed_before_the_pivot_undoes_what_rests_on_it(
    open_engine: OpenEngine, service: Service, is_away: bool
) -> None:
    price = Price()
    async with open_engine() as one:
        with pytest.raises(OperationFailedError, match="'pay-1' failed: what it rests on does not hold any more: price-1"):
            async with one.saga("trip") as trip:
                await trip.run(price.action())
                await trip.run(service.action("hotel"))
                price.amount, price.is_away = 120, is_away
                await trip.run(paying(service))
        assert (await one.status("trip")).status is SagaStatus.COMPENSATED
    assert (service.count("do pay"), service.live) == (0, [])


@on_every_store
async def test_rule_12_a_plan_whose_reading_has_changed_turns_back(open_engine: OpenEngine, service: Service) -> None:
    price = Price()
    reads, pays = price.action(), paying(service)
    raised = service.action("hotel")

    async def raises(land: Any) -> Any:
        price.amount = 120
        return land()

    service.on("do hotel", raises)
    async with open_engine() as one:
        for each in (reads, raised, pays):
            one.register(each)
        specs = (reads.spec("price", None), raised.spec("hotel", None, ["price"]), pays.spec("pay", None, ["hotel"]))
        await accepted(one, "trip", *specs)
        view = await one.status("trip")
        assert (view.status, view.reason) == (SagaStatus.COMPENSATED, "price: it says something else than before")
    assert (service.count("do pay"), service.live) == (0, [])


def test_only_what_reads_can_be_read_again(service: Service) -> None:
    with pytest.raises(InvalidInputError, match="only what reads can be read again"):
        service.action("hotel", read_again=True)
