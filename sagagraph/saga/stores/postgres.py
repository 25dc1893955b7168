"""Journals in PostgreSQL. One connection on one thread does all the work of a store; the event loop never waits for it.

Every write of a running saga is one statement that commits by itself: one round trip, and a worker that freezes between two
statements holds no lock. The appends of many sagas share such a statement. A connection that is lost is made again; reads and
what may be repeated are repeated, and an append, a beginning or a takeover whose acknowledgement was lost is looked up
(PROTOCOL rule 1).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from sagagraph.errors import BusyError, ConflictError, InvalidInputError, SagaGraphError, StoreError
from sagagraph.saga.core.codec import encode
from sagagraph.saga.core.events import Entry, LeaseTaken, SagaBegun
from sagagraph.saga.core.state import Stage
from sagagraph.saga.stores.owner import is_known_dead
from sagagraph.saga.stores.port import Lease, Note, Request, RequestKind
from sagagraph.saga.stores.postgres_connection import PostgresConnection, why
from sagagraph.saga.stores.rows import Head, retired, row_of
from sagagraph.saga.stores.sql import HEAD_REVISION, Append, Job, SqlSagaStore, superseded, unknown

T = TypeVar("T")

_FEW_ROWS = 4
"""So many are quicker as parameters of their own than as arrays."""
_NOW = "COALESCE(?::float8, extract(epoch FROM clock_timestamp())::float8)"
"""The database's clock, but for tests."""
_EVENT = "saga_id, version, epoch, at, type, schema_version, data, checksum"
_EVENT_TYPES = "text, int, int, float8, text, int, text, bigint"

_CREATE = f"""
    WITH made AS (
        INSERT INTO sagas (saga_id, domain, stage, epoch, version, owner, lease_until, begun_at, updated_at)
        SELECT b.saga_id, b.domain, b.stage, 1, 1, b.owner, b.at + b.ttl_s, b.at, b.at
        FROM unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::float8[], ?::float8[])
            AS b (saga_id, domain, stage, owner, ttl_s, at)
        ON CONFLICT (saga_id) DO NOTHING RETURNING saga_id
    ), written AS (
        INSERT INTO events ({_EVENT})
        SELECT e.* FROM unnest({", ".join(f"?::{each}[]" for each in _EVENT_TYPES.split(", "))}) AS e ({_EVENT})
        JOIN made ON made.saga_id = e.saga_id
    )
    SELECT saga_id FROM made"""  # noqa: S608 - our own text
_APPEND_MANY = f"""
    WITH moved AS (
        UPDATE sagas AS s SET version = b.reached, stage = b.stage, updated_at = b.at
        FROM unnest(?::text[], ?::int[], ?::int[], ?::int[], ?::text[], ?::float8[])
            AS b (saga_id, epoch, version, reached, stage, at)
        WHERE s.saga_id = b.saga_id AND s.epoch = b.epoch AND s.version = b.version RETURNING s.saga_id
    ), written AS (
        INSERT INTO events ({_EVENT})
        SELECT e.* FROM unnest({", ".join(f"?::{each}[]" for each in _EVENT_TYPES.split(", "))}) AS e ({_EVENT})
        JOIN moved ON moved.saga_id = e.saga_id
    )
    SELECT saga_id FROM moved"""  # noqa: S608 - our own text
_ROW = f"({', '.join(f'?::{each}' for each in _EVENT_TYPES.split(', '))})"
_APPEND_FEW = f"""
    WITH moved AS (
        UPDATE sagas SET version = ?, stage = ?, updated_at = ? WHERE saga_id = ? AND epoch = ? AND version = ? RETURNING saga_id
    )
    INSERT INTO events ({_EVENT}) SELECT e.* FROM moved, (VALUES %s) AS e ({_EVENT})"""  # noqa: S608 - our own text
_APPENDS = {rows: _APPEND_FEW % ", ".join([_ROW] * rows) for rows in range(1, _FEW_ROWS + 1)}
_TAKE = f"""
    WITH moved AS (
        UPDATE sagas SET epoch = ?, version = ?, owner = ?, lease_until = ?, updated_at = ?
        WHERE saga_id = ? AND epoch = ? AND version = ? AND owner IS NOT DISTINCT FROM ? AND lease_until = ? RETURNING saga_id
    )
    INSERT INTO events ({_EVENT}) SELECT e.* FROM moved, (VALUES {_ROW}) AS e ({_EVENT})"""  # noqa: S608 - our own text
