"""What depends on the medium: durability, lost acknowledgements, races of processes, migrations and damage."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sagagraph.errors import InvalidInputError, StoreError
from sagagraph.saga.core.events import BodyCompleted, Entry, SagaBegun, SagaCommitted
from sagagraph.saga.core.state import FINAL
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores import statements as sql
from sagagraph.saga.stores.rows import row_of
from sagagraph.saga.stores.sqlite import QUICK_S, Pace, SqliteSagaStore
from sagagraph.saga.stores.urls import open_store

from .conftest import Clock, OpenSqlite
from .test_stores import OTHER, append, begin

pytestmark = pytest.mark.quick


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


async def test_opening_waits_for_whoever_reads_the_file_while_it_is_changed_to_wal(tmp_path: Path) -> None:
    path = tmp_path / "saga.db"
    await (await SqliteSagaStore.open(path)).close()
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("PRAGMA journal_mode = DELETE")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM sqlite_master").fetchall()
    opening = asyncio.create_task(SqliteSagaStore.open(path))
    done, _ = await asyncio.wait([opening], timeout=0.2)
    assert not done
    reader.close()
    store = await opening
    assert pragma(store, "journal_mode") == "wal"
    await store.close()


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
            row = row_of("trip", Entry(2, 2, 1_700_000_001.5, BodyCompleted()))
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ("trip", *row))

    broken.between = overtake
    with pytest.raises(StoreError):
        await append(store, lease, 1)
    assert [each.epoch for each in await store.read("trip")] == [1, 2]


async def test_rule_1_a_commit_that_fails_fails_whoever_shares_it(open_sqlite: OpenSqlite) -> None:
    store = await open_sqlite()
    leases = [await begin(store, name) for name in ("one", "two", "three")]
    break_commits(store, "before")
    ended = await asyncio.gather(*(append(store, each, 1) for each in leases), return_exceptions=True)
    assert [type(each) for each in ended] == [StoreError] * 3
    assert [len(await store.read(each.saga_id)) for each in leases] == [1, 1, 1]
    await asyncio.gather(*(append(store, each, 1) for each in leases))


async def test_rule_1_a_shared_acknowledgement_that_is_lost_is_looked_up_for_each(open_sqlite: OpenSqlite) -> None:
    store = await open_sqlite()
    leases = [await begin(store, name) for name in ("one", "two", "three")]
    break_commits(store, "after")
    await asyncio.gather(*(append(store, each, 1) for each in leases))
    assert [len(await store.read(each.saga_id)) for each in leases] == [2, 2, 2]


class Counting:
    """A connection that counts its commits."""

    def __init__(self, store: SqliteSagaStore) -> None:
        self._inner = store._connection
        self.commits = 0
        store._connection = self  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def execute(self, statement: str, *arguments: Any) -> Any:
        self.commits += statement == "COMMIT"
        return self._inner.execute(statement, *arguments)


@pytest.mark.parametrize("quick", [True, False], ids=["on the loop", "in the thread"])
async def test_the_appends_of_many_sagas_share_a_commit(open_sqlite: OpenSqlite, quick: bool) -> None:
    store = await open_sqlite()
    leases = [await begin(store, f"saga {number}") for number in range(10)]
    store._pace.average_s = 0.0 if quick else 1.0
    counting = Counting(store)
    await asyncio.gather(*(append(store, each, 1) for each in leases))
    assert counting.commits == 1
    assert [len(await store.read(each.saga_id)) for each in leases] == [2] * 10


async def test_rule_6_who_is_superseded_in_a_shared_commit_does_not_keep_the_others_back(
    open_sqlite: OpenSqlite, clock: Clock
) -> None:
    store = await open_sqlite()
    leases = [await begin(store, name) for name in ("one", "two", "three")]
    clock.now += 10
    await store.take("two", owner=OTHER, ttl_s=4)
    counting = Counting(store)
    ended = await asyncio.gather(*(append(store, each, 1) for each in leases), return_exceptions=True)
    assert [type(each).__name__ for each in ended] == ["NoneType", "SupersededError", "NoneType"]
    assert counting.commits == 1
    assert [len(await store.read(each.saga_id)) for each in leases] == [2, 2, 2]


async def test_the_event_loop_does_not_wait_for_another_writer(open_sqlite: OpenSqlite) -> None:
    store = await open_sqlite()
    lease = await begin(store)
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    appending = asyncio.create_task(append(store, lease, 1))
    for _turn in range(20):
        await asyncio.sleep(0.01)  # it turns
    assert not appending.done()
    other.execute("COMMIT")
    other.close()
    await appending


def test_a_single_stall_sends_commits_to_the_thread_for_a_while() -> None:
    pace = Pace()
    pace.ran(time.perf_counter() - 0.1)
    assert pace.average_s > QUICK_S
    for _commit in range(100):
        pace.ran(time.perf_counter())
    assert pace.average_s < QUICK_S


async def test_a_saga_goes_on_over_a_lost_acknowledgement(journal: Path) -> None:
    store = await SqliteSagaStore.open(journal)
    engine = Engine(store)
    try:
        async with engine.saga("trip"):
            break_commits(store, "after")
        assert (await engine.status("trip")).status.value == "committed"
    finally:
        await engine.close()


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
from sagagraph.saga.core.events import Driver, SagaBegun
from sagagraph.saga.core.state import Stage

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


def test_a_file_that_cannot_be_written_is_named_in_one_clear_line(journal: Path) -> None:
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


@pytest.mark.parametrize("url", ["sqlite:///", "mysql://me:secret@localhost/x", "journal.db", ""])
async def test_what_is_no_url_of_a_store_is_refused(url: str) -> None:
    with pytest.raises(InvalidInputError, match="--store") as raised:
        await open_store(url)
    assert "secret" not in str(raised.value)


async def test_what_is_open_and_a_page_of_a_list_are_found_by_their_indexes(tmp_path: Path) -> None:
    store = await SqliteSagaStore.open(tmp_path / "store.db")
    plans = {
        statement: " ".join(row[-1] for row in store._execute(f"EXPLAIN QUERY PLAN {statement}", given))
        for statement, given in (
            (sql.OPEN_HEADLINES, ()),
            (sql.headlines(of_domain=False, named=False, within=False, stages=0, limited=True), (10, 0)),
        )
    }
    await store.close()
    opened, page = plans.values()
    assert "sagas_open" in opened
    assert "sagas_latest" in page
    assert "TEMP B-TREE" not in page


def test_the_index_of_what_is_open_agrees_with_the_stages_that_are_final() -> None:
    named = set(re.findall(r"'(\w+)'", sql.IS_OPEN))
    assert named == {each.value for each in FINAL}
