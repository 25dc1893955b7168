"""Schedules close to one that was promised: nothing begins before it was promised, and tasks that are late go ahead of others.

A sequence of all tasks, in which each comes after its job's previous one, is a schedule: in that order each begins as soon as it
may.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from random import Random
from typing import TYPE_CHECKING, Final

from sagagraph.domains.job_shop.dispatching import dispatched

if TYPE_CHECKING:
    from sagagraph.domains.job_shop.workload import Starts, Workload
    from sagagraph.planning.budget import Budget

    Weight = Callable[[Starts], int]

_FURTHEST: Final = 3
"""Past so many tasks of its machine a late one may go ahead at once."""


def kept(workload: Workload, promised: Starts, known: Starts, weight: Weight, latest: int, budget: Budget) -> Starts:
    """Never heavier than `known`, and never later than `latest`."""
    redone = dispatched(workload, promised)
    candidates = (known, redone, _timed(workload, promised, _sequence(workload, redone)))
    best = min((each for each in candidates if workload.ends(each) <= latest), key=weight)
    least, random = weight(best), Random(budget.seed)  # noqa: S311 - no secret: the same schedule for the same seed
    sequence = _sequence(workload, best)
    is_better = True
    while is_better and budget.left:
        is_better = False
        moves = list(_moves(workload, promised, sequence, best))
        random.shuffle(moves)
        for late, other in moves:
            if not budget.left:
                break
            tried = _ahead(workload, sequence, late, other)
            starts = _timed(workload, promised, tried)
            if workload.ends(starts) <= latest and weight(starts) < least:
                best, least, sequence, is_better = starts, weight(starts), tried, True
                break
    return best


def _sequence(workload: Workload, starts: Starts) -> list[int]:
    tasks = workload.tasks
    return sorted(range(len(tasks)), key=lambda n: (starts[n], starts[n] + tasks[n].duration, tasks[n].step, n))


def _timed(workload: Workload, promised: Starts, sequence: list[int]) -> Starts:
    tasks, follows = workload.tasks, workload.follows
    starts = [0] * len(tasks)
    machine_free: dict[int, int] = defaultdict(int)
    for n in sequence:
        task = tasks[n]
        start = max(promised[n], task.release, machine_free[task.machine])
        if follows[n]:
            start = max(start, starts[n - 1] + tasks[n - 1].duration)
        starts[n] = start
        machine_free[task.machine] = start + task.duration
    return starts


def _moves(workload: Workload, promised: Starts, sequence: list[int], starts: Starts) -> Iterator[tuple[int, int]]:
    """A late task that only waits for its machine, and one that has the machine before it."""
    tasks, follows = workload.tasks, workload.follows
    on_machine: dict[int, list[int]] = defaultdict(list)
    for n in sequence:
        ready = max(tasks[n].release, starts[n - 1] + tasks[n - 1].duration if follows[n] else 0)
        before = on_machine[tasks[n].machine]
        if starts[n] > max(promised[n], ready):
            yield from ((n, other) for other in before[-_FURTHEST:] if tasks[other].job != tasks[n].job)
        before.append(n)


def _ahead(workload: Workload, sequence: list[int], late: int, other: int) -> list[int]:
    """`late` right before `other`, with those of its job that must come before it."""
    here, there = sequence.index(other), sequence.index(late)
    job = workload.tasks[late].job
    moved = [n for n in sequence[here : there + 1] if workload.tasks[n].job == job]
    stays = [n for n in sequence[here : there + 1] if workload.tasks[n].job != job]
    return sequence[:here] + moved + stays + sequence[there + 1 :]
