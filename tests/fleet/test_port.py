"""What the port of a fleet promises, whoever keeps its timers and queues."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from sagagraph.fleet.port import Fleet
from sagagraph.fleet.temporal.temporal_fleet import SWEEP_EVERY_S
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.port import RequestKind
from sagagraph.workflow.policy import Backoff
from tests.saga.service import Gate, Service, is_lost, is_too_busy, quick

from .working import begun, eventually, new_queue, takes, working


async def status(engine: Engine, saga_id: str) -> SagaStatus:
    return (await engine.status(saga_id)).status


async def is_committed(engine: Engine, saga_id: str) -> bool:
    return await status(engine, saga_id) is SagaStatus.COMMITTED


async def test_what_is_woken_is_driven_once_and_it_is_known_by_whom(fleet: Fleet, engine: Engine, service: Service) -> None:
    queue, gate = new_queue(), Gate()
    service.on("do flight", gate)
    async with working(fleet, engine.drive, queue):
        saga_id = await begun(engine, queue, "a", [service.action("flight")])
        assert await fleet.driving(saga_id) is None
        for _ in range(3):
            await fleet.wake(saga_id, queue)
        await gate.arrived.wait()
        await eventually(lambda: fleet.driving(saga_id))
        await fleet.wake(saga_id, queue)
        gate.opened.set()
        await eventually(lambda: is_committed(engine, saga_id))
        await fleet.wake(saga_id, queue)
        await asyncio.sleep(0.3)
        assert await fleet.driving(saga_id) is None
    assert (service.live, await takes(engine, saga_id)) == (["flight"], 1)


async def test_a_lost_wake_up_is_found(fleet: Fleet, engine: Engine, service: Service) -> None:
    queue = new_queue()
    saga_id = await begun(engine, queue, "a", [service.action("flight")])  # and its client dies here
    async with working(fleet, engine.drive, queue):
        await eventually(lambda: is_committed(engine, saga_id), within_s=SWEEP_EVERY_S + 8.0)
        held = await begun(engine, queue, "b", [service.action("hotel", policy=quick())])
        await eventually(lambda: is_committed(engine, held))
        await engine.store.ask(held, RequestKind.CANCEL, "Ada", None)  # and so does whoever asked
        await eventually(lambda: _has_status(engine, held, SagaStatus.COMPENSATED), within_s=SWEEP_EVERY_S + 38.0)
    assert service.live == ["flight"]


async def _has_status(engine: Engine, saga_id: str, wanted: SagaStatus) -> bool:
    return await status(engine, saga_id) is wanted


async def test_a_far_back_off_leaves_its_slot_to_others_and_ends_in_time(fleet: Fleet, engine: Engine, service: Service) -> None:
    queue = new_queue()
    policy = quick(backoff=Backoff(base_s=2.0, cap_s=2.0, jitter=0.0))
    service.on("do flight", is_too_busy)
    async with working(fleet, engine.drive, queue, slots=1):
        waits = await begun(engine, queue, "a", [service.action("flight", policy=policy)])
        await fleet.wake(waits, queue)
        await eventually(lambda: _calls(service, "do flight", 1))
        other = await begun(engine, queue, "b", [service.action("hotel")])
        await fleet.wake(other, queue)
        await eventually(lambda: is_committed(engine, other))
        assert service.count("do flight") == 1
        due_at = next(iter((await engine.load(waits)).operations.values())).not_before
        await eventually(lambda: _calls(service, "do flight", 2))
        assert engine._clock() - due_at < 1.0
        await eventually(lambda: is_committed(engine, waits))


async def _calls(service: Service, call: str, times: int) -> bool:
    return service.count(call) >= times


async def test_held_sagas_cost_no_slot_and_nobody_looks_at_them(fleet: Fleet, engine: Engine, service: Service) -> None:
    queue = new_queue()
    drives: list[str] = []

    async def counted(saga_id: str) -> object:
        drives.append(saga_id)
        return await engine.drive(saga_id)

    service.on("do flight", *[is_lost] * 20)
    flight = service.action("flight")
    async with working(fleet, counted, queue, slots=2):  # type: ignore[arg-type]
        held = [await begun(engine, queue, f"h{number}", [flight]) for number in range(20)]
        for each in held:
            await fleet.wake(each, queue)
        for each in held:
            await eventually(lambda each=each: _has_status(engine, each, SagaStatus.HELD))  # type: ignore[misc]
        await eventually(lambda: _stays_so(drives))  # a sweep may have woken some that waited for a slot
        other = await begun(engine, queue, "b", [service.action("hotel")])
        await fleet.wake(other, queue)
        await eventually(lambda: is_committed(engine, other))
        data = {"operation": "flight", "resolution": "absent"}
        await engine.store.ask(held[3], RequestKind.RESOLVE, "Ada", data)
        await fleet.wake(held[3], queue)
        await eventually(lambda: is_committed(engine, held[3]))
    assert [await takes(engine, each) for each in held[:5]] == [1, 1, 1, 2, 1]


async def _stays_so(drives: list[str]) -> bool:
    """Tell whether nobody looked at anything for longer than a sweep takes to come again."""
    before = len(drives)
    await asyncio.sleep(SWEEP_EVERY_S + 1.0)
    return len(drives) == before


async def test_workers_share_the_limit_of_a_queue(limited: tuple[Fleet, Fleet], engine: Engine, service: Service) -> None:
    queue, sagas, began = new_queue(), 20, list[float]()

    async def timed(saga_id: str) -> object:
        began.append(time.monotonic())
        return await engine.drive(saga_id)

    for number in range(sagas):
        await limited[0].wake(await begun(engine, queue, f"s{number}", []), queue)
    async with working(limited[0], timed, queue), working(limited[1], timed, queue):  # type: ignore[arg-type]
        await eventually(lambda: _length(began, sagas))
    assert began[sagas - 1] - began[0] > (sagas - 1) / 4.0 - 2.5  # a server lets a second's worth through at once


async def test_one_tenants_many_sagas_leave_room_for_anothers_few(fleet: Fleet, engine: Engine, service: Service) -> None:
    queue, order = new_queue(), []
    many, few = 80, 5

    async def slowly(saga_id: str) -> object:
        order.append(saga_id)
        await asyncio.sleep(0.02)
        return await engine.drive(saga_id)

    for number in range(many):
        await fleet.wake(await begun(engine, queue, f"large:{number}", []), queue)
    for number in range(few):
        await fleet.wake(await begun(engine, queue, f"small:{number}", []), queue)
    async with working(fleet, slowly, queue, slots=2):  # type: ignore[arg-type]
        await eventually(lambda: _length(order, many + few))
    firsts = list(dict.fromkeys(order))
    last_of_few = max(firsts.index(each) for each in firsts if each.startswith("small:"))
    assert last_of_few < 2 * few + 2, firsts[: last_of_few + 1]  # beside each of the few at most one of the many, and the slots


async def _length(order: list[Any], length: int) -> bool:
    return len(set(order)) >= length
