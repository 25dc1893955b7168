"""Repair of a schedule when something has happened: what has begun is kept, and few of the others change their places.

The weight of a repair is how much later than promised the last step ends and, for each step with another place in the order of
its machine a little (`stability`). A later start that is forced is no edit. Waiting is the answer at once; then tasks around the
disruption may change places, then more and more, and all of them only if the delay is still worth it. (ALAS 3.3, "Localized
Cascading Repair Protocol".)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from sagagraph.domains.job_shop.planning.least_repair import lightest_of_all
from sagagraph.domains.job_shop.planning.news import with_news
from sagagraph.domains.job_shop.planning.path_relinking import searched
from sagagraph.domains.job_shop.planning.progress import Progress, Stuck, carried_on
from sagagraph.domains.job_shop.planning.stability import Standing, joined, lightest
from sagagraph.domains.job_shop.planning.tabu_search import improved
from sagagraph.domains.job_shop.planning.workload import Starts, Task, Workload, makespan_bound, schedule_of
from sagagraph.domains.job_shop.request import Event, JobShop, Key, Schedule, grown, makespan
from sagagraph.planning.budget import Budget

_PROVABLE: Final = 40
"""Tasks: of so few, the repair of the least weight is found and proven."""
_MODELLED: Final = 150
"""Tasks: of so few, a model finds lighter repairs than searches do: fewer places change for the same makespan."""
_SEARCHED_SHARE: Final = 0.5
"""Share of the time for searches, where the rest is for a model."""
_FIRST_NEIGHBOURHOOD: Final = 20
_GROWTH: Final = 3
_BEFORE: Final = 4
"""One in this many tasks of a neighbourhood begins before the first that has to move."""
_SHARE: Final = 0.3
"""Share of the time that is left, for each neighbourhood."""
_SEARCHED: Final = 0.8
"""Share of the time that is left after them for a search among all tasks; the rest is for returning tasks to their places."""
_WORTH_ALL: Final = 0.002
"""Delay, as a part of the time from now to the promised end, beyond which all tasks may move."""


@dataclass(frozen=True, slots=True)
class EditRadius:
    operations: int
    """Steps whose start differs, among those that both schedules have."""
    jobs: int
    """Jobs with such a step."""
    displacement: int
    """The sum by which starts moved."""
    places: int
    """Steps with another place in the order of their machine; steps that merely begin later have the same."""


@dataclass(frozen=True, slots=True)
class Repaired:
    schedule: Schedule
    makespan: int
    lower_bound: int
    """Lower bound of the makespan, with what has begun left unchanged."""
    edit_radius: EditRadius
    stands: Standing
    """The state of things that was repaired."""
    is_least: bool
    """Whether it is proven that no repair has a lower weight."""

    @property
    def waiting(self) -> Schedule:
        """Return the schedule as it would be if everything had simply waited."""
        return self.stands.waiting


def standing(problem: JobShop, schedule: Schedule, events: tuple[Event, ...], known: int = 0) -> Standing | Stuck:
    """Return the state of things. `schedule` is valid for the first `known` of `events`; until the latest, steps waited as
    needed.
    """
    now, stands = events[-1].at, dict(schedule)
    for at, together in groupby(events[known:], key=lambda event: event.at):
        happened = tuple(together)
        until_then = tuple(event for event in events if event.at <= at)
        progress = Progress(grown(problem, until_then), until_then)
        waiting = carried_on(with_news(stands, happened, progress), progress, at)
        if isinstance(waiting, Stuck):
            return waiting
        stands = dict(waiting)
    begun = {key: slot for key, slot in stands.items() if slot.start < now}
    tasks = _tasks_left(stands, Progress(grown(problem, events), events), now)
    workload = Workload(tasks, makespan(begun))
    promised = [schedule.get(task.key, stands[task.key]) for task in tasks]
    order = sorted(range(len(tasks)), key=lambda n: (promised[n].start, promised[n].end, promised[n].step, n))
    added = frozenset(place for place, task in enumerate(tasks) if task.key not in schedule)
    return Standing(workload, tuple(slot.start for slot in promised), order, makespan(schedule), begun, stands, added)


def _tasks_left(stands: Schedule, progress: Progress, now: int) -> tuple[Task, ...]:
    job_free: dict[int, int] = {}
    machine_free: dict[int, int] = {}
    for slot in stands.values():
        if slot.start < now:
            job_free[slot.job] = max(job_free.get(slot.job, 0), slot.end)
            machine_free[slot.machine] = max(machine_free.get(slot.machine, 0), slot.end)
    tasks: list[Task] = []
    for (job, number, attempt), left in sorted(stands.items()):
        if left.start >= now:
            down_until = int(progress.free_from(left.machine))
            release = max(now, down_until, job_free.get(job, 0), machine_free.get(left.machine, 0))
            tasks.append(Task(job, number, left.machine, left.end - left.start, release, attempt))
    return tuple(tasks)


def repair(problem: JobShop, schedule: Schedule, events: tuple[Event, ...], budget: Budget, known: int = 0) -> Repaired | Stuck:
    """Repair a schedule. `events` are in the order of `at`, the latest is now; `schedule` is valid for the first `known`
    of them.
    """
    stands = standing(problem, schedule, events, known)
    if isinstance(stands, Stuck):
        return stands
    best, least = stands.waited, stands.least_weight
    if stands.weight(best) > least and len(best) > _PROVABLE:
        best = _locally(stands, budget if len(best) > _MODELLED else budget.part(budget.left * _SEARCHED_SHARE))
    if stands.weight(best) > least and len(best) <= _MODELLED:
        best, least = lightest_of_all(stands, best, budget)
    return told(stands, schedule, best, is_least=stands.weight(best) == least)


def _locally(stands: Standing, budget: Budget) -> Starts:
    """Let more and more tasks move, until there is no delay, or it is too small for moving all."""
    workload = stands.workload
    shortest = best = stands.waited
    in_time = max(stands.promised_end, makespan_bound(workload))
    for places, part in _neighbourhoods(stands, budget):
        if not part.left or workload.ends(shortest) <= in_time:
            return best
        shortest = improved(workload, shortest, part, in_time, may_move=places)
        best = min(best, lightest(stands, shortest, part), key=stands.weight)
    if budget.left and _is_worth_all(stands, best):
        shortest = searched(workload, shortest, budget.part(budget.left * _SEARCHED), in_time)
        best = min(best, lightest(stands, shortest, budget), joined(stands, shortest, budget), key=stands.weight)
    return best


def _is_worth_all(stands: Standing, best: Starts) -> bool:
    now = min((task.release for task in stands.workload.tasks), default=0)
    return stands.late(best) > _WORTH_ALL * (stands.promised_end - now)


# -- neighbourhoods --------------------------------------------------------------------------------------------------


def _neighbourhoods(stands: Standing, budget: Budget) -> Iterator[tuple[frozenset[int], Budget]]:
    """Yield tasks around the first that has to move, in order of time: more and more of them, and how long to search."""
    waiting = stands.waited
    in_time = sorted(range(len(waiting)), key=lambda n: (waiting[n], n))
    moved = (place for place, n in enumerate(in_time) if waiting[n] != stands.promised[n])
    first, size = next(moved, 0), _FIRST_NEIGHBOURHOOD
    while size < len(in_time):
        begin = max(0, min(first - size // _BEFORE, len(in_time) - size))
        yield frozenset(in_time[begin : begin + size]), budget.part(budget.left * _SHARE)
        size *= _GROWTH


# -- what changed ----------------------------------------------------------------------------------------------------


def told(stands: Standing, schedule: Schedule, starts: Starts, *, is_least: bool) -> Repaired:
    """Return the repair of `schedule` that these starts make, and how much it changes."""
    made = dict(sorted({**stands.begun, **schedule_of(stands.workload, starts)}.items()))
    bound, radius = makespan_bound(stands.workload), edit_radius(schedule, made)
    return Repaired(made, makespan(made), bound, radius, stands, is_least)


def edit_radius(old: Schedule, new: Schedule) -> EditRadius:
    both = old.keys() & new.keys()
    moved = {key: abs(new[key].start - old[key].start) for key in both if new[key].start != old[key].start}
    before, after = (_places({key: schedule[key] for key in both}) for schedule in (old, new))
    places = sum(place != after[key] for key, place in before.items())
    return EditRadius(len(moved), len({job for job, _step, _attempt in moved}), sum(moved.values()), places)


def _places(schedule: Schedule) -> dict[Key, int]:
    """Return the place of each step in the order of its machine."""
    taken: dict[int, int] = {}
    places: dict[Key, int] = {}
    for key, slot in sorted(schedule.items(), key=lambda each: (each[1].start, each[1].end, each[1].step, each[1].job)):
        places[key] = taken[slot.machine] = taken.get(slot.machine, -1) + 1
    return places
