"""Harms that befall a store and a clock: acknowledgements that get lost, disks that are full, servers that hang up or crash."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import psycopg

from sagagraph.saga.stores.port import SagaStore
from sagagraph.saga.stores.postgres import PostgresSagaStore
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from sagagraph.saga.stores.urls import is_postgres

LOST, FULL, CLOCK, CUT, RESTART = "lost acknowledgements", "full disks", "wrong clocks", "cut connections", "restarts"
FLEET = "restarts of the fleet's server"
_LOST = 0.02
"""How likely the acknowledgement of a write gets lost."""
_FULL = 0.1
"""How likely a transaction finds an SQLite file's disk full, if it needs another page."""
_FULL_S = 0.2
_SKEW_S = 3600.0
_UNLIMITED = 2**31 - 2
_FULL_DISK = f"""
    CREATE TABLE full_disk AS SELECT now() AS until;
    CREATE FUNCTION need_space() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF EXISTS (SELECT FROM full_disk WHERE until > clock_timestamp()) THEN
            RAISE EXCEPTION 'could not extend file: no space left on device' USING ERRCODE = '{psycopg.errors.DiskFull.sqlstate}';
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER need_space BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION need_space()"""


def kinds_of(store_url: str, *, restarts: bool) -> frozenset[str]:
    """What can befall such a store. An SQLite file has no server that could hang up."""
    of_server = {CUT, RESTART} if restarts else {CUT}
    return frozenset({LOST, FULL, CLOCK} | (of_server if is_postgres(store_url) else set()))


@dataclass(frozen=True)
class Struck:
    """What struck, counted over all processes of a batch: a line for each."""

    path: Path

    def note(self, harm: str) -> None:
        with self.path.open("a") as lines:
            lines.write(f"{harm}\n")

    def counts(self) -> Counter[str]:
        return Counter(self.path.read_text().splitlines()) if self.path.exists() else Counter()


def wrong_clock(random: Random) -> Callable[[], float]:
    """A clock that is behind or ahead by up to an hour."""
    skew_s = random.uniform(-_SKEW_S, _SKEW_S)
    return lambda: time.time() + skew_s


def harm(store: SagaStore, random: Random, struck: Struck) -> None:
    """From now on, what can happen to the connection of a worker happens to this store's."""
    if isinstance(store, SqliteSagaStore):
        store._connection = _HarmedFile(store._connection, random, struck)  # type: ignore[assignment]
    elif isinstance(store, PostgresSagaStore):
        _harm_connection(store, random, struck)


class _HarmedFile:
    """An SQLite connection: the error of a full disk is SQLite's own, that of a commit that went well is not."""

    def __init__(self, connection: sqlite3.Connection, random: Random, struck: Struck) -> None:
        self._connection, self._random, self._struck = connection, random, struck

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        done = self._counted(self._connection.execute, statement, parameters)
        if statement.startswith("BEGIN"):
            (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
            most = pages if self._random.random() < _FULL else _UNLIMITED
            self._connection.execute(f"PRAGMA max_page_count = {most}").fetchone()
        elif statement == "COMMIT" and self._random.random() < _LOST:
            self._struck.note(LOST)
            raise sqlite3.OperationalError("disk I/O error")
        return done

    def executemany(self, statement: str, parameters: Sequence[Any]) -> sqlite3.Cursor:
        return self._counted(self._connection.executemany, statement, parameters)

    def _counted(self, call: Callable[..., sqlite3.Cursor], *given: Any) -> sqlite3.Cursor:
        try:
            return call(*given)
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode == sqlite3.SQLITE_FULL:
                self._struck.note(FULL)
            raise


def _harm_connection(store: PostgresSagaStore, random: Random, struck: Struck) -> None:
    connection = store._connection
    execute = connection.execute

    def harmed(statement: str, parameters: Sequence[Any] = (), *, prepare: bool | None = None) -> psycopg.Cursor[Any]:
        try:
            done = execute(statement, parameters, prepare=prepare)
        except psycopg.errors.DiskFull:
            struck.note(FULL)
            raise
        if not statement.lstrip().startswith("SELECT") and random.random() < _LOST:
            struck.note(LOST)
            connection.close()
            raise psycopg.OperationalError("the connection was lost")
        return done

    connection.execute = harmed  # type: ignore[method-assign]


# -- what befalls a server ---------------------------------------------------------------------------------------------


def prepare(store_url: str) -> None:
    """Make it possible that the disk of a server is full."""
    if is_postgres(store_url):
        _tell(store_url, _FULL_DISK)


def fill_disk(store_url: str) -> None:
    """For a moment. Who meets it counts it."""
    _tell(store_url, f"UPDATE full_disk SET until = clock_timestamp() + interval '{_FULL_S} s'")


def end(store_url: str) -> None:
    """What lasts is over, before the judge writes: it is no worker, and nobody would try again for it."""
    if is_postgres(store_url):
        _tell(store_url, "UPDATE full_disk SET until = clock_timestamp()")


def cut_all(store_url: str) -> int:
    """Have the server hang up on everybody. Returns on how many."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    return _tell(store_url, f"SELECT count(pg_terminate_backend(pid)) {others}")


def _tell(store_url: str, statement: str) -> int:
    with closing(psycopg.connect(store_url, autocommit=True)) as connection:
        done = connection.execute(statement.encode())
        (found,) = (done.fetchone() or (0,)) if done.description else (0,)
        return int(found)
