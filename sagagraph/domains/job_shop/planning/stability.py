"""Stability: schedules close to one that was promised. Late tasks go ahead of others, and nothing is early without need.

A sequence of all tasks, in which each comes after its job's previous one, stands for a schedule: the one in that order that is no
later than necessary, and otherwise as was promised.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from sagagraph.domains.job_shop.planning.workload import Starts, Workload
from sagagraph.planning.budget import Budget

_FURTHEST: Final = 3
"""Past so many tasks of its machine a late one may go ahead at once."""


@dataclass(frozen=True, slots=True)
class Promise:
    workload: Workload
    starts: Starts
    end: int
    weight: Callable[[Starts], int]
    latest: int
    """Nothing ends later than this."""


def kept(promise: Promise, known: Iterable[Starts], budget: Budget) -> Starts:
    """Return a schedule no heavier than any known one that ends in time."""
    workload, weight = promise.workload, promise.weight
    candidates = [each for starts in known for each in (starts, _timed(promise, _sequence(workload, starts)))]
    best = min((each for each in candidates if workload.ends(each) <= promise.latest), key=weight)
    least, random = weight(best), Random(budget.seed)  # noqa: S311 - not a secret: the same schedule for the same seed
    sequence = _sequence(workload, best)
    is_better = True
    while is_better and budget.left:
        is_better = False
        moves = list(_moves(promise, sequence, best))
        random.shuffle(moves)
        for late, other in moves:
            if not budget.left:
                break
            tried = _ahead(workload, sequence, late, other)
            starts = _timed(promise, tried)
            if workload.ends(starts) <= promise.latest and weight(starts) < least:
                best, least, sequence, is_better = starts, weight(starts), tried, True
                break
    return best


def _sequence(workload: Workload, starts: Starts) -> list[int]:
    tasks = workload.tasks
    return sorted(range(len(tasks)), key=lambda n: (starts[n], starts[n] + tasks[n].duration, tasks[n].step, n))


def _timed(promise: Promise, sequence: list[int]) -> Starts:
    workload = promise.workload
    earliest = _forwards(workload, [0] * len(sequence), sequence)
    last = _backwards(workload, max(promise.end, workload.ends(earliest)), sequence)
    return _forwards(workload, list(map(min, promise.starts, last)), sequence)


def _forwards(workload: Workload, not_before: Starts, sequence: list[int]) -> Starts:
    tasks, follows = workload.tasks, workload.follows
    starts = [0] * len(tasks)
    machine_free: dict[int, int] = defaultdict(int)
    for n in sequence:
        task = tasks[n]
        start = max(not_before[n], task.release, machine_free[task.machine])
        if follows[n]:
            start = max(start, starts[n - 1] + tasks[n - 1].duration)
        starts[n] = start
        machine_free[task.machine] = start + task.duration
    return starts


def _backwards(workload: Workload, end: int, sequence: list[int]) -> Starts:
    """Return how late each task may begin if everything must end by `end`."""
    tasks, follows = workload.tasks, workload.follows
    last = [end - task.duration for task in tasks]
    machine_needed: dict[int, int] = {}
    for n in reversed(sequence):
        task = tasks[n]
        last[n] = min(last[n], machine_needed.get(task.machine, end) - task.duration)
        machine_needed[task.machine] = last[n]
        if follows[n]:
            last[n - 1] = min(last[n - 1], last[n] - tasks[n - 1].duration)
    return last


def _moves(promise: Promise, sequence: list[int], starts: Starts) -> Iterator[tuple[int, int]]:
    """Yield each late task that waits only for its machine, with a task that has the machine before it."""
    tasks, follows, promised = promise.workload.tasks, promise.workload.follows, promise.starts
    on_machine: dict[int, list[int]] = defaultdict(list)
    for n in sequence:
        ready = max(tasks[n].release, starts[n - 1] + tasks[n - 1].duration if follows[n] else 0)
        before = on_machine[tasks[n].machine]
        if starts[n] > max(promised[n], ready):
            yield from ((n, other) for other in before[-_FURTHEST:] if tasks[other].job != tasks[n].job)
        before.append(n)


def _ahead(workload: Workload, sequence: list[int], late: int, other: int) -> list[int]:
    """Put `late` right before `other`, with those tasks of its job that must precede it."""
    here, there = sequence.index(other), sequence.index(late)
    job = workload.tasks[late].job
    moved = [n for n in sequence[here : there + 1] if workload.tasks[n].job == job]
    stays = [n for n in sequence[here : there + 1] if workload.tasks[n].job != job]
    return sequence[:here] + moved + stays + sequence[there + 1 :]
