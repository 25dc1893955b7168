"""What depends on the medium: durability, lost acknowledgements, races of processes, migrations and damage."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sagagraph.errors import InvalidInputError, JournalError, StoreError
from sagagraph.saga.commands import CallKind
from sagagraph.saga.engine import Engine
from sagagraph.saga.events import BodyCompleted, RequestRefused, SagaBegun, SagaCommitted
from sagagraph.saga.ports import Note, RequestKind
from sagagraph.saga.stores.opening import open_store
from sagagraph.saga.stores.sqlite import SqliteSagaStore

from .conftest import Clock, OpenSqlite
from .test_stores import ME, OTHER, append, begin


def pragma(store: SqliteSagaStore, name: str) -> Any:
    def ask() -> Any:
        return store._connection.execute(f"PRAGMA {name}").fetchone()[0]

    return store._thread.submit(ask).result()


# -- durability -------------------------------------------------------------------------------------------------------


async def test_what_is_appended_is_synced_to_the_disk(open_sqlite: OpenSqlite) -> None:
    store = await open_sqlite()
    assert pragma(store, "journal_mode") == "wal"
    assert pragma(store, "synchronous") == 2
    assert pragma(store, "foreign_keys") == 1


async def test_an_append_is_seen_by_others_at_once(open_sqlite: OpenSqlite) -> None:
    one, another = await open_sqlite(), await open_sqlite()
    lease = await begin(one)
    await append(one, lease, 1)
    assert await another.read("trip") == await one.read("trip")


class Connection:
    """A connection whose COMMITs go wrong, in turn, as `commits` says: after it, before it, or not (None)."""

    def __init__(self, inner: sqlite3.Connection, *commits: str | None) -> None:
        self._inner = inner
        self._commits = list(commits)
        self.between: Callable[[], None] = lambda: None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def execute(self, statement: str, *arguments: Any) -> Any:
        if statement != "COMMIT" or not self._commits:
            return self._inner.execute(statement, *arguments)
        when = self._commits.pop(0)
        if when != "before":
            self._inner.execute(statement)
        if when is not None:
            self.between()
            raise sqlite3.OperationalError("disk I/O error")
        return None


def break_commits(store: SqliteSagaStore, *commits: str | None) -> Connection:
    broken = Connection(store._connection, *commits)
    store._connection = broken  # type: ignore[assignment]
    return broken


async def test_rule_1_a_lost_acknowledgement_of_a_commit_is_looked_up(open_sqlite: OpenSqlite) -> None:
    store = await open_sqlite()
    lease = await begin(store)
    break_commits(store, "after")
    await append(store, lease, 1, BodyCompleted(), SagaCommitted())
    assert [type(each.event) for each in await store.read("trip")] == [SagaBegun, BodyCompleted, SagaCommitted]
    await append(store, lease, 3)


async def test_rule_1_a_commit_that_did_not_happen_is_no_success(open_sqlite: OpenSqlite) -> None:
    store = await open_sqlite()
    lease = await begin(store)
    break_commits(store, "before")
    with pytest.raises(StoreError, match="could not be written: disk I/O error"):
        await append(store, lease, 1)
    assert len(await store.read("trip")) == 1
    await append(store, lease, 1)  # rolled back, and usable


async def test_rule_1_the_batch_of_another_at_the_head_is_no_success(open_sqlite: OpenSqlite, clock: Clock) -> None:
    store, other = await open_sqlite(), await open_sqlite()
    lease = await begin(store)
    broken = break_commits(store, "before")

    def overtake() -> None:
        broken.execute("ROLLBACK")
        with sqlite3.connect(other.path) as connection:
            connection.execute("UPDATE sagas SET epoch = 2, version = 2")
            connection.execute("INSERT INTO events VALUES ('trip', 2, 2, 1700000001.5, 'BodyCompleted', 1, '{}')")

    broken.between = overtake
    with pytest.raises(StoreError):
        await append(store, lease, 1)
    assert [each.epoch for each in await store.read("trip")] == [1, 2]


async def test_a_saga_goes_on_over_a_lost_acknowledgement(journal: Path) -> None:
    store = await SqliteSagaStore.open(journal)
    engine = Engine(store)
    try:
        async with engine.saga("trip"):
            break_commits(store, "after")
        assert (await engine.status("trip")).status.value == "committed"
    finally:
        await engine.close()


# -- races ----------------------------------------------------------------------------------------------------------------


async def test_rule_6_two_stores_race_to_begin_and_one_wins(open_sqlite: OpenSqlite) -> None:
    stores = [await open_sqlite() for _process in range(4)]
    ended = await asyncio.gather(*(begin(each) for each in stores), return_exceptions=True)
    assert sorted(type(each).__name__ for each in ended) == ["ConflictError"] * 3 + ["Lease"]
    assert len(await stores[0].read("trip")) == 1


async def test_rule_6_two_stores_race_to_take_over_and_one_wins(open_sqlite: OpenSqlite, clock: Clock) -> None:
    one, another = await open_sqlite(), await open_sqlite()
    await begin(one, owner="elsewhere/x|1|1.00|a")
    clock.now += 10
    ended = await asyncio.gather(
        one.take("trip", owner=ME, ttl_s=4), another.take("trip", owner=OTHER, ttl_s=4), return_exceptions=True
    )
    assert sorted(type(each).__name__ for each in ended) == ["BusyError", "Lease"]
    assert [each.epoch for each in await one.read("trip")] == [1, 2]


async def test_rule_6_two_stores_race_to_append_and_one_wins(open_sqlite: OpenSqlite) -> None:
    stores = [await open_sqlite() for _process in range(3)]
    lease = await begin(stores[0])
    for version in range(1, 11):
        ended = await asyncio.gather(*(append(each, lease, version) for each in stores), return_exceptions=True)
        assert sorted(type(each).__name__ for each in ended) == ["NoneType", "SupersededError", "SupersededError"]
    assert [each.version for each in await stores[0].read("trip")] == list(range(1, 12))


async def test_evidence_and_requests_are_seen_by_others(open_sqlite: OpenSqlite) -> None:
    one, another = await open_sqlite(), await open_sqlite()
    await begin(one)
    await one.note("trip", note := Note("T1", CallKind.ACTION, "trip/T1/1", 1))
    request = await one.ask("trip", RequestKind.CANCEL, "Ada", None)
    assert await another.notes("trip") == (note,)
    assert await another.requests("trip", after=0) == (request,)


# -- opening ----------------------------------------------------------------------------------------------------------


async def test_a_new_file_and_its_folder_are_made_and_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "journal.db"
    for version in (1, 2):
        store = await open_store(f"sqlite:///{path}")
        if version == 1:
            await begin(store)
        assert len(await store.read("trip")) == 1
        await store.close()


_OPENER = """
import asyncio, sys
from pathlib import Path
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from sagagraph.saga.events import Driver, SagaBegun
from sagagraph.saga.model import Stage

