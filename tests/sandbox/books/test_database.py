from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from sagagraph.errors import InvalidInputError
from sagagraph.sandbox.books.database import Database
from sagagraph.sandbox.clock import real_now
from sagagraph.sandbox.service import Service
from sagagraph.sandbox.settings import SandboxSettings
from tests.support.today import TODAY


def open_and_tell_the_time(path: Path) -> str:
    service = Service(SandboxSettings(path, today=TODAY), real_now)
    now = service.now().isoformat()
    service.close()
    return now


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_text("this is no database, and long enough to be seen as none" * 100)
    for path in (broken, tmp_path, tmp_path / "missing" / "sandbox.db"):
        with pytest.raises(InvalidInputError, match=r"^--db: .* cannot be used as a database") as raised:
            Database(path)
        assert raised.value.field == "--db"


def test_what_is_committed_is_on_the_disk(tmp_path: Path) -> None:
    database = Database(tmp_path / "sandbox.db")
    with database.snapshot() as tx:
        assert tx.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert tx.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL
    database.close()


def test_a_transaction_that_fails_leaves_nothing_behind_and_the_next_one_works(tmp_path: Path) -> None:
    database = Database(tmp_path / "sandbox.db")

    def fail_half_way() -> None:
        with database.transaction() as tx:
            tx.execute("INSERT INTO refusals VALUES ('k', 422, '{}')")
            tx.execute("INSERT INTO refusals VALUES ('k', 422, '{}')")

    with pytest.raises(sqlite3.IntegrityError):
        fail_half_way()
    with database.transaction() as tx:
        assert tx.execute("SELECT count(*) FROM refusals").fetchone()[0] == 0
    database.close()


def test_stock_can_be_neither_oversold_nor_given_back_twice(tmp_path: Path) -> None:
    database = Database(tmp_path / "sandbox.db")
    for taken in (-1, 6):
        with pytest.raises(sqlite3.IntegrityError), database.transaction() as tx:
            tx.execute("INSERT INTO stock VALUES ('unit', 5, ?)", (taken,))
    database.close()


def test_several_processes_may_open_a_new_file_at_once_and_agree_on_the_time(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        times = pool.map(open_and_tell_the_time, [tmp_path / "sandbox.db"] * 12, chunksize=1)
    assert max(times)[:15] == min(times)[:15] == "2025-03-01T09:0"
