"""Free space of PostgreSQL's tables: overwritten after a redaction, while others go on writing.

VACUUM frees the space of old rows and leaves their bytes there. So rows that say nothing are inserted, long ones first, until no
page has room for another, and rolled back. Nobody who reads or writes journals waits for any lock of this. A gap of less than
some hundred bytes at the edge of a page may remain. Pages reach the disk with the server's next checkpoint; its log, and whatever
was copied from it, lives as long as the server is told to keep it.
"""

from __future__ import annotations

import secrets
import time
from contextlib import closing

import psycopg
from sqlalchemy import JSON, Boolean, Column, Float, Integer, String, Table, Text

from sagagraph.errors import StoreError
from sagagraph.saga.stores.postgres_connection import connect, name_of, why
from sagagraph.saga.stores.tables import METADATA

PATIENCE_S = 10.0
"""How long transactions that still see the old rows are waited for."""
_PAUSE_S = 0.1
_PAGE = 8000
_LENGTHS = (1900, 900, 400, 200, 100, 60, 30, 10, 0)
"""Of what rows say, in bytes: none so long that it is kept apart from its row."""
_LENGTHS_APART = (1996, 1500, 1000, 700, 500, 350, 250, 180, 120, 80)
"""Of what is kept apart in TOAST, where a chunk has 1996 bytes at most. Shorter ones would stay in their rows."""
_SURELY = 3
"""Often enough."""
_RETURNING_PAGE = "RETURNING (ctid::text::point)[0]"
_COMPRESSED = "x" * 2000
"""Makes a row so long that it is looked into, and is itself compressed to almost nothing."""


def overwrite_free_space(url: str, saga_id: str) -> None:
    """Overwrite it in every table that holds payloads, by rows of a finished saga: until the end of that, nobody can ask for its
    cancellation. Raises `StoreError`, also if a transaction still sees old rows."""
    tables = [each for each in METADATA.sorted_tables if _payloads(each)]
    try:
        with closing(connect(url)) as connection:
            connection.execute("SET statement_timeout = 0; SET lock_timeout = 0")
            _free(connection, tables)
            for each in tables:
                with connection.transaction(force_rollback=True):
                    _fill(connection, each, saga_id)
            _vacuum(connection, tables)
    except psycopg.Error as exc:
        raise StoreError(f"it is done, but {name_of(url)} still holds what was there: {why(exc)}; repeat this") from exc


def _free(connection: psycopg.Connection, tables: list[Table]) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while _vacuum(connection, tables):
        if time.monotonic() > give_up_at:
            raise StoreError(
                "it is done, but the database still holds what was there, because a transaction that began before sees it: "
                "repeat this when that has ended"
            )
        time.sleep(_PAUSE_S)


def _vacuum(connection: psycopg.Connection, tables: list[Table]) -> bool:
    """Vacuum without truncation, which would need the tables for itself. Returns whether old rows are left."""
    names = [each.name for each in tables]
    connection.execute(f"VACUUM (TRUNCATE off, INDEX_CLEANUP on) {', '.join(names)}".encode())
    left = "SELECT coalesce(sum(n_dead_tup), 0) > 0 FROM pg_stat_user_tables WHERE relid = ANY(%s::regclass[])"
    return connection.execute(left, [names]).fetchone() == (True,)


def _fill(connection: psycopg.Connection, table: Table, saga_id: str) -> None:
    """Use up the table's free space, and that of what is kept apart from its rows; the caller rolls back."""
    filler = _Filler(connection, f"{_insert(table)} {_RETURNING_PAGE}".encode(), saga_id)
    apart = connection.execute("SELECT reltoastrelid FROM pg_class WHERE oid = %s::regclass", [table.name]).fetchone()
    for length in _LENGTHS:
        filler.fill(table.name, length)
    connection.execute(f"ALTER TABLE {table.name} SET (toast_tuple_target = 128)".encode())  # keeps nobody waiting
    for length in _LENGTHS_APART:
        filler.fill_apart(str(apart[0] if apart else 0), length)


class _Filler:
    def __init__(self, connection: psycopg.Connection, insert: bytes, saga_id: str) -> None:
        self._connection = connection
        self._insert = insert
        self._saga_id = saga_id
        self._inserted = 0

    def fill(self, table: str, length: int) -> None:
        """Insert rows until one of them needs a new page: no other has room for it."""
        end = self._pages(table)
        while self._inserted_up_to("", "x" * length) < end:
            pass

    def fill_apart(self, relation: str, length: int) -> None:
        """Insert values until their relation has grown so often that it cannot always have been somebody else."""
        data = secrets.token_hex(length // 2)
        for _time in range(_SURELY):
            end = self._pages(relation)
            while self._pages(relation) == end:
                self._inserted_up_to(_COMPRESSED, data)

    def _inserted_up_to(self, pad: str, data: str) -> int:
        """Insert about a page of rows, and return the last page that has one of them."""
        first, self._inserted = self._inserted + 1, self._inserted + max(1, _PAGE // (len(data) + 100))
        given = {"saga_id": self._saga_id, "pad": pad, "data": data, "first": first, "last": self._inserted}
        return max(int(page) for (page,) in self._connection.execute(self._insert, given))

    def _pages(self, relation: str) -> int:
        asked = "SELECT pg_relation_size(%s::regclass) / current_setting('block_size')::int"
        (pages,) = self._connection.execute(asked, [relation]).fetchone() or (0,)
        return int(pages)


def _insert(table: Table) -> str:
    """Return the statement for rows from `first` to `last`, of which `data` is the payload."""
    values = ", ".join(_value(table, each) for each in table.columns)
    names = ", ".join(f'"{each.name}"' for each in table.columns)
    return f"INSERT INTO {table.name} ({names}) SELECT {values} FROM generate_series(%(first)s::int, %(last)s::int) AS n"  # noqa: S608 - our own names


def _value(table: Table, column: Column[object]) -> str:
    texts = [each for each in table.columns if isinstance(each.type, String) and each.name != "saga_id"]
    padded, payload = texts[0], _payloads(table)[-1]
    if column.name == "saga_id":
        return "%(saga_id)s::text" if column.foreign_keys else "n::text"
    if column in (padded, payload):
        text = "%(data)s::text" if column is payload else "%(pad)s::text || n"
        return text if isinstance(column.type, String) else f"to_jsonb({text})"
    if column.nullable:
        return "NULL"
    kinds = {Integer: "-n", Float: "0", Boolean: "false"}
    return next((value for kind, value in kinds.items() if isinstance(column.type, kind)), "''")


def _payloads(table: Table) -> list[Column[object]]:
    return [each for each in table.columns if isinstance(each.type, Text | JSON)]
