"""Bytes on the disk: of a SQLite file, and of what SagaGraph writes into one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def file_bytes(url: str) -> int:
    """Of the file, with everything in it that was still in its write-ahead log."""
    with _connected(url) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages, page = (connection.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "page_size"))
    return int(pages) * int(page)


def journal_bytes(url: str, saga_id: str) -> int:
    """The text of all columns of the saga's events."""
    return sum(_text_bytes(row) for row in _rows(url, "events", saga_id))


def head_bytes(url: str, saga_id: str) -> int:
    """The text of the row that each commit of the saga writes again."""
    return sum(_text_bytes(row) for row in _rows(url, "sagas", saga_id))


def _rows(url: str, table: str, saga_id: str) -> list[tuple[Any, ...]]:
    with _connected(url) as connection:
        return connection.execute(f"SELECT * FROM {table} WHERE saga_id = ?", (saga_id,)).fetchall()  # noqa: S608 - our own text


def _text_bytes(row: tuple[Any, ...]) -> int:
    return sum(len(each) if isinstance(each, bytes) else len(str(each).encode()) for each in row if each is not None)


@contextmanager
def _connected(url: str) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    try:
        yield connection
    finally:
        connection.close()
