"""Where planners think: in threads of their own, after everything that answers people.

A solver takes what cores it can get. In an event loop's process its threads would crowd out the loop, the store and whatever
else is served from there; where the system lets a single thread stand back (Linux), these do, and so do those that they start.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_THREADS: Final = 64
"""So many planners at once; nobody waits in line for another's before that."""
_STANDS_BACK: Final = 10
"""Niceness, beside that of the process."""


async def in_background(think: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `think` returns, or raises. A caller who gives up leaves it behind: nothing interrupts a thread."""
    return await asyncio.get_running_loop().run_in_executor(_threads(), partial(think, *args, **kwargs))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="sagagraph-planner", initializer=_stand_back)


def _stand_back() -> None:
    if hasattr(os, "setpriority") and hasattr(threading, "get_native_id"):
        with suppress(OSError):
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + _STANDS_BACK)
