"""A restored store: a backup put back, a dump loaded, a replica promoted. What went out meanwhile is in no journal (rule 11)."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sagagraph import Engine
from sagagraph.errors import BusyError, LostStoreError, OperationHeldError
from sagagraph.saga.core.events import BodyCompleted, Driver, Entry, SagaBegun
from sagagraph.saga.core.state import Stage
from sagagraph.saga.stores.guards.durability import Durability
from sagagraph.saga.stores.sqlite import SqliteSagaStore, _connect
from sagagraph.workflow.kind import ActionKind
from tests.saga.service import A_DAY, Service
from tests.support.postgres import ARCHIVING, PostgresServer, postgres_server

Put = Callable[[], None]


class SqlitePlace:
    """A file, copied with SQLite's own backup and put back as operators do it."""

    def __init__(self, folder: Path) -> None:
        self.file, self._copy = folder / "saga.db", folder / "backup.db"
        self.url = f"sqlite:///{self.file}"

    def back_up(self) -> None:
        with closing(sqlite3.connect(self.file)) as source, closing(sqlite3.connect(self._copy)) as backup:
            source.backup(backup)

    def put_back(self) -> None:
        for suffix in ("-wal", "-shm"):
            self.file.with_name(f"{self.file.name}{suffix}").unlink(missing_ok=True)
        shutil.copy(self._copy, self.file)


class PostgresPlace:
    """A database, dumped and loaded again under its name."""

    def __init__(self, server: PostgresServer, url: str) -> None:
        self.url, self._server = url, server
        self._name = url.rpartition("/")[2]

    def back_up(self) -> None:
        self._server.execute(f'DROP DATABASE IF EXISTS "{self._name}_kept"')
        self._server.execute(f'CREATE DATABASE "{self._name}_kept" TEMPLATE "{self._name}"')

    def put_back(self) -> None:
        self._server.drop_database(self._name)
        self._server.execute(f'ALTER DATABASE "{self._name}_kept" RENAME TO "{self._name}"')


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> SqlitePlace | PostgresPlace:
    if request.param == "sqlite":
        return SqlitePlace(tmp_path)
    return PostgresPlace(request.getfixturevalue("postgres"), request.getfixturevalue("database"))


async def left_after(place: Any, service: Service, *names: str, **declared: Any) -> None:
    """Begin the trip, and leave it when these are done."""
    with pytest.raises(asyncio.CancelledError):
        async with Engine.open(place.url) as engine, engine.saga("trip") as saga:
            for each in names:
                await saga.run(service.action(each, **declared))
            raise asyncio.CancelledError


async def lost_a_day(place: Any, service: Service, **declared: Any) -> None:
    """A is done, the backup made, B is done, and the backup put back."""
    await left_after(place, service, "A", **declared)
    place.back_up()
    await left_after(place, service, "A", "B", **declared)
    place.put_back()


def landings(service: Service) -> list[str]:
    return [each.name for each in service.ledger]


@pytest.mark.parametrize("says_so", [True, False])
@pytest.mark.parametrize(
    "declared", [{"probe": True}, {"dedup": A_DAY}, {"probe": True, "dedup": A_DAY}, {"probe": True, "deadline": True}]
)
async def test_what_was_done_after_the_backup_is_found_and_not_done_again(
    place: Any, says_so: bool, declared: dict[str, Any]
) -> None:
    """Said with `db restored`, or noticed: by the witness of a file, by the identity of a database."""
    service = Service(remembers_keys="dedup" in declared)
    await lost_a_day(place, service, **declared)
    async with Engine.open(place.url) as engine:
        if says_so:
            assert await engine.restored() == ("trip",)
        async with engine.saga("trip") as saga:
            assert await saga.run(service.action("A", **declared)) == {"booked": "A", "key": "trip/A-1/1"}
            assert await saga.run(service.action("B", **declared)) == {"booked": "B", "key": "trip/B-1/1"}
        assert (await engine.status("trip")).status.value == "committed"
    assert landings(service) == ["A", "B"]


