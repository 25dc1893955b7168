"""Rule 6: one writer. A worker that was taken over from appends nothing, starts nothing, and leaves what it still learns."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from sagagraph import Call, Engine
from sagagraph.errors import OperationHeldError, SupersededError
from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.events import LeaseTaken, OperationSucceeded, Via
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.stores.port import Note

from .service import A_DAY, Gate, Service, StubbornGate, quick
from .workers import NewStore, OpenEngine, a_minute_ahead

pytestmark = pytest.mark.quick


@pytest.fixture(params=["sqlite", "postgres"])
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


Body = Callable[[Engine], Awaitable[Any]]


@dataclass
class Race:
    """Two workers on one file. The second's clock is ahead, so that to it the first's lease has run out."""

    first: Engine
    second: Engine
    service: Service
    gate: Gate = field(default_factory=Gate)

    async def first_in_call(self, body: Body, call: str = "do flight", gate: Gate | None = None) -> asyncio.Task[Any]:
        """The first worker's body, frozen in `call`."""
        self.gate = gate or self.gate
        self.service.on(call, self.gate)
        frozen = asyncio.ensure_future(body(self.first))
        await self.gate.arrived.wait()
        return frozen

    async def epochs(self) -> list[int]:
        return [each.epoch for each in await self.second.journal("trip")]


@pytest.fixture
async def race(open_engine: OpenEngine, new_store: NewStore, service: Service) -> AsyncIterator[Race]:
    async with (
        open_engine(await new_store()) as first,
        open_engine(await new_store(a_minute_ahead)) as second,
    ):
        yield Race(first, second, service)


async def test_rule_6_a_takeover_appends_its_epoch_before_any_probe_or_effect(race: Race) -> None:
    service = race.service
    journal_at_probe: list[type] = []

    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", probe=True, dedup=A_DAY))

    async def note_the_journal(land: Any) -> Any:
        journal_at_probe.extend(type(each.event) for each in await race.second.journal("trip"))
        return land()

    frozen = await race.first_in_call(body)
    service.on("ask flight", note_the_journal)
    await body(race.second)
    race.gate.opened.set()
    with pytest.raises(SupersededError):
        await frozen
    assert journal_at_probe[-1] is LeaseTaken


async def test_rule_6_a_superseded_worker_appends_nothing_and_starts_nothing(race: Race) -> None:
    service = race.service

    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", probe=True, dedup=A_DAY))
            await saga.run(service.action("hotel"))

    frozen = await race.first_in_call(body)
    await body(race.second)
    assert service.live == ["flight", "hotel"]
    journal = await race.second.journal("trip")
    race.gate.opened.set()
    with pytest.raises(SupersededError, match="trip"):
        await frozen
    assert await race.second.journal("trip") == journal
    assert (service.live, service.count("do hotel")) == (["flight", "hotel"], 1)
    assert service.calls.count("undo flight") == 0


async def test_rule_6_an_acknowledgement_that_came_too_late_is_adopted_by_the_next_holder(race: Race) -> None:
    service = race.service

    async def body(engine: Engine) -> Any:
        async with engine.saga("trip") as saga:
            return await saga.run(service.action("flight"))

    frozen = await race.first_in_call(body)
    with pytest.raises(OperationHeldError):  # nobody knows what became of the first worker's call
        await body(race.second)
    race.gate.opened.set()
    with pytest.raises(SupersededError):
        await frozen
    answer = {"booked": "flight", "key": "trip/flight-1/1"}
    assert await race.second.store.notes("trip") == (Note("flight-1", CallKind.ACTION, "trip/flight-1/1", answer),)
    assert await body(race.second) == answer
    succeeded = [each.event for each in await race.second.journal("trip") if isinstance(each.event, OperationSucceeded)]
    assert [each.via for each in succeeded] == [Via.EVIDENCE]
    assert (service.count("do flight"), (await race.second.status("trip")).status) == (1, SagaStatus.COMMITTED)


