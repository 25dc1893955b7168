"""SQLite store: journals in one file, in WAL mode with synchronous=FULL, so that what is appended survives a power cut.

Several processes may open the same file: each append checks its fence inside its transaction. While the disk is quick and nobody
else writes, small commits are made on the event loop's thread: handing them over would take as long as making them.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from sagagraph.errors import InvalidInputError, LostStoreError, SagaGraphError, StoreError
from sagagraph.saga.core.locks import LockChange
from sagagraph.saga.stores import statements as sql
from sagagraph.saga.stores.commits import EventParameters, Fenced, Job, Work
from sagagraph.saga.stores.guards.durability import Durability, check, sqlite_shortfalls
from sagagraph.saga.stores.guards.file_watch import FileWatch
from sagagraph.saga.stores.guards.history import EVENTS, Witness, history_of, sqlite_history
from sagagraph.saga.stores.rows import lock_row
from sagagraph.saga.stores.sql_store import Append, SqlSagaStore, missing, suffices
from sagagraph.saga.stores.sqlite_file import BUSY_TIMEOUT_S

T = TypeVar("T")

QUICK_S = 0.001
"""A commit may hold the event loop up for so long."""
_FEW_JOBS = 16
_BUSY_PAUSE_S = 0.01
_LEFT_OPEN: list[sqlite3.Connection] = []
"""Connections to lost files, until the process ends."""


class SqliteSagaStore(SqlSagaStore):
    def __init__(
        self,
        path: Path,
        thread: ThreadPoolExecutor,
        clock: Callable[[], float],
        connection: sqlite3.Connection,
        epoch: int,
        shortfalls: tuple[str, ...] = (),
    ) -> None:
        super().__init__(thread)
        self.epoch = epoch
        self.shortfalls = shortfalls
        self._witness = Witness(path)
        self._events = 0
        """Written in this transaction."""
        self.path = path
        self._connection = connection
        self._watch = FileWatch(path)
        self._is_lost = False
        self._clock = clock
        self._pace = Pace()
        self._waits = True
        """Whether the connection waits for other writers."""

    @classmethod
    async def open(
        cls,
        path: Path,
        clock: Callable[[], float] = time.time,
        *,
        create: bool = True,
        durability: Durability = Durability.CHECKED,
    ) -> SqliteSagaStore:
        """Open the file, or with `create` make it, and bring its tables to this release.

        Raises `MissingStoreError`, having created nothing, and `StoreError`.
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sagagraph-journal")
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(thread, lambda: cls(path, thread, clock, *_connect(path, create, durability)))
        except BaseException:
            thread.shutdown(wait=False)
            raise

    @property
    def database_url(self) -> str:
        """URL of the database with the projections' tables."""
        return f"sqlite:///{self.path}"

    def _commits_at_once(self, jobs: list[Job]) -> bool:
        if len(jobs) > _FEW_JOBS or self._pace.average_s > QUICK_S:
            return False
        self._wait_for_others(False)
        try:
            self._check_file(self._watch.check_before)
            self._connection.execute("BEGIN IMMEDIATE")
        except (sqlite3.Error, LostStoreError):  # somebody else writes: the store's thread will wait, or report the loss
            return False
        outcomes = self._outcomes(jobs)
        for job, outcome in zip(jobs, outcomes, strict=True):
            job.settle(outcome)
        return True

    def _read_at_once(self, work: Callable[[], T]) -> tuple[T] | None:
        if self._pace.average_s > QUICK_S:
            return None
        self._wait_for_others(False)
        try:
            return (work(),)
        except (sqlite3.Error, UnicodeEncodeError):  # the store's thread waits for others, or reports it
            return None

    def _outcomes(self, jobs: list[Job]) -> list[Any]:
        """Commit all jobs in one transaction, which fails for all of them or for none."""
        try:
            with self._transaction():
                return [self._outcome(job.work) for job in jobs]
        except LostStoreError as exc:
            return [exc] * len(jobs)
        except StoreError as exc:
            return [self._after_failure(job.work, exc) for job in jobs]

    def _outcome(self, work: Work) -> Any:
        try:
            return self._translated(lambda: work.told(self._fenced(work)) if isinstance(work, Fenced) else work.work())
        except StoreError:
            raise
        except SagaGraphError as exc:
            return exc

    def _after_failure(self, work: Work, failure: StoreError) -> Any:
        """Find out what was committed after the commit failed, or its acknowledgement was lost (docs/protocol.md rule 1)."""
        try:
            if isinstance(work, Fenced) and work.has_landed(self._execute):
                return work.told(True)
        except Exception:  # noqa: BLE001 - the first failure tells more
            return failure
        return failure

    def _wait_for_others(self, waits: bool) -> None:
        if waits is not self._waits:
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000 if waits else 0:.0f}")
            self._waits = waits

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run in a transaction; continues one that has begun already."""
        began = time.perf_counter()
        try:
            if not self._connection.in_transaction:
                self._check_file(self._watch.check_before)
                self._wait_for_others(True)
                self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
            self._check_file(self._watch.check)
            self._testify()
            self._pace.ran(began)
        except BaseException as exc:
            self._events = 0
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if isinstance(exc, sqlite3.Error):
                raise StoreError(f"the journal could not be written: {exc}") from exc
            raise

    def _check_file(self, check: Callable[[], None]) -> None:
        """Raise `LostStoreError` if the file is not what was opened; it stays lost."""
        if self._is_lost:
            raise LostStoreError(f"the store {self.path} was lost: open it again")
        try:
            check()
        except LostStoreError:
            self._is_lost = True
            raise

    def _testify(self) -> None:
        """Let the witness know what was written, before anything goes out on account of it."""
        written, self._events = self._events, 0
        if not written:
            return
        try:
            self._witness.add(written, self._count_events)
        except FileNotFoundError:
            self._call_witness()
        except OSError as exc:
            raise LostStoreError(f"the store's witness {self._witness.path} cannot be written: {exc}") from exc

    def _call_witness(self) -> None:
        self._witness.write(history_of(self._ask).identity, self._count_events())

    def _count_events(self) -> int:
        (count,) = self._ask(EVENTS) or (0,)
        return int(count)

    async def restored(self) -> int:
        epoch = await super().restored()
        await self._read(self._call_witness)
        return epoch

    def _ask(self, statement: str, parameters: Sequence[Any] = ()) -> Sequence[Any] | None:
        found: Sequence[Any] | None = self._connection.execute(statement, parameters).fetchone()
        return found

    def _execute(self, statement: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        return self._connection.execute(_without_locks(statement), parameters)

    def _execute_many(self, statement: str, parameters: Sequence[Sequence[Any]]) -> None:
        self._connection.executemany(statement, parameters)

    def _change(
        self, change: sql.Change, given: Sequence[Mapping[str, Any]], events: Sequence[EventParameters] = ()
    ) -> set[tuple[Any, ...]]:
        changed: set[tuple[Any, ...]] = set()
        for each in given:
            for text, parameters in change.for_one:
                if self._connection.execute(text, parameters(each)).rowcount:
                    changed.add(change.row(each))
                    break
        if events:
            held = {row[0] for row in changed}
            written = [each for each in events if each[0] in held]
            self._connection.executemany(sql.INSERT_EVENT, written)
            self._events += len(written)
        return changed

    def _append_with_locks(self, write: Append, locks: LockChange, changes: int) -> bool:  # noqa: ARG002 - nobody else writes
        if not self._change(write.change, [write.given(0.0)], write.events(0.0)):
            return False
        self._connection.executemany(sql.FREE_LOCKS, [(write.saga_id, each) for each in locks.freed])
        self._connection.executemany(sql.INSERT_LOCK, [lock_row(each) for each in (*locks.asked, *locks.recorded)])
        return True

    def _translated(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except sqlite3.Error as exc:
            raise StoreError(f"the journal cannot be read: {exc}") from exc
        except UnicodeEncodeError as exc:  # possible in a command-line argument
            raise InvalidInputError(f"{exc.object!r} is not valid Unicode") from exc

    async def forget(self, saga_id: str) -> None:  # noqa: ARG002 - the whole file is rewritten
        """Rely on `secure_delete`, which has overwritten the rows. Remnants from moved pages go with the file's old pages,
        and the log beside the file is written back and emptied.
        """
        await self._read(self._rewrite_file)

    def _rewrite_file(self) -> None:
        self._wait_for_others(True)
        try:
            self._connection.execute("VACUUM")
            is_busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            is_busy = True
        if is_busy:
            raise StoreError(
                f"it is done, but {self.path} or its log still holds what was there, because another process uses it: "
                "repeat this when that has ended"
            )

    def _now(self) -> float:
        return self._clock()

    def _disconnect(self) -> None:
        self._witness.close()
        if self._is_lost:  # closing it would write its log into whatever stands there now
            _LEFT_OPEN.append(self._connection)
        else:
            self._connection.close()


class Pace:
    """Duration of recent commits, in seconds: a moving average that a single stall moves at once and that forgets slowly."""

    def __init__(self) -> None:
        self.average_s = 0.0

    def ran(self, began: float) -> None:
        """Note a commit. `began`: `time.perf_counter()` when it began."""
        self.average_s += 0.1 * (time.perf_counter() - began - self.average_s)


@cache
def _without_locks(statement: str) -> str:
    """Remove row locks: a transaction that writes locks the whole database. And call a function by SQLite's name."""
    return statement.replace(" FOR UPDATE", "").replace("strpos(", "instr(")


