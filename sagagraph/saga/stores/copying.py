"""Copying of one database's store into another's, as from SQLite to PostgreSQL: saga by saga, each compared by its hash.

What was copied begins a new epoch of the store (docs/protocol.md rule 11), so that open sagas ask before they act: somebody may
have gone on with the old store after the copy was made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, Table, delete, func, insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from sagagraph.errors import ConflictError, JournalError, StoreError
from sagagraph.saga.stores.migration import upgrade
from sagagraph.saga.stores.tables import DOCUMENTS, EVENTS, EVIDENCE, LOCKS, REQUESTS, SAGAS, STORE, engine_of

_TABLES = (SAGAS, EVENTS, EVIDENCE, REQUESTS, DOCUMENTS, LOCKS)
"""In the order in which rows can be written; projections are made anew (`db project`)."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied. `same`: of these, how many were there already, unchanged; `hash`: over all of them, the same in both."""

    sagas: int
    same: int
    hash: str


def copy(source_url: str, target_url: str, tell: Callable[[str], None]) -> Copied:
    """Copy everything that a store keeps; `tell` is told of each saga. Safe to repeat, also after a crash.

    Raises `ConflictError` if the target has a saga that the source does not have, `JournalError` if something is not the same
    after it was copied, `StoreError` for a database that fails.
    """
    upgrade(target_url)
    (source, where), (target, there) = engine_of(source_url), engine_of(target_url)
    try:
        with source.connect() as reading, target.connect() as writing:
            names = _names(reading)
            if others := set(_names(writing)) - set(names):
                raise ConflictError(
                    f"{there} has {len(others)} sagas that {where} does not have, as {min(others)!r}: take another"
                )
            total, same = hashlib.sha256(), 0
            for name in names:
                is_same = _hash(reading, name) == _hash(writing, name)
                if not is_same:
                    _copy_one(reading, writing, name)
                    tell(name)
                same += is_same
                if (found := _hash(reading, name)) != _hash(writing, name):
                    raise JournalError(f"saga {name!r} is not the same in {there} after it was copied", saga_id=name)
                total.update(f"{name} {found}\n".encode())
            _finish(reading, writing)
    except SQLAlchemyError as exc:
        raise StoreError(f"{where} cannot be copied into {there}: {str(exc.__cause__ or exc).splitlines()[0]}") from exc
    finally:
        source.dispose()
        target.dispose()
    return Copied(len(names), same, total.hexdigest())


def _names(connection: Connection) -> tuple[str, ...]:
    """Return what anything is kept under: sagas, and what has documents and no journal."""
    found = {name for table in (SAGAS, DOCUMENTS) for (name,) in connection.execute(select(table.c.saga_id).distinct())}
    connection.rollback()
    return tuple(sorted(found))


def _rows(connection: Connection, table: Table, name: str) -> list[dict[str, object]]:
    order = table.c.version if table is EVENTS else table.c.number if "number" in table.c else table.c.saga_id
    found = connection.execute(select(table).where(table.c.saga_id == name).order_by(order))
    return [dict(each) for each in found.mappings()]


def _hash(connection: Connection, name: str) -> str:
    """Return the SHA-256 of all rows of a saga."""
    told = hashlib.sha256()
    for table in _TABLES:
        for row in _rows(connection, table, name):
            told.update(repr((table.name, sorted(row.items()))).encode())
    connection.rollback()
    return told.hexdigest()


def _copy_one(reading: Connection, writing: Connection, name: str) -> None:
    """Replace all rows of one saga, in one transaction."""
    rows = {table: _rows(reading, table, name) for table in _TABLES}
    reading.rollback()
    for table in reversed(_TABLES):
        writing.execute(delete(table).where(table.c.saga_id == name))
    for table, each in rows.items():
        if each:
            writing.execute(insert(table), each)
    writing.commit()


def _finish(reading: Connection, writing: Connection) -> None:
    """Begin the next epoch of the store, and number what comes next after what was copied."""
    epoch = reading.execute(select(func.max(STORE.c.epoch))).scalar() or 1
    reading.rollback()
    writing.execute(update(STORE).values(epoch=epoch + 1, lock_changes=STORE.c.lock_changes + 1))
    for statement in _sequences(writing) if writing.dialect.name == "postgresql" else ():
        writing.execute(text(statement))
    writing.commit()


def _sequences(writing: Connection) -> Iterator[str]:
    for table in _TABLES:
        if "number" in table.c and (last := writing.execute(select(func.max(table.c.number))).scalar()):
            yield f"SELECT setval(pg_get_serial_sequence('{table.name}', 'number'), {int(last)})"