async def test_rule_6_so_is_one_of_a_compensation(race: Race) -> None:
    service = race.service

    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            raise ValueError

    frozen = await race.first_in_call(body, "undo flight")
    assert (await race.second.resume("trip")).status is SagaStatus.STUCK
    race.gate.opened.set()
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the body's own exception, with a note
        await frozen
    assert "was taken over by another worker" in raised.value.__notes__[0]
    assert (await race.second.resume("trip")).status is SagaStatus.COMPENSATED
    assert service.count("undo flight") == 1


async def test_rule_6_a_call_of_a_superseded_worker_is_not_cut_off_before_it_answers(race: Race) -> None:
    """Two calls are out: that the first one's outcome cannot be journalled must not lose the other's."""
    service = race.service
    other = StubbornGate()
    service.on("do hotel", other)

    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await asyncio.gather(saga.run(service.action("flight")), saga.run(service.action("hotel")))

    frozen = await race.first_in_call(body)
    await other.arrived.wait()
    with pytest.raises(OperationHeldError):
        await body(race.second)
    race.gate.opened.set()
    await asyncio.sleep(0.05)
    other.opened.set()
    with pytest.raises(SupersededError):
        await frozen
    assert {each.operation for each in await race.second.store.notes("trip")} == {"flight-1", "hotel-1"}


async def test_rule_6_a_frozen_worker_that_wakes_between_calls_is_stopped_by_the_fence(race: Race) -> None:
    service = race.service
    awake = asyncio.Event()
    frozen_now = asyncio.Event()

    async def body() -> None:
        async with race.first.saga("trip") as saga:
            await saga.run(service.action("flight"))
            frozen_now.set()
            await awake.wait()
            await saga.run(service.action("hotel"))

    frozen = asyncio.ensure_future(body())
    await frozen_now.wait()
    await race.second.resume("trip")
    awake.set()
    with pytest.raises(SupersededError):
        await frozen
    assert service.calls == ["do flight", "undo flight"]


async def test_rule_6_a_worker_that_was_overtaken_before_it_had_read_the_journal_says_so(race: Race) -> None:
    with pytest.raises(asyncio.CancelledError):
        async with race.first.saga("trip") as saga:
            await saga.run(race.service.action("flight"))
            raise asyncio.CancelledError
    take = race.first.store.take

    async def take_and_freeze(saga_id: str, **options: Any) -> Any:
        lease = await take(saga_id, **options)
        await race.second.resume("trip")
        return lease

    race.first.store.take = take_and_freeze  # type: ignore[method-assign]
    with pytest.raises(SupersededError, match="trip"):
        async with race.first.saga("trip"):
            pytest.fail("the body ran")


async def test_rule_6_a_worker_that_was_frozen_after_its_intent_does_not_call_once_it_is_superseded(
    open_engine: OpenEngine, new_store: NewStore, service: Service
) -> None:
    """It wakes right before the call would go out: the other one has done the work."""
    frozen = asyncio.Event()
    woken = asyncio.Event()
    frozen_s = 0.0

    @asynccontextmanager
    async def freezes(_call: Call) -> AsyncIterator[None]:
        frozen.set()
        await woken.wait()
        yield

    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", probe=True, dedup=A_DAY))

    async with (
        open_engine(around_call=freezes, clock=lambda: time.time() + frozen_s) as one,
        open_engine(await new_store(a_minute_ahead)) as another,
    ):
        running = asyncio.create_task(body(one))
        await frozen.wait()
        one._keeper.stop()
        frozen_s = 4.5
        await body(another)
        woken.set()
        with pytest.raises(SupersededError):
            await running
    assert (service.count("do flight"), service.live) == (1, ["flight"])


async def test_rule_6_a_worker_that_was_frozen_and_not_superseded_goes_on(open_engine: OpenEngine, service: Service) -> None:
    frozen_s = 0.0

    @asynccontextmanager
    async def freezes(_call: Call) -> AsyncIterator[None]:
        nonlocal frozen_s
        frozen_s += 4.5
        yield

    async with open_engine(around_call=freezes, clock=lambda: time.time() + frozen_s) as engine, engine.saga("trip") as saga:
        await saga.run(service.action("flight", policy=quick(timeout_s=60.0)))
    assert service.calls == ["do flight"]
