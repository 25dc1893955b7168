"""Trips that have seen something, projected into every database that the stores know."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from sagagraph.domains.travel.domain import Travel, account_of
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.graph.planning_graph import planning_graph
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.projections.projector import HasTables, Projector
from sagagraph.saga.stores.tables import engine_of
from sagagraph.saga.stores.urls import open_store
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from tests.support.postgres import PostgresServer
from tests.support.today import TODAY
from tests.support.trips import REQUEST

FAULTS = [
    {"kind": "payment", "call": "capture", "nth": 1, "fault": "refuse"},
    {"kind": "train", "call": "book", "nth": 2, "fault": "before"},
]
"""The payment of the first trip, and a train of the second one."""


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def home_of_trips(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of an empty store."""
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        return server.create_database("trips")
    return f"sqlite:///{tmp_path_factory.mktemp('projected') / 'saga.db'}"


@dataclass(frozen=True)
class Projected:
    """A database with the projections of three trips: `trip-refused`, `trip` and `trip-cancelled`."""

    url: str

    def ask(self, sql: str) -> Sequence[Any]:
        engine, _name = engine_of(self.url)
        try:
            with engine.connect() as connection:
                return connection.execute(text(sql)).mappings().all()
        finally:
            engine.dispose()

    @staticmethod
    def json(value: Any) -> Any:
        """A JSON column of a plain statement: SQLite gives its text, PostgreSQL its value."""
        return json.loads(value) if isinstance(value, str) else value


@pytest.fixture(scope="session")
def projected(home_of_trips: str, tmp_path_factory: pytest.TempPathFactory) -> Projected:
    return Projected(asyncio.run(_projected(home_of_trips, tmp_path_factory.mktemp("world"))))


async def _projected(store_url: str, folder: Path) -> str:
    faults = folder / "faults.json"
    faults.write_text(json.dumps(FAULTS))
    with EmbeddedSandbox(SandboxSettings(folder / "sandbox.db", faults, TODAY)) as service:
        async with HttpReservationProvider(service.url) as provider:
            travel = await Travel.connect(provider, folder / "outbox")
            engine = Engine(await open_store(store_url), actions=travel.actions, account=account_of)
            try:
                graph = planning_graph(domain=travel, engine=engine)
                for saga_id in ("trip-refused", "trip", "trip-cancelled"):
                    await graph.start(saga_id, REQUEST, approved_by="Ada")
                await engine.cancel("trip-cancelled", by="Ada")
                projector = Projector(engine.store)
                for saga_id in await projector.behind():
                    await projector.project(saga_id)
                projector.close()
                assert isinstance(engine.store, HasTables)
                return engine.store.database_url
            finally:
                await engine.close()
