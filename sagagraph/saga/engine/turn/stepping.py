"""Stepping: a coroutine is run where it is, as far as it goes without waiting; only what waits needs a task."""

from __future__ import annotations

import asyncio
import types
from asyncio import CancelledError
from collections.abc import Coroutine, Generator
from contextvars import Context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Stepped(Generic[T]):
    """A coroutine that runs in `context`, or in the running one. What it does before it waits must not ask in which task it runs,
    unless the one that steps also runs the rest.
    """

    __slots__ = ("_context", "_coroutine", "_failure", "_waits_for", "result")

    def __init__(self, coroutine: Coroutine[Any, None, T], context: Context | None = None) -> None:
        self._coroutine = coroutine
        self._context = context
        self._waits_for: Any = None
        self._failure: BaseException | None = None
        self.result: T

    def step(self) -> bool:
        """Run until it waits. Returns whether it has ended with a `result`; what it raises, `rest` raises."""
        try:
            send = self._coroutine.send
            self._waits_for = send(None) if self._context is None else self._context.run(send, None)
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


@types.coroutine
def run_in(context: Context, coroutine: Coroutine[Any, None, T]) -> Generator[Any, None, T]:
    """Run a coroutine in the running task, but in `context`."""
    thrown: BaseException | None = None
    while True:
        try:
            waits_for = context.run(coroutine.send, None) if thrown is None else context.run(coroutine.throw, thrown)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # as the coroutine's
        thrown = None
        try:
            yield waits_for
        except BaseException as exc:  # noqa: BLE001 - thrown in, to be handled inside
            thrown = exc


class StoppedBy:
    """Context in which the running task does something that is stopped, without an error, once `over` is done."""

    __slots__ = ("_asked_before", "_is_stopped", "_over", "_task")

    def __init__(self, over: asyncio.Future[Any]) -> None:
        self._over = over
        self._task: asyncio.Task[Any] | None = None
        self._asked_before = 0
        self._is_stopped = False

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        self._asked_before = self._task.cancelling() if self._task is not None else 0
        self._over.add_done_callback(self._stop)

    def _stop(self, _over: asyncio.Future[Any]) -> None:
        if self._task is not None:
            self._is_stopped = True
            self._task.cancel()

    def __exit__(self, kind: type[BaseException] | None, _exc: BaseException | None, _trace: object) -> bool:
        task, self._task = self._task, None
        self._over.remove_done_callback(self._stop)
        if not self._is_stopped or task is None:
            return False
        return task.uncancel() <= self._asked_before and kind is CancelledError
