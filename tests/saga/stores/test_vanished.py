"""A store that vanished: it is not created again behind somebody's back, and nothing goes out on what it said."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from sagagraph import Engine
from sagagraph.errors import LostStoreError, MissingStoreError, StoreError
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from sagagraph.saga.stores.urls import open_store
from tests.saga.service import A_DAY, Service

pytestmark = pytest.mark.quick


def found_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_a_store_that_is_missing_is_named_and_not_created(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "saga.db"
    with pytest.raises(MissingStoreError, match=r"folder/saga\.db") as raised:
        await open_store(f"sqlite:///{path}", create=False)
    assert raised.value.exit_code == 2
    assert found_in(tmp_path) == []
    path.parent.mkdir()
    path.touch()
    with pytest.raises(MissingStoreError):
        async with Engine.open(f"sqlite:///{path}", create=False):
            pass
    assert (found_in(path.parent), path.stat().st_size) == ([path], 0)


async def test_another_programs_file_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(MissingStoreError):
        await open_store(f"sqlite:///{path}", create=False)
    assert (found_in(tmp_path), path.read_bytes()) == ([path], before)


async def test_a_database_without_tables_is_named_and_gets_none(empty_database: str) -> None:
    name = empty_database.rpartition("/")[2]
    with pytest.raises(MissingStoreError, match=name):
        await open_store(empty_database, create=False)
    with psycopg.connect(empty_database) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


async def test_a_store_that_is_there_opens_either_way(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'saga.db'}"
    await (await open_store(url)).close()
    await (await open_store(url, create=False)).close()


# -- under a running engine -------------------------------------------------------------------------------------------


def is_removed(path: Path) -> None:
    path.unlink()


def loses_its_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").unlink()


def is_cut_off(path: Path) -> None:
    os.truncate(path, 0)


def loses_its_end(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def gets_another_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"no database at all")


def is_overwritten(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(5_000)
        file.write(os.urandom(5_000))


def is_replaced_by_its_backup(path: Path) -> None:
    path.with_name("backup.db").replace(path)


def has_its_backup_copied_over_it(path: Path) -> None:
    shutil.copy(path.with_name("backup.db"), path)


HARM = [
    is_removed,
    loses_its_log,
    is_cut_off,
    loses_its_end,
    gets_another_header,
    is_overwritten,
    is_replaced_by_its_backup,
    has_its_backup_copied_over_it,
]


@pytest.mark.parametrize("harm", HARM)
@pytest.mark.parametrize("is_checkpointed", [False, True])
async def test_a_file_that_is_harmed_under_an_engine_stops_it_before_anything_goes_out(
    tmp_path: Path, service: Service, harm: Callable[[Path], None], is_checkpointed: bool
) -> None:
    path = tmp_path / "saga.db"
    with pytest.raises(StoreError) as raised:
        async with Engine.open(f"sqlite:///{path}") as engine:
            with sqlite3.connect(path) as source, sqlite3.connect(tmp_path / "backup.db") as backup:
                source.backup(backup)
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight", dedup=A_DAY))
                if is_checkpointed:
                    with sqlite3.connect(path) as beside:
                        beside.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    await saga.run(service.action("seat"))
                harm(path)
                await saga.run(service.action("hotel"))
    assert isinstance(raised.value, LostStoreError), raised.value
    assert raised.value.exit_code == 3
    assert "saga.db" in str(raised.value)
    assert service.calls == ["do flight", *(["do seat"] if is_checkpointed else [])]


async def test_checkpoints_of_anybody_are_no_harm(tmp_path: Path, service: Service) -> None:
    path = tmp_path / "saga.db"
    async with Engine.open(f"sqlite:///{path}") as engine:
        for number in range(12):
            async with engine.saga(f"trip-{number}") as saga:
                await saga.run(service.action("flight"))
                with sqlite3.connect(path) as beside:
                    beside.execute(f"PRAGMA wal_checkpoint({['PASSIVE', 'FULL', 'RESTART', 'TRUNCATE'][number % 4]})")
                    if number % 3 == 0:
                        beside.execute("VACUUM")
                await saga.run(service.action("hotel"))
    assert service.count("do hotel") == 12


async def test_a_lost_store_leaves_what_stands_in_its_place_alone(tmp_path: Path, service: Service) -> None:
    path, other = tmp_path / "saga.db", tmp_path / "other.db"
    await (await SqliteSagaStore.open(other)).close()
    before = other.read_bytes()
    with pytest.raises(LostStoreError):
        async with Engine.open(f"sqlite:///{path}") as engine, engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            other.replace(path)
            await saga.run(service.action("hotel"))
    assert path.read_bytes() == before


# -- opened at once -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["{number}.db", "one.db", "postgres"])
def test_threads_that_open_new_stores_at_once_all_get_one(tmp_path: Path, place: str, request: pytest.FixtureRequest) -> None:
    """Alembic's own state is one for the process: this ended in a `KeyError`, or in a segmentation fault."""
    server = request.getfixturevalue("empty_database") if place == "postgres" else ""

    def opened(number: int) -> int:
        with Engine.open(server or f"sqlite:///{tmp_path / place.format(number=number)}") as engine:
            with engine.saga(f"trip-{number}"):
                pass
            return number

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(opened, range(8))) == list(range(8))
