"""Waiting until a saga has reached some state: each waiter is asked only about what has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from sagagraph.saga.core.state import Saga

IsReached = Callable[[Saga], bool]


def anything(_saga: Saga) -> bool:
    return True


class Waiters:
    """Waiters: each waits for one operation, or, with `None`, for anything."""

    def __init__(self) -> None:
        self._waiting: dict[str | None, list[tuple[IsReached, asyncio.Future[Saga]]]] = {}

    async def wait(self, is_reached: IsReached, operation: str | None) -> Saga:
        """Return the first state shown, from now on, for which `is_reached` holds."""
        reached: asyncio.Future[Saga] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(operation, []).append((is_reached, reached))
        return await reached

    def add(self, is_reached: IsReached, reached: asyncio.Future[Saga] | None, operation: str | None, saga: Saga) -> None:
        """Set `reached` to the first state for which `is_reached` holds: `saga`, or one that is shown later."""
        if reached is None or reached.done():  # the waiter was cancelled
            return
        if is_reached(saga):
            reached.set_result(saga)
        else:
            self._waiting.setdefault(operation, []).append((is_reached, reached))

    def show(self, saga: Saga, changed: Iterable[str]) -> None:
        """Show a state; `changed` are the operations in which it differs from the last one."""
        for name in (None, *changed):
            if name in self._waiting:
                self._show(saga, name)

    def show_all(self, saga: Saga) -> None:
        for name in list(self._waiting):
            self._show(saga, name)

    def _show(self, saga: Saga, name: str | None) -> None:
        left = []
        for is_reached, reached in self._waiting.pop(name):
            if reached.done():  # the waiter was cancelled
                continue
            if is_reached(saga):
                reached.set_result(saga)
            else:
                left.append((is_reached, reached))
        if left:
            self._waiting[name] = left

    def fail(self, saga: Saga, exc: Exception) -> None:
        """Raise `exc` for everybody whose state has not been reached: nothing will change any more."""
        self.show_all(saga)
        for waiters in self._waiting.values():
            for _is_reached, reached in waiters:
                if not reached.done():
                    reached.set_exception(exc)
        self._waiting.clear()
