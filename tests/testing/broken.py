"""A saga of somebody else's: a parcel service that forgets keys, and a saga that believes that it does not.

`CARELESS` declares a guarantee that its provider does not keep; the sweep must find the second parcel. `CAREFUL` declares none.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, patch

from sagagraph.errors import SagaGraphError
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.codec import Record, decode
from sagagraph.saga.core.events import Entry
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.commits import Fenced
from sagagraph.saga.stores.rows import row_of
from sagagraph.saga.stores.sql_store import Append, SqlSagaStore
from sagagraph.saga.stores.statements import INSERT_EVENT
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import Judgement, store_of

SAGA = "order"


def parcel_action(folder: Path, guarantees: Guarantees) -> Action:
    """Every call sends a parcel: one line in the service's book, whatever the key."""
    book = folder / "parcels"

    async def send_parcel(request: dict[str, Any], call: Call) -> dict[str, Any]:
        with book.open("a") as lines:
            lines.write(json.dumps({"key": call.idempotency_key, "to": request["to"]}) + "\n")
        return {"sent": True}

    async def call_back(request: dict[str, Any], result: Any, call: Call) -> None:
        with book.open("a") as lines:
            lines.write(json.dumps({"back": call.operation_key}) + "\n")

    return action(send_parcel, compensate=call_back, guarantees=guarantees)


@dataclass(frozen=True)
class ParcelScenario:
    name: str
    guarantees: Guarantees

    @contextmanager
    def world(self, folder: Path) -> Iterator[None]:
        (folder / "parcels").touch()
        yield

    async def prepare(self, folder: Path) -> None:
        pass

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        store = crash.around_store(await open_store(store_of(folder)))
        async with self._opened(folder, Engine(store, around_call=crash.around_call, lease_ttl_s=crash.lease_ttl_s)) as (
            engine,
            send,
        ):
            await self._body(engine, send)

    async def resume(self, folder: Path) -> None:
        engine = Engine(await open_store(store_of(folder)))
        async with self._opened(folder, engine) as (engine, send):
            try:
                await self._body(engine, send)
            except SagaGraphError:
                return

    async def judge(self, folder: Path) -> Judgement:
        lines = [json.loads(line) for line in (folder / "parcels").read_text().splitlines()]
        keys = [line["key"] for line in lines if "key" in line]
        faults = tuple(f"{key} was sent {keys.count(key)} times" for key in dict.fromkeys(keys) if keys.count(key) > 1)
        return Judgement(f"{len(keys)} sent", faults)

    async def _body(self, engine: Engine, send: Action) -> None:
        async with engine.saga(SAGA) as saga:
            await saga.run(send, {"to": "Ann"}, id="first")
            await saga.run(send, {"to": "Bob"}, id="second")

    @asynccontextmanager
    async def _opened(self, folder: Path, engine: Engine) -> AsyncIterator[tuple[Engine, Action]]:
        try:
            yield engine, parcel_action(folder, self.guarantees)
        finally:
            await engine.close()


@dataclass(frozen=True)
class UnfencedScenario(ParcelScenario):
    """Its worker forgets the fence: when it is superseded, it appends behind what others wrote."""

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        with (
            patch.object(SqlSagaStore, "_fenced", append_anyway),
            patch.object(Coordinator, "check_still_held", AsyncMock()),
        ):
            await super().run(folder, crash)


_fenced = SqlSagaStore._fenced


def append_anyway(self: SqlSagaStore, write: Fenced) -> bool:
    if not isinstance(write, Append):
        return _fenced(self, write)
    saga_id = write.saga_id
    head = self._execute("SELECT version, epoch FROM sagas WHERE saga_id = ?", (saga_id,)).fetchone()
    for version, row in enumerate(write.rows, head[0] + 1):
        event = decode(Record(row.type, row.schema_version, row.data), row.at)
        self._execute(INSERT_EVENT, (saga_id, *row_of(saga_id, Entry(version, head[1], row.at, event))))
    self._execute("UPDATE sagas SET version = ? WHERE saga_id = ?", (head[0] + len(write.rows), saga_id))
    return True


CARELESS = ParcelScenario("careless", Guarantees(dedup=timedelta(days=1)))
CAREFUL = ParcelScenario("careful", Guarantees())
UNFENCED = UnfencedScenario("unfenced", Guarantees(dedup=timedelta(days=1)))
BOTH = (CARELESS, CAREFUL)
NOT_A_SCENARIO = 42
NONE_AT_ALL = ()
