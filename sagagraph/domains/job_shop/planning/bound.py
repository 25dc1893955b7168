"""Lower bound of every schedule: the longest job, and each machine's total if its tasks could be interrupted.

(Jackson's preemptive schedule: Carlier, "The one-machine sequencing problem", EJOR 1982.)
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sagagraph.domains.job_shop.planning.workload import Workload


def makespan_bound(workload: Workload) -> int:
    heads, tails = workload.heads, workload.tails
    all_tasks = [(heads[n], task.duration, tails[n]) for n, task in enumerate(workload.tasks)]
    longest_job = max((sum(each) for each in all_tasks), default=0)
    machines = (interrupted(all_tasks[n] for n in places) for places in workload.on_machine.values())
    return max(workload.begun_until, longest_job, max(machines, default=0))


def interrupted(tasks: Iterable[tuple[int, int, int]]) -> int:
    """Return the least makespan of (head, duration, tail) on one machine with interruptible tasks: the longest tail goes
    first.
    """
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
