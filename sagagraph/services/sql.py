"""SQL: rows of your own PostgreSQL or SQLite. The effect and its key are one transaction, so that either both are there or none.

The keys are in a table beside the rows, `sagagraph_inbox`: a repeated call finds what the first one did, and one that was undone
or given up is refused for good.
"""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.pool import NullPool

from sagagraph.errors import InvalidInputError, Refused
from sagagraph.extras import needing
from sagagraph.refusals import sql_rolled_back
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, Guarantees, action, to_json
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.call import Probe
from sagagraph.saga.engine.calling.threads import in_thread
from sagagraph.services.service import FOREVER, POLICY, Account, Opened, Trial

Do = Callable[[sa.Connection, Any], Any]
"""`do(connection, request)` has the effect, in the transaction of the connection, and returns what is journalled."""
Undo = Callable[[sa.Connection, Any, Any], None]
"""`undo(connection, request, result)` has the inverse effect. Raises `Refused` if others have changed what it would undo."""
_LANDED, _UNDONE = "landed", "undone"
_READ: Final[Mapping[type, Callable[[str], Any]]] = {
    Decimal: Decimal,
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    time: time.fromisoformat,
    UUID: UUID,
}
_INBOX = sa.Table(
    "sagagraph_inbox",
    sa.MetaData(),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("result", sa.Text),
)


class Insert(BaseModel):
    table: str
    values: dict[str, Any]


class Inserted(BaseModel):
    table: str
    key: dict[str, Any]
    """The primary key of the row."""


class Update(BaseModel):
    """Update of the row with `key`, which is undone only while its `version` column is still what this has made it."""

    table: str
    key: dict[str, Any]
    values: dict[str, Any]
    version: str = "version"


class Updated(BaseModel):
    before: dict[str, Any]
    version: int


class Database:
    """Database of the user. What it runs blocks: its actions are plain functions, which get a thread of their own."""

    def __init__(self, account: Account) -> None:
        url = sa.make_url(account.url)
        if url.get_backend_name() not in ("postgresql", "sqlite"):
            raise InvalidInputError("sqlite:///FILE or postgresql://USER@HOST/DATABASE", field="--url")
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        url = url.set(password=account.secret) if account.secret else url
        with needing("postgres"):
            self.engine = sa.create_engine(url, poolclass=NullPool, hide_parameters=True)
        self.identity = account.identity

    def action(self, name: str, do: Do, undo: Undo) -> Action:
        """Make an action of two functions, whose annotations say what its request and its result are."""
        hints = typing.get_type_hints(do)
        request_type = hints.get(list(inspect.signature(do).parameters)[1], Any)

        def run(request: Any, call: Call) -> Any:
            return self._once(call.idempotency_key, do, request)

        def void(request: Any, call: Call) -> None:
            self._undo(call.operation_key, undo, request, made.result_from_json)

        def take_back(request: Any, _result: Any, call: Call) -> None:
            void(request, call)

        def find(_request: Any, call: Call) -> Probe:
            return self._found(call.operation_key, made.result_from_json)

        run.__annotations__ |= {"request": request_type, "return": hints.get("return", Any)}
        made = action(
            run,
            compensate=take_back,
            probe=find,
            policy=POLICY,
            guarantees=Guarantees(dedup=FOREVER, void=void),
            fails_on=sql_rolled_back,
            provider=self.identity,
            name=name,
        )
        return made

    def create_inbox(self) -> None:
        """Make the table of keys, if it is not there. Call it once, before any action runs."""
        _INBOX.create(self.engine, checkfirst=True)

    def begin(self) -> Any:
        """Begin a transaction: a context that returns the connection, and commits."""
        return self.engine.begin()

    def _once(self, key: str, do: Do, request: Any) -> Any:
        with self.begin() as connection:
            if _is_new(connection, key, _LANDED):
                result = do(connection, request)
                row = {"result": json.dumps(to_json(result))}
                connection.execute(sa.update(_INBOX).where(_INBOX.c.key == key).values(row))
                return result
            state, kept = _row(connection, key)
            if state == _UNDONE:
                raise Refused(f"the key {key} was undone or given up", code="voided")
            return kept

    def _undo(self, key: str, undo: Undo, request: Any, read: Callable[[Any], Any]) -> None:
        with self.begin() as connection:
            if _is_new(connection, key, _UNDONE):
                return
            state, kept = _row(connection, key)
            if state == _LANDED:
                undo(connection, request, read(kept))
                connection.execute(sa.update(_INBOX).where(_INBOX.c.key == key).values(state=_UNDONE))

    def _found(self, key: str, read: Callable[[Any], Any]) -> Probe:
        with self.begin() as connection:
            state, kept = _row(connection, key)
        if state is None:
            return Probe.absent()
        return Probe.undone() if state == _UNDONE else Probe.landed(read(kept))


def _is_new(connection: sa.Connection, key: str, state: str) -> bool:
    """Write the key down, if nobody has; waits for a transaction that is about to."""
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    written = dialect.insert(_INBOX).values(key=key, state=state).on_conflict_do_nothing().returning(_INBOX.c.key)
    return connection.execute(written).first() is not None


