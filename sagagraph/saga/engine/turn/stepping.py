"""Stepping: a coroutine is run where it is, as far as it goes without waiting; only what waits needs a task."""

from __future__ import annotations

import types
from asyncio import CancelledError
from collections.abc import Coroutine, Generator
from contextvars import Context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Stepped(Generic[T]):
    """A coroutine that runs in `context`. What it does before it waits must not ask which task it runs in."""

    __slots__ = ("_context", "_coroutine", "_failure", "_waits_for", "result")

    def __init__(self, coroutine: Coroutine[Any, None, T], context: Context) -> None:
        self._coroutine = coroutine
        self._context = context
        self._waits_for: Any = None
        self._failure: BaseException | None = None
        self.result: T

    def step(self) -> bool:
        """Run until it waits. Returns whether it has ended with a `result`; what it raises, `rest` raises."""
        try:
            self._waits_for = self._context.run(self._coroutine.send, None)
        except StopIteration as end:
            self.result = end.value
            return True
        except (Exception, CancelledError) as exc:  # noqa: BLE001 - raised again by whoever awaits it
            self._failure = exc
        return False

    @types.coroutine
    def rest(self) -> Generator[Any, None, T]:
        """Run the rest of it in the running task."""
        if self._failure is not None:
            raise self._failure
        waits_for = self._waits_for
        while True:
            try:
                try:
                    yield waits_for
                except BaseException as exc:  # noqa: BLE001 - thrown in, to be handled inside
                    waits_for = self._coroutine.throw(exc)
                else:
                    waits_for = self._coroutine.send(None)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]  # as the coroutine's
