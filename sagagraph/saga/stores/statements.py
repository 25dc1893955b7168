"""Statements: the SQL of the stores, written once for all of them.

Placeholders are question marks, and `FOR UPDATE` stands where a row is locked until the transaction ends; each store translates
both for its database. What a fence guards is a `Change`: one text, for one saga or for many.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import itemgetter
from string import Formatter
from typing import Any

EVENT: Mapping[str, str] = {
    "saga_id": "text",
    "version": "int",
    "epoch": "int",
    "at": "float8",
    "type": "text",
    "schema_version": "int",
    "data": "text",
    "checksum": "bigint",
}
"""The columns of an event, with the types that PostgreSQL is told."""
EVENT_COLUMNS = ", ".join(EVENT)
HEAD_COLUMNS = "saga_id, domain, stage, epoch, version, owner, lease_until, begun_at, updated_at"
HEADLINE_COLUMNS = "saga_id, domain, stage, version, owner, lease_until, begun_at, updated_at, retired_at"

Parameters = Callable[[Mapping[str, Any]], tuple[Any, ...]]
_ID: Mapping[str, str] = {"of_saga": "saga_id"}


class Change:
    """A change of heads. Its rows, one for each head that its fence let through, begin with the id.

    `columns` are its parameters, with their PostgreSQL types. `text` names them in braces; `{given}` stands where a statement
    over many rows names their source. `returned` are the columns of a row, by the parameters that they are equal to. `likely`
    is a cheaper text for one head, which does the same where it lets the head through, and is tried first.
    """

    def __init__(
        self, columns: Mapping[str, str], text: str, *, returned: Mapping[str, str] = _ID, likely: str | None = None
    ) -> None:
        self.columns = columns
        self._text = f"{text} RETURNING {', '.join(returned.values())}"
        self.parameters = _in_order(text)
        """Those of `typed_for_one`, in their order."""
        self.typed_for_one = self._text.format(given="", **{name: f"?::{kind}" for name, kind in columns.items()})
        marks = {"given": "", **dict.fromkeys(columns, "?")}
        self.for_one = tuple((each.format(**marks), _in_order(each)) for each in (likely, text) if each is not None)
        """Statements for one head without its row, each with its parameters: the first that changes it does it."""
        names = tuple(returned)
        self.row: Parameters = itemgetter(*names) if len(names) > 1 else lambda given: (given[names[0]],)
        """The row of a head that was changed."""

    def typed_for_one_from(self, source: str) -> str:
        """Return `typed_for_one`, made only if there is a row in `source`."""
        return self._text.format(given=f"FROM {source}", **{name: f"?::{kind}" for name, kind in self.columns.items()})

    def for_many(self) -> str:
        """Return the statement over any number of rows, whose columns are arrays. Only PostgreSQL has those."""
        arrays = ", ".join(f"?::{kind}[]" for kind in self.columns.values())
        source = f"FROM unnest({arrays}) AS given ({', '.join(self.columns)})"
        return self._text.format(given=source, **{name: f"given.{name}" for name in self.columns})


def _in_order(text: str) -> Parameters:
    """Return what takes the parameters of a text from what is given, in their order."""
    return itemgetter(*(name for _text, name, *_rest in Formatter().parse(text) if name and name != "given"))


CREATE = Change(
    {"of_saga": "text", "domain": "text", "stage": "text", "owner": "text", "until": "float8", "at": "float8"},
    "INSERT INTO sagas (saga_id, domain, stage, epoch, version, owner, lease_until, begun_at, updated_at)"
    " SELECT {of_saga}, {domain}, {stage}, 1, 1, {owner}, {until}, {at}, {at} {given} WHERE true"
    " ON CONFLICT (saga_id) DO NOTHING",
)
TAKE = Change(
    {
        "of_saga": "text",
        "epoch": "int",
        "version": "int",
        "next": "int",
        "held_until": "float8",
        "owner": "text",
        "until": "float8",
        "at": "float8",
    },
    "UPDATE sagas SET epoch = {next}, version = {version} + 1, owner = {owner}, lease_until = {until}, updated_at = {at},"
    " due_at = CASE WHEN sagas.due_at < 0 THEN sagas.due_at ELSE 0 END"
    " {given} WHERE saga_id = {of_saga} AND sagas.epoch = {epoch} AND sagas.version = {version}"
    " AND sagas.lease_until = {held_until}",
)
"""Only if nobody took, appended, renewed or released since the head was looked at. Whoever dies with it leaves it due."""
APPEND = Change(
    {"of_saga": "text", "epoch": "int", "version": "int", "reached": "int", "stage": "text", "at": "float8"},
    "UPDATE sagas SET version = {reached}, stage = {stage}, updated_at = {at} {given}"
    " WHERE saga_id = {of_saga} AND sagas.epoch = {epoch} AND sagas.version = {version}",
    likely="UPDATE sagas SET version = {reached}, updated_at = {at}"
    " WHERE saga_id = {of_saga} AND epoch = {epoch} AND version = {version} AND stage = {stage}",
)
"""SQLite writes the indexes whose conditions name the stage anew wherever it is set, even to what it was: two pages more."""
STORE_EPOCH = "SELECT epoch FROM store WHERE number = 1"
RENEW = Change(
    {"of_saga": "text", "epoch": "int", "until": "float8"},
    "UPDATE sagas SET lease_until = {until} {given} WHERE saga_id = {of_saga} AND sagas.epoch = {epoch}",
    returned={**_ID, "epoch": "sagas.epoch"},
)
RELEASE = Change(
    {"of_saga": "text", "epoch": "int"},
    "UPDATE sagas SET owner = NULL, lease_until = 0 {given} WHERE saga_id = {of_saga} AND sagas.epoch = {epoch}",
)

INSERT_EVENT = f"INSERT INTO events ({EVENT_COLUMNS}) VALUES ({', '.join('?' * len(EVENT))})"  # noqa: S608 - our own text
EVENTS_AFTER = f"SELECT {EVENT_COLUMNS} FROM events WHERE saga_id = ? AND version > ? ORDER BY version"  # noqa: S608 - our own text
FIRST_EVENT = """
    SELECT e.at, s.version, s.epoch, s.owner, e.type, e.schema_version, e.data FROM sagas s JOIN events e ON e.saga_id = s.saga_id
    WHERE s.saga_id = ? AND e.version = 1"""
FENCE = "SELECT epoch, version, owner, lease_until, retired_at FROM sagas WHERE saga_id = ?"
LOCK = "SELECT retired_at FROM sagas WHERE saga_id = ? FOR UPDATE"
JOURNAL = """
    SELECT s.retired_at, s.version, s.epoch, e.version, e.epoch, e.at, e.type, e.schema_version, e.data, e.checksum
    FROM sagas s LEFT JOIN events e ON e.saga_id = s.saga_id WHERE s.saga_id = ? ORDER BY e.version"""
IS_OPEN = "stage NOT IN ('committed', 'compensated', 'rejected', 'infeasible')"
"""As the index `sagas_open` says it, or no database would use that; what is retired has ended. A stage that only a newer
release knows counts as open.
"""
OPEN_HEADLINES = f"""
    SELECT {HEADLINE_COLUMNS} FROM sagas WHERE {IS_OPEN}
    UNION ALL SELECT {HEADLINE_COLUMNS} FROM sagas
    WHERE saga_id IN (SELECT saga_id FROM requests) AND stage = 'committed' AND retired_at IS NULL
    ORDER BY begun_at DESC, saga_id DESC"""  # noqa: S608 - our own text
IS_DUE_EVER = f"due_at IS NOT NULL AND ({IS_OPEN} OR due_at < 0)"
"""As the index `sagas_due` says it. `due_at` is when a driver should look at the saga: 0 from its beginning, minus the number of
the last request once there is one; NULL when only a request can move it.
"""
PARK = """
    UPDATE sagas SET due_at = ? WHERE saga_id = ? AND version = ? AND (owner IS NULL OR lease_until <= ?)
    AND (due_at IS NULL OR due_at >= ?) RETURNING saga_id"""
WAKE = "UPDATE sagas SET due_at = ? WHERE saga_id = ? AND retired_at IS NULL AND (due_at IS NULL OR due_at > ?)"
DRAW = """
    INSERT INTO limits (name, free_at) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET free_at = CASE WHEN limits.free_at > ? THEN limits.free_at ELSE ? END + ?
    WHERE limits.free_at <= ? RETURNING name"""
ASKED = "UPDATE sagas SET due_at = ? WHERE saga_id = ?"
HEADLINE = f"SELECT {HEADLINE_COLUMNS} FROM sagas WHERE saga_id = ?"  # noqa: S608 - our own text
NOTE = """
    INSERT INTO evidence (saga_id, operation, call, key, output) SELECT * FROM (VALUES (?, ?, ?, ?, ?)) AS given
    WHERE NOT EXISTS (SELECT 1 FROM sagas WHERE saga_id = ? AND retired_at IS NOT NULL)
    EXCEPT SELECT saga_id, operation, call, key, output FROM evidence WHERE saga_id = ?"""
"""Repeated, it changes nothing."""
NOTES = "SELECT operation, call, key, output FROM evidence WHERE saga_id = ? ORDER BY number"
ASK = """
    WITH head AS (SELECT saga_id FROM sagas WHERE saga_id = ? AND retired_at IS NULL FOR UPDATE)
    INSERT INTO requests (saga_id, kind, by, data) SELECT saga_id, ?, ?, ? FROM head RETURNING number"""
"""The number is drawn under the lock: the requests of one saga commit in the order of their numbers."""
LAST_REQUEST = "SELECT COALESCE(max(number), 0) FROM requests"
ASKED_SINCE = "SELECT number FROM requests WHERE saga_id = ? AND kind = ? AND by = ? AND data = ? AND number > ?"
PUT = """
    INSERT INTO documents (saga_id, kind, key, data) SELECT * FROM (VALUES (?, ?, ?, ?)) AS given
    WHERE NOT EXISTS (SELECT 1 FROM sagas WHERE saga_id = ? AND retired_at IS NOT NULL)
    ON CONFLICT (saga_id, kind, key) DO NOTHING"""
DOCUMENT = "SELECT data FROM documents WHERE saga_id = ? AND kind = ? AND key = ?"
DOCUMENTS = "SELECT kind, key, data FROM documents WHERE saga_id = ? ORDER BY number"
RETIRE = """
    UPDATE sagas SET retired_at = ?, epoch = epoch + 1, owner = NULL, lease_until = 0, due_at = NULL
    WHERE saga_id = ? AND version = ? AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.saga_id = ? AND r.number > ?)"""
MOVE_ON = "UPDATE sagas SET version = ?, updated_at = ? WHERE saga_id = ? AND version = ? AND retired_at IS NULL"
REWRITE_EVENT = "UPDATE events SET type = ?, schema_version = ?, data = ?, checksum = ? WHERE saga_id = ? AND version = ?"

LOCK_ROW: Mapping[str, str] = {
    "saga_id": "text",
    "operation": "text",
    "key": "text",
    "mode": "text",
    "begins": "float8",
    "ends": "float8",
    "amount": "bigint",
    "capacity": "bigint",
    "begun_at": "float8",
    "epoch": "int",
}
"""The columns of a lock, with the types that PostgreSQL is told."""
LOCK_COLUMNS = ", ".join(LOCK_ROW)
INSERT_LOCK = f"INSERT INTO locks ({LOCK_COLUMNS}) VALUES ({', '.join('?' * len(LOCK_ROW))})"  # noqa: S608 - our own text
FREE_LOCKS = "DELETE FROM locks WHERE saga_id = ? AND operation = ?"
ALL_LOCKS = f"SELECT {LOCK_COLUMNS} FROM locks ORDER BY saga_id, operation, number"  # noqa: S608 - our own text


def locks_on(keys: int) -> str:
    """Return the query for how often locks have changed, and the locks on this many things, as they are at that moment."""
    columns = ", ".join(f"l.{name}" for name in LOCK_ROW)
    return f"""
        SELECT s.lock_changes, {columns} FROM store s LEFT JOIN locks l ON l.key IN ({", ".join("?" * keys) or "NULL"})
        WHERE s.number = 1"""  # noqa: S608 - marks


TALLY = "SELECT domain, stage, count(*) FROM sagas WHERE retired_at IS NULL GROUP BY domain, stage"
LIKE_ESCAPED = re.compile(r"[%_!]")
LIKE_ESCAPE = r"!\g<0>"


def headlines(*, of_domain: bool, named: bool, within: bool, stages: int, limited: bool) -> str:
    """Return the query for headlines, the latest first: of one domain, of ids that begin alike or contain something, of so many
    stages, of one page, or of all.
    """
    conditions = ["retired_at IS NULL"]
    conditions += ["domain = ?"] if of_domain else []
    conditions += ["substr(saga_id, 1, ?) = ?"] if named else []
    conditions += ["saga_id LIKE ? ESCAPE '!'"] if within else []
    conditions += [f"stage IN ({', '.join('?' * stages)})"] if stages else []
    page = " LIMIT ? OFFSET ?" if limited else ""
    return f"SELECT {HEADLINE_COLUMNS} FROM sagas WHERE {' AND '.join(conditions)} ORDER BY begun_at DESC, saga_id DESC{page}"  # noqa: S608 - our own text


def due(domains: int) -> str:
    """Return the query for what is due in this many domains. The tenants take turns."""
    named = ", ".join("?" * domains) or "NULL"
    return f"""
        SELECT {HEADLINE_COLUMNS} FROM (
            SELECT {HEADLINE_COLUMNS}, due_at,
                row_number() OVER (PARTITION BY substr(saga_id, 1, strpos(saga_id, ':')) ORDER BY due_at, begun_at) AS turn
            FROM sagas WHERE due_at <= ? AND {IS_DUE_EVER} AND lease_until <= ? AND domain IN ({named})
        ) AS waiting ORDER BY turn, due_at, begun_at LIMIT ?"""  # noqa: S608 - our own text


def requests_of(sagas: int) -> str:
    """Return the query for the requests of this many sagas."""
    return f"SELECT number, saga_id, kind, by, data FROM requests WHERE saga_id IN ({', '.join('?' * sagas)})"  # noqa: S608 - marks


def rows_of(table: str, columns: str, order: str) -> str:
    """Return the query for all rows of a saga in one table."""
    return f"SELECT {columns} FROM {table} WHERE saga_id = ? ORDER BY {order}"  # noqa: S608 - our own names


def delete_of(table: str) -> str:
    return f"DELETE FROM {table} WHERE saga_id = ?"  # noqa: S608 - our own names


def replace_in(table: str, column: str) -> str:
    return f"UPDATE {table} SET {column} = ? WHERE number = ?"  # noqa: S608 - our own names
