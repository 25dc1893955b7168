"""Database: the service's SQLite file, one connection per service, short transactions, correct with several services."""

from __future__ import annotations

import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sagagraph.errors import InvalidInputError

_BUSY_S = 10.0
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS clock (only INTEGER PRIMARY KEY CHECK (only = 1), offset_us INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS identity (only INTEGER PRIMARY KEY CHECK (only = 1), id TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS reservations (
        id TEXT PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, offer TEXT NOT NULL, units TEXT NOT NULL,
        quantity INTEGER NOT NULL, price INTEGER NOT NULL, fee INTEGER NOT NULL,
        free_until TEXT, cancellation_fee INTEGER NOT NULL,
        idempotency_key TEXT, saga_id TEXT, operation_id TEXT, created_at TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS payments (
        id TEXT PRIMARY KEY, state TEXT NOT NULL, amount INTEGER NOT NULL, reservations TEXT NOT NULL,
        idempotency_key TEXT, saga_id TEXT, operation_id TEXT, created_at TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS cancellations (
        id TEXT PRIMARY KEY, reservation_id TEXT NOT NULL REFERENCES reservations (id), fee INTEGER NOT NULL,
        idempotency_key TEXT, saga_id TEXT, operation_id TEXT, created_at TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS refunds (
        id TEXT PRIMARY KEY, payment_id TEXT NOT NULL REFERENCES payments (id), amount INTEGER NOT NULL,
        idempotency_key TEXT, saga_id TEXT, operation_id TEXT, created_at TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS voids (
        kind TEXT NOT NULL, key TEXT NOT NULL, outcome TEXT NOT NULL, fee INTEGER NOT NULL,
        saga_id TEXT, operation_id TEXT, created_at TEXT NOT NULL, PRIMARY KEY (kind, key))""",
    # This is the last guard against overselling and double refunds: no row can express either.
    """CREATE TABLE IF NOT EXISTS stock (
        unit TEXT PRIMARY KEY, capacity INTEGER NOT NULL, taken INTEGER NOT NULL CHECK (taken BETWEEN 0 AND capacity))""",
    "CREATE TABLE IF NOT EXISTS price_rises (base_id TEXT PRIMARY KEY, times INTEGER NOT NULL)",
    """CREATE TABLE IF NOT EXISTS answers (
        key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, body TEXT NOT NULL, given_at TEXT NOT NULL)""",
    "CREATE TABLE IF NOT EXISTS refusals (key TEXT PRIMARY KEY, status INTEGER NOT NULL, body TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS under_way (
        place INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, owner TEXT NOT NULL,
        pid INTEGER NOT NULL, until TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS late_calls (
        place INTEGER PRIMARY KEY AUTOINCREMENT, due_at TEXT NOT NULL, call TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS fault_counts (
        file TEXT NOT NULL, entry INTEGER NOT NULL, calls INTEGER NOT NULL, PRIMARY KEY (file, entry))""",
)


class Database:
    """Database whose connection threads use in turn; SQLite's own lock keeps other processes out."""

    def __init__(self, path: Path) -> None:
        """Open the file, and create it and its tables if they are missing.

        Raises:
            InvalidInputError: it cannot be a database.
        """
        self._turn = threading.Lock()
        try:
            self._connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
            self._prepare()
        except sqlite3.Error as exc:
            raise InvalidInputError(f"{path} cannot be used as a database: {exc}", field="--db") from exc

    def _prepare(self) -> None:
        self._connection.row_factory = sqlite3.Row
        self._turn_on_wal()
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA foreign_keys = ON")
        with self.transaction() as tx:
            for statement in _SCHEMA:
                tx.execute(statement)
            tx.execute("INSERT OR IGNORE INTO identity (only, id) VALUES (1, ?)", (f"sandbox-{uuid.uuid4().hex}",))

    @property
    def identity(self) -> str:
        """Return the id that distinguishes this file from every other one, wherever it is served; a copy of the file has the
        same.
        """
        with self.snapshot() as tx:
            found: str = tx.execute("SELECT id FROM identity").fetchone()["id"]
            return found

    def _turn_on_wal(self) -> None:
        give_up = time.monotonic() + _BUSY_S
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as exc:
                # SQLite does not wait for a lock here, and another process may be switching at the same moment.
                if exc.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                    raise
                time.sleep(0.01)
            else:
                return

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction: all or nothing, durable when it returns; takes the write lock at the start, so it cannot fail
        half-way.
        """
        with self._begun("BEGIN IMMEDIATE") as tx:
            yield tx

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Run reads that all see the same moment, whoever writes in between."""
        with self._begun("BEGIN") as tx:
            yield tx

    @contextmanager
    def _begun(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._turn:
            self._connection.execute(begin)
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        with self._turn:
            self._connection.close()
