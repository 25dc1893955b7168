"""Stability: schedules close to one that was promised. Late tasks overtake others, and nothing is moved earlier without need.

A sequence of all tasks, in which each comes after its job's previous one, stands for a schedule: the one in that order that is no
later than necessary, and otherwise as promised.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Final

from sagagraph.domains.job_shop.planning.workload import Starts, Workload, makespan_bound
from sagagraph.domains.job_shop.request import Schedule
from sagagraph.planning.budget import Budget

_FURTHEST: Final = 3
"""How many tasks of its machine a late one may overtake at once."""


@dataclass(frozen=True)
class Standing:
    """State of things at the latest event."""

    workload: Workload
    """Everything that has not begun."""
    promised: Starts
    """When its tasks were to begin."""
    promised_end: int
    begun: Schedule
    waiting: Schedule

    @cached_property
    def waited(self) -> Starts:
        """Return when the tasks of the workload begin if everything simply waits."""
        return tuple(self.waiting[task.job, task.step].start for task in self.workload.tasks)

    @cached_property
    def latest(self) -> int:
        """Return when the last step ends if everything waits: no repair ends later."""
        return self.workload.ends(self.waited)

    def weight(self, starts: Starts) -> int:
        moved = sum(abs(start - was) for start, was in zip(starts, self.promised, strict=True))
        return moved + len(starts) * max(0, self.workload.ends(starts) - self.promised_end)

    @cached_property
    def least_weight(self) -> int:
        """Return a lower bound of every repair's weight."""
        moved = sum(max(0, head - was) for head, was in zip(self.workload.heads, self.promised, strict=True))
        return moved + len(self.promised) * max(0, makespan_bound(self.workload) - self.promised_end)


def kept(stands: Standing, known: Iterable[Starts], budget: Budget) -> Starts:
    """Return a schedule with no greater weight than any known one that ends in time."""
    workload, weight = stands.workload, stands.weight
    candidates = [each for starts in known for each in (starts, _timed(stands, workload.sequence(starts)))]
    best = min((each for each in candidates if workload.ends(each) <= stands.latest), key=weight)
    least, random = weight(best), Random(budget.seed)  # noqa: S311 - not a secret: the same schedule for the same seed
    sequence = workload.sequence(best)
    is_better = True
    while is_better and budget.left:
        is_better = False
        moves = list(_moves(stands, sequence, best))
        random.shuffle(moves)
        for late, other in moves:
            if not budget.left:
                break
            # `late` goes right before `other`, with the tasks of its job that must precede it.
            here, there, job = sequence.index(other), sequence.index(late), workload.tasks[late].job
            moved = sorted(sequence[here : there + 1], key=lambda n: workload.tasks[n].job != job)
            tried = sequence[:here] + moved + sequence[there + 1 :]
            starts = _timed(stands, tried)
            if workload.ends(starts) <= stands.latest and weight(starts) < least:
                best, least, sequence, is_better = starts, weight(starts), tried, True
                break
    return best


def _timed(stands: Standing, sequence: list[int]) -> Starts:
    workload = stands.workload
    earliest = _forwards(workload, [0] * len(sequence), sequence)
    last = _backwards(workload, max(stands.promised_end, workload.ends(earliest)), sequence)
    return _forwards(workload, list(map(min, stands.promised, last)), sequence)


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


def _moves(stands: Standing, sequence: list[int], starts: Starts) -> Iterator[tuple[int, int]]:
    """Yield each late task that waits only for its machine, with a task that has the machine before it."""
    tasks, follows, promised = stands.workload.tasks, stands.workload.follows, stands.promised
    on_machine: dict[int, list[int]] = defaultdict(list)
    for n in sequence:
        ready = max(tasks[n].release, starts[n - 1] + tasks[n - 1].duration if follows[n] else 0)
        before = on_machine[tasks[n].machine]
        if starts[n] > max(promised[n], ready):
            yield from ((n, other) for other in before[-_FURTHEST:] if tasks[other].job != tasks[n].job)
        before.append(n)
