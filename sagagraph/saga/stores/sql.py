"""What the SQL stores share: their statements, and one writer whose commits are shared (ADR-0007).

Whatever is to be written is a job. The jobs of one turn of the event loop, of all sagas, go into one commit; those that arrive
while a commit is under way go into the next one. So nothing waits for company, and nothing commits alone that need not.
"""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from sagagraph.errors import BusyError, ConflictError, SagaGraphError, StoreError, SupersededError, UnknownSagaError
from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.events import Entry, Event, LeaseTaken, SagaBegun
from sagagraph.saga.core.state import Stage
from sagagraph.saga.stores.owner import is_known_dead
from sagagraph.saga.stores.port import Headline, Lease, Note, Request, RequestKind
from sagagraph.saga.stores.rows import Head, Row, entries_of, moved_on, retired, row_of

T = TypeVar("T")

HEAD_REVISION = "0003"
_MOST_JOBS = 500
"""In one commit: whoever comes first must not wait for everybody."""
_MOST_PARAMETERS = 400
"""In one statement."""

_EVENT = "saga_id, version, epoch, at, type, schema_version, data, checksum"
_HEAD = "saga_id, domain, stage, epoch, version, owner, lease_until, begun_at, updated_at"
INSERT_EVENT = f"INSERT INTO events ({_EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - our own text


@dataclass(frozen=True, slots=True)
class Append:
    """A batch of one journal; `version` is the one that it follows."""

    lease: Lease
    version: int
    rows: tuple[Row, ...]
    stage: Stage

    @property
    def parameters(self) -> list[tuple[Any, ...]]:
        return [(self.lease.saga_id, *row) for row in self.rows]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """`work` runs inside a transaction, which others may share: it must not raise a `SagaGraphError` once it has written."""

    work: Callable[[], Any]
    answer: asyncio.Future[Any]
    append: Append | None = None

    def settle(self, outcome: Any) -> None:
        if self.answer.done():
            return
        if isinstance(outcome, BaseException):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


