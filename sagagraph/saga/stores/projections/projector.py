"""Projector: fills the tables of the projections from the journals: on demand, as often as needed, by any number of processes.

Rows of a saga are replaced as a whole, in one transaction, and only by those of a later version of its journal. Withdrawing them
(`forget`) also prevents rows that were computed from the journal earlier from being written afterwards.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Protocol, TypeVar, runtime_checkable

from sqlalchemy import JSON, Connection, Table, and_, delete, or_, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from sagagraph.errors import NotAllowedError, StoreError, UnknownSagaError
from sagagraph.saga.stores.port import SagaStore
from sagagraph.saga.stores.projections import Projection, project
from sagagraph.saga.stores.projections.tables import DEFINITIONS, PROJECTION_FORMAT, ProjectionHead
from sagagraph.saga.stores.tables import engine_of

T = TypeVar("T")


@runtime_checkable
class HasTables(Protocol):
    """A store on a database that has the projections' tables."""

    @property
    def database_url(self) -> str: ...


class Projector:
    """Projector of one store's sagas. If the store has no tables (in memory), rows can be computed but are written nowhere."""

    def __init__(self, store: SagaStore) -> None:
        self._store = store
        self._tables = _Tables(store.database_url) if isinstance(store, HasTables) else None

    def close(self) -> None:
        if self._tables is not None:
            self._tables.close()

    async def project(self, saga_id: str) -> Projection:
        """Return the rows of this saga now; the tables have them, or later ones, when this returns.

        Raises `UnknownSagaError` and `JournalError`, as reading the journal does, and `StoreError`.
        """
        if self._tables is None:
            return await asyncio.to_thread(project, saga_id, await self._store.read(saga_id))
        if await self._store.headline(saga_id) is None:
            raise UnknownSagaError(f"there is no saga {saga_id!r}", saga_id=saga_id)
        head = await asyncio.to_thread(self._tables.known, saga_id)
        projection = await asyncio.to_thread(project, saga_id, await self._store.read(saga_id))
        await asyncio.to_thread(self._tables.replace, head, projection)
        return projection

    async def behind(self) -> tuple[str, ...]:
        """Return the sagas whose journals have grown since their rows were written, the oldest first."""
        heads = await asyncio.to_thread(self._required.heads)
        headlines = await self._store.headlines()
        return tuple(each.saga_id for each in reversed(headlines) if _is_behind(heads.get(each.saga_id), each.version))

    async def forget(self, saga_id: str) -> None:
        """Withdraw all rows of a saga. Call this after its journal was dropped or redacted; safe to repeat."""
        if self._tables is not None:
            await asyncio.to_thread(self._tables.forget, saga_id)

    async def forget_lost(self) -> tuple[str, ...]:
        """Withdraw the rows of sagas that the store no longer has."""
        heads = await asyncio.to_thread(self._required.heads)
        there = {each.saga_id for each in await self._store.headlines()}
        lost = tuple(sorted(name for name, head in heads.items() if head.version and name not in there))
        for saga_id in lost:
            await self.forget(saga_id)
        return lost

    @property
    def _required(self) -> _Tables:
        if self._tables is None:
            raise NotAllowedError("this store has no tables to project into; use one in a database: sqlite:///FILE")
        return self._tables


def _is_behind(head: ProjectionHead | None, version: int) -> bool:
    if head is None:
        return True
    return head.format < PROJECTION_FORMAT or (head.format == PROJECTION_FORMAT and head.version < version)


_HEADS = DEFINITIONS["projection_heads"].table
_TABLES = tuple(DEFINITIONS[each.name].table for each in fields(Projection))


class _Tables:
    """The tables. All methods block."""

    def __init__(self, url: str) -> None:
        self._engine, self._name = engine_of(url)

    def close(self) -> None:
        self._engine.dispose()

    def heads(self) -> Mapping[str, ProjectionHead]:
        rows = self._in_transaction(lambda connection: connection.execute(select(_HEADS)).all())
        return {row.saga_id: ProjectionHead(*row) for row in rows}

    def known(self, saga_id: str) -> ProjectionHead:
        """Return the head of a saga; makes one if there is none, so that a `forget` in between is noticed."""

        def work(connection: Connection) -> ProjectionHead:
            connection.execute(
                text(
                    "INSERT INTO projection_heads (saga_id, version, format, forgotten) VALUES (:saga_id, 0, :format, 0)"
                    " ON CONFLICT (saga_id) DO NOTHING"
                ),
                {"saga_id": saga_id, "format": PROJECTION_FORMAT},
            )
            return ProjectionHead(*connection.execute(select(_HEADS).where(_HEADS.c.saga_id == saga_id)).one())

        return self._in_transaction(work)

    def replace(self, head: ProjectionHead, projection: Projection) -> None:
        """Replace a saga's rows. Does nothing if they are as new already, or were withdrawn since `head` was read."""
        version = projection.saga.journal_version
        rows = {table: [_values(table, row) for row in getattr(projection, table.name)] for table in _TABLES}

        def work(connection: Connection) -> None:
            is_newer = or_(
                _HEADS.c.format < PROJECTION_FORMAT,
                and_(_HEADS.c.format == PROJECTION_FORMAT, _HEADS.c.version < version),
            )
            mine = and_(_HEADS.c.saga_id == head.saga_id, _HEADS.c.forgotten == head.forgotten)
            moved = update(_HEADS).where(mine, is_newer).values(version=version, format=PROJECTION_FORMAT)
            if connection.execute(moved).rowcount != 1:
                return
            _clear(connection, head.saga_id)
            for table in _TABLES:
                if rows[table]:
                    connection.exec_driver_sql(_insert(connection, table), rows[table])

        self._in_transaction(work)

    def forget(self, saga_id: str) -> None:
        def work(connection: Connection) -> None:
            gone = update(_HEADS).where(_HEADS.c.saga_id == saga_id)
            connection.execute(gone.values(version=0, forgotten=_HEADS.c.forgotten + 1))
            _clear(connection, saga_id)

        self._in_transaction(work)

    def _in_transaction(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except SQLAlchemyError as exc:
            why = str(exc.__cause__ or exc).splitlines()[0]
            raise StoreError(f"the projections in {self._name} cannot be read or written: {why}") from exc


def _clear(connection: Connection, saga_id: str) -> None:
    for table in _TABLES:
        connection.execute(delete(table).where(table.c.saga_id == saga_id))


def _insert(connection: Connection, table: Table) -> str:
    """Return a statement in the driver's syntax: other writers wait while rows go in, so nothing is converted then."""
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    return f"INSERT INTO {table.name} ({', '.join(table.columns.keys())}) VALUES ({', '.join([mark] * len(table.columns))})"  # noqa: S608 - our own names


def _values(table: Table, row: Any) -> tuple[Any, ...]:
    return tuple(_storable(column.type, getattr(row, column.name)) for column in table.columns)


def _storable(kind: Any, value: Any) -> Any:
    """Replace NUL by U+FFFD, in every store: PostgreSQL stores no NUL, neither in text nor in JSON."""
    if value is None or not isinstance(kind, JSON):
        return _without_nul(value) if isinstance(value, str) else value
    written = json.dumps(value)
    return json.dumps(_without_nul(value)) if "\\u0000" in written else written


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, Mapping):
        return {_without_nul(key): _without_nul(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nul(each) for each in value]
    return value
