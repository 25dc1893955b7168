"""Dispatching: first schedules by rules, in no time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from sagagraph.domains.job_shop.planning.workload import Starts, Workload
from sagagraph.planning.budget import Budget


def rules(workload: Workload) -> tuple[Sequence[int], ...]:
    """Return rules: a number for each task, the least of which goes first. Most work left, longest rest, in order, shortest."""
    most_work_left = [-(tail + task.duration) for task, tail in zip(workload.tasks, workload.tails, strict=True)]
    longest_rest = [-tail for tail in workload.tails]
    return most_work_left, longest_rest, list(workload.heads), [task.duration for task in workload.tasks]


def first_schedule(workload: Workload, budget: Budget) -> Starts:
    """Return the best schedule of a few rules; there is always one, however little time there is."""
    first, *others = rules(workload)
    best = dispatched(workload, first)
    for rule in others:
        if not budget.left:
            break
        best = min(best, dispatched(workload, rule), key=workload.ends)
    return best


def dispatched(workload: Workload, rule: Sequence[float]) -> Starts:
    """Schedule by `rule`, a number for each task; the least goes first."""
    tasks, follows = workload.tasks, workload.follows
    starts = [0] * len(tasks)
    waiting: dict[int, list[tuple[float, int]]] = defaultdict(list)
    free_from: dict[int, int] = defaultdict(int)
    coming = [(task.release, place) for place, task in enumerate(tasks) if not follows[place]]
    heapify(coming)
    freed: list[tuple[int, int]] = []
    while coming or freed:
        now = min(each[0][0] for each in (coming, freed) if each)
        asked: set[int] = set()
        while coming and coming[0][0] == now:
            place = heappop(coming)[1]
            heappush(waiting[tasks[place].machine], (rule[place], place))
            asked.add(tasks[place].machine)
        while freed and freed[0][0] == now:
            asked.add(heappop(freed)[1])
        for machine in sorted(asked):
            if waiting[machine] and free_from[machine] <= now:
                place = heappop(waiting[machine])[1]
                starts[place], free_from[machine] = now, now + tasks[place].duration
                heappush(freed, (free_from[machine], machine))
                if place + 1 < len(tasks) and follows[place + 1]:
                    heappush(coming, (max(free_from[machine], tasks[place + 1].release), place + 1))
    return starts