def _row(connection: sa.Connection, key: str) -> tuple[str | None, Any]:
    found = connection.execute(sa.select(_INBOX.c.state, _INBOX.c.result).where(_INBOX.c.key == key).with_for_update()).first()
    return (None, None) if found is None else (found.state, json.loads(found.result or "null"))


# -- rows ------------------------------------------------------------------------------------------------------------


def row_actions(database: Database) -> tuple[Action, ...]:
    """Return `sql_insert`, undone by its inverse, and `sql_update`, undone by version."""
    return (
        database.action("sql_insert", _insert, _delete),
        database.action("sql_update", _update, _restore),
    )


def _insert(connection: sa.Connection, request: Insert) -> Inserted:
    table = _table(connection, request.table)
    written = connection.execute(sa.insert(table).values(_native(table, request.values)))
    names = [column.name for column in table.primary_key.columns]
    return Inserted(table=table.name, key=dict(zip(names, written.inserted_primary_key or (), strict=True)))


def _delete(connection: sa.Connection, request: Insert, inserted: Inserted) -> None:
    """Delete the row, unless somebody has changed it, or deleted it already."""
    table = _table(connection, request.table)
    row = _is_row(table, inserted.key)
    found = connection.execute(sa.select(table).where(row).with_for_update()).mappings().first()
    if found is None:
        return
    changed = [name for name, value in _native(table, request.values).items() if found[name] != value and name != "version"]
    if changed:
        raise Refused(f"others have changed {', '.join(changed)} of this row of {table.name}", code="changed_since")
    connection.execute(sa.delete(table).where(row))


def _update(connection: sa.Connection, request: Update) -> Updated:
    table = _table(connection, request.table)
    row, version = _is_row(table, request.key), _column(table, request.version)
    before = connection.execute(sa.select(table).where(row).with_for_update()).mappings().first()
    if before is None:
        raise Refused(f"{table.name} has no such row", code="no_such_row")
    after = before[version.name] + 1
    connection.execute(sa.update(table).where(row).values(_native(table, request.values) | {version.name: after}))
    return Updated(before={name: to_json(before[name]) for name in request.values}, version=after)


def _restore(connection: sa.Connection, request: Update, updated: Updated) -> None:
    table = _table(connection, request.table)
    version = _column(table, request.version)
    values = _native(table, updated.before) | {version.name: updated.version + 1}
    row = sa.and_(_is_row(table, request.key), version == updated.version)
    if connection.execute(sa.update(table).where(row).values(values)).rowcount != 1:
        raise Refused(f"others have changed this row of {table.name} since", code="changed_since")


def _table(connection: sa.Connection, name: str) -> sa.Table:
    try:
        return sa.Table(name, sa.MetaData(), autoload_with=connection)
    except sa.exc.NoSuchTableError:
        raise Refused(f"there is no table {name!r}", code="no_such_table") from None


def _column(table: sa.Table, name: str) -> sa.Column[Any]:
    if name not in table.c:
        raise Refused(f"{table.name} has no column {name!r}", code="no_such_column")
    return table.c[name]


def _is_row(table: sa.Table, key: Mapping[str, Any]) -> sa.ColumnElement[bool]:
    return sa.and_(*(_column(table, name) == value for name, value in _native(table, key).items()))


def _native(table: sa.Table, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as the columns have them: JSON has neither dates nor decimals."""
    return {name: _as(_column(table, name).type, value) for name, value in values.items()}


def _as(kind: sa.types.TypeEngine[Any], value: Any) -> Any:
    read = _READ.get(kind.python_type) if isinstance(value, str) else None
    return value if read is None else read(value)


# -- the service -----------------------------------------------------------------------------------------------------

_TRIAL = sa.Table(
    "sagagraph_trial",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("amount", sa.Integer, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
)


@asynccontextmanager
async def open_account(account: Account) -> AsyncIterator[Opened]:
    database = Database(account)
    yield opened(database, row_actions(database))


def opened(database: Database, actions: tuple[Action, ...]) -> Opened:
    """Return the actions with a trial of them, in a table that is made for it and dropped afterwards."""
    insert, update = actions

    async def book(saga: BodySaga, name: str) -> None:
        made = await saga.run(insert, Insert(table=_TRIAL.name, values={"name": name, "amount": 1, "version": 1}))
        await saga.run(update, Update(table=_TRIAL.name, key=made.key, values={"amount": 5}))

    async def standing(name: str) -> list[int]:
        return await in_thread(_amounts, database, name)

    return Opened(actions, Trial(standing, done=[5], undone=[], book=book, around=lambda: _with_tables(database)))


@asynccontextmanager
async def _with_tables(database: Database) -> AsyncIterator[None]:
    await in_thread(database.create_inbox)
    await in_thread(_TRIAL.create, database.engine)
    try:
        yield
    finally:
        await in_thread(_TRIAL.drop, database.engine)


def _amounts(database: Database, name: str) -> list[int]:
    with database.begin() as connection:
        return list(connection.execute(sa.select(_TRIAL.c.amount).where(_TRIAL.c.name == name)).scalars())
