"""Synchronous form: an event loop in a separate thread, and the saga of a body that is not a coroutine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.body import BodySaga

P = ParamSpec("P")
T = TypeVar("T")


class LoopThread:
    """An event loop that runs until `close`."""

    def __init__(self) -> None:
        from anyio.from_thread import start_blocking_portal  # half as much to import as all of the engine

        self._entered = ExitStack()
        self._portal = self._entered.enter_context(start_blocking_portal())

    def enter(self, context: AbstractAsyncContextManager[T]) -> T:
        """Enter it until `close`. If it cannot be entered, the thread ends."""
        try:
            return self._entered.enter_context(self._portal.wrap_async_context_manager(context))
        except BaseException:
            self.close()
            raise

    def wrap(self, context: AbstractAsyncContextManager[T]) -> AbstractContextManager[T]:
        """Wrap `context` for a `with` in another thread."""
        return self._portal.wrap_async_context_manager(context)

    def without_await(self, method: Callable[P, Awaitable[T]]) -> Callable[P, T]:
        """Make `method` callable from other threads: it returns the awaited result."""

        @wraps(method)
        def waited(*arguments: P.args, **options: P.kwargs) -> T:
            return self._portal.call(lambda: method(*arguments, **options))

        return waited

    def close(self) -> None:
        self._entered.close()


class SyncSaga:
    def __init__(self, thread: LoopThread, saga: BodySaga) -> None:
        self._context = thread.wrap(saga)
        self._run = thread.without_await(saga.run)
        self.id = saga.id

    def __enter__(self) -> SyncSaga:
        self._context.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        self._context.__exit__(kind, exc, trace)

    def run(self, action: Action, request: object = None, *, id: str | None = None, after: Iterable[object] | None = None) -> Any:  # noqa: A002 - the contract's name
        """Run an action; see `BodySaga.run`."""
        return self._run(action, request, id=id, after=after)
