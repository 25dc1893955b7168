"""Clock: starts on a given day and runs with real time, restarts included."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta

YEARS = range(2000, 2100)
"""The clock stays within these years and nothing is on offer outside them, so every computed time fits a datetime."""
_OPENING = time(9, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def real_now() -> datetime:
    return datetime.now(UTC)


def as_text(instant: datetime) -> str:
    """Return ISO 8601 in UTC, of a fixed width, so that texts sort as the instants do."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds")


class Clock:
    """Clock that keeps only its offset from real time, in the database: every process on one file sees the same time."""

    def __init__(self, real: Callable[[], datetime]) -> None:
        self.real = real
        """Real time, which cannot be advanced and never jumps."""

    def start(self, tx: sqlite3.Connection, today: date | None, *, moves: bool) -> None:
        """Start at 09:00 UTC of `today`, or at the real time; a clock that was started keeps its time.

        `moves`: it is set to 09:00 of `today` regardless, if it shows another day.
        """
        offset = datetime.combine(today, _OPENING) - self.real() if today else timedelta(0)
        tx.execute("INSERT OR IGNORE INTO clock (only, offset_us) VALUES (1, ?)", (offset // _MICROSECOND,))
        if moves and today and self.now(tx).date() != today:
            tx.execute("UPDATE clock SET offset_us = ?", (offset // _MICROSECOND,))

    def now(self, tx: sqlite3.Connection) -> datetime:
        offset_us: int = tx.execute("SELECT offset_us FROM clock").fetchone()["offset_us"]
        return self.real() + timedelta(microseconds=offset_us)

    def advance(self, tx: sqlite3.Connection, by: timedelta) -> None:
        tx.execute("UPDATE clock SET offset_us = offset_us + ?", (by // _MICROSECOND,))
