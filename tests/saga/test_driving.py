"""Driving for a fleet: what is due, who takes it, and what is let go of until when."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress

import pytest

from sagagraph.errors import BusyError, NotAllowedError, UnknownActionError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.events import Driver, LeaseTaken, SagaBegun
from sagagraph.saga.core.state import Stage
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.driving import Parked
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.port import KEPT_S, RequestKind
from sagagraph.workflow.policy import Backoff, Retry

from .service import A_DAY, Service, is_lost, is_too_busy, quick
from .workers import EVERY_STORE, OpenEngine, until

pytestmark = pytest.mark.quick
DAY = {"trip"}


@pytest.fixture(params=EVERY_STORE)
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def begun(engine: Engine, saga_id: str, actions: Iterable[Action], *, accepted: bool = True) -> None:
    """A saga of a plan that nobody carries out yet."""
    owner = {"owner": "nobody", "ttl_s": 0.0}
    lease = await engine.store.create(saga_id, SagaBegun(Driver.WORKFLOW, "trip", {}), stage=Stage.PLANNING, **owner)
    await engine.store.release(lease)
    if accepted:
        specs = tuple(each.spec(each.name, {}, ()) for each in actions)
        await engine._record(saga_id, (c.AcceptPlan(specs),), looks_again=False)


async def due(engine: Engine, most: int = 10) -> list[str]:
    return [each.saga_id for each in await engine.store.due(most, DAY)]


async def takes(engine: Engine, saga_id: str) -> int:
    """How often it was taken to be driven; a plan was accepted once before."""
    return sum(isinstance(each.event, LeaseTaken) for each in await engine.journal(saga_id)) - 1


async def test_what_was_begun_is_due_until_it_has_ended(open_engine: OpenEngine, service: Service) -> None:
    flight = service.action("flight")
    async with open_engine(actions=[flight]) as engine:
        await begun(engine, "a", [flight])
        assert await due(engine) == ["a"]
        assert await engine.drive("a") == Parked(None, is_final=True)
        assert (await due(engine), service.live) == ([], ["flight"])
        assert await engine.drive("a") == Parked(None, is_final=True)
        assert await takes(engine, "a") == 1


async def test_of_two_that_saw_the_same_only_one_takes_it(open_engine: OpenEngine, service: Service) -> None:
    flight = service.action("flight")
    async with open_engine(actions=[flight]) as one, open_engine(actions=[flight]) as another:
        await begun(one, "a", [flight])
        seen = (await one.store.due(1, DAY))[0].version
        await one.drive("a")
        with pytest.raises(BusyError, match="look again"):
            await another.store.take("a", owner="another", ttl_s=4.0, seen=seen)
        ended = await asyncio.gather(*(each.drive("a") for each in (one, another)))
        assert (set(ended), await takes(one, "a")) == ({Parked(None, is_final=True)}, 1)


async def test_a_back_off_that_is_far_off_keeps_neither_slot_nor_lease_nor_gains_attempts(
    open_engine: OpenEngine, service: Service
) -> None:
    policy = quick(retry=Retry(max_attempts=2), backoff=Backoff(base_s=1.4, cap_s=1.4, jitter=0.0))
    flight = service.action("flight", policy=policy)
    service.on("do flight", is_too_busy, is_too_busy, is_too_busy)
    async with open_engine(actions=[flight]) as engine:
        await begun(engine, "a", [flight])
        parked = await engine.drive("a")
        headline = await engine.store.headline("a")
        assert headline is not None
        assert parked.until is not None
        assert (headline.owner, parked.is_final, await due(engine)) == (None, False, [])
        await until(lambda: due(engine))
        assert engine._clock() - parked.until < 1.0
        assert (await engine.drive("a")).is_final
        assert (service.count("do flight"), await takes(engine, "a")) == (2, 2)  # as often as one worker would have
        assert (await engine.status("a")).status is SagaStatus.COMPENSATED


async def test_what_is_in_doubt_gains_no_attempts_by_being_parked(open_engine: OpenEngine, service: Service) -> None:
    policy = quick(retry=Retry(max_attempts=2), backoff=Backoff(base_s=1.2, cap_s=1.2, jitter=0.0))
    flight = service.action("flight", policy=policy, dedup=A_DAY)
    service.on("do flight", is_lost, is_lost)
    async with open_engine(actions=[flight]) as engine:
        await begun(engine, "a", [flight])
        for _drive in range(4):
            if (await engine.drive("a")).until is None:
                break
            await until(lambda: due(engine))
        assert (await engine.status("a")).status is SagaStatus.COMPENSATED  # given up after two, as by one worker


async def test_whoever_dies_with_a_saga_leaves_it_due(open_engine: OpenEngine, service: Service) -> None:
    flight = service.action("flight")
    service.on("do flight", is_lost)
    async with open_engine(actions=[flight]) as engine:
        await begun(engine, "a", [flight])
        await engine.drive("a")
        assert await due(engine) == []
        async with engine.hold("a"):  # a command, say, that is killed before it has done anything
            pass
        assert await due(engine) == ["a"]


async def test_what_waits_for_a_person_is_due_once_somebody_asks_for_something(open_engine: OpenEngine, service: Service) -> None:
    flight = service.action("flight")
    service.on("do flight", is_lost)
    async with open_engine(actions=[flight]) as engine:
        await begun(engine, "a", [flight])
        assert await engine.drive("a") == Parked(None, is_final=False)
        assert ((await engine.status("a")).status, await due(engine)) == (SagaStatus.HELD, [])
        assert await engine.drive("a") == Parked(None, is_final=False)
        assert await takes(engine, "a") == 1  # a second look takes nothing
        data = {"operation": "flight", "resolution": "absent"}
        await engine.store.ask("a", RequestKind.RESOLVE, "Ada", data)
        assert await due(engine) == ["a"]
        assert (await engine.drive("a")).is_final
        assert (service.live, await due(engine)) == (["flight"], [])
        await engine.store.ask("a", RequestKind.CANCEL, "Ada", None)  # of what has committed
        assert await due(engine) == ["a"]
        assert await engine.drive("a") == Parked(None, is_final=True)
        assert (service.live, await due(engine), (await engine.status("a")).status) == ([], [], SagaStatus.COMPENSATED)


async def test_a_request_is_never_lost_between_a_look_and_the_parking(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as engine:
        await begun(engine, "a", ())
        version = (await engine.load("a")).version
        asked = await engine.store.ask("a", RequestKind.CANCEL, "Ada", None)
        assert not await engine.store.park("a", version, until=None, heard=asked.number - 1)
        assert await due(engine) == ["a"]
        assert not await engine.store.park("a", version - 1, until=None, heard=asked.number)
        assert await engine.store.park("a", version, until=None, heard=asked.number)
        assert await due(engine) == []
        await engine.store.wake("a")
        assert await due(engine) == ["a"]


async def test_an_approval_is_a_request_and_one_that_does_not_fit_is_refused_by_name(open_engine: OpenEngine) -> None:
    async with open_engine() as engine:
        await begun(engine, "a", (), accepted=False)
        told = (c.ProposePlan("h1", {}, None, (), ()), c.JudgePlan("h1", {"verdict": "VALID"}, None), c.AskApproval())
        await engine._record("a", told, looks_again=False)
        assert await engine.drive("a") == Parked(None, is_final=False)
        assert await takes(engine, "a") == 0  # a person is awaited: nothing was taken
        for data in ({"plan_hash": "h2"}, {}, {"plan_hash": "h1"}):
            await engine.store.ask("a", RequestKind.APPROVE, "Ada", data)
        await engine.drive("a")
        saga = await engine.load("a")
        assert (saga.plan.approved_by, saga.last_request > 0) == ("Ada", True)
        refused = [each.event.reason for each in await engine.journal("a") if type(each.event).__name__ == "RequestRefused"]
        assert [any(word in each for each in refused) for word in ("h2", "which plan")] == [True, True]


async def test_a_worker_leaves_alone_what_it_has_no_code_for(open_engine: OpenEngine, service: Service) -> None:
    flight = service.action("flight")
    async with open_engine(actions=[flight]) as new, open_engine() as old:
        await begun(new, "a", [flight])
        with pytest.raises(UnknownActionError):
            await _without(old, "flight").drive("a")
        assert (await takes(new, "a"), await due(new)) == (0, ["a"])
        assert (await new.drive("a")).is_final


def _without(engine: Engine, name: str) -> Engine:
    """An engine of an earlier build: in this process, what another one declared is known to all."""
    find = engine.find

    def found(wanted: str, version: int) -> Action:
        if wanted == name:
            raise UnknownActionError(f"no action {name!r}")
        return find(wanted, version)

    engine.find = found  # type: ignore[method-assign]
    return engine


async def test_a_body_is_driven_only_where_it_was_registered(open_engine: OpenEngine, service: Service) -> None:
    flight, hotel = service.action("flight"), service.action("hotel")
    async with open_engine() as engine, open_engine() as another:
        lease = await engine.store.create("b", SagaBegun(Driver.BODY, "", None), stage=Stage.RUNNING, owner="x", ttl_s=0.0)
        await engine.store.release(lease)
        with pytest.raises(NotAllowedError, match="no worker here"):
            await another.drive("b")

        async def body(saga_id: str) -> None:
            async with engine.saga(saga_id) as saga:
                await saga.run(flight)
                await saga.run(hotel)

        engine.drives("", body)
        assert await engine.drive("b") == Parked(None, is_final=True)
        assert service.live == ["flight", "hotel"]


async def test_a_body_is_parked_too_and_what_it_was_told_holds_up_nobody(open_engine: OpenEngine, service: Service) -> None:
    policy = quick(retry=Retry(max_attempts=2), backoff=Backoff(base_s=1.4, cap_s=1.4, jitter=0.0))
    flight, hotel = service.action("flight", policy=policy), service.action("hotel", policy=policy)
    service.on("do flight", is_too_busy, is_too_busy)
    service.on("do hotel", is_too_busy)
    async with open_engine() as engine:
        lease = await engine.store.create("b", SagaBegun(Driver.BODY, "", None), stage=Stage.RUNNING, owner="x", ttl_s=0.0)
        await engine.store.release(lease)

        async def body(saga_id: str) -> None:
            async with engine.saga(saga_id) as saga, asyncio.TaskGroup() as group:
                group.create_task(saga.run(flight))
                group.create_task(saga.run(hotel))

        engine.drives("", body)
        parked = await engine.drive("b")
        assert parked.until is not None
        assert (await engine.status("b")).status is SagaStatus.RUNNING
        await until(lambda: _is_due(engine))
        with suppress(ExceptionGroup):
            await engine.drive("b")
        assert ((await engine.status("b")).status, service.live) == (SagaStatus.COMPENSATED, [])
        assert await engine.drive("b") == Parked(None, is_final=True)


async def _is_due(engine: Engine) -> bool:
    return bool(await engine.store.due(1, {""}))


async def test_all_draw_from_one_limit(open_engine: OpenEngine) -> None:
    async with open_engine() as one, open_engine() as another:
        began, drawn = time.monotonic(), 0
        while time.monotonic() < began + 0.5:
            drawn += await one.store.draw("a", 20.0) + await another.store.draw("a", 20.0)
        assert 1 <= drawn <= 20.0 * (time.monotonic() - began + KEPT_S) + 1
        assert await one.store.draw("b", 0.01)
        assert not await another.store.draw("b", 0.01)


async def test_tenants_take_turns(open_engine: OpenEngine) -> None:
    async with open_engine() as engine:
        for name in (*(f"large:{number}" for number in range(5)), "small:1", "small:2", "alone"):
            await begun(engine, name, (), accepted=False)
        first = await due(engine, 5)
        assert {"small:1", "small:2", "alone"} <= set(first)
        assert len(await due(engine, 3)) == 3
        assert await engine.store.due(9, {"other"}) == ()
