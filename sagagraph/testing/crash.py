"""Crash points: harm right before or after a durable write or an outside call."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.holder import LEASE_TTL_S

_WRITES = frozenset({"create", "take", "append", "release", "ask", "note", "put"})
_CHECKPOINT_WRITES = frozenset({"aput", "aput_writes"})


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def freeze() -> None:
    """Stop until somebody continues this process."""
    os.kill(os.getpid(), signal.SIGSTOP)


class CrashPoint:
    """Crash point: counts the boundaries with `place` in their name, and does `harm` at the `at`-th (0: never). `trace` records
    the names of all.

    `lease_ttl_s` is for the engine of the run: another process may be waiting for that lease to expire.
    """

    def __init__(
        self, at: int, trace: Path, harm: Callable[[], None] = die, *, place: str = "", lease_ttl_s: float = LEASE_TTL_S
    ) -> None:
        self._at = at
        self._place = place
        self._passed = 0
        self._trace = trace
        self._harm = harm
        self.lease_ttl_s = lease_ttl_s

    def boundary(self, name: str) -> None:
        self._passed += self._place in name
        with self._trace.open("a", encoding="utf-8") as trace:
            trace.write(f"{name}\n")
        if self._passed == self._at and self._place in name:
            self._harm()

    @asynccontextmanager
    async def around_call(self, call: Call) -> AsyncIterator[None]:
        """Wrap calls, for `Engine(around_call=...)`."""
        called = f"{call.purpose} of {call.operation_id}"
        self.boundary(f"before the {called}")
        yield
        self.boundary(f"after the {called}")

    def around_store(self, store: Any) -> Any:
        """Return the store with a boundary before and after each durable write except lease renewals."""
        return _Fragile(store, _WRITES, self.boundary)

    def around_checkpointer(self, saver: Any) -> Any:
        """Do the same for a LangGraph checkpointer: return a subclass of its class, with boundaries in its two writing
        methods.
        """
        for name in _CHECKPOINT_WRITES:
            setattr(saver, name, _between(getattr(saver, name), f"checkpoint {name}", self.boundary))
        return saver


class _Fragile:
    def __init__(self, inner: Any, writes: frozenset[str], boundary: Callable[[str], None]) -> None:
        self._inner = inner
        self._writes = writes
        self._boundary = boundary

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._inner, name)
        return _between(member, f"journal {name}", self._boundary) if name in self._writes else member


def _between(write: Callable[..., Any], name: str, boundary: Callable[[str], None]) -> Callable[..., Any]:
    async def written(*arguments: Any, **options: Any) -> Any:
        boundary(f"before {name}")
        answer = await write(*arguments, **options)
        boundary(f"after {name}")
        return answer

    return written
