"""Where planners think: in threads of this process, or, in a server, in processes of their own (`planning/processes.py`).

A solver takes what cores it can get. In an event loop's process its threads would crowd out the loop, the store and whatever
else is served from there; where the system lets a single thread stand back (Linux), these do, and so do those that they start.
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
"""So many planners at once; nobody waits in line for another's before that."""
_STANDS_BACK: Final = 10
"""Niceness, beside that of the process."""


class Place(Protocol):
    async def think(self, think: Callable[[], T]) -> T: ...

    async def plan(self, plan: Callable[[], Coroutine[Any, Any, T]]) -> T: ...


async def in_background(think: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `think` returns, or raises. A caller who gives up ends a process, and leaves a thread behind.

    Raises `PlannerError` where a process came to its end without an answer.
    """
    return await PLACE.get().think(partial(think, *args, **kwargs))


async def apart(plan: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for planning that also asks others: on this event loop, or on one of its own in a process."""
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
    """`by`: niceness more than now. `thread`: its native id; this one by default."""
    if hasattr(os, "setpriority") and hasattr(threading, "get_native_id"):
        whose = thread or threading.get_native_id()
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, whose, os.getpriority(os.PRIO_PROCESS, whose) + by)


PLACE: ContextVar[Place] = ContextVar("PLACE", default=Threads())  # noqa: B039 - it holds nothing that could change
