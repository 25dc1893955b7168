from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from sagagraph.saga.ports import SagaStore
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.sqlite import SqliteSagaStore


class Clock:
    """The store's clock: it stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, journal: Path, clock: Clock) -> AsyncIterator[SagaStore]:
    made = MemorySagaStore(clock) if request.param == "memory" else await SqliteSagaStore.open(journal, clock)
    yield made
    await made.close()


OpenSqlite = Callable[[], Awaitable[SqliteSagaStore]]


@pytest.fixture
async def open_sqlite(journal: Path, clock: Clock) -> AsyncIterator[OpenSqlite]:
    """Another store on the file of this test."""
    opened: list[SqliteSagaStore] = []

    async def open_one() -> SqliteSagaStore:
        opened.append(await SqliteSagaStore.open(journal, clock))
        return opened[-1]

    yield open_one
    for each in opened:
        await each.close()
