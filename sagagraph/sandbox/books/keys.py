"""Keys: what the service remembers of an idempotency key: the first answer, a final refusal, a call in progress."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psutil

from sagagraph.sandbox.books.calls import Answer, Call, from_json, to_json
from sagagraph.sandbox.clock import as_text


@dataclass(frozen=True)
class FirstAnswer:
    fingerprint: str
    body: dict[str, Any]


def remember_answer(tx: sqlite3.Connection, key: str, fingerprint: str, body: dict[str, Any], now: datetime) -> None:
    """Remember the answer, replacing one that was forgotten if need be."""
    tx.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", (key, fingerprint, json.dumps(body), as_text(now)))


def first_answer(tx: sqlite3.Connection, key: str, *, since: datetime | None) -> FirstAnswer | None:
    """Return the answer to the call that landed under the key, unless that was before `since`."""
    row = tx.execute("SELECT * FROM answers WHERE key = ?", (key,)).fetchone()
    if row is None or (since is not None and row["given_at"] < as_text(since)):
        return None
    return FirstAnswer(row["fingerprint"], json.loads(row["body"]))


def remember_refusal(tx: sqlite3.Connection, key: str, refused: Answer) -> None:
    """Keep the first refusal."""
    tx.execute("INSERT OR IGNORE INTO refusals VALUES (?, ?, ?)", (key, refused.status, json.dumps(refused.body)))


def recorded_refusal(tx: sqlite3.Connection, key: str) -> Answer | None:
    row = tx.execute("SELECT status, body FROM refusals WHERE key = ?", (key,)).fetchone()
    return None if row is None else Answer(row["status"], json.loads(row["body"]))


def enter_under_way(tx: sqlite3.Connection, key: str, owner: str, until: datetime) -> int:
    """Note that a call with this key has arrived and runs until then; return its place in the order of arrival."""
    row = tx.execute(
        "INSERT INTO under_way (key, owner, pid, until) VALUES (?, ?, ?, ?) RETURNING place",
        (key, owner, os.getpid(), as_text(until)),
    ).fetchone()
    place: int = row["place"]
    return place


def leave_under_way(tx: sqlite3.Connection, place: int) -> None:
    tx.execute("DELETE FROM under_way WHERE place = ?", (place,))


def leave_all_under_way(tx: sqlite3.Connection, owner: str) -> None:
    tx.execute("DELETE FROM under_way WHERE owner = ?", (owner,))


def is_under_way(tx: sqlite3.Connection, key: str, *, before: int | None, real_now: datetime) -> bool:
    """Tell whether a call with this key that arrived before the place `before` (None: before now) is still in progress.

    A call ends with its process; `until` limits the harm if another process got the same pid.
    """
    rows = tx.execute("SELECT place, pid FROM under_way WHERE key = ? AND until > ?", (key, as_text(real_now))).fetchall()
    return any(psutil.pid_exists(row["pid"]) for row in rows if before is None or row["place"] < before)


def schedule_late_call(tx: sqlite3.Connection, call: Call, due_at: datetime) -> None:
    """Schedule a late call. `due_at`: by the service's clock."""
    tx.execute("INSERT INTO late_calls (due_at, call) VALUES (?, ?)", (as_text(due_at), to_json(call)))


def first_late_call_due(tx: sqlite3.Connection) -> datetime | None:
    due_at: str | None = tx.execute("SELECT min(due_at) AS due_at FROM late_calls").fetchone()["due_at"]
    return None if due_at is None else datetime.fromisoformat(due_at)


def take_late_call(tx: sqlite3.Connection, now: datetime) -> Call | None:
    """Take the call that has been due the longest; the caller carries it out in the same transaction."""
    row = tx.execute(
        "DELETE FROM late_calls WHERE place = (SELECT place FROM late_calls WHERE due_at <= ? ORDER BY due_at, place LIMIT 1)"
        " RETURNING call",
        (as_text(now),),
    ).fetchone()
    return from_json(row["call"]) if row else None