class SqlSagaStore(ABC):
    """One connection, used by one thread at a time: the store's own, or the event loop's where `_commits_at_once` says so."""

    LOCK = ""
    """Ends a SELECT of a head that is about to be changed, where the transaction itself does not lock."""

    def __init__(self, thread: ThreadPoolExecutor) -> None:
        self._thread = thread
        self._waiting: list[Job] = []
        self._is_scheduled = False
        self._in_thread = 0
        self._is_closed = False

    # -- what each of them does in its own way -------------------------------------------------------------------------

    @abstractmethod
    def _execute(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """A cursor; placeholders are question marks."""

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[None]:
        """Commits, or rolls back. Raises `StoreError` when the database fails."""

    @abstractmethod
    def _translated(self, work: Callable[[], T]) -> T:
        """`work()`, with what the database raises as an error of ours."""

    @abstractmethod
    def _now(self) -> float:
        """The clock that leases go by."""

    @abstractmethod
    def _close(self) -> None: ...

    def _commits_at_once(self, jobs: list[Job]) -> bool:  # noqa: ARG002 - for those that can
        """Try these on the event loop's own thread; False leaves them to the store's."""
        return False

    # -- the fence -----------------------------------------------------------------------------------------------------

    async def create(self, saga_id: str, begun: SagaBegun, *, stage: Stage, owner: str, ttl_s: float) -> Lease:
        def work() -> Lease:
            now = self._now()
            inserted = self._execute(
                "INSERT INTO sagas (saga_id, domain, stage, epoch, version, owner, lease_until, begun_at, updated_at)"
                " VALUES (?, ?, ?, 1, 1, ?, ?, ?, ?) ON CONFLICT (saga_id) DO NOTHING",
                (saga_id, begun.domain, stage.value, owner, now + ttl_s, now, now),
            )
            if inserted.rowcount != 1:
                raise ConflictError(f"saga {saga_id!r} exists already", saga_id=saga_id)
            self._insert(saga_id, Entry(1, 1, now, begun))
            return Lease(saga_id, 1, owner)

        return await self._write(work)

    async def take(self, saga_id: str, *, owner: str, ttl_s: float, looks_again: bool = True) -> Lease:
        def work() -> Lease:
            now = self._now()
            epoch, version, held_by, until = self._head(saga_id)
            if held_by not in (None, owner) and until > now and not is_known_dead(held_by):
                raise BusyError(f"saga {saga_id!r} is held by another worker for {until - now:.1f} s more", saga_id=saga_id)
            self._execute(
                "UPDATE sagas SET epoch = ?, version = ?, owner = ?, lease_until = ?, updated_at = ? WHERE saga_id = ?",
                (epoch + 1, version + 1, owner, now + ttl_s, now, saga_id),
            )
            self._insert(saga_id, Entry(version + 1, epoch + 1, now, LeaseTaken(owner, looks_again)))
            return Lease(saga_id, epoch + 1, owner)

        return await self._write(work)

    async def append(self, lease: Lease, entries: Sequence[Entry], *, stage: Stage) -> None:
        rows = tuple(row_of(lease.saga_id, each) for each in entries)
        append = Append(lease, entries[0].version - 1, rows, stage)
        await self._write(lambda: self._append(append), append)

    def _append(self, append: Append) -> None:
        lease, last = append.lease, append.rows[-1]
        moved = self._execute(
            "UPDATE sagas SET version = ?, stage = ?, updated_at = ? WHERE saga_id = ? AND epoch = ? AND version = ?",
            (last.version, append.stage.value, last.at, lease.saga_id, lease.epoch, append.version),
        )
        if moved.rowcount != 1:
            raise superseded(lease)
        for parameters in append.parameters:
            self._execute(INSERT_EVENT, parameters)

    def _is_at_head(self, append: Append) -> bool:
        """Whether a batch whose acknowledgement was lost is in the journal after all."""
        found = self._execute(
            f"SELECT {_EVENT} FROM events WHERE saga_id = ? AND version > ? ORDER BY version",  # noqa: S608 - our own text
            (append.lease.saga_id, append.version),
        )
        return [tuple(row) for row in found.fetchall()] == append.parameters

    async def renew(self, leases: Collection[Lease], ttl_s: float) -> frozenset[Lease]:
        def work() -> frozenset[Lease]:
            until = self._now() + ttl_s
            renew = "UPDATE sagas SET lease_until = ? WHERE saga_id = ? AND epoch = ?"
            renewed = ((each, self._execute(renew, (until, each.saga_id, each.epoch)).rowcount) for each in leases)
            return frozenset(each for each, rows in renewed if rows == 1)

        return await self._write(work)

    async def release(self, lease: Lease) -> None:
        def work() -> None:
            self._execute(
                "UPDATE sagas SET owner = NULL, lease_until = 0 WHERE saga_id = ? AND epoch = ?", (lease.saga_id, lease.epoch)
            )

        await self._write(work)

    # -- reading -------------------------------------------------------------------------------------------------------

    async def read(self, saga_id: str) -> tuple[Entry, ...]:
        def work() -> tuple[Entry, ...]:
            rows = self._execute(
                "SELECT s.retired_at, s.version, s.epoch, e.version, e.epoch, e.at, e.type, e.schema_version, e.data, e.checksum"
                " FROM sagas s LEFT JOIN events e ON e.saga_id = s.saga_id WHERE s.saga_id = ? ORDER BY e.version",
                (saga_id,),
            ).fetchall()
            if not rows:
                raise unknown(saga_id)
            if rows[0][0] is not None:
                raise retired(saga_id, rows[0][0])
            events = (row[3:] for row in rows if row[3] is not None)
            return entries_of(saga_id, Head(*rows[0][1:3]), events)

        return await self._read(work)

    async def headlines(self) -> tuple[Headline, ...]:
        return await self._read(lambda: tuple(self._headlines("WHERE retired_at IS NULL ORDER BY begun_at DESC, saga_id", ())))

    async def headline(self, saga_id: str) -> Headline | None:
        return await self._read(lambda: next(self._headlines("WHERE saga_id = ?", (saga_id,)), None))

    def _headlines(self, where: str, parameters: tuple[Any, ...]) -> Iterator[Headline]:
        columns = "saga_id, domain, stage, version, owner, lease_until, begun_at, updated_at, retired_at"
        for row in self._execute(f"SELECT {columns} FROM sagas {where}", parameters).fetchall():  # noqa: S608 - our own text
            saga_id, domain, stage, *rest = row
            yield Headline(saga_id, domain, Stage(stage), *rest)

    # -- what is not fenced --------------------------------------------------------------------------------------------

    async def note(self, saga_id: str, note: Note) -> None:
        def work() -> None:
            row = self._execute("SELECT retired_at FROM sagas WHERE saga_id = ?", (saga_id,)).fetchone()
            if row is not None and row[0] is not None:
                return
            self._execute(
                "INSERT INTO evidence (saga_id, operation, call, key, output) VALUES (?, ?, ?, ?, ?)",
                (saga_id, note.operation, note.call.value, note.key, json.dumps(note.output)),
            )

        await self._write(work)

    async def notes(self, saga_id: str) -> tuple[Note, ...]:
        def work() -> tuple[Note, ...]:
            rows = self._execute(
                "SELECT operation, call, key, output FROM evidence WHERE saga_id = ? ORDER BY number", (saga_id,)
            ).fetchall()
            return tuple(Note(operation, CallKind(call), key, json.loads(output)) for operation, call, key, output in rows)

        return await self._read(work)

    async def ask(self, saga_id: str, kind: RequestKind, by: str, data: Any) -> Request:
        def work() -> Request:
            self._head(saga_id)  # locked: the numbers of one saga's requests commit in their order
            inserted = self._execute(
                "INSERT INTO requests (saga_id, kind, by, data) VALUES (?, ?, ?, ?) RETURNING number",
                (saga_id, kind.value, by, json.dumps(data)),
            )
            return Request(saga_id, int(inserted.fetchone()[0]), kind, by, data)

        return await self._write(work)

    async def requests(self, after: Mapping[str, int]) -> tuple[Request, ...]:
        def work() -> tuple[Request, ...]:
            ids = list(after)
            parts = (ids[start : start + _MOST_PARAMETERS] for start in range(0, len(ids), _MOST_PARAMETERS))
            rows = [row for part in parts for row in self._requests_of(part)]
            return tuple(
                Request(saga_id, number, RequestKind(kind), by, json.loads(data))
                for number, saga_id, kind, by, data in sorted(rows)
                if number > after[saga_id]
            )

        return await self._read(work)

    def _requests_of(self, saga_ids: Sequence[str]) -> list[tuple[Any, ...]]:
        marks = ", ".join("?" * len(saga_ids))
        columns = "number, saga_id, kind, by, data"
        found = self._execute(f"SELECT {columns} FROM requests WHERE saga_id IN ({marks})", saga_ids)  # noqa: S608 - question marks
        return [tuple(row) for row in found.fetchall()]

    # -- retention and redaction ---------------------------------------------------------------------------------------

    async def dump(self, saga_id: str) -> dict[str, Any]:
        def work() -> dict[str, Any]:
            for head in self._rows("sagas", f"{_HEAD}, retired_at", saga_id, "saga_id"):
                if (at := head.pop("retired_at")) is not None:
                    raise retired(saga_id, at)
                break
            else:
                raise unknown(saga_id)
            return {
                "saga": head,
                "events": self._rows("events", _EVENT.removeprefix("saga_id, "), saga_id, "version"),
                "evidence": self._rows("evidence", "operation, call, key, output", saga_id, "number", output=json.loads),
                "requests": self._rows("requests", "number, kind, by, data", saga_id, "number", data=json.loads),
            }

        return await self._read(work)

    def _rows(self, table: str, columns: str, saga_id: str, order: str, **parse: Callable[[str], Any]) -> list[dict[str, Any]]:
        names = columns.split(", ")
        found = self._execute(
            f"SELECT {columns} FROM {table} WHERE saga_id = ? ORDER BY {order}",  # noqa: S608 - our own text
            (saga_id,),
        )
        return [
            {name: parse[name](value) if name in parse else value for name, value in zip(names, row, strict=True)}
            for row in found.fetchall()
        ]

    async def retire(self, saga_id: str, version: int, *, heard: int, at: float) -> None:
        def work() -> None:
            self._head(saga_id)
            moved = self._execute(
                "UPDATE sagas SET retired_at = ?, epoch = epoch + 1, owner = NULL, lease_until = 0 WHERE saga_id = ?"
                " AND version = ? AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.saga_id = ? AND r.number > ?)",
                (at, saga_id, version, saga_id, heard),
            )
            if moved.rowcount != 1:
                raise moved_on(saga_id)
            for table in ("events", "evidence", "requests"):
                self._execute(f"DELETE FROM {table} WHERE saga_id = ?", (saga_id,))  # noqa: S608 - our own text

        await self._write(work)

    async def rewrite(self, saga_id: str, recorded: Entry, change: Callable[[Event], Event], hide: Callable[[Any], Any]) -> None:
        entries = await self.read(saga_id)
        if recorded.version != len(entries) + 1:
            raise moved_on(saga_id)
        rows = [row_of(saga_id, Entry(each.version, each.epoch, each.at, change(each.event))) for each in entries]

        def work() -> None:
            moved = self._execute(
                "UPDATE sagas SET version = ?, updated_at = ? WHERE saga_id = ? AND version = ? AND retired_at IS NULL",
                (recorded.version, recorded.at, saga_id, recorded.version - 1),
            )
            if moved.rowcount != 1:
                raise moved_on(saga_id)
            for row in rows:
                self._execute(
                    "UPDATE events SET type = ?, schema_version = ?, data = ?, checksum = ? WHERE saga_id = ? AND version = ?",
                    (row.type, row.schema_version, row.data, row.checksum, saga_id, row.version),
                )
            self._insert(saga_id, recorded)
            for table, column in (("evidence", "output"), ("requests", "data")):
                self._hide(table, column, saga_id, hide)

        await self._write(work)
        await self._read(self._forget)

    def _hide(self, table: str, column: str, saga_id: str, hide: Callable[[Any], Any]) -> None:
        found = self._execute(f"SELECT number, {column} FROM {table} WHERE saga_id = ?", (saga_id,))  # noqa: S608 - our own text
        for number, value in found.fetchall():
            hidden = json.dumps(hide(json.loads(value)))
            self._execute(f"UPDATE {table} SET {column} = ? WHERE number = ?", (hidden, number))  # noqa: S608 - our own text

    def _forget(self) -> None:  # noqa: B027 - not every database can be told to
        """See to it that what was overwritten or deleted is gone from the database's files."""

    # -- one writer ----------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """After what is waiting has been written. From then on all methods raise `StoreError`."""
        if self._is_closed:
            return
        if self._waiting:
            await self._write(lambda: None)
        await self._read(self._close)
        self._is_closed = True
        self._thread.shutdown(wait=False)

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreError("the store has been closed")

    async def _read(self, work: Callable[[], T]) -> T:
        self._check_open()
        loop = asyncio.get_running_loop()
        self._in_thread += 1
        reading = loop.run_in_executor(self._thread, self._translated, work)
        reading.add_done_callback(self._is_back)
        return await asyncio.shield(reading)

    async def _write(self, work: Callable[[], T], append: Append | None = None) -> T:
        self._check_open()
        job = Job(work, asyncio.get_running_loop().create_future(), append)
        self._waiting.append(job)
        self._schedule()
        answer: T = await job.answer
        return answer

    def _schedule(self) -> None:
        if self._waiting and not self._is_scheduled and not self._in_thread:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        """Commit what has come together since the last turn of the loop, or since the last commit."""
        self._is_scheduled = False
        if self._in_thread or not self._waiting:
            return
        jobs, self._waiting = self._waiting[:_MOST_JOBS], self._waiting[_MOST_JOBS:]
        if self._commits_at_once(jobs):
            self._schedule()
            return
        self._in_thread += 1
        committing = asyncio.get_running_loop().run_in_executor(self._thread, self._outcomes, jobs)
        committing.add_done_callback(lambda done: self._settle(jobs, done))

    def _settle(self, jobs: list[Job], done: asyncio.Future[list[Any]]) -> None:
        failure = asyncio.CancelledError() if done.cancelled() else done.exception()
        for job, outcome in zip(jobs, [failure] * len(jobs) if failure else done.result(), strict=True):
            job.settle(outcome)
        self._is_back(done)

    def _is_back(self, _done: asyncio.Future[Any]) -> None:
        self._in_thread -= 1
        self._schedule()

    def _outcomes(self, jobs: list[Job]) -> list[Any]:
        """What became of each job: its answer, or what is to be raised."""
        try:
            with self._transaction():
                return [self._outcome(job) for job in jobs]
        except StoreError as exc:
            return [self._after_failure(job, exc) for job in jobs]

    def _outcome(self, job: Job) -> Any:
        try:
            return self._translated(job.work)
        except StoreError:
            raise
        except SagaGraphError as exc:
            return exc

    def _after_failure(self, job: Job, failure: StoreError) -> Any:
        """The commit failed or its acknowledgement was lost: a batch that is at the head was committed (PROTOCOL rule 1)."""
        try:
            if job.append is not None and self._is_at_head(job.append):
                return None
        except Exception:  # noqa: BLE001 - the first failure has more to tell
            return failure
        return failure

    # -- within a transaction ------------------------------------------------------------------------------------------

    def _insert(self, saga_id: str, entry: Entry) -> None:
        self._execute(INSERT_EVENT, (saga_id, *row_of(saga_id, entry)))

    def _head(self, saga_id: str) -> tuple[int, int, str | None, float]:
        row = self._execute(
            f"SELECT epoch, version, owner, lease_until, retired_at FROM sagas WHERE saga_id = ?{self.LOCK}",  # noqa: S608 - our own text
            (saga_id,),
        ).fetchone()
        if row is None:
            raise unknown(saga_id)
        if row[4] is not None:
            raise retired(saga_id, row[4])
        return int(row[0]), int(row[1]), row[2], float(row[3])


class Pace:
    """How long commits took lately, in seconds: a moving average that a single stall moves at once and that forgets slowly."""

    def __init__(self) -> None:
        self.average_s = 0.0

    def ran(self, began: float) -> None:
        """`began`: `time.perf_counter()` when it did."""
        self.average_s += 0.1 * (time.perf_counter() - began - self.average_s)


def superseded(lease: Lease) -> SupersededError:
    return SupersededError(f"saga {lease.saga_id!r} was taken over by another worker", saga_id=lease.saga_id)


def unknown(saga_id: str) -> UnknownSagaError:
    return UnknownSagaError(f"there is no saga {saga_id!r}", saga_id=saga_id)
