"""Turns that are made where they are asked for (ADR-0036): what could share one does, and nobody is kept waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest

from sagagraph import Engine
from sagagraph.saga.core import events as e
from sagagraph.saga.engine.turn.stepping import Stepped
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import Lease

from .service import A_DAY, Service
from .workers import OpenEngine


class Batches(MemorySagaStore):
    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    async def append(self, lease: Lease, entries: Sequence[e.Entry], **options: Any) -> None:
        await super().append(lease, entries, **options)
        self.sizes.append(len(entries))


async def test_what_is_asked_for_at_the_same_time_shares_a_turn(open_engine: OpenEngine, service: Service) -> None:
    store = Batches()
    async with open_engine(store) as engine, engine.saga("trip") as saga:
        await asyncio.gather(*(saga.run(service.action(name)) for name in ("flight", "hotel", "car")))
        assert store.sizes == [6, 3], "three intents, and then three outcomes"


async def test_a_body_that_runs_again_lets_others_go_on(open_engine: OpenEngine, service: Service) -> None:
    flight = service.action("flight", dedup=A_DAY)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    store = MemorySagaStore()
    async with open_engine(store) as engine:
        with pytest.raises(KeyboardInterrupt):
            async with engine.saga("trip") as saga:
                for number in range(50):
                    await saga.run(flight, id=f"flight {number}")
                raise KeyboardInterrupt
        working = asyncio.create_task(others())
        async with engine.saga("trip") as saga:
            before = turns
            for number in range(50):
                await saga.run(flight, id=f"flight {number}")
            assert turns - before >= 50
        working.cancel()


async def test_what_waits_goes_on_in_a_task_and_can_be_cancelled_there() -> None:
    async def waits() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            return "cleaned up"
        return "never"

    stepped = Stepped(waits(), copy_context())
    assert not stepped.step()
    task = asyncio.ensure_future(_awaited(stepped))
    await asyncio.sleep(0)
    task.cancel()
    assert await task == "cleaned up"


async def test_what_is_raised_before_it_waits_is_raised_where_it_is_awaited() -> None:
    async def fails() -> None:
        raise LookupError("nothing there")

    stepped = Stepped(fails(), copy_context())
    assert not stepped.step()
    with pytest.raises(LookupError, match="nothing there"):
        await stepped.rest()


async def _awaited(stepped: Stepped[str]) -> str:
    return await stepped.rest()


async def test_a_saga_that_begins_reads_only_whether_it_is_there_already(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Engine.open(f"sqlite:///{tmp_path / 'store.db'}") as engine:
        asked = _reads_of(engine, monkeypatch)
        async with engine.saga("first") as saga:
            await saga.run(service.action("flight"))
        assert {*asked} <= {"headline", "requests"}, "requests are asked for now and then"
        asked.clear()
        await engine.store.restored()
        async with engine.saga("second") as saga:
            await saga.run(service.action("flight"))
        assert {"notes", "requests"} <= {*asked}, "somebody may know what the restored store does not"


def _reads_of(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of what is read from the store from now on."""
    asked: list[str] = []

    def noting(name: str) -> Callable[..., Any]:
        reading = getattr(engine.store, name)

        async def read(*given: Any) -> Any:
            asked.append(name)
            return await reading(*given)

        return read

    for name in ("headline", "read", "notes", "requests"):
        monkeypatch.setattr(engine.store, name, noting(name))
    return asked