def _connect(path: Path, create: bool, durability: Durability) -> tuple[sqlite3.Connection, int, tuple[str, ...]]:
    try:
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif path.stat().st_size == 0:
            raise missing(f"sqlite:///{path}")
        address = path if create else f"{path.absolute().as_uri()}?mode=rw"  # a file that goes meanwhile is not made again
        connection = sqlite3.connect(
            address, uri=not create, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error) as exc:
        if isinstance(exc, FileNotFoundError) and not create:
            raise missing(f"sqlite:///{path}") from None
        raise StoreError(f"the store {path} cannot be opened: {exc}") from exc
    try:
        _migrate(path, connection, create=create)
        _turn_on_wal(connection)
        for name in ("synchronous = FULL", "fullfsync = ON", "checkpoint_fullfsync = ON"):  # the last two are macOS's
            connection.execute(f"PRAGMA {name}")
        shortfalls = sqlite_shortfalls(lambda statement: connection.execute(statement).fetchone())
        check(f"sqlite:///{path}", shortfalls, durability)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("SELECT 1 FROM sagas").fetchone()  # from here on there is a log
        history = sqlite_history(lambda *asked: connection.execute(*asked).fetchone(), Witness(path))
    except sqlite3.Error as exc:
        connection.close()
        raise StoreError(f"the store {path} cannot be opened: {exc}") from exc
    except BaseException:
        connection.close()
        raise
    return connection, history.epoch, shortfalls


def _turn_on_wal(connection: sqlite3.Connection) -> None:
    """Turn on WAL. SQLite does not wait for a lock here, and another process may be opening or closing the file right now."""
    give_up = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(_BUSY_PAUSE_S)
        else:
            return


def _migrate(path: Path, connection: sqlite3.Connection, *, create: bool) -> None:
    known = connection.execute("SELECT name FROM sqlite_master WHERE name = 'sagagraph_version'").fetchone()
    revision = known and connection.execute("SELECT version_num FROM sagagraph_version").fetchone()
    if revision and suffices(revision[0]):
        return
    if not known and not create:
        raise missing(f"sqlite:///{path}")
    from sagagraph.saga.stores.migration import upgrade

    upgrade(f"sqlite:///{path}")