_RENEW = f"""
    UPDATE sagas AS s SET lease_until = {_NOW} + ?::float8 FROM unnest(?::text[], ?::int[]) AS b (saga_id, epoch)
    WHERE s.saga_id = b.saga_id AND s.epoch = b.epoch RETURNING s.saga_id, s.epoch"""  # noqa: S608 - our own text
_RELEASE = """
    UPDATE sagas AS s SET owner = NULL, lease_until = 0 FROM unnest(?::text[], ?::int[]) AS b (saga_id, epoch)
    WHERE s.saga_id = b.saga_id AND s.epoch = b.epoch"""
_NOTE = """
    INSERT INTO evidence (saga_id, operation, call, key, output) SELECT * FROM (VALUES (?, ?, ?, ?, ?)) AS given
    WHERE NOT EXISTS (SELECT 1 FROM sagas WHERE saga_id = ? AND retired_at IS NOT NULL)
    EXCEPT SELECT saga_id, operation, call, key, output FROM evidence WHERE saga_id = ?"""
_ASK = """
    WITH head AS (SELECT saga_id FROM sagas WHERE saga_id = ? AND retired_at IS NULL FOR UPDATE)
    INSERT INTO requests (saga_id, kind, by, data) SELECT saga_id, ?, ?, ? FROM head RETURNING number"""
"""The number is drawn under the lock: the requests of one saga commit in the order of their numbers."""


@dataclass(frozen=True, slots=True)
class _Creation:
    saga_id: str
    begun: SagaBegun
    stage: Stage
    owner: str
    ttl_s: float


@dataclass(frozen=True, slots=True)
class _Release:
    lease: Lease


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """What a job of ours is: `item` is done together with others of its kind; a function alone, and once more by `again`."""

    item: Append | _Creation | _Release | None = None
    alone: Callable[[], Any] | None = None
    again: Callable[[], Any] | None = None

    def __call__(self) -> Any:
        raise AssertionError("done by _outcomes")