async def test_what_cannot_be_asked_is_held_and_named(place: Any) -> None:
    service = Service(remembers_keys=False)
    await lost_a_day(place, service)
    async with Engine.open(place.url) as engine:
        with pytest.raises(OperationHeldError, match="B-1"):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("A"))
                await saga.run(service.action("B"))
        assert landings(service) == ["A", "B"]
        await engine.resolve("trip", "B-1", "landed", output={"booked": "B"})
        async with engine.saga("trip") as saga:
            await saga.run(service.action("A"))
            await saga.run(service.action("B"))
        assert (await engine.status("trip")).status.value == "committed"
    assert landings(service) == ["A", "B"]


async def test_what_was_done_after_the_backup_is_undone_by_whoever_gives_up(place: Any) -> None:
    service = Service()
    await lost_a_day(place, service, probe=True, dedup=A_DAY)
    async with Engine.open(place.url) as engine:
        with pytest.raises(ValueError, match="enough"):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("A", probe=True, dedup=A_DAY))
                await saga.run(service.action("B", probe=True, dedup=A_DAY))
                raise ValueError("enough")
        assert (await engine.status("trip")).status.value == "compensated"
    assert service.live == []


async def test_what_was_undone_after_the_backup_is_not_undone_again(place: Any) -> None:
    service = Service(remembers_keys=False)
    await left_after(place, service, "A", probe=True)
    place.back_up()
    async with Engine.open(place.url) as engine:
        await engine.cancel("trip")
    place.put_back()
    async with Engine.open(place.url) as engine:
        await engine.cancel("trip")
        assert (await engine.status("trip")).status.value == "compensated"
    assert service.calls.count("undo A") == 1


async def test_a_reversal_after_a_restoration_asks_too(place: Any) -> None:
    """Undone for good after the backup; the restored journal says that it is paid."""
    service = Service(remembers_keys=False)

    async def give_back(request: Any, result: Any, call: Any) -> Any:
        service.calls.append("give back")
        return None

    paying = {"kind": ActionKind.PIVOT, "undoable": False, "reverse": give_back}
    async with Engine.open(place.url) as engine, engine.saga("trip") as saga:
        await saga.run(service.action("pay", **paying))
    place.back_up()
    async with Engine.open(place.url) as engine:
        await engine.cancel("trip")
    place.put_back()
    async with Engine.open(place.url) as engine:
        await engine.cancel("trip")
        assert (await engine.status("trip")).status.value == "stuck"
    assert service.calls.count("give back") == 1


async def test_sagas_of_afterwards_are_not_doubted(place: Any) -> None:
    service = Service(remembers_keys=False)
    await lost_a_day(place, service)
    async with Engine.open(place.url) as engine:
        async with engine.saga("another") as saga:
            await saga.run(service.action("C"))
        assert (await engine.status("another")).status.value == "committed"


async def test_a_store_that_was_only_copied_elsewhere_and_back_unchanged_is_believed(tmp_path: Path) -> None:
    place, service = SqlitePlace(tmp_path), Service(remembers_keys=False)
    await left_after(place, service, "A")
    place.back_up()
    place.put_back()
    async with Engine.open(place.url) as engine:
        assert engine.store.epoch == 1
        async with engine.saga("trip") as saga:
            await saga.run(service.action("A"))
            await saga.run(service.action("B"))
    assert landings(service) == ["A", "B"]


