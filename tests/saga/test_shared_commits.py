"""Rule 1, its second half: what may share a commit, what may not, and that nothing waits for company (ADR-0007)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from sagagraph import Call, action
from sagagraph.errors import StoreError, SupersededError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import Lease

from .service import A_DAY, Service
from .workers import OpenEngine, a_minute_ahead, until

NAMES = ("flight", "hotel", "car")


class Recording(MemorySagaStore):
    """Keeps what each commit held; `fails_on`: the class of event whose batch cannot be written, once."""

    def __init__(self, *clock: Any) -> None:
        super().__init__(*clock)
        self.batches: list[list[str]] = []
        self.fails_on: type | None = None

    async def append(self, lease: Lease, entries: Sequence[e.Entry], **options: Any) -> None:
        await asyncio.sleep(0.002)
        if self.fails_on and any(isinstance(each.event, self.fails_on) for each in entries):
            self.fails_on = None
            raise StoreError("the disk is full")
        await super().append(lease, entries, **options)
        self.batches.append([type(each.event).__name__ for each in entries])

    async def succeeded(self, operation: str) -> bool:
        """What another process would see."""
        journal = [each.event for each in await super().read("trip")]
        return any(isinstance(each, e.OperationSucceeded) and each.operation == operation for each in journal)


@pytest.fixture
def store() -> Recording:
    return Recording()


async def book(saga: BodySaga, *actions: Action) -> None:
    for each in actions:
        await saga.run(each)


async def test_rule_1_an_outcome_shares_its_commit_with_the_next_intent_where_doubt_settles_itself(
    open_engine: OpenEngine, store: Recording, service: Service
) -> None:
    async with open_engine(store) as engine, engine.saga("trip") as saga:
        await book(saga, *(service.action(name, dedup=A_DAY) for name in NAMES))
        assert store.batches == [
            ["OperationPlanned", "AttemptStarted"],
            ["OperationSucceeded", "OperationPlanned", "AttemptStarted"],
            ["OperationSucceeded", "OperationPlanned", "AttemptStarted"],
        ]
    assert store.batches[3:] == [["OperationSucceeded", "BodyCompleted", "SagaCommitted"]]


async def test_rule_1_what_only_reads_shares_its_commit_with_its_outcome_and_an_effect_does_not(
    open_engine: OpenEngine, store: Recording, service: Service
) -> None:
    async with open_engine(store) as engine, engine.saga("trip") as saga:
        await book(saga, service.action("offers", kind="read-only", undoable=False), service.action("flight", dedup=A_DAY))
        assert store.batches == [
            ["OperationPlanned", "AttemptStarted", "OperationSucceeded", "OperationPlanned", "AttemptStarted"],
        ]


async def test_rule_1_a_read_that_takes_its_time_is_on_record_while_it_does(open_engine: OpenEngine, store: Recording) -> None:
    going_on, may_end = asyncio.Event(), asyncio.Event()

    @action(kind="read-only")
    async def offers(request: str, call: Call) -> str:
        going_on.set()
        await may_end.wait()
        return request

    async def is_on_record() -> bool:
        return store.batches == [["OperationPlanned", "AttemptStarted"]]

    async with open_engine(store) as engine, engine.saga("trip") as saga:
        reading = asyncio.create_task(saga.run(offers, "to Rome"))
        await going_on.wait()
        assert store.batches == []
        await asyncio.wait_for(until(is_on_record), 1)
        may_end.set()
        assert await reading == "to Rome"


@pytest.mark.parametrize("promised", [{}, {"probe": True}, {"kind": "pivot", "dedup": A_DAY, "undoable": False}])
async def test_rule_1_any_other_outcome_is_durable_before_anybody_sees_it(
    open_engine: OpenEngine, store: Recording, service: Service, promised: dict[str, Any]
) -> None:
    """Without keys it could not be settled; and the pivot is what everything turns on."""
    async with open_engine(store) as engine, engine.saga("trip") as saga:
        await saga.run(service.action("flight", **promised))
        assert await store.succeeded("flight-1")
        assert store.batches[-1] == ["OperationSucceeded"]


async def test_rule_1_a_key_that_is_soon_forgotten_settles_nothing(
    open_engine: OpenEngine, store: Recording, service: Service
) -> None:
    async with open_engine(store) as engine, engine.saga("trip") as saga:
        await saga.run(service.action("flight", dedup=A_DAY / 86_400))
        assert await store.succeeded("flight-1")


async def test_rule_1_an_idle_loop_writes_what_is_unwritten(open_engine: OpenEngine, store: Recording, service: Service) -> None:
    async with open_engine(store) as engine, engine.saga("trip") as saga:
        await saga.run(service.action("flight", dedup=A_DAY))
        assert not await store.succeeded("flight-1")
        await asyncio.wait_for(until(lambda: store.succeeded("flight-1")), 1)
        assert store.batches[-1] == ["OperationSucceeded"]


async def test_rule_1_a_busy_loop_writes_it_after_a_moment(open_engine: OpenEngine, store: Recording, service: Service) -> None:
    async def works(turns: int) -> None:
        for _turn in range(turns):
            await asyncio.sleep(0)

    async with open_engine(store) as engine, engine.saga("trip") as saga:
        flights = [service.action(f"flight {number}", dedup=A_DAY) for number in range(40)]
        working = asyncio.create_task(works(20_000))
        await asyncio.gather(*(saga.run(each) for each in flights))
        await asyncio.wait_for(until(lambda: store.succeeded("flight 39-1")), 1)
        await working


async def test_rule_1_whoever_reads_the_saga_through_its_engine_sees_what_is_durable(
    open_engine: OpenEngine, store: Recording, service: Service
) -> None:
    async with open_engine(store) as engine, engine.saga("trip") as saga:
        await saga.run(service.action("flight", dedup=A_DAY))
        assert (await engine.status("trip")).operations[0].status.value == "succeeded"
        assert await store.succeeded("flight-1")


@pytest.mark.parametrize("leaving", [asyncio.CancelledError, KeyboardInterrupt, SystemExit])
async def test_rule_1_an_interrupt_writes_what_is_unwritten(
    open_engine: OpenEngine, store: Recording, service: Service, leaving: type[BaseException]
) -> None:
    async with open_engine(store) as engine:
        with pytest.raises(leaving):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight", dedup=A_DAY))
                raise leaving
        assert await store.succeeded("flight-1")
        assert (await engine.status("trip")).status is SagaStatus.RUNNING


async def test_rule_1_a_batch_that_fails_takes_what_was_unwritten_with_it_and_nothing_happens_twice(
    open_engine: OpenEngine, store: Recording, service: Service
) -> None:
    actions = [service.action(name, dedup=A_DAY) for name in NAMES]
    async with open_engine(store) as engine:
        with pytest.raises(StoreError, match="full"):
            async with engine.saga("trip") as saga:
                await saga.run(actions[0])
                store.fails_on = e.OperationPlanned
                await saga.run(actions[1])
        assert service.calls == ["do flight"]  # the second intent was not durable
        async with engine.saga("trip") as saga:
            await book(saga, *actions)
    assert service.live == sorted(NAMES)
    assert service.count("do flight") == 1  # what it had answered was left as evidence


async def test_rule_6_what_a_superseded_worker_had_not_written_is_left_as_evidence(
    open_engine: OpenEngine, service: Service
) -> None:
    store = Recording()
    async with open_engine(store) as one, open_engine(store) as another:
        with pytest.raises(SupersededError):
            async with one.saga("trip") as saga:
                await saga.run(service.action("flight", dedup=A_DAY))
                store._clock = a_minute_ahead
                await store.take("trip", owner="another", ttl_s=0.0)
                await saga.run(service.action("hotel", dedup=A_DAY))
        assert [each.operation for each in await store.notes("trip")] == ["flight-1"]
        async with another.saga("trip") as saga:
            await book(saga, service.action("flight", dedup=A_DAY), service.action("hotel", dedup=A_DAY))
    assert (service.live, service.count("do flight")) == (["flight", "hotel"], 1)
