"""Waiting: synchronous calls of a graph whose event loop runs in another thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from queue import SimpleQueue
from typing import Any, TypeVar

from sagagraph.errors import InvalidInputError
from sagagraph.saga.engine.engine import Engine, SyncEngine

T = TypeVar("T")


class Waiting:
    """Waiting for calls. `loop` None: the engine's loop is unknown."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._loop = loop

    @classmethod
    def on(cls, engine: Engine | SyncEngine | str) -> Waiting:
        if isinstance(engine, SyncEngine):
            return cls(engine.thread.without_await(_loop_here)())
        return cls(None if isinstance(engine, str) else running_loop())

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            loop = self._checked()
        except InvalidInputError:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    def iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        """Iterate; stopping the iteration stops the work."""
        loop = self._checked()
        arrived: SimpleQueue[tuple[T, None] | tuple[None, BaseException | None]] = SimpleQueue()

        async def produce() -> None:
            ended: BaseException | None = None
            try:
                async for item in items:
                    arrived.put((item, None))
            except BaseException as exc:  # noqa: BLE001 - raised where it is waited for
                ended = exc
            arrived.put((None, ended or StopAsyncIteration()))

        work = asyncio.run_coroutine_threadsafe(produce(), loop)
        try:
            while True:
                item, ended = arrived.get()
                if isinstance(ended, StopAsyncIteration):
                    return
                if ended is not None:
                    raise ended
                yield item  # type: ignore[misc]
        finally:
            if not work.done():
                work.cancel()

    def _checked(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise InvalidInputError("open the engine with `with Engine.open(...)`, or use ainvoke and astream", field="engine")
        if running_loop() is self._loop:
            raise InvalidInputError("this would wait for its own event loop: use ainvoke, astream, aupdate_state", field="invoke")
        return self._loop


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of this thread, if one is running."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _loop_here() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()
