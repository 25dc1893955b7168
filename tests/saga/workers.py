"""Fixtures of the effectful core: a service, stores, and engines on them (workers)."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from sagagraph.saga.engine.actions import DECLARED
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.migration import upgrade
from sagagraph.saga.stores.port import SagaStore
from sagagraph.saga.stores.postgres import PostgresSagaStore
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from tests.support.replaying import Witness, check_file, check_replays

from .service import Service

PATIENCE_S = 25.0
OpenEngine = Callable[..., AbstractAsyncContextManager[Engine]]
NewStore = Callable[..., Awaitable[SagaStore]]
EVERY_STORE = ("memory", "sqlite", "postgres")


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def memory() -> MemorySagaStore:
    """One memory store: engines on it see each other's sagas, as processes on one file do."""
    return MemorySagaStore()


@pytest.fixture
def store_kind() -> str:
    """What this test's sagas are kept in; a module whose tests are about that gives it all of `EVERY_STORE`."""
    return "memory"


@pytest.fixture
def new_store(request: pytest.FixtureRequest, store_kind: str) -> NewStore:
    """Another store on the place of this test, as another process would open it (`clock`: not for `memory`)."""
    place = request.getfixturevalue({"memory": "memory", "sqlite": "journal", "postgres": "database"}[store_kind])

    async def opened(*clock: Callable[[], float]) -> SagaStore:
        if store_kind == "memory":
            return cast(MemorySagaStore, place)
        if store_kind == "sqlite":
            return await SqliteSagaStore.open(place, *clock)
        return await PostgresSagaStore.open(place, *clock)

    return opened


@pytest.fixture
async def watchdog() -> AsyncIterator[None]:
    """A body that waits for ever fails its test, and does not hang the suite."""
    loop = asyncio.get_running_loop()
    alarm = loop.call_later(PATIENCE_S, lambda: [task.cancel("the test hangs") for task in asyncio.all_tasks(loop)])
    yield
    alarm.cancel()


@pytest.fixture
def open_engine(new_store: NewStore, watchdog: None, monkeypatch: pytest.MonkeyPatch) -> OpenEngine:
    """Another worker on the place of this test, or on the store that it is given."""
    for names in ("_actions", "_renamed"):  # what other tests defined under the same names
        monkeypatch.setattr(DECLARED, names, {})

    @asynccontextmanager
    async def opened(store: SagaStore | None = None, **options: Any) -> AsyncIterator[Engine]:
        witness = Witness()
        engine = Engine(store or await new_store(), **{**options, "observers": (*options.get("observers", ()), witness)})
        try:
            yield engine
            await check_replays(engine.store, witness.seen)
        finally:
            await engine.close()

    return opened


@pytest.fixture
async def engine(request: pytest.FixtureRequest, open_engine: OpenEngine) -> AsyncIterator[Engine]:
    """On the memory store, or on each of those that `on_every_store` names."""
    match getattr(request, "param", "memory"):
        case "sqlite":
            store: SagaStore | None = await SqliteSagaStore.open(request.getfixturevalue("journal"))
        case "postgres":
            store = await PostgresSagaStore.open(request.getfixturevalue("database"))
        case _:
            store = None
    async with open_engine(store) as opened:
        yield opened


on_every_store = pytest.mark.parametrize("engine", ["memory", "sqlite", "postgres"], indirect=True)


@pytest.fixture(scope="session")
def fresh_journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated and empty file to copy: migrating one for each test would take longer than the tests."""
    path = tmp_path_factory.mktemp("journal") / "fresh.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def journal(fresh_journal: Path, tmp_path: Path) -> Iterator[Path]:
    """The file of this test's journals, whoever writes them."""
    path = Path(shutil.copy(fresh_journal, tmp_path / "journal.db"))
    yield path
    with ThreadPoolExecutor(1) as beside:  # this thread's event loop is the test's
        beside.submit(asyncio.run, check_file(path)).result()


def a_minute_ahead() -> float:
    """A skewed clock: to a store with it, all leases of others have run out."""
    return time.time() + 60


async def until(is_reached: Callable[[], Awaitable[object]]) -> None:
    while not await is_reached():  # noqa: ASYNC110 - what another worker has written sets no event here
        await asyncio.sleep(0.02)
