"""The outbox: messages to people that wait to be delivered, in a table of their own, and a calendar file beside each.

The row is what counts; it is written before its file, and whoever finds the row without the file writes that again. Every effect
is keyed: repeated, it changes nothing; voided, it is refused for good.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from sagagraph.errors import Refused
from sagagraph.files import file_name, write_whole

_BUSY_S: Final = 3.0
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS message (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, saga_id TEXT NOT NULL, operation_id TEXT NOT NULL, person TEXT NOT NULL,
    uid TEXT NOT NULL, sequence INTEGER NOT NULL, text TEXT NOT NULL, calendar TEXT NOT NULL, created_at TEXT NOT NULL,
    withdraws TEXT UNIQUE
);
CREATE TABLE IF NOT EXISTS voided (key TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS clock (saga_id TEXT PRIMARY KEY, moment INTEGER NOT NULL);
"""


class MessageKind(StrEnum):
    INVITATION = "invitation"
    WITHDRAWAL = "withdrawal"
    """Takes back the invitation whose key is in `withdraws`."""
    END = "end"
    """The day is over: what stands in the outbox is what was."""


@dataclass(frozen=True, slots=True)
class Message:
    """A row. `created_at` is ISO 8601; `calendar` is the content of the file, empty where there is none."""

    key: str
    kind: str
    saga_id: str
    operation_id: str
    person: str
    uid: str
    sequence: int
    text: str
    calendar: str
    created_at: str
    withdraws: str | None = None


_COLUMNS: Final = ", ".join(field.name for field in fields(Message))
_PLACES: Final = ", ".join("?" for _field in fields(Message))
Draft = Callable[[datetime], Message]
"""Makes a message of the moment at which it is first posted."""


class Outbox:
    """In `folder`, which is made when something is posted. Any number of processes may use it; `now` stamps what is new."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self.folder = folder
        self._now = now

    # -- effects, each in one transaction ----------------------------------------------------------------------------

    def post(self, key: str, draft: Draft) -> Message:
        """The message that stands under `key` afterwards. Raises `Refused` for a key that was voided."""
        with self._transaction() as rows:
            if rows.execute("SELECT 1 FROM voided WHERE key = ?", (key,)).fetchone():
                raise Refused(f"the key {key} was voided", code="voided")
            message = _one(rows, "key", key) or _insert(rows, draft(self._now()))
        self.write_file(message)
        return message

    def withdraw(self, posted: str, draft: Draft) -> Message:
        """Take back what was posted under `posted`: once, however often it is asked for."""
        with self._transaction() as rows:
            message = _one(rows, "withdraws", posted) or _insert(rows, draft(self._now()))
        self.write_file(message)
        return message

    def void(self, key: str, draft: Callable[[Message], Draft]) -> Message | None:
        """From now on `key` is refused; what had landed under it is taken back, and that is returned."""
        with self._transaction() as rows:
            rows.execute("INSERT OR IGNORE INTO voided VALUES (?)", (key,))
            landed = _one(rows, "key", key)
            taken_back = landed and (_one(rows, "withdraws", key) or _insert(rows, draft(landed)(self._now())))
        if taken_back:
            self.write_file(taken_back)
        return taken_back

    def advance(self, saga_id: str, moment: int) -> None:
        """Move the clock of a day; it never goes back."""
        with self._transaction() as rows:
            rows.execute(
                "INSERT INTO clock VALUES (?, ?) ON CONFLICT DO UPDATE SET moment = max(moment, excluded.moment)",
                (saga_id, moment),
            )

    # -- reads -------------------------------------------------------------------------------------------------------

    def find(self, key: str) -> Message | None:
        with self._rows() as rows:
            return None if rows is None else _one(rows, "key", key)

    def withdrawal_of(self, key: str) -> Message | None:
        with self._rows() as rows:
            return None if rows is None else _one(rows, "withdraws", key)

    def messages(self, saga_id: str) -> tuple[Message, ...]:
        """All of a saga, in the order in which they were posted."""
        with self._rows() as rows:
            return () if rows is None else tuple(_select(rows, "saga_id", saga_id))

    def clock(self, saga_id: str) -> int | None:
        with self._rows() as rows:
            found = rows and rows.execute("SELECT moment FROM clock WHERE saga_id = ?", (saga_id,)).fetchone()
            return found[0] if found else None

    def file_of(self, message: Message) -> Path:
        name = f"{message.operation_id}{'' if message.sequence == 0 else '.cancel'}"
        return self.folder / file_name(message.saga_id) / f"{file_name(name)}.ics"

    def write_file(self, message: Message) -> None:
        path = self.file_of(message)
        if message.calendar and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, message.calendar.encode())

    # -- the database ------------------------------------------------------------------------------------------------

    @property
    def _database(self) -> Path:
        return self.folder / "messages.db"

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Durable when it is left; nobody else writes in between."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._database, timeout=_BUSY_S, isolation_level=None)) as rows:
            rows.execute("PRAGMA synchronous = FULL")
            rows.executescript(_TABLES)
            rows.execute("BEGIN IMMEDIATE")
            try:
                yield rows
            except BaseException:
                with suppress(sqlite3.Error):
                    rows.execute("ROLLBACK")
                raise
            rows.execute("COMMIT")

    @contextmanager
    def _rows(self) -> Iterator[sqlite3.Connection | None]:
        """None where nothing has ever been posted."""
        if not self._database.exists():
            yield None
            return
        with closing(sqlite3.connect(self._database, timeout=_BUSY_S)) as rows:
            rows.executescript(_TABLES)
            yield rows


def _select(rows: sqlite3.Connection, column: str, value: str) -> Iterator[Message]:
    found = rows.execute(f"SELECT {_COLUMNS} FROM message WHERE {column} = ? ORDER BY rowid", (value,))  # noqa: S608 - our names
    return (Message(*row) for row in found)


def _one(rows: sqlite3.Connection, column: str, value: str) -> Message | None:
    return next(_select(rows, column, value), None)


def _insert(rows: sqlite3.Connection, message: Message) -> Message:
    rows.execute(f"INSERT INTO message ({_COLUMNS}) VALUES ({_PLACES})", astuple(message))  # noqa: S608 - our names
    return message
