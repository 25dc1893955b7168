"""Rule 1: no effect starts on an uncommitted intent, and a failed batch fails all its waiters."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from typing import Any

import pytest

from sagagraph import Engine
from sagagraph.errors import StoreError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.stores.port import Lease, SagaStore

from .service import A_DAY, Gate, Service
from .workers import EVERY_STORE, NewStore, OpenEngine

pytestmark = pytest.mark.quick


@pytest.fixture(params=EVERY_STORE)
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class FailingStore:
    """`fails_on`: the class of event whose batch cannot be written, once. `order` keeps what was durable when."""

    def __init__(self, inner: SagaStore, order: list[str], fails_on: type | None = None) -> None:
        self._inner = inner
        self._order = order
        self.fails_on = fails_on

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def append(self, lease: Lease, entries: Sequence[e.Entry], **options: Any) -> None:
        events = [each.event for each in entries]
        await asyncio.sleep(0.01)  # as a disk does: whoever does not wait for it is found out
        if self.fails_on and any(isinstance(each, self.fails_on) for each in events):
            self.fails_on = None
            raise StoreError("the disk is full")
        await self._inner.append(lease, entries, **options)
        self._order += [f"durable {type(each).__name__} {getattr(each, 'operation', '')}" for each in events]


class OrderedService(Service):
    """Writes its calls into the same list as the store its events."""

    def __init__(self, order: list[str]) -> None:
        super().__init__()
        self.calls = order


@pytest.fixture
def order() -> list[str]:
    return []


@pytest.fixture
def service(order: list[str]) -> Service:
    return OrderedService(order)


@pytest.fixture
async def store(new_store: NewStore, order: list[str]) -> FailingStore:
    return FailingStore(await new_store(), order)


async def test_rule_1_no_effect_starts_before_its_intent_is_durable(
    open_engine: OpenEngine, store: FailingStore, service: Service, order: list[str]
) -> None:
    async with open_engine(store) as engine:
        with pytest.raises(ZeroDivisionError):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight", probe=True))
                1 / 0  # noqa: B018
    assert order.index("durable AttemptStarted flight-1") + 1 == order.index("do flight")
    assert order.index("do flight") < order.index("durable OperationSucceeded flight-1")
    assert order.index("durable CompensationStarted flight-1") + 1 == order.index("undo flight")
    assert order.index("undo flight") < order.index("durable OperationCompensated flight-1")


async def test_rule_1_a_void_is_intended_first_too(
    open_engine: OpenEngine, store: FailingStore, service: Service, order: list[str]
) -> None:
    gate = Gate()
    service.on("do flight", gate)
    async with open_engine(store) as engine:

        async def body() -> None:
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight", void=True))

        running = asyncio.create_task(body())
        await gate.arrived.wait()
        running.cancel()
        await asyncio.wait([running])
        assert (await engine.resume("trip")).status in (SagaStatus.COMPENSATED, SagaStatus.STUCK)
        view = await engine.cancel("trip")
    assert view is not None
    assert order.index("durable VoidStarted flight-1") + 1 == order.index("void flight")


@pytest.mark.parametrize("event", [e.OperationPlanned, e.AttemptStarted])
async def test_rule_1_no_effect_starts_on_an_intent_that_could_not_be_written(
    open_engine: OpenEngine, store: FailingStore, service: Service, event: type
) -> None:
    store.fails_on = event
    async with open_engine(store) as engine:
        with pytest.raises(StoreError, match="disk is full"):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight"))
        assert service.count("do flight") == 0
        async with asyncio.timeout(2), engine.saga("trip") as saga:  # released, and resumable
            await saga.run(service.action("flight"))
    assert (service.count("do flight"), service.live) == (1, ["flight"])


async def test_rule_1_a_failed_batch_fails_all_its_waiters(
    open_engine: OpenEngine, store: FailingStore, service: Service
) -> None:
    async with open_engine(store) as engine:
        with pytest.raises(StoreError):
            async with engine.saga("trip") as saga:
                store.fails_on = e.OperationPlanned
                runs = [saga.run(service.action(name)) for name in ("flight", "hotel", "car")]
                async with asyncio.timeout(2):
                    ended = await asyncio.gather(*runs, return_exceptions=True)
                assert [str(each) for each in ended] == ["the disk is full"] * 3
                with pytest.raises(StoreError, match="disk is full"):  # nor does it take anything more
                    await saga.run(service.action("train"))
                raise ended[0]  # type: ignore[misc]
    assert [each for each in service.calls if each.startswith("do ")] == []


async def test_a_failure_that_nobody_waits_for_any_more_is_no_exception_that_nobody_retrieves(
    open_engine: OpenEngine, store: FailingStore, service: Service, unheard: list[str]
) -> None:
    """Given up at any moment before and after a shared commit fails: `Future exception was never retrieved` was printed."""

    async def body(engine: Engine, name: str) -> None:
        async with engine.saga(name) as saga:
            await asyncio.gather(*(saga.run(service.action(each)) for each in ("flight", "hotel", "car")))

    async with open_engine(store) as engine:
        for milliseconds in range(0, 40, 2):
            store.fails_on = e.AttemptStarted
            running = asyncio.create_task(body(engine, f"trip-{milliseconds}"))
            await asyncio.wait([running], timeout=milliseconds / 1000)
            running.cancel()
            await asyncio.wait([running])
    gc.collect()
    assert (service.calls, unheard) == ([], [])


@pytest.mark.parametrize("event", [e.OperationSucceeded, e.BodyCompleted, e.SagaCommitted])
async def test_a_saga_whose_journal_failed_is_resumable_and_nothing_is_done_twice(
    open_engine: OpenEngine, store: FailingStore, service: Service, event: type
) -> None:
    async def body(engine: Engine) -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", probe=True, dedup=A_DAY))
            await saga.run(service.action("hotel", probe=True, dedup=A_DAY))

    store.fails_on = event
    async with open_engine(store) as engine:
        with pytest.raises(StoreError, match="disk is full"):
            await body(engine)
        assert service.count("undo flight") == 0
        async with asyncio.timeout(2):
            await body(engine)
        assert (await engine.status("trip")).status is SagaStatus.COMMITTED
    assert (service.count("do flight"), service.count("do hotel"), service.live) == (1, 1, ["flight", "hotel"])


@pytest.mark.parametrize("event", [e.SagaTurnedBack, e.CompensationStarted, e.OperationCompensated, e.SagaCompensated])
async def test_a_journal_that_fails_on_the_way_back_keeps_the_exception_and_can_be_resumed(
    open_engine: OpenEngine, store: FailingStore, service: Service, event: type
) -> None:
    async with open_engine(store) as engine:
        with pytest.raises(ZeroDivisionError) as raised:
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight", probe=True, dedup=A_DAY))
                store.fails_on = event
                1 / 0  # noqa: B018
        assert raised.value.__notes__ == ["while compensating: the disk is full"]
        async with asyncio.timeout(2):
            assert (await engine.resume("trip")).status is SagaStatus.COMPENSATED
    assert service.live == []


async def test_rule_1_parallel_operations_share_their_commits(
    open_engine: OpenEngine, store: FailingStore, service: Service
) -> None:
    batches: list[list[str]] = []
    append = store.append

    async def counted(lease: Lease, entries: Sequence[e.Entry], **options: Any) -> None:
        batches.append([type(each.event).__name__ for each in entries])
        await append(lease, entries, **options)

    store.append = counted  # type: ignore[method-assign]
    async with open_engine(store) as engine, engine.saga("trip") as saga:
        await asyncio.gather(*(saga.run(service.action(name)) for name in ("flight", "hotel", "car")))
        assert batches[0] == ["OperationPlanned"] * 3 + ["AttemptStarted"] * 3
        assert batches[1] == ["OperationSucceeded"] * 3