async def test_what_an_opening_store_has_counted_is_not_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store opens between a commit and its witness; another one must not then believe that a backup was put back."""
    path = tmp_path / "saga.db"
    store = await SqliteSagaStore.open(path)
    lease = await store.create("trip", SagaBegun(Driver.BODY, "", None), stage=Stage.RUNNING, owner="me", ttl_s=4.0)
    add = store._witness.add

    def later(count: int, total: Callable[[], int]) -> None:
        connection, *_rest = _connect(path, False, Durability.CHECKED)
        connection.close()
        add(count, total)

    monkeypatch.setattr(store._witness, "add", later)
    await store.append(lease, [Entry(2, 1, 5.5, BodyCompleted())], stage=Stage.RUNNING)
    await store.close()
    again = await SqliteSagaStore.open(path)
    assert again.epoch == 1
    await again.close()


async def test_a_file_that_comes_without_its_witness_is_doubted(tmp_path: Path) -> None:
    place, service = SqlitePlace(tmp_path), Service(remembers_keys=False)
    await lost_a_day(place, service)
    (tmp_path / "saga.db.witness").unlink()
    with pytest.raises(OperationHeldError):
        async with Engine.open(place.url) as engine, engine.saga("trip") as saga:
            await saga.run(service.action("A"))
            await saga.run(service.action("B"))
    assert landings(service) == ["A", "B"]


async def test_restored_waits_for_no_worker_that_still_runs(place: Any, service: Service) -> None:
    async with Engine.open(place.url) as running, Engine.open(place.url) as other, running.saga("trip") as saga:
        await saga.run(service.action("A"))
        with pytest.raises(BusyError):
            await other.restored()


async def test_an_engine_whose_database_became_another_stops(postgres: PostgresServer, database: str, service: Service) -> None:
    place = PostgresPlace(postgres, database)
    await left_after(place, service, "A")
    place.back_up()
    with pytest.raises(LostStoreError, match="db restored"):
        async with Engine.open(place.url) as engine, engine.saga("trip") as saga:
            await saga.run(service.action("A"))
            place.put_back()
            await saga.run(service.action("B"))
    assert landings(service) == ["A"]


# -- a whole server, from its base backup --------------------------------------------------------------------------------


class ServerPlace:
    """A server, put back from its base backup: with recovery, or started as the copy that it is."""

    def __init__(self, server: PostgresServer, *, recovers: bool) -> None:
        self._server, self._recovers = server, recovers
        self.url = server.create_database("saga")

    def back_up(self) -> None:
        self._server.back_up()

    def put_back(self) -> None:
        self._server.put_back(recovers=self._recovers)


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with postgres_server() as running:
        yield running


async def test_a_server_that_was_recovered_from_its_base_backup_is_noticed(server: PostgresServer) -> None:
    place, service = ServerPlace(server, recovers=True), Service(remembers_keys=False)
    await lost_a_day(place, service, probe=True)
    async with Engine.open(place.url) as engine:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("A", probe=True))
            await saga.run(service.action("B", probe=True))
        assert (await engine.status("trip")).status.value == "committed"
    assert landings(service) == ["A", "B"]


async def test_a_server_started_as_a_copy_cannot_be_told_and_must_be_said(server: PostgresServer) -> None:
    """What docs/operating.md says of it: nothing in the database differs."""
    place, service = ServerPlace(server, recovers=False), Service(remembers_keys=False)
    await lost_a_day(place, service, probe=True)
    async with Engine.open(place.url) as engine:
        assert engine.store.epoch == 1
        assert await engine.restored() == ("trip",)
        async with engine.saga("trip") as saga:
            await saga.run(service.action("A", probe=True))
            await saga.run(service.action("B", probe=True))
    assert landings(service) == ["A", "B"]


async def goes_on(url: str, service: Service, **declared: Any) -> int:
    """Do both, whatever is done already. Returns the epoch of the store."""
    async with Engine.open(url) as engine:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("A", **declared))
            await saga.run(service.action("B", **declared))
        assert (await engine.status("trip")).status.value == "committed"
        return engine.store.epoch


async def test_a_server_recovered_to_a_point_in_time_asks_for_what_came_after_it() -> None:
    service = Service(remembers_keys=False)
    with postgres_server(*ARCHIVING) as server:
        place = ServerPlace(server, recovers=True)
        place.back_up()
        await left_after(place, service, "A", probe=True)
        server.mark("before the mistake")
        await left_after(place, service, "A", "B", probe=True)
        server.put_back(recovers=True, to="before the mistake")
        ((known,),) = server.execute("SELECT count(*) FROM events WHERE type = 'OperationSucceeded'", database="saga")
        assert known == 1
        assert await goes_on(place.url, service, probe=True) == 2
    assert landings(service) == ["A", "B"]


async def test_a_promoted_synchronous_replica_has_all_that_was_acknowledged() -> None:
    service = Service()
    with postgres_server() as server, postgres_server(replicates=server) as replica:
        server.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        server.execute("SELECT pg_reload_conf()")
        await left_after(ServerPlace(server, recovers=False), service, "A", probe=True, dedup=A_DAY)
        server.stop(immediately=True)
        replica.promote()
        assert await goes_on(replica.url("saga"), service, probe=True, dedup=A_DAY) == 2
    assert landings(service) == ["A", "B"]
