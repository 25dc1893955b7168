"""Stability: schedules close to one that was promised. Tasks keep their places on their machines unless that costs more than
moving them, and nothing begins earlier than promised without need.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from sagagraph.domains.job_shop.planning.path_relinking import carried_out
from sagagraph.domains.job_shop.planning.tabu_search import improved, restored
from sagagraph.domains.job_shop.planning.workload import Starts, Workload, makespan_bound
from sagagraph.domains.job_shop.request import Schedule
from sagagraph.planning.budget import Budget

UNIT: Final = 100
"""Weight of one unit of delay of the last step."""
_PLACES: Final = 200
"""Steps that change their places weigh as much as a delay by a mean step."""
_PARTS: Final = tuple(part / 10 for part in range(1, 10))
"""Parts of the time until the end, after which a repair may go on in the promised order."""
_PATIENCE: Final = 2_000
"""Moves without a better schedule after which such a repair is given up."""
_LEVELS: Final = 8
"""Makespans, from the shortest to waiting's, for which places are restored."""


@dataclass(frozen=True)
class Standing:
    """State of things at the latest event."""

    workload: Workload
    """Everything that has not begun."""
    promised: Starts
    """When its tasks were to begin."""
    promised_order: Sequence[int]
    """The tasks in the order in which they were to begin."""
    promised_end: int
    begun: Schedule
    waiting: Schedule
    added: frozenset[int] = frozenset()
    """Tasks that were never promised: they have no place to keep, and take none from others."""

    @cached_property
    def waited(self) -> Starts:
        """Return when the tasks of the workload begin if everything simply waits."""
        return tuple(self.waiting[task.key].start for task in self.workload.tasks)

    @cached_property
    def latest(self) -> int:
        """Return when the last step ends if everything waits: no repair ends later."""
        return self.workload.ends(self.waited)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Return the place of each task on its machine, as promised."""
        return self.workload.places(self.promised_order, self.added)

    @cached_property
    def place_weight(self) -> int:
        """Return the weight of a changed place: the penalty for moved work (ALAS, `t_WIP`), in the unit of weights."""
        tasks = self.workload.tasks
        return max(1, UNIT * sum(task.duration for task in tasks) // (_PLACES * max(1, len(tasks))))

    def changed(self, starts: Starts) -> int:
        """Return how many tasks have another place on their machine than promised."""
        places = self.workload.places(self.workload.sequence(starts), self.added)
        return sum(place != was for place, was in zip(places, self.places, strict=True))

    def late(self, starts: Starts) -> int:
        return max(0, self.workload.ends(starts) - self.promised_end)

    def weight(self, starts: Starts) -> int:
        return UNIT * self.late(starts) + self.place_weight * self.changed(starts)

    @cached_property
    def least_weight(self) -> int:
        """Return a lower bound of every repair's weight."""
        return UNIT * max(0, makespan_bound(self.workload) - self.promised_end)


def lightest(stands: Standing, shortest: Starts, budget: Budget) -> Starts:
    """Return a schedule of little weight that is made of a short one: as many tasks as possible return to their places."""
    workload, best = stands.workload, as_promised(stands, shortest)
    least = max(workload.ends(shortest), stands.promised_end)
    for level in range(_LEVELS):
        latest = least + (stands.latest - least) * level // _LEVELS
        if not budget.left or UNIT * max(0, latest - stands.promised_end) >= stands.weight(best):
            break
        found = restored(workload, shortest, stands.promised, budget, latest)
        best = min(best, as_promised(stands, found), key=stands.weight)
    return best


def joined(stands: Standing, shortest: Starts, budget: Budget) -> Starts:
    """Return the lightest of schedules that are as a short one until a moment, and from then on in the promised order."""
    workload, best = stands.workload, as_promised(stands, shortest)
    now, ends = min(shortest), workload.ends(shortest)
    least = max(ends, stands.promised_end)
    for part in _PARTS:
        if not budget.left:
            break
        until = now + (ends - now) * part
        moments = [start if start < until else ends + later for start, later in zip(shortest, stands.promised, strict=True)]
        found = improved(workload, carried_out(workload, moments), budget, least, patience=_PATIENCE)
        found = restored(workload, found, stands.promised, budget, max(least, workload.ends(found)))
        best = min(best, as_promised(stands, found), key=stands.weight)
    return best


def as_promised(stands: Standing, starts: Starts) -> Starts:
    """Return the schedule in this order that is no later than necessary, and otherwise as promised."""
    return _timed(stands, stands.workload.sequence(starts))


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
