"""Background planning: in threads of this process or, in a server, in separate processes (`planning/processes.py`).

A solver takes every core it can get. In an event loop's process its threads would crowd out the loop, the store and whatever
else is served from there; where the system can lower the priority of a single thread (Linux), these and those that they start
run at a lower one.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, Final, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_THREADS: Final = 64
"""How many planners may run at once before others queue."""
_STANDS_BACK: Final = 10
"""Niceness, on top of that of the process."""


class Place(Protocol):
    async def think(self, think: Callable[[], T]) -> T: ...

    async def plan(self, plan: Callable[[], Coroutine[Any, Any, T]]) -> T: ...


async def in_background(think: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Returns what `think` returns, or raises what it raises. If the caller gives up, a process is ended, but a thread runs on.

    Raises `PlannerError` where a process ended without an answer.
    """
    return await PLACE.get().think(partial(think, *args, **kwargs))


async def apart(plan: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Does the same for planning that also calls others: on this event loop, or on a process's own."""
    return await PLACE.get().plan(partial(plan, *args, **kwargs))


class Threads:
    async def think(self, think: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(_threads(), think)

    async def plan(self, plan: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return await plan()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="sagagraph-planner", initializer=partial(stand_back, _STANDS_BACK))


def stand_back(by: int, thread: int | None = None) -> None:
    """Lowers the priority. `by`: niceness added to the current one. `thread`: its native id; this one by default."""
    if hasattr(os, "setpriority") and hasattr(threading, "get_native_id"):
        whose = thread or threading.get_native_id()
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, whose, os.getpriority(os.PRIO_PROCESS, whose) + by)


PLACE: ContextVar[Place] = ContextVar("PLACE", default=Threads())  # noqa: B039 - it holds nothing that could change
