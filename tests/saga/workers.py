"""Fixtures of the effectful core: a service, stores, and engines on them (workers)."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sagagraph.saga.action import DECLARED
from sagagraph.saga.engine import Engine
from sagagraph.saga.ports import SagaStore
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.sqlite import SqliteSagaStore

from .service import Service

PATIENCE_S = 25.0
OpenEngine = Callable[..., AbstractAsyncContextManager[Engine]]


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def memory() -> MemorySagaStore:
    """One memory store: engines on it see each other's sagas, as processes on one file do."""
    return MemorySagaStore()


@pytest.fixture
async def watchdog() -> AsyncIterator[None]:
    """A body that waits for ever fails its test, and does not hang the suite."""
    loop = asyncio.get_running_loop()
    alarm = loop.call_later(PATIENCE_S, lambda: [task.cancel("the test hangs") for task in asyncio.all_tasks(loop)])
    yield
    alarm.cancel()


@pytest.fixture
def open_engine(memory: MemorySagaStore, watchdog: None, monkeypatch: pytest.MonkeyPatch) -> OpenEngine:
    """Another worker on the store of this test (`store=`, by default `memory`)."""
    monkeypatch.setattr(DECLARED, "_actions", {})  # what other tests defined under the same names

    @asynccontextmanager
    async def opened(store: SagaStore | None = None, **options: Any) -> AsyncIterator[Engine]:
        engine = Engine(store or memory, **options)
        try:
            yield engine
        finally:
            await engine.close()

    return opened


@pytest.fixture
async def engine(open_engine: OpenEngine) -> AsyncIterator[Engine]:
    async with open_engine() as opened:
        yield opened


@pytest.fixture(scope="session")
def fresh_journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated and empty file to copy: migrating one for each test would take longer than the tests."""
    path = tmp_path_factory.mktemp("journal") / "fresh.db"

    async def make() -> None:
        await (await SqliteSagaStore.open(path)).close()

    asyncio.run(make())
    return path


@pytest.fixture
def journal(fresh_journal: Path, tmp_path: Path) -> Path:
    """The file of this test's journals."""
    return Path(shutil.copy(fresh_journal, tmp_path / "journal.db"))


def a_minute_ahead() -> float:
    """A skewed clock: to a store with it, all leases of others have run out."""
    return time.time() + 60


async def until(is_reached: Callable[[], Awaitable[bool]]) -> None:
    while not await is_reached():  # noqa: ASYNC110 - what another worker has written sets no event here
        await asyncio.sleep(0.02)
