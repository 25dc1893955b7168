"""Workload: the tasks left to schedule, and how early each may begin. What has begun is not part of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sagagraph.domains.job_shop.request import JobShop, Key, Schedule, Slot
from sagagraph.planning.cp_sat import interrupted


@dataclass(frozen=True, slots=True)
class Task:
    job: int
    step: int
    machine: int
    duration: int
    release: int = 0
    """It begins no earlier: until then its machine is down or taken, or its job is on another machine."""
    attempt: int = 1

    @property
    def key(self) -> Key:
        return self.job, self.step, self.attempt


Starts = Sequence[int]
"""One for each task, in their order."""


@dataclass(frozen=True)
class Workload:
    """Tasks in the order of jobs and steps."""

    tasks: tuple[Task, ...]
    begun_until: int = 0
    """When the last step that has begun ends."""

    @cached_property
    def follows(self) -> tuple[bool, ...]:
        """Tell whether the previous task, in the order of tasks, belongs to the same job."""
        pairs = zip(self.tasks, self.tasks[1:], strict=False)
        return (False, *(before.job == task.job for before, task in pairs))[: len(self.tasks)]

    @cached_property
    def on_machine(self) -> Mapping[int, tuple[int, ...]]:
        """Return the tasks of each machine, by index."""
        found: dict[int, list[int]] = defaultdict(list)
        for place, task in enumerate(self.tasks):
            found[task.machine].append(place)
        return {machine: tuple(places) for machine, places in found.items()}

    @cached_property
    def heads(self) -> tuple[int, ...]:
        """Return when each task could begin if no machine were ever taken."""
        heads: list[int] = []
        for place, task in enumerate(self.tasks):
            after = heads[-1] + self.tasks[place - 1].duration if self.follows[place] else 0
            heads.append(max(task.release, after))
        return tuple(heads)

    @cached_property
    def tails(self) -> tuple[int, ...]:
        """Return how long each task's job continues after it, at least."""
        tails = [0] * len(self.tasks)
        for place in range(len(self.tasks) - 1, 0, -1):
            if self.follows[place]:
                tails[place - 1] = tails[place] + self.tasks[place].duration
        return tuple(tails)

    def sequence(self, starts: Starts) -> list[int]:
        """Return the tasks so that each comes after the ones that it waits for."""
        return sorted(range(len(starts)), key=lambda n: (starts[n], starts[n] + self.tasks[n].duration, self.tasks[n].step, n))

    def places(self, sequence: Sequence[int], uncounted: Collection[int] = ()) -> tuple[int, ...]:
        """Return the place of each task in the order of its machine, from 0; 0 for those that are not counted."""
        places, taken = [0] * len(sequence), dict.fromkeys(self.on_machine, 0)
        for n in (n for n in sequence if n not in uncounted):
            places[n] = taken[self.tasks[n].machine]
            taken[self.tasks[n].machine] += 1
        return tuple(places)

    def ends(self, starts: Starts) -> int:
        """Return the makespan of these tasks and of what has begun."""
        ends = (start + task.duration for start, task in zip(starts, self.tasks, strict=True))
        return max(self.begun_until, max(ends, default=0))


def workload_of(problem: JobShop) -> Workload:
    """Return the workload before anything has begun."""
    return Workload(tuple(Task(job, number, step.machine, step.duration) for job, number, step in problem.numbered()))


def schedule_of(workload: Workload, starts: Starts) -> Schedule:
    made: dict[Key, Slot] = {}
    for each, start in zip(workload.tasks, starts, strict=True):
        end = start + each.duration
        made[each.key] = Slot.model_construct(job=each.job, step=each.step, machine=each.machine, start=start, end=end)
    return made


def makespan_bound(workload: Workload) -> int:
    heads, tails = workload.heads, workload.tails
    all_tasks = [(heads[n], task.duration, tails[n]) for n, task in enumerate(workload.tasks)]
    longest_job = max((sum(each) for each in all_tasks), default=0)
    machines = (interrupted(all_tasks[n] for n in places) for places in workload.on_machine.values())
    return max(workload.begun_until, longest_job, max(machines, default=0))
