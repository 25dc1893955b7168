"""Threads: each call of a function that is no coroutine runs in one of its own.

So no call waits for another to end while its own time runs, however many are under way, and none keeps the process from ending:
the threads are daemons, and what they still do then is in doubt, as after a crash.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from contextvars import copy_context
from typing import TypeVar

from sagagraph.errors import Refused
from sagagraph.saga.engine.call import call_or_none
from sagagraph.saga.engine.calling.under_way import UnderWay

T = TypeVar("T")
_Outcome = tuple[T | None, BaseException | None]


async def in_thread(function: Callable[..., T], *arguments: object) -> T:
    """Call `function` at once, in the context of the caller, and return what it returns or raise what it raises.

    Cancelling this leaves the thread running. Raises a transient `Refused` if the system has no thread to give: nothing happened.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[_Outcome[T]] = loop.create_future()
    context = copy_context()

    def settle(outcome: _Outcome[T]) -> None:
        if not ended.done():
            ended.set_result(outcome)

    def run() -> None:
        try:
            outcome: _Outcome[T] = (context.run(function, *arguments), None)
        except BaseException as exc:  # noqa: BLE001 - raised again where it is awaited
            outcome = (None, exc)
        running.close()
        with suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(settle, outcome)

    running = ExitStack()
    running.enter_context(UnderWay(call_or_none()))
    try:
        threading.Thread(target=run, name="sagagraph-call", daemon=True).start()
    except RuntimeError as exc:
        running.close()
        raise Refused(f"no thread could be started: {exc}", code="no_thread", transient=True) from exc
    value, failure = await ended
    if failure is not None:  # not set on the future: a future cannot raise a StopIteration
        raise failure
    return value  # type: ignore[return-value]  # the function's own
