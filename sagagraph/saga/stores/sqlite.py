"""Journals in one SQLite file: WAL, synchronous=FULL, so that what is appended survives a power cut.

One connection on one thread does all the work of a store; the event loop never waits for the disk. Several processes may open
the same file: each append checks its fence inside its own transaction.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sagagraph.errors import BusyError, ConflictError, InvalidInputError, StoreError, SupersededError, UnknownSagaError
from sagagraph.saga.codec import Record, decode, encode
from sagagraph.saga.commands import CallKind
from sagagraph.saga.events import Entry, Event, LeaseTaken, SagaBegun
from sagagraph.saga.model import Stage
from sagagraph.saga.owner import is_known_dead
from sagagraph.saga.ports import Headline, Lease, Note, Request, RequestKind

T = TypeVar("T")

HEAD_REVISION = "0001"
BUSY_TIMEOUT_S = 30.0

_INSERT_EVENT = "INSERT INTO events (saga_id, version, epoch, at, type, schema_version, data) VALUES (?, ?, ?, ?, ?, ?, ?)"


class SqliteSagaStore:
    def __init__(
        self, path: Path, connection: sqlite3.Connection, thread: ThreadPoolExecutor, clock: Callable[[], float]
    ) -> None:
        self.path = path
        self._connection = connection
        self._thread = thread
        self._clock = clock

    @classmethod
    async def open(cls, path: Path, clock: Callable[[], float] = time.time) -> SqliteSagaStore:
        """Open or create the file, and bring its tables to this release."""
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sagagraph-journal")
        loop = asyncio.get_running_loop()
        try:
            connection = await loop.run_in_executor(thread, _connect, path)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(path, connection, thread, clock)

    async def close(self) -> None:
        await self._run(self._connection.close)
        self._thread.shutdown(wait=False)

    # -- the fence ---------------------------------------------------------------------------------------------------

    async def create(self, saga_id: str, begun: SagaBegun, *, stage: Stage, owner: str, ttl_s: float) -> Lease:
        def work() -> Lease:
            now = self._clock()
            with self._transaction():
                if self._head(saga_id) is not None:
                    raise ConflictError(f"saga {saga_id!r} exists already", saga_id=saga_id)
                self._connection.execute(
                    "INSERT INTO sagas (saga_id, domain, stage, epoch, version, owner, lease_until, begun_at, updated_at)"
                    " VALUES (?, ?, ?, 1, 1, ?, ?, ?, ?)",
                    (saga_id, begun.domain, stage, owner, now + ttl_s, now, now),
                )
                self._connection.execute(_INSERT_EVENT, (saga_id, 1, 1, now, *encode(begun)))
            return Lease(saga_id, 1, owner)

        return await self._run(work)

    async def take(self, saga_id: str, *, owner: str, ttl_s: float, looks_again: bool = True) -> Lease:
        def work() -> Lease:
            now = self._clock()
            with self._transaction():
                epoch, version, held_by, until = self._known_head(saga_id)
                if held_by not in (None, owner) and until > now and not is_known_dead(held_by):
                    raise BusyError(f"saga {saga_id!r} is held by another worker for {until - now:.1f} s more", saga_id=saga_id)
                self._connection.execute(
                    "UPDATE sagas SET epoch = ?, version = ?, owner = ?, lease_until = ?, updated_at = ? WHERE saga_id = ?",
                    (epoch + 1, version + 1, owner, now + ttl_s, now, saga_id),
                )
                self._connection.execute(
                    _INSERT_EVENT, (saga_id, version + 1, epoch + 1, now, *encode(LeaseTaken(owner, looks_again)))
                )
            return Lease(saga_id, epoch + 1, owner)

        return await self._run(work)

    async def append(self, lease: Lease, version: int, events: Sequence[Event], *, at: float, stage: Stage) -> None:
        rows = [(lease.saga_id, number, lease.epoch, at, *encode(event)) for number, event in enumerate(events, version + 1)]
        await self._run(lambda: self._append(lease, version, rows, at, stage))

    def _append(self, lease: Lease, version: int, rows: list[tuple[Any, ...]], at: float, stage: Stage) -> None:
        try:
            with self._transaction():
                moved = self._connection.execute(
                    "UPDATE sagas SET version = ?, stage = ?, updated_at = ? WHERE saga_id = ? AND epoch = ? AND version = ?",
                    (version + len(rows), stage, at, lease.saga_id, lease.epoch, version),
                )
                if moved.rowcount != 1:
                    raise SupersededError(f"saga {lease.saga_id!r} was taken over by another worker", saga_id=lease.saga_id)
                self._connection.executemany(_INSERT_EVENT, rows)
        except StoreError:
            if not self._is_at_head(lease, version, rows):
                raise

    def _is_at_head(self, lease: Lease, version: int, rows: list[tuple[Any, ...]]) -> bool:
        """Whether a batch whose acknowledgement was lost is in the journal after all."""
        found = self._connection.execute(
            "SELECT saga_id, version, epoch, at, type, schema_version, data FROM events"
            " WHERE saga_id = ? AND version > ? ORDER BY version",
            (lease.saga_id, version),
        )
        return found.fetchall() == rows

    async def renew(self, lease: Lease, ttl_s: float) -> bool:
        def work() -> bool:
            with self._transaction():
                renewed = self._connection.execute(
                    "UPDATE sagas SET lease_until = ? WHERE saga_id = ? AND epoch = ?",
                    (self._clock() + ttl_s, lease.saga_id, lease.epoch),
                )
                return renewed.rowcount == 1

        return await self._run(work)

    async def release(self, lease: Lease) -> None:
        def work() -> None:
            with self._transaction():
                self._connection.execute(
                    "UPDATE sagas SET owner = NULL, lease_until = 0 WHERE saga_id = ? AND epoch = ?",
                    (lease.saga_id, lease.epoch),
                )

        await self._run(work)

    # -- reading -----------------------------------------------------------------------------------------------------

    async def read(self, saga_id: str) -> tuple[Entry, ...]:
        def work() -> tuple[Entry, ...]:
            rows = self._connection.execute(
                "SELECT version, epoch, at, type, schema_version, data FROM events WHERE saga_id = ? ORDER BY version",
                (saga_id,),
            ).fetchall()
            if not rows:
                raise UnknownSagaError(f"there is no saga {saga_id!r}", saga_id=saga_id)
            return tuple(Entry(version, epoch, at, decode(Record(*rest))) for version, epoch, at, *rest in rows)

        return await self._run(work)

    async def headlines(self) -> tuple[Headline, ...]:
        return await self._run(lambda: tuple(self._headlines("ORDER BY begun_at DESC, saga_id", ())))

    async def headline(self, saga_id: str) -> Headline | None:
        return await self._run(lambda: next(self._headlines("WHERE saga_id = ?", (saga_id,)), None))

    def _headlines(self, where: str, arguments: tuple[Any, ...]) -> Iterator[Headline]:
        columns = "saga_id, domain, stage, version, owner, lease_until, begun_at, updated_at"
        for row in self._connection.execute(f"SELECT {columns} FROM sagas {where}", arguments):  # noqa: S608 - our own text
            saga_id, domain, stage, *rest = row
            yield Headline(saga_id, domain, Stage(stage), *rest)

    # -- what is not fenced ------------------------------------------------------------------------------------------

    async def note(self, saga_id: str, note: Note) -> None:
        def work() -> None:
            with self._transaction():
                self._connection.execute(
                    "INSERT INTO evidence (saga_id, operation, call, key, output) VALUES (?, ?, ?, ?, ?)",
                    (saga_id, note.operation, note.call, note.key, json.dumps(note.output)),
                )

        await self._run(work)

    async def notes(self, saga_id: str) -> tuple[Note, ...]:
        def work() -> tuple[Note, ...]:
            rows = self._connection.execute(
                "SELECT operation, call, key, output FROM evidence WHERE saga_id = ? ORDER BY number", (saga_id,)
            )
            return tuple(Note(operation, CallKind(call), key, json.loads(output)) for operation, call, key, output in rows)

        return await self._run(work)

    async def ask(self, saga_id: str, kind: RequestKind, by: str, data: Any) -> Request:
        def work() -> Request:
            with self._transaction():
                self._known_head(saga_id)
                inserted = self._connection.execute(
                    "INSERT INTO requests (saga_id, kind, by, data) VALUES (?, ?, ?, ?)", (saga_id, kind, by, json.dumps(data))
                )
            return Request(int(inserted.lastrowid or 0), kind, by, data)

        return await self._run(work)

    async def requests(self, saga_id: str, *, after: int) -> tuple[Request, ...]:
        def work() -> tuple[Request, ...]:
            rows = self._connection.execute(
                "SELECT number, kind, by, data FROM requests WHERE saga_id = ? AND number > ? ORDER BY number", (saga_id, after)
            )
            return tuple(Request(number, RequestKind(kind), by, json.loads(data)) for number, kind, by, data in rows)

        return await self._run(work)

    # -- within the thread -------------------------------------------------------------------------------------------

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, _translated, work)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException as exc:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if isinstance(exc, sqlite3.Error):
                raise StoreError(f"the journal could not be written: {exc}") from exc
            raise

    def _head(self, saga_id: str) -> tuple[int, int, str | None, float] | None:
        row = self._connection.execute(
            "SELECT epoch, version, owner, lease_until FROM sagas WHERE saga_id = ?", (saga_id,)
        ).fetchone()
        return row and (int(row[0]), int(row[1]), row[2], float(row[3]))

    def _known_head(self, saga_id: str) -> tuple[int, int, str | None, float]:
        head = self._head(saga_id)
        if head is None:
            raise UnknownSagaError(f"there is no saga {saga_id!r}", saga_id=saga_id)
        return head


def _translated(work: Callable[[], T]) -> T:
    try:
        return work()
    except sqlite3.Error as exc:
        raise StoreError(f"the journal can not be read: {exc}") from exc
    except UnicodeEncodeError as exc:  # as an argument of a command line may be
        raise InvalidInputError(f"{exc.object!r} is not valid Unicode") from exc


def _connect(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    except (OSError, sqlite3.Error) as exc:
        raise StoreError(f"the store {path} can not be opened: {exc}") from exc
    try:
        _migrate(path, connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error as exc:
        connection.close()
        raise StoreError(f"the store {path} can not be opened: {exc}") from exc
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(path: Path, connection: sqlite3.Connection) -> None:
    known = connection.execute("SELECT name FROM sqlite_master WHERE name = 'sagagraph_version'").fetchone()
    revision = known and connection.execute("SELECT version_num FROM sagagraph_version").fetchone()
    if revision and revision[0] == HEAD_REVISION:
        return
    from sagagraph.saga.stores.migration import upgrade

    upgrade(f"sqlite:///{path}")
