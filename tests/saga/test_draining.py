"""A worker that is told to stop: what is out ends and is journalled, nothing new begins, anybody may go on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from sagagraph.errors import DrainedError
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import Lease

from .service import Gate, Service, hangs
from .workers import OpenEngine, until


async def test_what_is_out_ends_and_nothing_new_begins(open_engine: OpenEngine, service: Service) -> None:
    gate = Gate()
    service.on("do flight", gate)

    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(service.action("hotel"))

    async with open_engine() as one, open_engine() as another:
        running = asyncio.create_task(body(one))
        await gate.arrived.wait()
        draining = asyncio.create_task(one.drain())
        await asyncio.sleep(0.02)
        assert not draining.done()
        gate.opened.set()
        await draining
        with pytest.raises(DrainedError, match="resume it"):
            await running
        assert (service.calls, service.live) == (["do flight"], ["flight"])
        assert (await one.status("trip")).operations[0].status.value == "succeeded"
        await asyncio.wait_for(body(another), 1)  # its lease was given back
        assert (await another.status("trip")).status is SagaStatus.COMMITTED
    assert service.calls == ["do flight", "do hotel"]


async def test_a_compensation_that_is_out_ends_and_the_next_one_is_left_to_others(
    open_engine: OpenEngine, service: Service
) -> None:
    gate = Gate()
    service.on("undo hotel", gate)

    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(service.action("hotel"))
            raise ZeroDivisionError

    async with open_engine() as one, open_engine() as another:
        running = asyncio.create_task(body(one))
        await gate.arrived.wait()
        draining = asyncio.create_task(one.drain())
        await asyncio.sleep(0.02)
        gate.opened.set()
        await draining
        with pytest.raises(ZeroDivisionError):
            await running
        assert service.live == ["flight"]
        assert (await another.resume("trip")).status is SagaStatus.COMPENSATED
    assert (service.live, service.count("undo hotel")) == ([], 1)


async def test_what_does_not_end_in_time_is_left_in_doubt(open_engine: OpenEngine, service: Service) -> None:
    service.on("do flight", hangs)

    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", probe=True))

    async with open_engine() as one, open_engine() as another:
        running = asyncio.create_task(body(one))
        await until(lambda: _is_called(service))
        await one.drain(within_s=0.05)
        with pytest.raises(DrainedError):
            await running
        assert (await another.resume("trip")).operations[0].status.value == "held"  # absent, and nothing is promised


async def _is_called(service: Service) -> bool:
    return bool(service.calls)


class Slow(MemorySagaStore):
    """Takes its time over a commit."""

    async def append(self, lease: Lease, entries: Sequence[Entry], **options: Any) -> None:
        await asyncio.sleep(0.05)
        await super().append(lease, entries, **options)


async def test_an_intent_that_is_being_written_is_waited_for_with_its_call(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine(Slow()) as engine:

        async def body() -> None:
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight"))

        running = asyncio.create_task(body())
        await asyncio.sleep(0.02)
        await engine.drain()
        with pytest.raises(DrainedError):
            await running
        assert (await engine.status("trip")).operations[0].status.value == "succeeded"
    assert service.calls == ["do flight"]


async def test_a_draining_worker_takes_nothing_more(engine: Engine) -> None:
    await engine.drain()
    with pytest.raises(DrainedError, match="elsewhere"):
        async with engine.saga("trip"):
            raise AssertionError