class PostgresSagaStore(SqlSagaStore):
    LOCK = " FOR UPDATE"

    def __init__(self, connection: PostgresConnection, thread: ThreadPoolExecutor, clock: Callable[[], float] | None) -> None:
        super().__init__(thread)
        self._connection = connection
        self._clock = clock

    @classmethod
    async def open(cls, url: str, clock: Callable[[], float] | None = None) -> PostgresSagaStore:
        """Connect, and bring the tables to this release. Leases go by the database's clock, unless a test gives one.

        Raises `InvalidInputError` for a URL that is none, `StoreError`.
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sagagraph-journal")
        loop = asyncio.get_running_loop()
        try:
            connection = await loop.run_in_executor(thread, _open, url)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(connection, thread, clock)

    @property
    def database_url(self) -> str:
        """Where the projections' tables are; a password may be in it."""
        return self._connection.url

    # -- the fence -----------------------------------------------------------------------------------------------------

    async def create(self, saga_id: str, begun: SagaBegun, *, stage: Stage, owner: str, ttl_s: float) -> Lease:
        return await self._write(_Work(_Creation(saga_id, begun, stage, owner, ttl_s)))

    def _create_all(self, creations: Sequence[_Creation]) -> list[Any]:
        now = self._now()
        heads = [(each.saga_id, each.begun.domain, each.stage.value, each.owner, each.ttl_s, now) for each in creations]
        rows = [(each.saga_id, *row_of(each.saga_id, Entry(1, 1, now, each.begun))) for each in creations]
        made = {saga_id for (saga_id,) in self._execute(_CREATE, (*_columns(heads), *_columns(rows)))}
        return [Lease(each.saga_id, 1, each.owner) if each.saga_id in made else _exists(each.saga_id) for each in creations]

    def _create_again(self, creation: _Creation) -> Any:
        """Whether it was created after all: ours is the first epoch, and what it was begun with."""
        while (head := self._settled_head(creation.saga_id)) is None:
            (created,) = self._create_all([creation])
            if isinstance(created, Lease):
                return created
        found = self._execute(
            "SELECT s.owner, e.type, e.schema_version, e.data FROM sagas s JOIN events e ON e.saga_id = s.saga_id"
            " WHERE s.saga_id = ? AND e.version = 1",
            (creation.saga_id,),
        ).fetchone()
        if found is None or head != Head(1, 1) or found[0] != creation.owner or found[1:] != encode(creation.begun):
            return _exists(creation.saga_id)
        return Lease(creation.saga_id, 1, creation.owner)

    async def take(self, saga_id: str, *, owner: str, ttl_s: float, looks_again: bool = True) -> Lease:
        taking = _Taking(self, saga_id, owner, ttl_s, looks_again)
        return await self._write(_Work(alone=taking.take, again=taking.take_again))

    async def append(self, lease: Lease, entries: Sequence[Entry], *, stage: Stage) -> None:
        rows = tuple(row_of(lease.saga_id, each) for each in entries)
        await self._write(_Work(Append(lease, entries[0].version - 1, rows, stage)))

    def _append_all(self, appends: Sequence[Append]) -> list[Any]:
        moved = self._moved(appends)
        return [None if each.lease.saga_id in moved else superseded(each.lease) for each in appends]

    def _moved(self, appends: Sequence[Append]) -> set[str]:
        """Appends to different sagas, in one commit. Returns the sagas whose fences held."""
        if len(appends) == 1 and len(appends[0].rows) <= _FEW_ROWS:
            (one,) = appends
            saga_id, last = one.lease.saga_id, one.rows[-1]
            fence = (last.version, one.stage.value, last.at, saga_id, one.lease.epoch, one.version)
            rows = [value for row in one.parameters for value in row]
            written = self._connection.execute(_APPENDS[len(one.rows)], (*fence, *rows), prepare=True)
            return {saga_id} if written.rowcount else set()
        heads = [
            (each.lease.saga_id, each.lease.epoch, each.version, each.rows[-1].version, each.stage.value, each.rows[-1].at)
            for each in appends
        ]
        events = [row for each in appends for row in each.parameters]
        moved = self._connection.execute(_APPEND_MANY, (*_columns(heads), *_columns(events)), prepare=True)
        return {saga_id for (saga_id,) in moved}

    def _append_again(self, append: Append) -> Any:
        """Its acknowledgement was lost: it is at the head, or not there and sent again, or another one is there.

        The old statement may still be on its way to the server; the fence lets only one of the two through.
        """
        while True:
            head = self._settled_head(append.lease.saga_id)
            if head == Head(append.rows[-1].version, append.lease.epoch) and self._is_at_head(append):
                return None
            if head != Head(append.version, append.lease.epoch):
                return superseded(append.lease)
            if self._moved([append]):
                return None

    async def renew(self, leases: Collection[Lease], ttl_s: float) -> frozenset[Lease]:
        def work() -> frozenset[Lease]:
            ids, epochs = [each.saga_id for each in leases], [each.epoch for each in leases]
            renewed = set(self._execute(_RENEW, (self._clock and self._clock(), ttl_s, ids, epochs)).fetchall())
            return frozenset(each for each in leases if (each.saga_id, each.epoch) in renewed)

        return await self._write(_Work(alone=work))

    async def release(self, lease: Lease) -> None:
        await self._write(_Work(_Release(lease)))

    def _release_all(self, releases: Sequence[_Release]) -> list[Any]:
        leases = [each.lease for each in releases]
        self._execute(_RELEASE, ([each.saga_id for each in leases], [each.epoch for each in leases]))
        return [None] * len(leases)

    # -- what is not fenced --------------------------------------------------------------------------------------------

    async def note(self, saga_id: str, note: Note) -> None:
        row = (saga_id, note.operation, note.call.value, note.key, json.dumps(note.output))
        await self._write(_Work(alone=lambda: self._execute(_NOTE, (*row, saga_id, saga_id)).close()))

    async def ask(self, saga_id: str, kind: RequestKind, by: str, data: Any) -> Request:
        row = (kind.value, by, json.dumps(data))
        asking = _Asking(self, saga_id, row)
        number = await self._write(_Work(alone=asking.ask, again=asking.ask_again))
        return Request(saga_id, number, kind, by, data)

    # -- one writer ----------------------------------------------------------------------------------------------------

    def _outcomes(self, jobs: list[Job]) -> list[Any]:
        outcomes: dict[Job, Any] = {}
        rest = [job for job in jobs if not isinstance(job.work, _Work)]
        for kind, once, again in (
            (_Creation, self._create_all, self._create_again),
            (Append, self._append_all, self._append_again),
            (_Release, self._release_all, lambda release: self._release_all([release])[0]),
        ):
            for together in _rounds([job for job in jobs if isinstance(_item(job), kind)]):
                outcomes |= zip(together, self._together([_item(job) for job in together], once, again), strict=True)
        for job in jobs:
            if isinstance(job.work, _Work) and job.work.alone is not None:
                outcomes[job] = self._alone(job.work.alone, job.work.again)
        outcomes |= zip(rest, super()._outcomes(rest) if rest else (), strict=True)
        return [outcomes[job] for job in jobs]

    def _together(self, items: list[Any], once: Callable[[list[Any]], list[Any]], again: Callable[[Any], Any]) -> list[Any]:
        """In one statement. If it can not be known what became of it, or one of them can not be written, each for itself."""
        try:
            return once(items)
        except (psycopg.DataError, UnicodeEncodeError) as exc:
            if len(items) == 1:
                return [_error(exc, "could not be written")]
        except psycopg.Error as exc:
            if not self._connection.is_passing(exc):
                return [_error(exc, "could not be written")] * len(items)
        outcomes: list[Any] = []
        for item in items:
            outcomes.append(self._alone(lambda item=item: again(item)))  # type: ignore[misc]
            if not self._connection.is_up:  # one has waited for the database in vain, and for all of them
                return outcomes + [outcomes[-1]] * (len(items) - len(outcomes))
        return outcomes

    def _alone(self, work: Callable[[], Any], again: Callable[[], Any] | None = None) -> Any:
        try:
            return self._connection.insist(work, again)
        except SagaGraphError as exc:
            return exc
        except (psycopg.Error, UnicodeEncodeError) as exc:
            return _error(exc, "could not be written")

    # -- within the thread ---------------------------------------------------------------------------------------------

    def _execute(self, statement: str, parameters: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        return self._connection.execute(statement, parameters)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            with self._connection.transaction():
                yield
        except psycopg.Error as exc:
            self._connection.is_passing(exc)
            raise _error(exc, "could not be written") from exc

    def _translated(self, work: Callable[[], T]) -> T:
        try:
            return work() if self._connection.is_in_transaction else self._connection.insist(work)
        except (psycopg.Error, UnicodeEncodeError) as exc:
            raise _error(exc, "can not be read") from exc

    def _now(self) -> float:
        if self._clock is not None:
            return self._clock()
        (now,) = self._execute(f"SELECT {_NOW}", (None,)).fetchone() or (0.0,)
        return float(now)

    def _settled_head(self, saga_id: str) -> Head | None:
        """After whatever of ours or others is under way on this saga's row has committed or is gone."""
        row = self._execute("SELECT version, epoch FROM sagas WHERE saga_id = ? FOR UPDATE", (saga_id,)).fetchone()
        return row and Head(*row)

    def _close(self) -> None:
        self._connection.close()


class _Taking:
    """One takeover: looks who holds the saga, and takes it if that is still so."""

    def __init__(self, store: PostgresSagaStore, saga_id: str, owner: str, ttl_s: float, looks_again: bool) -> None:
        self._store = store
        self._saga_id = saga_id
        self._owner = owner
        self._ttl_s = ttl_s
        self._looks_again = looks_again
        self._tried: int | None = None
        """The epoch that a statement of ours may have taken."""

    def take(self) -> Lease:
        while True:
            row = self._store._execute(
                f"SELECT epoch, version, owner, lease_until, {_NOW}, retired_at FROM sagas WHERE saga_id = ?",  # noqa: S608 - our own text
                (self._store._clock and self._store._clock(), self._saga_id),
            ).fetchone()
            if row is None:
                raise unknown(self._saga_id)
            epoch, version, held_by, until, now, retired_at = row
            if retired_at is not None:
                raise retired(self._saga_id, retired_at)
            if (epoch, held_by) == (self._tried, self._owner):
                return Lease(self._saga_id, epoch, self._owner)
            if held_by not in (None, self._owner) and until > now and not is_known_dead(held_by):
                raise BusyError(
                    f"saga {self._saga_id!r} is held by another worker for {until - now:.1f} s more", saga_id=self._saga_id
                )
            if self._fenced(epoch, version, held_by, until, now):
                return Lease(self._saga_id, epoch + 1, self._owner)

    def take_again(self) -> Lease:
        self._store._settled_head(self._saga_id)
        return self.take()

    def _fenced(self, epoch: int, version: int, held_by: str | None, until: float, now: float) -> bool:
        taken = row_of(self._saga_id, Entry(version + 1, epoch + 1, now, LeaseTaken(self._owner, self._looks_again)))
        head = (epoch + 1, version + 1, self._owner, now + self._ttl_s, now)
        fence = (self._saga_id, epoch, version, held_by, until)
        self._tried = epoch + 1
        if self._store._execute(_TAKE, (*head, *fence, self._saga_id, *taken)).rowcount == 1:
            return True
        self._tried = None
        return False


class _Asking:
    """One request; told from an equal one that was there before, so that it can be looked up."""

    def __init__(self, store: PostgresSagaStore, saga_id: str, row: tuple[str, str, str]) -> None:
        self._store = store
        self._saga_id = saga_id
        self._row = row
        self._after: int | None = None

    def ask(self) -> int:
        if self._after is None:
            (self._after,) = self._one("SELECT COALESCE(max(number), 0) FROM requests", ()) or (0,)
        asked = self._one(_ASK, (self._saga_id, *self._row))
        if asked is None:
            self._store._head(self._saga_id)  # says why not
            raise unknown(self._saga_id)
        return int(asked[0])

    def ask_again(self) -> int:
        self._store._settled_head(self._saga_id)
        same = "saga_id = ? AND kind = ? AND by = ? AND data = ? AND number > ?"
        found = self._after is not None and self._one(
            f"SELECT number FROM requests WHERE {same}",  # noqa: S608 - our own text
            (self._saga_id, *self._row, self._after),
        )
        return int(found[0]) if found else self.ask()

    def _one(self, statement: str, parameters: tuple[Any, ...]) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._store._execute(statement, parameters).fetchone()
        return row


def _open(url: str) -> PostgresConnection:
    connection = PostgresConnection(url)
    try:
        _migrate(url, connection)
    except psycopg.Error as exc:
        connection.close()
        raise StoreError(f"the store can not be opened: {why(exc)}") from exc
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(url: str, connection: PostgresConnection) -> None:
    try:
        revision = connection.execute("SELECT version_num FROM sagagraph_version").fetchone()
    except psycopg.errors.UndefinedTable:
        revision = None
    if revision and revision[0] == HEAD_REVISION:
        return
    from sagagraph.saga.stores.migration import upgrade

    upgrade(url)


def _rounds(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """In each, no saga twice: a statement sees its rows as they were before it. By id, so that two workers lock alike."""
    waiting = list(jobs)
    while waiting:
        first: dict[str, Job] = {}
        for job in waiting:
            first.setdefault(_saga_of(job), job)
        yield [first[saga_id] for saga_id in sorted(first)]
        waiting = [job for job in waiting if first[_saga_of(job)] is not job]


def _item(job: Job) -> Any:
    return job.work.item if isinstance(job.work, _Work) else None


def _saga_of(job: Job) -> str:
    item = _item(job)
    return str(item.saga_id if isinstance(item, _Creation) else item.lease.saga_id)


def _columns(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _exists(saga_id: str) -> ConflictError:
    return ConflictError(f"saga {saga_id!r} exists already", saga_id=saga_id)


def _error(exc: psycopg.Error | UnicodeEncodeError, failed: str) -> SagaGraphError:
    if isinstance(exc, UnicodeEncodeError):  # as an argument of a command line may be
        return InvalidInputError(f"{exc.object!r} is not valid Unicode")
    if isinstance(exc, psycopg.DataError) and exc.sqlstate is None:  # psycopg's own: the one character that a text can not have
        return InvalidInputError(f"can not be kept in PostgreSQL: {why(exc)}")
    return StoreError(f"the journal {failed}: {why(exc)}")
