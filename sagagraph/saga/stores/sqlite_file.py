"""SQLite files: how long to wait for one, and reading what earlier releases kept in files beside a store."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sagagraph.errors import StoreError

BUSY_TIMEOUT_S = 30.0


def rows_in(path: Path, table: str) -> list[dict[str, Any]]:
    """Return all rows of a table, in the order of writing; none if there is no such table. Raises `StoreError`."""
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_S)) as connection:
            connection.row_factory = sqlite3.Row
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
                return []
            return [dict(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY rowid")]  # noqa: S608 - our own name
    except sqlite3.Error as exc:
        raise StoreError(f"{path} cannot be read: {exc}") from exc
