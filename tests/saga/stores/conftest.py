from __future__ import annotations

import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import SagaStore
from sagagraph.saga.stores.postgres import PostgresSagaStore
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


@pytest.fixture
def journal(fresh_journal: Path, tmp_path: Path) -> Path:
    """Not folded again: events here are anything, as long as a store can keep them."""
    return Path(shutil.copy(fresh_journal, tmp_path / "journal.db"))


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, clock: Clock) -> AsyncIterator[SagaStore]:
    made: SagaStore
    if request.param == "memory":
        made = MemorySagaStore(clock)
    elif request.param == "sqlite":
        made = await SqliteSagaStore.open(request.getfixturevalue("journal"), clock)
    else:
        made = await PostgresSagaStore.open(request.getfixturevalue("database"), clock)
    yield made
    await made.close()


class SqlDatabase(ABC):
    """The database of one test, under a store or beneath it."""

    @abstractmethod
    async def open(self) -> SagaStore:
        """Another store on it, closed with the test."""

    @abstractmethod
    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """What somebody else does to it; placeholders are question marks."""


class _Sqlite(SqlDatabase):
    def __init__(self, path: Path, clock: Clock, opened: AsyncExitStack) -> None:
        self._path, self._clock, self._opened = path, clock, opened

    async def open(self) -> SagaStore:
        store = await SqliteSagaStore.open(self._path, self._clock)
        self._opened.push_async_callback(store.close)
        return store

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        with closing(sqlite3.connect(self._path)) as connection, connection:
            connection.execute(statement, parameters)


class _Postgres(SqlDatabase):
    def __init__(self, url: str, clock: Clock, opened: AsyncExitStack) -> None:
        self._url, self._clock, self._opened = url, clock, opened

    async def open(self) -> SagaStore:
        store = await PostgresSagaStore.open(self._url, self._clock)
        self._opened.push_async_callback(store.close)
        return store

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        with psycopg.connect(self._url) as connection:
            connection.execute(statement.replace("?", "%s").encode(), parameters)


@pytest.fixture(params=["sqlite", "postgres"])
async def sql(request: pytest.FixtureRequest, clock: Clock) -> AsyncIterator[SqlDatabase]:
    kind, place = {"sqlite": (_Sqlite, "journal"), "postgres": (_Postgres, "database")}[request.param]
    async with AsyncExitStack() as opened:
        yield kind(request.getfixturevalue(place), clock, opened)


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
