"""PostgreSQL store. One connection on one thread does all the work of a store; the event loop never waits for it.

Every write of a running saga is one statement that commits by itself: one round trip, and a worker that freezes between two
statements holds no lock. The appends of many sagas share such a statement. A lost connection is made again. Reads, and writes
that may be repeated, are then repeated; a fenced write whose acknowledgement was lost is looked up (docs/protocol.md rule 1).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import psycopg

from sagagraph.errors import InvalidInputError, SagaGraphError, StoreError
from sagagraph.saga.core.locks import LockChange
from sagagraph.saga.stores import statements as sql
from sagagraph.saga.stores.commits import Alone, EventParameters, Fenced, Job, Work
from sagagraph.saga.stores.guards.durability import Durability, check, postgres_shortfalls
from sagagraph.saga.stores.guards.history import History, check_postgres, postgres_history
from sagagraph.saga.stores.postgres_connection import PostgresConnection, name_of, why
from sagagraph.saga.stores.rows import lock_row
from sagagraph.saga.stores.sql_store import Append, SqlSagaStore, missing, suffices

T = TypeVar("T")

_FEW_EVENTS = 4
"""So many are quicker as parameters of their own than as arrays."""
_NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"
_WRITTEN = f"""
    WITH moved AS (%s), written AS (
        INSERT INTO events ({sql.EVENT_COLUMNS}) SELECT e.* FROM %s AS e ({sql.EVENT_COLUMNS})
        JOIN moved ON moved.saga_id = e.saga_id
    )
    SELECT * FROM moved"""  # noqa: S608 - our own text
_EVENT = f"({', '.join(f'?::{kind}' for kind in sql.EVENT.values())})"
_EVENTS = f"unnest({', '.join(f'?::{kind}[]' for kind in sql.EVENT.values())})"
_LOCKS = f"unnest({', '.join(f'?::{kind}[]' for kind in sql.LOCK_ROW.values())})"
_WRITTEN_WITH_LOCKS = f"""
    WITH turn AS (
        UPDATE store SET lock_changes = lock_changes + 1 WHERE number = 1 AND lock_changes = ?::bigint RETURNING number
    ),
    moved AS ({sql.APPEND.typed_for_one_from("turn")}),
    written AS (
        INSERT INTO events ({sql.EVENT_COLUMNS}) SELECT e.* FROM {_EVENTS} AS e ({sql.EVENT_COLUMNS})
        JOIN moved ON moved.saga_id = e.saga_id
    ),
    freed AS (DELETE FROM locks USING moved WHERE locks.saga_id = moved.saga_id AND locks.operation = ANY(?::text[])),
    taken AS (
        INSERT INTO locks ({sql.LOCK_COLUMNS}) SELECT l.* FROM {_LOCKS} AS l ({sql.LOCK_COLUMNS})
        JOIN moved ON moved.saga_id = l.saga_id
    )
    SELECT * FROM moved"""  # noqa: S608 - our own text


_ASK = """
    WITH head AS (
        UPDATE sagas SET due_at = -nextval(pg_get_serial_sequence('requests', 'number')::regclass)
        WHERE saga_id = ? AND retired_at IS NULL RETURNING saga_id, (-due_at)::int AS number
    )
    INSERT INTO requests (number, saga_id, kind, by, data) SELECT number, saga_id, ?, ?, ? FROM head RETURNING number"""
"""As `statements.ASK`, the number is drawn under the lock."""


class PostgresSagaStore(SqlSagaStore):
    def __init__(
        self,
        connection: PostgresConnection,
        guard: _Guard,
        thread: ThreadPoolExecutor,
        clock: Callable[[], float] | None,
    ) -> None:
        super().__init__(thread)
        self._guard = guard
        self.epoch = guard.history.epoch
        self._connection = connection
        self._clock = clock
        self.shortfalls = guard.shortfalls

    @classmethod
    async def open(
        cls,
        url: str,
        clock: Callable[[], float] | None = None,
        *,
        create: bool = True,
        durability: Durability = Durability.CHECKED,
    ) -> PostgresSagaStore:
        """Connect, and bring the tables to this release, or with `create` make them. Leases follow the database's clock, unless
        a test supplies one.

        Raises `InvalidInputError` for a malformed URL, `MissingStoreError`, having created nothing, and `StoreError`.
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sagagraph-journal")
        loop = asyncio.get_running_loop()
        try:
            guard = _Guard(url, durability)
            connection = await loop.run_in_executor(thread, _open, url, create, guard)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(connection, guard, thread, clock)

    @property
    def database_url(self) -> str:
        """URL of the database with the projections' tables; it may contain a password."""
        return self._connection.url

    async def restored(self) -> int:
        epoch = await super().restored()
        self._guard.history = self._guard.history._replace(epoch=epoch)
        return epoch

    async def forget(self, saga_id: str) -> None:
        """Work on a connection of its own: this store, too, goes on writing."""
        from sagagraph.saga.stores.guards.free_space import overwrite_free_space

        await asyncio.to_thread(overwrite_free_space, self._connection.url, saga_id)

    # -- one writer ----------------------------------------------------------------------------------------------------

    def _outcomes(self, jobs: list[Job]) -> list[Any]:
        outcomes: dict[Job, Any] = {}
        fenced = [(job, job.work) for job in jobs if isinstance(job.work, Fenced) and not _has_locks(job.work)]
        for change in dict.fromkeys(work.change for _job, work in fenced):
            for together in _rounds([(job, work) for job, work in fenced if work.change is change]):
                told = self._together(change, [work for _job, work in together])
                outcomes |= zip((job for job, _work in together), told, strict=True)
        for job in jobs:
            if isinstance(job.work, Alone):
                outcomes[job] = self._alone(job.work)
            elif job not in outcomes:
                outcomes[job] = self._alone(self._by_itself(job.work))
        return [outcomes[job] for job in jobs]

    def _together(self, change: sql.Change, writes: Sequence[Fenced]) -> list[Any]:
        """Write these in one statement; if its outcome cannot be known, or one of them cannot be written, write each
        separately.
        """
        try:
            now = self._now() if writes[0].tells_time else 0.0
            events = [event for each in writes for event in each.events(now)]
            changed = self._change(change, [each.given(now) for each in writes], events)
            held = {saga_id for saga_id, *_rest in changed}
            return [each.told(each.saga_id in held) for each in writes]
        except (psycopg.DataError, UnicodeEncodeError) as exc:
            if len(writes) == 1:
                return [_error(exc, "could not be written")]
        except psycopg.Error as exc:
            if not self._connection.is_passing(exc):
                return [_error(exc, "could not be written")] * len(writes)
        outcomes: list[Any] = []
        for each in writes:
            outcomes.append(self._alone(Alone(lambda write=each: self._again(write))))  # type: ignore[misc]
            if not self._connection.is_up:  # one has waited for the database in vain, on behalf of all
                return outcomes + [outcomes[-1]] * (len(writes) - len(outcomes))
        return outcomes

    def _again(self, write: Fenced) -> Any:
        """Write again after a lost acknowledgement: the row is there, or is sent again, or something else is there.

        The old statement may still be on its way to the server; the fence lets only one of the two through.
        """
        self._settle_head(write.saga_id)
        return write.answer(write.has_landed(self._execute) or self._fenced(write) or write.has_landed(self._execute))

    def _by_itself(self, write: Fenced) -> Alone:
        return Alone(lambda: write.answer(self._fenced(write)), lambda: self._again(write))

    def _alone(self, job: Alone) -> Any:
        try:
            if not job.in_transaction:
                return self._connection.insist(job.work, job.again)
            with self._connection.transaction():
                return job.work()
        except SagaGraphError as exc:
            return exc
        except (psycopg.Error, UnicodeEncodeError) as exc:
            if isinstance(exc, psycopg.Error):
                self._connection.is_passing(exc)
            return _error(exc, "could not be written")

    # -- within the thread ---------------------------------------------------------------------------------------------

    def _execute(self, statement: str, parameters: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        return self._connection.execute(statement, parameters)

    def _execute_many(self, statement: str, parameters: Sequence[Sequence[Any]]) -> None:
        self._connection.execute_many(statement, parameters)

    def _change(
        self, change: sql.Change, given: Sequence[Mapping[str, Any]], events: Sequence[EventParameters] = ()
    ) -> set[tuple[Any, ...]]:
        if len(given) == 1 and len(events) <= _FEW_EVENTS:
            heads: Sequence[Any] = change.parameters(given[0])
            written = [value for event in events for value in event]
            statement = _few(change, len(events))
        else:
            heads = [[each[name] for each in given] for name in change.columns]
            written = [list(column) for column in zip(*events, strict=True)]
            statement = _many(change, has_events=bool(events))
        return set(self._connection.execute(statement, (*heads, *written), prepare=True))

    def _append_with_locks(self, write: Append, locks: LockChange, changes: int) -> bool:
        """Write in one statement: a worker that freezes is in nobody's way. The store's row lets one through at a time."""
        taken = [list(column) for column in zip(*map(lock_row, (*locks.asked, *locks.recorded)), strict=True)]
        events = [list(column) for column in zip(*write.events(0.0), strict=True)]
        given = (
            changes,
            *write.change.parameters(write.given(0.0)),
            *events,
            list(locks.freed),
            *(taken or [[]] * len(sql.LOCK_ROW)),
        )
        return bool(self._connection.execute(_WRITTEN_WITH_LOCKS, given, prepare=True).fetchall())

    def _insert_request(self, row: Sequence[Any]) -> int | None:
        found = self._execute(_ASK, row).fetchone()
        return None if found is None else int(found[0])

    def _translated(self, work: Callable[[], T]) -> T:
        try:
            return self._connection.insist(work)
        except (psycopg.Error, UnicodeEncodeError) as exc:
            raise _error(exc, "cannot be read") from exc

    def _now(self) -> float:
        if self._clock is not None:
            return self._clock()
        (now,) = self._execute(_NOW).fetchone() or (0.0,)
        return float(now)

    def _disconnect(self) -> None:
        self._connection.close()


def _has_locks(work: Work) -> bool:
    return isinstance(work, Append) and work.locks is not None


@cache
def _few(change: sql.Change, events: int) -> str:
    """Change one head, with this many events; all values are parameters."""
    moved = change.typed_for_one
    return _WRITTEN % (moved, f"(VALUES {', '.join([_EVENT] * events)})") if events else moved


@cache
def _many(change: sql.Change, *, has_events: bool) -> str:
    """Change many heads, with any number of events; all columns are arrays."""
    return _WRITTEN % (change.for_many(), _EVENTS) if has_events else change.for_many()


def _rounds(writes: Sequence[tuple[Job, Fenced]]) -> Iterator[list[tuple[Job, Fenced]]]:
    """Split into rounds, in each no saga twice: a statement sees rows as they were. Sorted by id, so that workers lock alike."""
    waiting = list(writes)
    while waiting:
        first: dict[str, tuple[Job, Fenced]] = {}
        for each in waiting:
            first.setdefault(each[1].saga_id, each)
        yield [first[saga_id] for saga_id in sorted(first)]
        waiting = [each for each in waiting if first[each[1].saga_id] is not each]


class _Guard:
    """What every new connection of a store is checked for."""

    def __init__(self, url: str, durability: Durability) -> None:
        self._name = name_of(url)
        self._durability = durability
        self.shortfalls: tuple[str, ...] = ()
        self.history = History("", 1, "")
        """As it was when the store was opened; nothing is known before."""

    def __call__(self, connection: psycopg.Connection) -> None:
        def ask(statement: str) -> Sequence[Any] | None:
            found: Sequence[Any] | None = connection.execute(statement.encode()).fetchone()
            return found

        if ask("SELECT pg_is_in_recovery()") == (True,):
            raise StoreError(
                f"the store {self._name} is a replica, and may lag behind: use the primary server; if this one is to take its"
                " place, promote it and say sagagraph db restored"
            )
        self.shortfalls = postgres_shortfalls(ask, self._durability)
        check(self._name, self.shortfalls, self._durability)
        if self.history.identity:
            check_postgres(ask, self.history, self._name)


def _open(url: str, create: bool, guard: _Guard) -> PostgresConnection:
    connection = _connected(url, guard)
    try:
        _migrate(url, connection, create=create)
        guard.history = postgres_history(lambda *asked: _first_row(connection.execute(*asked)))
    except psycopg.Error as exc:
        connection.close()
        raise StoreError(f"the store cannot be opened: {why(exc)}") from exc
    except BaseException:
        connection.close()
        raise
    return connection


def _connected(url: str, guard: _Guard) -> PostgresConnection:
    try:
        return PostgresConnection(url, guard)
    except psycopg.Error as exc:
        raise StoreError(f"the store {name_of(url)} cannot be opened: {why(exc)}") from exc


def _first_row(cursor: psycopg.Cursor[Any]) -> Sequence[Any] | None:
    return cursor.fetchone() if cursor.description else None


def _migrate(url: str, connection: PostgresConnection, *, create: bool) -> None:
    try:
        revision = connection.execute("SELECT version_num FROM sagagraph_version").fetchone()
    except psycopg.errors.UndefinedTable:
        revision = None
    if revision and suffices(revision[0]):
        return
    if not revision and not create:
        raise missing(name_of(url))
    from sagagraph.saga.stores.migration import upgrade

    upgrade(url)


def _error(exc: psycopg.Error | UnicodeEncodeError, failed: str) -> SagaGraphError:
    if isinstance(exc, UnicodeEncodeError):  # possible in a command-line argument
        return InvalidInputError(f"{exc.object!r} is not valid Unicode")
    if isinstance(exc, psycopg.DataError) and exc.sqlstate is None:  # psycopg's own: a text cannot hold NUL
        return InvalidInputError(f"cannot be kept in PostgreSQL: {why(exc)}")
    return StoreError(f"the journal {failed}: {why(exc)}")
