"""Durability: what a database must be set to so that what it acknowledges outlives a crash, a power cut and a failover.

A journal that forgets an intent lets its effect happen twice. So what can be set for a session is set, what cannot is asked for,
and a database that says no is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any

from sagagraph.errors import StoreError

Ask = Callable[[str], Sequence[Any] | None]
"""Executes a statement of ours and returns its first row."""

WHAT_TO_DO = {
    "fsync": "set fsync = on in postgresql.conf and restart the server",
    "full_page_writes": "set full_page_writes = on in postgresql.conf and reload the server",
    "synchronous_commit": "let the session set synchronous_commit = on",
    "journal_mode": "keep the file where SQLite can use WAL: on a local disk, not on a network file system",
    "synchronous": "use a SQLite that can be set to synchronous = FULL",
}


class Durability(Enum):
    """What becomes of settings under which an acknowledged commit can be lost."""

    CHECKED = auto()
    """Set for the session, or refused."""
    REPORTED = auto()
    """Set for the session, or reported: for those who only look."""
    UNSAFE = auto()
    """Left as they are, and reported: for tests."""


def postgres_shortfalls(ask: Ask, durability: Durability) -> tuple[str, ...]:
    """Return the settings that lose what was acknowledged, as `name=value`, after setting what a session may set.

    With a synchronous standby, `on` waits until that has what was committed on disk.
    """
    names = ("fsync", "full_page_writes", "synchronous_commit")
    statement = "SELECT " + ", ".join(f"current_setting('{name}')" for name in names)
    found = dict(zip(names, ask(statement) or (), strict=True))
    if durability is not Durability.UNSAFE and found["synchronous_commit"] not in ("on", "remote_apply"):
        ask("SELECT set_config('synchronous_commit', 'on', false)")
        found = dict(zip(names, ask(statement) or (), strict=True))
    return tuple(f"{name}={value}" for name, value in found.items() if value not in ("on", "remote_apply"))


def sqlite_shortfalls(ask: Ask) -> tuple[str, ...]:
    """Return the settings that lose what was acknowledged, as `name=value`."""
    wanted = {"journal_mode": ("wal",), "synchronous": (2, 3)}
    found = {name: (ask(f"PRAGMA {name}") or ("unknown",))[0] for name in wanted}
    return tuple(f"{name}={value}" for name, value in found.items() if value not in wanted[name])


def check(name: str, shortfalls: Sequence[str], durability: Durability) -> None:
    """Raise `StoreError` for a database that is to be durable and is not. `name`: the store's, without a password."""
    if shortfalls and durability is Durability.CHECKED:
        advice = "; ".join(WHAT_TO_DO[each.partition("=")[0]] for each in shortfalls)
        raise StoreError(f"the store {name} can lose what it has acknowledged ({', '.join(shortfalls)}): {advice}")
