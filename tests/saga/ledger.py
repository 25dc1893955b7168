"""A provider that is a file: real processes call it, and what it wrote down is the truth about what they did."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from sagagraph import Backoff, Call, Guarantees, Policy, Probe, action
from sagagraph.saga.engine.actions import Action

_TABLES = """
CREATE TABLE IF NOT EXISTS calls (number INTEGER PRIMARY KEY, what TEXT, key TEXT);
CREATE TABLE IF NOT EXISTS landings (number INTEGER PRIMARY KEY, name TEXT, key TEXT);
CREATE TABLE IF NOT EXISTS undone (number INTEGER PRIMARY KEY, name TEXT, key TEXT);
"""


class Ledger:
    """`remembers_keys`: whether a repeated key lands nothing. `promises`: what its actions declare; by default that.

    "settles": what has not landed when its process has ended never will, and it can be asked. "copes": the same, and instead of
    answering it can be told to undo what may not have landed.
    """

    def __init__(self, path: Path, *, remembers_keys: bool = True, promises: str = "keys", calls_take_s: float = 0.002) -> None:
        self.path = path
        self._remembers_keys = remembers_keys
        self._promises = promises
        self._calls_take_s = calls_take_s

    def prepare(self) -> None:
        with self._open() as connection:
            connection.executescript(_TABLES)

    def action(self, name: str, **declared: Any) -> Action:
        async def execute(request: Any, call: Call) -> Any:
            await self._arrived(f"do {name}", call)
            return self._land(name, call.idempotency_key)

        async def compensate(request: Any, result: Any, call: Call) -> Any:
            await self._arrived(f"undo {name}", call)
            if self._promises == "copes" and not self._has_landed(call.operation_key):
                return None
            return self._undo(name, call.operation_key)

        async def ask(request: Any, call: Call) -> Probe:
            with self._open() as connection:
                landed = connection.execute("SELECT key FROM landings WHERE key = ?", (call.operation_key,)).fetchall()
                undone = connection.execute("SELECT key FROM undone WHERE key = ?", (call.operation_key,)).fetchall()
            if len(landed) > 1:
                return Probe.multiple(landed)
            return Probe.undone(call.operation_key) if undone else Probe.landed(call.operation_key) if landed else Probe.absent()

        here = timedelta(0)
        promised: dict[str, Any] = {
            "keys": {"guarantees": Guarantees(dedup=timedelta(days=1)), "probe": ask} if self._remembers_keys else {},
            "settles": {"guarantees": Guarantees(settles=here, here=True), "probe": ask},
            "copes": {"guarantees": Guarantees(settles=here, here=True, void=True)},
        }[self._promises]
        policy = Policy(backoff=Backoff(base_s=0.01, cap_s=0.02))
        return action(execute, **{"name": name, "compensate": compensate, "policy": policy, **promised, **declared})

    async def _arrived(self, what: str, call: Call) -> None:
        with self._open() as connection:
            connection.execute("INSERT INTO calls (what, key) VALUES (?, ?)", (what, call.idempotency_key))
        await asyncio.sleep(self._calls_take_s)

    def _has_landed(self, key: str) -> bool:
        with self._open() as connection:
            landed = connection.execute("SELECT count(*) FROM landings WHERE key = ?", (key,)).fetchone()[0]
            return bool(landed > connection.execute("SELECT count(*) FROM undone WHERE key = ?", (key,)).fetchone()[0])

    def _land(self, name: str, key: str) -> str:
        with self._open() as connection:
            if not self._remembers_keys or not connection.execute("SELECT 1 FROM landings WHERE key = ?", (key,)).fetchone():
                connection.execute("INSERT INTO landings (name, key) VALUES (?, ?)", (name, key))
        return key

    def _undo(self, name: str, key: str) -> str:
        with self._open() as connection:
            if not self._remembers_keys or not connection.execute("SELECT 1 FROM undone WHERE key = ?", (key,)).fetchone():
                connection.execute("INSERT INTO undone (name, key) VALUES (?, ?)", (name, key))
        return key

    # -- for judges ----------------------------------------------------------------------------------------------------

    def calls(self, what: str) -> int:
        with self._open() as connection:
            return int(connection.execute("SELECT count(*) FROM calls WHERE what = ?", (what,)).fetchone()[0])

    def undone(self) -> list[str]:
        """The names of what was undone, in order."""
        with self._open() as connection:
            return [name for (name,) in connection.execute("SELECT name FROM undone ORDER BY number")]

    def live(self) -> dict[str, int]:
        """How often each stands: landings less undoings, those that are in balance left out."""
        landed, undone = self._counts("landings"), self._counts("undone")
        return {name: landed[name] - undone[name] for name in sorted(landed | undone) if landed[name] != undone[name]}

    def faults(self) -> tuple[str, ...]:
        landed, undone = self._counts("landings"), self._counts("undone")
        twice = [f"{name} landed {count} times" for name, count in landed.items() if count > 1]
        return (*twice, *(f"{name} was undone {count} times" for name, count in undone.items() if count > landed[name]))

    def _counts(self, table: str) -> Counter[str]:
        with self._open() as connection:
            return Counter(name for (name,) in connection.execute(f"SELECT name FROM {table}"))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=30)) as connection, connection:
            connection.execute("PRAGMA synchronous = OFF")  # the process dies, the machine does not
            yield connection
