"""Clocks that are behind, ahead, or set while a saga runs: the store's decides, and the ledger judges."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from sagagraph import Backoff, Engine, Guarantees, Retry
from sagagraph.errors import OperationHeldError
from sagagraph.saga.core.in_doubt import deadline_is_over
from sagagraph.saga.core.state import Operation
from sagagraph.saga.engine import clock as clocks
from sagagraph.saga.engine.clock import StoreClock
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.workflow.operation import OperationSpec
from tests.saga.cases import COMPENSATABLE
from tests.saga.service import Land, Service, lands_but_is_lost, quick
from tests.saga.workers import EVERY_STORE, NewStore, OpenEngine, until

HOUR_S = 3600.0
on_every_store = pytest.mark.parametrize("store_kind", EVERY_STORE)


class Clock:
    """What the machine of the store shows; `s` is added to it."""

    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return time.time() + self.s

    def off_by(self, seconds: float) -> Callable[[], float]:
        return lambda: self() + seconds


@pytest.fixture
async def store_clock(store_kind: str, memory: MemorySagaStore) -> Clock:
    clock = Clock()
    memory._clock = clock
    return clock


async def booked(engine: Engine, service: Service) -> None:
    patient = quick(retry=Retry(max_attempts=9), backoff=Backoff(base_s=0.01, cap_s=0.01))
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight", dedup=timedelta(minutes=30), policy=patient))


@on_every_store
@pytest.mark.parametrize("behind_s", [HOUR_S, -HOUR_S, 0.0])
async def test_rule_3a_a_worker_whose_clock_is_wrong_does_not_count_on_a_key_that_is_forgotten(
    open_engine: OpenEngine, new_store: NewStore, store_clock: Clock, behind_s: float
) -> None:
    """One worker dies; 20 minutes later another goes on, and 40 minutes later the provider has forgotten the key."""
    service = Service(remembers_keys=False)

    async def hangs(_land: Land) -> None:
        await asyncio.sleep(HOUR_S)

    async def takes_long(_land: Land) -> None:
        store_clock.s += 40 * 60
        raise ConnectionError("the line went dead")

    async def is_under_way() -> bool:
        return len(service.calls) == 2

    service.on("do flight", lands_but_is_lost, hangs, takes_long)
    async with open_engine(await new_store(store_clock)) as engine:
        dies = asyncio.create_task(booked(engine, service))
        await until(is_under_way)
    await asyncio.gather(dies, return_exceptions=True)
    store_clock.s += 20 * 60
    async with open_engine(await new_store(store_clock), clock=store_clock.off_by(-behind_s)) as engine:
        with pytest.raises(OperationHeldError, match="does not promise to remember"):
            await booked(engine, service)
    assert len(service.ledger) == 1
    assert len(service.calls) == 3


@on_every_store
@pytest.mark.parametrize("behind_s", [HOUR_S, -HOUR_S])
async def test_a_call_has_its_whole_time_and_its_deadline_is_the_stores(
    open_engine: OpenEngine, new_store: NewStore, store_clock: Clock, service: Service, behind_s: float
) -> None:
    async with open_engine(await new_store(store_clock), clock=store_clock.off_by(-behind_s)) as engine:
        await booked(engine, service)
    (_name, call), *_ = service.received
    assert 0 < call.deadline.timestamp() - store_clock() < 6


def test_what_a_provider_s_clock_may_be_off_by_is_declared() -> None:
    promised = Guarantees(deadline=True, clock_margin=timedelta(seconds=30))
    assert promised.terms.clock_margin_s == 30
    planned = Operation(OperationSpec("T1", "book", COMPENSATABLE, None, guarantees=promised.terms), 1, 1)
    assert not deadline_is_over(planned, now=29.9)
    assert deadline_is_over(planned, now=30.1)


def test_a_clock_that_is_set_while_an_engine_lives_is_not_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = StoreClock()
    before = clock()
    monkeypatch.setattr(clocks.time, "time", lambda: before - 10 * HOUR_S)
    assert 0 <= clock() - before < 5
    clock.told(before + HOUR_S)
    assert 0 <= clock() - before - HOUR_S < 5
