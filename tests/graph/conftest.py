"""The planning graph on a store of its own, with a reservation service of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sagagraph.context.model import Model
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.domains.travel.provider.receipts import Ledger
from sagagraph.graph.checkpoints.checkpointer import open_checkpointer
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.planning.domain import Domain
from sagagraph.registry import account
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.support.replaying import Witness, check_replays
from tests.support.today import TODAY


@dataclass
class Worker:
    """One process's engine and graph; another one on the same store is what a restart makes."""

    engine: Engine
    graph: PlanningGraph
    domain: Any

    async def events(self, saga_id: str) -> list[str]:
        return [type(entry.event).__name__ for entry in await self.engine.journal(saga_id)]


OpenWorker = Callable[..., AbstractAsyncContextManager[Worker]]


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db", today=TODAY)) as service:
        yield service.url


@pytest.fixture
def store_file(tmp_path: Path) -> Path:
    return tmp_path / "saga.db"


@pytest.fixture
def store_url(store_file: Path) -> str:
    return f"sqlite:///{store_file}"


@pytest.fixture
def open_worker(tmp_path: Path, store_url: str, url: str) -> OpenWorker:
    @asynccontextmanager
    async def open_it(
        domain: Domain | None = None, *, checkpoints: bool = True, model: Model | None = None
    ) -> AsyncIterator[Worker]:
        async with AsyncExitStack() as stack:
            if domain is None:
                provider = await stack.enter_async_context(HttpReservationProvider(url))
                domain = await Travel.connect(provider, tmp_path / "outbox")
            witness = Witness()
            engine = Engine(await open_store(store_url), account=account, observers=[witness])
            stack.push_async_callback(engine.close)
            saver = await stack.enter_async_context(open_checkpointer(store_url)) if checkpoints else None
            graph = planning_graph(domain=domain, engine=engine, checkpointer=saver, model=model)
            yield Worker(engine, graph, domain)
            await check_replays(engine.store, witness.seen)

    return open_it


@pytest.fixture
async def ledger(url: str) -> Callable[[], Any]:
    async def read() -> Ledger:
        async with HttpReservationProvider(url) as provider:
            return await provider.ledger()

    return read
