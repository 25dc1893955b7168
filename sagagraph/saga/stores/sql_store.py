"""SqlSagaStore: what a store in any database does for the engine."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sagagraph.errors import BusyError, ConflictError, MissingStoreError, SupersededError, UnknownSagaError
from sagagraph.saga.core.codec import encode
from sagagraph.saga.core.events import Entry, Event, LeaseTaken, SagaBegun
from sagagraph.saga.core.locks import Holding, LockChange, in_the_way, refused
from sagagraph.saga.core.state import Stage
from sagagraph.saga.stores import statements as sql
from sagagraph.saga.stores.commits import Alone, Commits, EventParameters, Execute, Fenced
from sagagraph.saga.stores.guards.history import RAISE
from sagagraph.saga.stores.owner import is_known_dead
from sagagraph.saga.stores.port import KEPT_S, Document, Headline, Lease, Note, Request, RequestKind
from sagagraph.saga.stores.rows import (
    Head,
    Row,
    entries_of,
    headline_of,
    holding_of,
    moved_on,
    moved_on_since,
    notes_of,
    request_of,
    retired,
    row_of,
)

HEAD_REVISION = "0011"
"""Of the tables. Within one thousand, a revision only adds to the one before, so that a release works with those of a later one:
both run side by side during an upgrade. Whoever takes something away, or changes its meaning, begins the next thousand.
"""
_EPOCHS_BETWEEN_RESTORATIONS = 1_000_000
"""So many leases may be taken of a saga before those after a restoration meet those of the history that was lost."""
_MOST_PARAMETERS = 400
"""In one statement."""


@dataclass(slots=True, eq=False)
class Creation(Fenced):
    """The beginning of a saga."""

    change = sql.CREATE
    tells_time = True

    saga_id: str
    begun: SagaBegun
    stage: Stage
    owner: str
    ttl_s: float
    at: float = 0.0
    """When it begins: as it was sent last, or as it was found."""

    def given(self, now: float) -> Mapping[str, Any]:
        self.at = now
        return {
            "of_saga": self.saga_id,
            "domain": self.begun.domain,
            "stage": self.stage.value,
            "owner": self.owner,
            "until": now + self.ttl_s,
            "at": now,
        }

    def events(self, now: float) -> Sequence[EventParameters]:
        return [(self.saga_id, *self._row(now))]

    def _row(self, at: float) -> Row:
        return row_of(self.saga_id, Entry(1, 1, at, self.begun))

    def answer(self, held: bool) -> Lease:
        if not held:
            raise ConflictError(f"saga {self.saga_id!r} exists already", saga_id=self.saga_id)
        (first,) = entries_of(self.saga_id, Head(1, 1), [self._row(self.at)])
        return Lease(self.saga_id, 1, self.owner, first)

    def has_landed(self, execute: Execute) -> bool:
        """Tell whether the first epoch, and what the saga was begun with, are this write's."""
        found = execute(sql.FIRST_EVENT, (self.saga_id,)).fetchone()
        if found is None or tuple(found[1:]) != (1, 1, self.owner, *encode(self.begun)):
            return False
        self.at = found[0]
        return True


@dataclass(frozen=True, slots=True, eq=False)
class Append(Fenced):
    """A batch of one journal; it follows `version`."""

    change = sql.APPEND

    lease: Lease
    version: int
    rows: tuple[Row, ...]
    stage: Stage
    locks: LockChange | None = None

    @property
    def saga_id(self) -> str:  # type: ignore[override]  # as on the lease
        return self.lease.saga_id

    def given(self, now: float) -> Mapping[str, Any]:  # noqa: ARG002 - the entries have their instants
        last = self.rows[-1]
        return {
            "of_saga": self.lease.saga_id,
            "epoch": self.lease.epoch,
            "version": self.version,
            "reached": last.version,
            "stage": self.stage.value,
            "at": last.at,
        }

    def events(self, now: float) -> Sequence[EventParameters]:  # noqa: ARG002 - the entries have their instants
        return [(self.lease.saga_id, *row) for row in self.rows]

    def answer(self, held: bool) -> None:
        if not held:
            raise SupersededError(f"saga {self.saga_id!r} was taken over by another worker", saga_id=self.saga_id)

    def has_landed(self, execute: Execute) -> bool:
        """Tell whether it is the batch at the head."""
        found = execute(sql.EVENTS_AFTER, (self.saga_id, self.version)).fetchall()
        return [tuple(row) for row in found] == [(self.saga_id, *row) for row in self.rows]