async def main(path, name):
    store = await SqliteSagaStore.open(Path(path))
    await store.create(name, SagaBegun(Driver.BODY, "", None), stage=Stage.RUNNING, owner="o", ttl_s=1)
    await store.close()

print("ready", flush=True)
sys.stdin.readline()
asyncio.run(main(*sys.argv[1:]))
"""


def an_opener(path: Path, name: str) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", _OPENER, str(path), name], text=True, **pipes)


async def test_processes_that_open_a_new_file_at_once_all_migrate_it_or_wait(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    openers = [an_opener(path, name) for name in ("one", "two", "three")]
    for each in openers:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    ended = [each.communicate("go\n", timeout=40) for each in openers]
    assert [each.returncode for each in openers] == [0, 0, 0], ended
    store = await SqliteSagaStore.open(path)
    assert {each.saga_id for each in await store.headlines()} == {"one", "two", "three"}
    await store.close()


def a_text(path: Path) -> Path:
    path.write_text("Dear diary, " * 500)
    return path


def another_database(path: Path) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sagas (norse TEXT)")
    return path


def a_folder(path: Path) -> Path:
    path.mkdir()
    return path


def below_a_file(path: Path) -> Path:
    path.write_text("")
    return path / "journal.db"


def where_nothing_can_be_made(_path: Path) -> Path:
    return Path("/proc/nothing/journal.db")


def a_newer_release(path: Path) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sagagraph_version (version_num TEXT)")
        connection.execute("INSERT INTO sagagraph_version VALUES ('9999')")
    return path


OBSTACLES = [a_text, another_database, a_folder, below_a_file, where_nothing_can_be_made, a_newer_release]


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_what_is_no_journal_is_named_in_one_clear_line(tmp_path: Path, obstacle: Callable[[Path], Path]) -> None:
    path = obstacle(tmp_path / "thing.db")
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError) as raised:
        asyncio.run(open_store(f"sqlite:///{path}"))
    assert len(str(raised.value).splitlines()) == 1
    assert str(path) in str(raised.value)
    assert before == (path.read_bytes() if path.is_file() else None)  # and it was left alone


async def begin_in(path: Path) -> None:
    await begin(await SqliteSagaStore.open(path))


def test_a_file_that_can_not_be_written_is_named_in_one_clear_line(journal: Path) -> None:
    journal.chmod(0o400)
    journal.parent.chmod(0o500)
    try:
        with journal.open("ab"):
            pytest.skip("root may write everywhere")
    except PermissionError:
        with pytest.raises(StoreError, match=r"readonly|unable|denied"):
            asyncio.run(begin_in(journal))
    finally:
        journal.parent.chmod(0o700)


@pytest.mark.parametrize("url", ["sqlite:///", "postgres://localhost/x", "journal.db", ""])
async def test_what_is_no_url_of_a_store_is_refused(url: str) -> None:
    with pytest.raises(InvalidInputError, match="--store"):
        await open_store(url)


# -- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("UPDATE events SET data = substr(data, 1, 5) WHERE version = 2", "damaged"),
        ("UPDATE events SET data = x'FF00FE' WHERE version = 2", "damaged|not known|read"),
        ("UPDATE events SET data = '[]' WHERE version = 2", "damaged"),
        ('UPDATE events SET data = \'{"request": "one", "reason": ""}\' WHERE version = 2', "damaged at request"),
        ("UPDATE events SET type = 'SagaInvented' WHERE version = 2", "SagaInvented.*not known"),
        ("UPDATE events SET schema_version = 99 WHERE version = 2", "schema 99"),
        ("DELETE FROM events WHERE version = 2", "version 3"),
        ("DELETE FROM events WHERE version = 1", "begin"),
        ("UPDATE events SET epoch = 0 WHERE version = 2", "epoch"),
        ("UPDATE events SET (type, data) = (SELECT type, data FROM events WHERE version = 1) WHERE version = 2", "twice"),
    ],
)
async def test_a_damaged_journal_is_told_and_not_guessed(open_sqlite: OpenSqlite, damage: str, told: str) -> None:
    store = await open_sqlite()
    lease = await begin(store)
    await append(store, lease, 1, RequestRefused(1, "too late"), BodyCompleted())
    with sqlite3.connect(store.path) as connection:
        connection.execute(damage)
    engine = Engine(store)
    with pytest.raises(JournalError, match=told) as raised:
        await engine.load("trip")
    assert len(str(raised.value).splitlines()) == 1


async def test_a_saga_whose_journal_is_empty_is_unknown_and_the_others_are_not_affected(open_sqlite: OpenSqlite) -> None:
    store = await open_sqlite()
    await begin(store)
    await begin(store, "another")
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE events SET data = '' WHERE saga_id = 'trip'")
    assert len(await store.read("another")) == 1
    assert len(await store.headlines()) == 2


async def test_a_database_that_fails_later_is_a_store_error(open_sqlite: OpenSqlite) -> None:
    store = await open_sqlite()
    lease = await begin(store)
    with sqlite3.connect(store.path) as connection:
        connection.execute("DROP TABLE events")
    for attempt in (store.read("trip"), append(store, lease, 1), store.take("trip", owner=ME, ttl_s=1)):
        with pytest.raises(StoreError, match="no such table"):
            await attempt
