"""One machine: the least makespan of tasks that it does one at a time, if all may be interrupted.

(Jackson's preemptive schedule: Carlier, "The one-machine sequencing problem", EJOR 1982.)
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from math import inf


def interrupted(tasks: Iterable[tuple[int, int, int]]) -> int:
    """Return the least makespan of (head, duration, tail), all in one unit of time: the longest tail goes first."""
    coming = sorted(tasks, reverse=True)
    waiting: list[tuple[int, int]] = []
    now = latest = 0
    while coming or waiting:
        if not waiting:
            now = max(now, coming[-1][0])
        while coming and coming[-1][0] <= now:
            _head, duration, tail = coming.pop()
            heappush(waiting, (-tail, duration))
        tail, left = heappop(waiting)
        worked = int(min(left, (coming[-1][0] if coming else inf) - now))
        now += worked
        if worked < left:
            heappush(waiting, (tail, left - worked))
        else:
            latest = max(latest, now - tail)
    return latest