@dataclass(frozen=True, slots=True, eq=False)
class Release(Fenced):
    change = sql.RELEASE

    lease: Lease

    @property
    def saga_id(self) -> str:  # type: ignore[override]  # as on the lease
        return self.lease.saga_id

    def given(self, now: float) -> Mapping[str, Any]:  # noqa: ARG002 - valid at any time
        return {"of_saga": self.lease.saga_id, "epoch": self.lease.epoch}

    def answer(self, held: bool) -> None:
        """Return nothing, even if the fence fell: a superseded worker has nothing to release."""


def suffices(revision: str) -> bool:
    """Tell whether this release works with tables of that revision as they are."""
    return revision >= HEAD_REVISION and revision[0] == HEAD_REVISION[0]


class SqlSagaStore(Commits):
    epoch: int

    # -- what each database does in its own way ------------------------------------------------------------------------

    @abstractmethod
    def _execute(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """Execute a statement and return a cursor."""

    @abstractmethod
    def _execute_many(self, statement: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Execute a statement with each of these parameters."""

    @abstractmethod
    def _change(
        self, change: sql.Change, given: Sequence[Mapping[str, Any]], events: Sequence[EventParameters] = ()
    ) -> set[tuple[Any, ...]]:
        """Change heads, insert the events of those whose fences held, and return those."""

    @abstractmethod
    def _append_with_locks(self, write: Append, locks: LockChange, changes: int) -> bool:
        """Append, and change the locks, if the fence holds and locks have changed so often and no more."""

    @abstractmethod
    def _now(self) -> float:
        """Return the time on the clock that leases follow."""

    def _insert_request(self, row: Sequence[Any]) -> int | None:
        """Insert a request, and have its saga due. Returns its number; None if there is no such journal."""
        found = self._execute(sql.ASK, row).fetchone()
        if found is not None:
            self._execute(sql.ASKED, (-found[0], row[0])).close()
        return None if found is None else int(found[0])

    def _settle_head(self, saga_id: str) -> None:
        """Return when everything of this store that is still under way on this head has committed or is gone."""
        self._execute(sql.LOCK, (saga_id,)).fetchall()

    # -- the fence -----------------------------------------------------------------------------------------------------

    async def create(self, saga_id: str, begun: SagaBegun, *, stage: Stage, owner: str, ttl_s: float) -> Lease:
        lease: Lease = await self._write(Creation(saga_id, begun, stage, owner, ttl_s))
        self._leased.add(saga_id)
        return lease

    async def take(self, saga_id: str, *, owner: str, ttl_s: float, looks_again: bool = True, seen: int | None = None) -> Lease:
        taking = _Taking(self, saga_id, owner, ttl_s, looks_again, seen)
        lease: Lease = await self._write(Alone(taking.take, taking.take_again))
        self._leased.add(saga_id)
        return lease

    async def append(self, lease: Lease, entries: Sequence[Entry], *, stage: Stage, locks: LockChange | None = None) -> None:
        rows = tuple(row_of(lease.saga_id, each) for each in entries)
        await self._write(Append(lease, entries[0].version - 1, rows, stage, locks))

    async def renew(self, leases: Collection[Lease], ttl_s: float) -> frozenset[Lease]:
        def work() -> frozenset[Lease]:
            until = self._now() + ttl_s
            given = [{"of_saga": each.saga_id, "epoch": each.epoch, "until": until} for each in leases]
            renewed = self._change(sql.RENEW, given)
            return frozenset(each for each in leases if (each.saga_id, each.epoch) in renewed)

        held: frozenset[Lease] = await self._write(Alone(work))
        return held

    async def release(self, lease: Lease) -> None:
        self._leased.discard(lease.saga_id)
        await self._write(Release(lease))

    def _fenced(self, write: Fenced) -> bool:
        """Return whether the fence held. Raises `LockedError`."""
        if isinstance(write, Append) and write.locks is not None:
            return self._locked(write, write.locks)
        now = self._now() if write.tells_time else 0.0
        return bool(self._change(write.change, [write.given(now)], write.events(now)))

    def _locked(self, write: Append, locks: LockChange) -> bool:
        """Append if what is asked for is free, and nobody has changed any locks since it was looked at."""
        keys = sorted({each.lock.key for each in locks.asked})
        while True:
            found = self._execute(sql.locks_on(len(keys)), keys).fetchall()
            if blockers := in_the_way(locks.asked, [holding_of(*row[1:]) for row in found if row[1] is not None]):
                raise refused(write.saga_id, blockers)
            if self._append_with_locks(write, locks, found[0][0]):
                return True
            head = self._execute(sql.FENCE, (write.saga_id,)).fetchone()
            if head is None or tuple(head[:2]) != (write.lease.epoch, write.version):
                return False

    async def holdings(self, keys: Collection[str] | None = None) -> tuple[Holding, ...]:
        rows = await self._read(lambda: self._execute(sql.ALL_LOCKS).fetchall())
        found = (holding_of(*row) for row in rows)
        return tuple(each for each in found if keys is None or each.lock.key in keys)

    async def restored(self) -> int:
        self.epoch = await self._write(Alone(lambda: int(self._execute(RAISE).fetchall()[0][0])))
        return self.epoch

    # -- reading -------------------------------------------------------------------------------------------------------

    async def read(self, saga_id: str) -> tuple[Entry, ...]:
        def work() -> tuple[Entry, ...]:
            rows = self._execute(sql.JOURNAL, (saga_id,)).fetchall()
            if not rows:
                raise unknown(saga_id)
            if rows[0][0] is not None:
                raise retired(saga_id, rows[0][0])
            events = (row[3:] for row in rows if row[3] is not None)
            return entries_of(saga_id, Head(*rows[0][1:3]), events)

        return await self._read(work)

    async def headlines(
        self,
        *,
        most: int | None = None,
        skip: int = 0,
        domain: str | None = None,
        prefix: str = "",
        within: str = "",
        stages: Collection[str] = (),
    ) -> tuple[Headline, ...]:
        statement = sql.headlines(
            of_domain=domain is not None, named=bool(prefix), within=bool(within), stages=len(stages), limited=most is not None
        )
        asked = [domain] if domain is not None else []
        names = [len(prefix), prefix] if prefix else []
        parts = [f"%{sql.LIKE_ESCAPED.sub(sql.LIKE_ESCAPE, within)}%"] if within else []
        page = [most, skip] if most is not None else []
        given = (*asked, *names, *parts, *stages, *page)
        return await self._read(lambda: _headlines(self._execute(statement, given).fetchall()))

    async def tally(self) -> Mapping[tuple[str, str], int]:
        rows = await self._read(lambda: self._execute(sql.TALLY, ()).fetchall())
        return {(domain, stage): number for domain, stage, number in (tuple(each) for each in rows)}

    async def open_headlines(self) -> tuple[Headline, ...]:
        return await self._read(lambda: _headlines(self._execute(sql.OPEN_HEADLINES).fetchall()))

    async def due(self, most: int, domains: Collection[str]) -> tuple[Headline, ...]:
        def work() -> tuple[Headline, ...]:
            now = self._now()
            return _headlines(self._execute(sql.due(len(domains)), (now, now, *domains, most)).fetchall())

        return await self._read(work)

    async def park(self, saga_id: str, version: int, *, until: float | None, heard: int) -> bool:
        def work() -> bool:
            given = (until, saga_id, version, self._now(), -heard)
            return bool(self._execute(sql.PARK, given).fetchall())

        is_noted: bool = await self._write(Alone(work))
        return is_noted

    async def wake(self, saga_id: str, at: float = 0.0) -> None:
        await self._write(Alone(lambda: self._execute(sql.WAKE, (at, saga_id, at)).close()))

    async def draw(self, name: str, per_second: float) -> bool:
        def work() -> bool:
            now, every_s = self._now(), 1.0 / per_second
            since = now - KEPT_S
            return bool(self._execute(sql.DRAW, (name, now + every_s, since, since, every_s, now)).fetchall())

        is_drawn: bool = await self._write(Alone(work))
        return is_drawn

    async def headline(self, saga_id: str) -> Headline | None:
        found = await self._read(lambda: _headlines(self._execute(sql.HEADLINE, (saga_id,)).fetchall()), is_short=True)
        return found[0] if found else None

    # -- what is not fenced --------------------------------------------------------------------------------------------

    async def note(self, saga_id: str, note: Note) -> None:
        row = (saga_id, note.operation, note.call.value, note.key, json.dumps(note.output))
        await self._write(Alone(lambda: self._execute(sql.NOTE, (*row, saga_id, saga_id)).close()))

    async def notes(self, saga_id: str) -> tuple[Note, ...]:
        rows = await self._read(lambda: self._execute(sql.NOTES, (saga_id,)).fetchall(), is_short=True)
        return notes_of(rows)

    async def ask(self, saga_id: str, kind: RequestKind, by: str, data: Any) -> Request:
        asking = _Asking(self, saga_id, (kind.value, by, json.dumps(data)))
        number = await self._write(Alone(asking.ask, asking.ask_again))
        return Request(saga_id, number, kind, by, data)

    async def requests(self, after: Mapping[str, int]) -> tuple[Request, ...]:
        def work() -> list[tuple[Any, ...]]:
            ids = list(after)
            parts = (ids[start : start + _MOST_PARAMETERS] for start in range(0, len(ids), _MOST_PARAMETERS))
            return sorted(tuple(row) for part in parts for row in self._execute(sql.requests_of(len(part)), part).fetchall())

        found = (request_of(*row) for row in await self._read(work, is_short=len(after) == 1))
        return tuple(each for each in found if each.number > after[each.saga_id])

    async def put(self, document: Document) -> Document:
        named = (document.saga_id, document.kind, document.key)

        def work() -> Document:
            self._execute(sql.PUT, (*named, json.dumps(document.data), document.saga_id)).close()
            row = self._execute(sql.DOCUMENT, named).fetchone()
            if row is None:
                self._check_kept(document.saga_id)
                raise unknown(document.saga_id)
            return Document(*named, json.loads(row[0]))

        kept: Document = await self._write(Alone(work))
        return kept

    async def documents(self, saga_id: str, *kinds: str) -> tuple[Document, ...]:
        rows = await self._read(lambda: self._execute(sql.DOCUMENTS, (saga_id,)).fetchall())
        return tuple(Document(saga_id, kind, key, json.loads(data)) for kind, key, data in rows if not kinds or kind in kinds)

    # -- retention and redaction ---------------------------------------------------------------------------------------

    async def dump(self, saga_id: str) -> dict[str, Any]:
        def work() -> dict[str, Any]:
            self._check_kept(saga_id)
            (head,) = self._rows("sagas", sql.HEAD_COLUMNS, saga_id, "saga_id")
            return {
                "saga": head,
                "events": self._rows("events", ", ".join(Row._fields), saga_id, "version"),
                "evidence": self._rows("evidence", "operation, call, key, output", saga_id, "number", parsed="output"),
                "requests": self._rows("requests", "number, kind, by, data", saga_id, "number", parsed="data"),
                "documents": self._rows("documents", "kind, key, data", saga_id, "number", parsed="data"),
            }

        return await self._read(work)

    def _rows(self, table: str, columns: str, saga_id: str, order: str, *, parsed: str = "") -> list[dict[str, Any]]:
        found = self._execute(sql.rows_of(table, columns, order), (saga_id,)).fetchall()
        rows = [dict(zip(columns.split(", "), row, strict=True)) for row in found]
        return [{**row, parsed: json.loads(row[parsed])} for row in rows] if parsed else rows

    def _check_kept(self, saga_id: str, statement: str = sql.HEADLINE) -> None:
        """Raise an error for a saga that has no journal, or no longer has one."""
        row = self._execute(statement, (saga_id,)).fetchone()
        if row is None:
            raise unknown(saga_id)
        if row[-1] is not None:
            raise retired(saga_id, row[-1])

    async def retire(self, saga_id: str, version: int, *, heard: int, at: float) -> None:
        def work() -> None:
            self._check_kept(saga_id, sql.LOCK)
            if self._execute(sql.RETIRE, (at, saga_id, version, saga_id, heard)).rowcount != 1:
                raise moved_on(saga_id)
            for table in ("events", "evidence", "requests", "documents"):
                self._execute(sql.delete_of(table), (saga_id,))

        await self._write(Alone(work, in_transaction=True))

    async def rewrite(self, saga_id: str, recorded: Entry, change: Callable[[Event], Event], hide: Callable[[Any], Any]) -> None:
        entries = await self.read(saga_id)
        if recorded.version != len(entries) + 1:
            raise moved_on(saga_id)
        rows = [row_of(saga_id, Entry(each.version, each.epoch, each.at, change(each.event))) for each in entries]

        def work() -> None:
            if self._execute(sql.MOVE_ON, (recorded.version, recorded.at, saga_id, recorded.version - 1)).rowcount != 1:
                raise moved_on(saga_id)
            given = [(row.type, row.schema_version, row.data, row.checksum, saga_id, row.version) for row in rows]
            self._execute_many(sql.REWRITE_EVENT, given)
            self._execute(sql.INSERT_EVENT, (saga_id, *row_of(saga_id, recorded)))
            for table, column in (("evidence", "output"), ("requests", "data"), ("documents", "data")):
                self._hide(table, column, saga_id, hide)

        await self._write(Alone(work, in_transaction=True))

    def _hide(self, table: str, column: str, saga_id: str, hide: Callable[[Any], Any]) -> None:
        for row in self._rows(table, f"number, {column}", saga_id, "number", parsed=column):
            self._execute(sql.replace_in(table, column), (json.dumps(hide(row[column])), row["number"]))


class _Taking:
    """One takeover: looks who holds the saga, and takes it if that has not changed."""

    def __init__(self, store: SqlSagaStore, saga_id: str, owner: str, ttl_s: float, looks_again: bool, seen: int | None) -> None:
        self._store = store
        self._saga_id = saga_id
        self._owner = owner
        self._ttl_s = ttl_s
        self._looks_again = looks_again
        self._seen = seen
        self._tried: int | None = None
        """The epoch that a statement of ours may have taken."""

    def take(self) -> Lease:
        while True:
            now = self._store._now()
            row = self._store._execute(sql.FENCE, (self._saga_id,)).fetchone()
            if row is None:
                raise unknown(self._saga_id)
            epoch, version, held_by, until, retired_at = row
            if retired_at is not None:
                raise retired(self._saga_id, retired_at)
            if (epoch, held_by) == (self._tried, self._owner):
                return Lease(self._saga_id, epoch, self._owner)
            if held_by not in (None, self._owner) and until > now and not is_known_dead(held_by):
                raise BusyError(
                    f"saga {self._saga_id!r} is held by another worker for {until - now:.1f} s more", saga_id=self._saga_id
                )
            if self._seen not in (None, version):
                raise moved_on_since(self._saga_id)
            (store_epoch,) = self._store._execute(sql.STORE_EPOCH).fetchone()
            following = max(epoch + 1, (store_epoch - 1) * _EPOCHS_BETWEEN_RESTORATIONS)
            if self._took(epoch, version, until, now, following, store_epoch):
                return Lease(self._saga_id, following, self._owner)

    def take_again(self) -> Lease:
        self._store._settle_head(self._saga_id)
        return self.take()

    def _took(self, epoch: int, version: int, held_until: float, now: float, following: int, store_epoch: int) -> bool:
        told = store_epoch if store_epoch > 1 else None
        event = LeaseTaken(self._owner, self._looks_again, told, goes_on=self._seen is not None)
        taken = row_of(self._saga_id, Entry(version + 1, following, now, event))
        given = {
            "of_saga": self._saga_id,
            "epoch": epoch,
            "version": version,
            "next": following,
            "held_until": held_until,
            "owner": self._owner,
            "until": now + self._ttl_s,
            "at": now,
        }
        self._tried = following
        if self._store._change(sql.TAKE, [given], [(self._saga_id, *taken)]):
            return True
        self._tried = None
        return False


class _Asking:
    """One request, told apart from an equal earlier one, so that it can be looked up."""

    def __init__(self, store: SqlSagaStore, saga_id: str, row: tuple[str, str, str]) -> None:
        self._store = store
        self._saga_id = saga_id
        self._row = row
        self._after: int | None = None

    def ask(self) -> int:
        if self._after is None:
            self._after = self._number(sql.LAST_REQUEST, ())
        asked = self._store._insert_request((self._saga_id, *self._row))
        if asked is None:
            self._store._check_kept(self._saga_id)
            raise unknown(self._saga_id)
        return asked

    def ask_again(self) -> int:
        self._store._settle_head(self._saga_id)
        found = None if self._after is None else self._number(sql.ASKED_SINCE, (self._saga_id, *self._row, self._after))
        return self.ask() if found is None else found

    def _number(self, statement: str, parameters: tuple[Any, ...]) -> int | None:
        row = self._store._execute(statement, parameters).fetchone()
        return None if row is None else int(row[0])


def missing(name: str) -> MissingStoreError:
    """`name`: the store's, without a password."""
    return MissingStoreError(
        f"there is no store {name}: say --store, restore it from a backup, or create one with sagagraph db upgrade"
    )


def unknown(saga_id: str) -> UnknownSagaError:
    return UnknownSagaError(f"there is no saga {saga_id!r}", saga_id=saga_id)


def _headlines(rows: Iterable[tuple[Any, ...]]) -> tuple[Headline, ...]:
    return tuple(headline_of(*row) for row in rows)
