"""The heart of an engine: rows that cannot be read stop neither it nor the sagas of others."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from sagagraph import Engine
from sagagraph.errors import BusyError, JournalError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.stores.commits import Alone
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import Request, RequestKind, SagaStore
from sagagraph.saga.stores.rows import checksum, row_of

from .service import Gate, Service
from .workers import EVERY_STORE, NewStore, OpenEngine, until

pytestmark = pytest.mark.quick

LEASE_TTL_S = 1.5


@pytest.fixture(params=EVERY_STORE)
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


UNREADABLE = {
    "no JSON": ("resolve", "{ not json"),
    "a kind from a newer release": ("pause", "null"),
    "no operation": ("resolve", '{"resolution": "landed"}'),
    "another type": ("resolve", '["flight-1", "landed"]'),
    "a resolution from a newer release": ("resolve", '{"operation": "flight-1", "resolution": "exchanged"}'),
}


async def insert_request(store: SagaStore, saga_id: str, kind: str, data: str) -> None:
    """Write a row as another program might, past everything that checks it."""
    if isinstance(store, MemorySagaStore):
        store._requests += 1
        broken = {"data": None, "damage": "its data is no JSON"} if data.startswith("{ ") else {"data": json.loads(data)}
        store._sagas[saga_id].requests.append(Request(saga_id, store._requests, kind, "Ada", **broken))  # type: ignore[arg-type]
        return
    statement = "INSERT INTO requests (saga_id, kind, by, data) VALUES (?, ?, ?, ?)"
    await store._write(Alone(lambda: store._execute(statement, (saga_id, kind, "Ada", data)).close()))  # type: ignore[attr-defined]


async def rename_last_event(store: SagaStore, saga_id: str, entry: e.Entry, name: str) -> None:
    """Let the saga's last event be of another type, written as it should be: as a newer release would."""
    row = row_of(saga_id, entry)._replace(type=name)
    row = row._replace(checksum=checksum(saga_id, *row[:-1]))
    if isinstance(store, MemorySagaStore):
        store._sagas[saga_id].rows[-1] = row
        return
    change = "UPDATE events SET type = ?, checksum = ? WHERE saga_id = ? AND version = ?"
    values = (name, row.checksum, saga_id, row.version)
    await store._write(Alone(lambda: store._execute(change, values).close()))  # type: ignore[attr-defined]


async def refused_in(engine: Engine, saga_id: str) -> list[e.RequestRefused]:
    return [each.event for each in await engine.journal(saga_id) if isinstance(each.event, e.RequestRefused)]


async def test_rule_6_a_request_that_cannot_be_read_stops_neither_its_saga_nor_the_others(
    open_engine: OpenEngine, new_store: NewStore, service: Service
) -> None:
    gates = {name: Gate() for name in ("flight", "hotel")}

    async def body(engine: Engine, name: str) -> None:
        service.on(f"do {name}", gates[name])
        async with engine.saga(f"trip for a {name}") as saga:
            await saga.run(service.action(name))

    async with open_engine(lease_ttl_s=LEASE_TTL_S) as engine, open_engine(await new_store(), lease_ttl_s=0.1) as beside:
        running = [asyncio.create_task(body(engine, name)) for name in gates]
        for gate in gates.values():
            await gate.arrived.wait()
        for kind, data in UNREADABLE.values():
            await insert_request(engine.store, "trip for a flight", kind, data)
        await asyncio.sleep(LEASE_TTL_S + 0.5)
        for name in gates:
            with pytest.raises(BusyError):
                await beside.resume(f"trip for a {name}", wait=False)
        await engine.store.ask("trip for a hotel", RequestKind.CANCEL, "Ada", None)

        async def is_heard() -> bool:
            return (await engine.load("trip for a hotel")).cancel_by == "Ada"

        await until(is_heard)
        for gate in gates.values():
            gate.opened.set()
        await asyncio.gather(*running, return_exceptions=True)
        told = [each.reason for each in await refused_in(engine, "trip for a flight")]
        statuses = [(await engine.status(f"trip for a {name}")).status for name in gates]
    assert service.live == ["flight"]
    assert statuses == [SagaStatus.COMMITTED, SagaStatus.COMPENSATED]
    assert [f"request {number} cannot be read" in told[number - 1] for number in range(1, 6)] == [True] * 5
    for what, why in enumerate(("no JSON", "'pause'", "no operation", "no operation", "resolution")):
        assert why in told[what]


async def test_rule_6_a_request_that_cannot_be_read_is_met_before_a_saga_is_carried_on(
    open_engine: OpenEngine, service: Service
) -> None:
    async with open_engine() as engine:
        with pytest.raises(asyncio.CancelledError):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight"))
                raise asyncio.CancelledError
        await insert_request(engine.store, "trip", *UNREADABLE["a kind from a newer release"])
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
        assert len(await refused_in(engine, "trip")) == 1
        assert (await engine.status("trip")).status is SagaStatus.COMMITTED
    assert service.calls == ["do flight"]


@pytest.mark.thorough
async def test_an_unexpected_failure_of_one_beat_is_reported_and_the_heart_goes_on(
    open_engine: OpenEngine, new_store: NewStore, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_engine(lease_ttl_s=LEASE_TTL_S) as engine, open_engine(await new_store(), lease_ttl_s=0.1) as beside:
        told: list[Any] = []
        monkeypatch.setattr(engine._keeper, "_report", told.append)

        async def breaks(_after: Any) -> Any:
            raise ZeroDivisionError

        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            with monkeypatch.context() as patched:
                patched.setattr(engine._keeper, "_listen", lambda: breaks(None))
                await asyncio.sleep(LEASE_TTL_S + 0.5)
                with pytest.raises(BusyError):
                    await beside.resume("trip", wait=False)
    assert {type(each) for each in told} == {ZeroDivisionError}


async def test_a_journal_from_a_newer_release_hides_no_other_saga_that_is_open(open_engine: OpenEngine, service: Service) -> None:
    async with open_engine() as engine:
        for name in ("old", "new", "newer"):
            async with engine.saga(name) as saga:
                await saga.run(service.action("flight"))
        for name in ("old", "new"):
            await engine.store.ask(name, RequestKind.CANCEL, "Ada", None)
        last = (await engine.journal("new"))[-1]
        await rename_last_event(engine.store, "new", last, "SagaParked")
        assert {each.saga_id for each in await engine.open_sagas()} == {"old", "new"}
        with pytest.raises(JournalError, match=r"saga 'new'.*SagaParked.*use a newer one"):
            await engine.resume("new")
        assert (await engine.resume("old")).status is SagaStatus.COMPENSATED
        await rename_last_event(engine.store, "new", last, "SagaCommitted")
