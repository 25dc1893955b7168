"""What planners in processes are made to think: it has to be found by name there."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from sagagraph.errors import InvalidInputError
from sagagraph.planning.background import apart, in_background, in_processes


def own_pid() -> int:
    return os.getpid()


def pid_and_end(seconds: float) -> tuple[int, float, float]:
    """And from when to when it thought."""
    began = time.monotonic()
    time.sleep(seconds)
    return os.getpid(), began, time.monotonic()


def for_ever(told: Path) -> None:
    """Without ever letting go of the interpreter's lock for long; `told` gets the number of its process."""
    told.with_suffix(".new").write_text(str(os.getpid()))
    told.with_suffix(".new").rename(told)
    while True:
        pass


def counting(tell: Callable[[int], None]) -> int:
    tell(1)
    tell(2)
    return 3


def first_of_many(told: Path, tell: Callable[[str], None]) -> str:
    tell("the first")
    for_ever(told)
    return "the last"


def end_itself(by: signal.Signals) -> None:
    os.kill(os.getpid(), by)
    time.sleep(60)


def refuse() -> None:
    raise InvalidInputError("not that", field="people")


def unpicklable() -> Callable[[], int]:
    return lambda: 1


def niceness_from_first_to_last() -> tuple[int, int]:
    """Until it is made to stand back."""
    thread = threading.get_native_id()
    first = os.getpriority(os.PRIO_PROCESS, thread)
    while (last := os.getpriority(os.PRIO_PROCESS, thread)) == first:
        time.sleep(0.01)
    return first, last


def is_in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


async def asking(number: int) -> tuple[int, int, bool]:
    """As planning that asks others does: on an event loop, and with something to think about in between."""
    await asyncio.sleep(0)
    return number, os.getpid(), await in_background(is_in_main_thread)


async def _main(told: Path) -> None:
    with in_processes():
        await asyncio.gather(apart(asking, 1), in_background(for_ever, told))


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1])))
