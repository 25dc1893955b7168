"""Late calls: answered with a time-out, and carried out when they become due, across restarts."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from sagagraph.sandbox.books.calls import Call, from_json, to_json
from sagagraph.sandbox.clock import as_text


def schedule(tx: sqlite3.Connection, call: Call, due_at: datetime) -> None:
    """`due_at`: by the service's clock."""
    tx.execute("INSERT INTO late_calls (due_at, call) VALUES (?, ?)", (as_text(due_at), to_json(call)))


def first_due(tx: sqlite3.Connection) -> datetime | None:
    due_at: str | None = tx.execute("SELECT min(due_at) AS due_at FROM late_calls").fetchone()["due_at"]
    return None if due_at is None else datetime.fromisoformat(due_at)


def take_due(tx: sqlite3.Connection, now: datetime) -> Call | None:
    """Takes the call that has been due the longest; the caller carries it out in the same transaction."""
    row = tx.execute(
        "DELETE FROM late_calls WHERE place = (SELECT place FROM late_calls WHERE due_at <= ? ORDER BY due_at, place LIMIT 1)"
        " RETURNING call",
        (as_text(now),),
    ).fetchone()
    return from_json(row["call"]) if row else None
