"""Repair of a schedule when something has happened: what has begun is kept, and the rest moves as little as possible.

The cost of a repair is how much starts move, in all, plus how much later than promised the last step ends, counted once for every
step that has not begun (as if each of them were that much later). The last step never ends later than if all steps simply waited.
At first machines keep their order, and late steps overtake others if that helps; then the tasks around the disruption may be
reordered freely, then more and more tasks, and in the end all. (ALAS 3.3, "Localized Cascading Repair Protocol".)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sagagraph.domains.job_shop.planning.planner import MOST_MODELLED, Groups, dispatched, is_time_for, least, modelled
from sagagraph.domains.job_shop.planning.planner import plan as plan_anew
from sagagraph.domains.job_shop.planning.progress import Progress, Stuck, shifted
from sagagraph.domains.job_shop.planning.stability import Standing, kept
from sagagraph.domains.job_shop.planning.tabu_search import improved
from sagagraph.domains.job_shop.planning.workload import Starts, Task, Workload, makespan_bound, schedule_of
from sagagraph.domains.job_shop.request import Event, JobShop, Schedule, makespan
from sagagraph.planning.budget import Budget

_FIRST_NEIGHBOURHOOD: Final = 20
_GROWTH: Final = 2
_BEFORE: Final = 4
"""One in this many tasks of a neighbourhood begins before the first that has to move."""
_AT_FIRST: Final = 0.1
_TO_BE_IN_TIME: Final = 0.4
_SHARE: Final = 0.3
"""Share of the time that is left, each time; for each neighbourhood except the last."""


@dataclass(frozen=True, slots=True)
class EditRadius:
    operations: int
    """Steps whose start differs."""
    jobs: int
    """Jobs with such a step."""
    displacement: int
    """The sum by which starts moved."""


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
    now = events[-1].at
    stands = schedule
    for count in range(known + 1, len(events) + 1):
        if count == len(events) or events[count].at > events[count - 1].at:
            waiting = shifted(stands, Progress(problem, events[:count]), events[count - 1].at)
            if isinstance(waiting, Stuck):
                return waiting
            stands = waiting
    begun = {key: slot for key, slot in stands.items() if slot.start < now}
    tasks = _tasks_left(problem, stands, Progress(problem, events), now)
    workload = Workload(tasks, makespan(begun))
    promised = tuple(schedule[task.job, task.step].start for task in tasks)
    return Standing(workload, promised, makespan(schedule), begun, stands)


def _tasks_left(problem: JobShop, stands: Schedule, progress: Progress, now: int) -> tuple[Task, ...]:
    job_free: dict[int, int] = {}
    machine_free: dict[int, int] = {}
    for slot in stands.values():
        if slot.start < now:
            job_free[slot.job] = max(job_free.get(slot.job, 0), slot.end)
            machine_free[slot.machine] = max(machine_free.get(slot.machine, 0), slot.end)
    tasks: list[Task] = []
    for job, number, step in problem.numbered():
        slot = stands[job, number]
        if slot.start >= now:
            down_until = int(progress.free_from(step.machine))
            release = max(now, down_until, job_free.get(job, 0), machine_free.get(step.machine, 0))
            tasks.append(Task(job, number, step.machine, slot.end - slot.start, release))
    return tuple(tasks)


def repair(problem: JobShop, schedule: Schedule, events: tuple[Event, ...], budget: Budget, known: int = 0) -> Repaired | Stuck:
    """Repair a schedule. `events` are in the order of `at`, the latest is now; `schedule` is valid for the first `known`
    of them.
    """
    stands = standing(problem, schedule, events, known)
    if isinstance(stands, Stuck):
        return stands
    best, least = _by_order(stands, budget), stands.least_weight
    if len(best) <= MOST_MODELLED:
        for places, part in _neighbourhoods(stands, budget):
            if stands.weight(best) == least or not is_time_for(stands.workload, part):
                break
            found, bound = _best_of(stands, best, places, part)
            best = min(best, found, key=stands.weight)
            if len(places) == len(best):
                least = max(least, bound)
    if stands.weight(best) > least:
        best = kept(stands, [best], budget)
    return told(stands, schedule, best, is_least=stands.weight(best) == least)


def _by_order(stands: Standing, budget: Budget) -> Starts:
    """Move late tasks ahead, starting from the schedule that waits; if its end is still late, from one that makes up for the
    delay.
    """
    workload, best = stands.workload, stands.waited
    if stands.weight(best) == stands.least_weight:
        return best
    best = kept(stands, [best, dispatched(workload, stands.promised)], budget.part(budget.left * _AT_FIRST))
    in_time = max(stands.promised_end, makespan_bound(workload))
    if workload.ends(best) <= in_time:
        return best
    shorter = improved(workload, best, budget.part(budget.left * _TO_BE_IN_TIME), in_time)
    return kept(stands, [best, shorter], budget.part(budget.left * _SHARE))


def recompute(problem: JobShop, schedule: Schedule, events: tuple[Event, ...], budget: Budget) -> Repaired | Stuck:
    """Schedule everything that has not begun from scratch, as if nothing had been promised: the yardstick for repairs."""
    stands = standing(problem, schedule, events)
    if isinstance(stands, Stuck):
        return stands
    anew = plan_anew(stands.workload, budget)
    return told(stands, schedule, anew.starts, is_least=False)


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
    yield frozenset(in_time), budget


def _best_of(stands: Standing, known: Starts, places: frozenset[int], budget: Budget) -> tuple[Starts, int]:
    """Return the best repair in this neighbourhood, and its lower bound."""
    latest = stands.latest
    model = modelled(stands.workload, latest, _groups(stands.workload, known, places))
    cp, moved = model.cp, []
    for start, was in zip(model.starts, stands.promised, strict=True):
        by = cp.new_int_var(0, max(latest, was), "")
        cp.add(by >= start - was)
        cp.add(by >= was - start)
        moved.append(by)
    late = cp.new_int_var(0, max(0, latest - stands.promised_end), "late")
    cp.add(late >= model.makespan - stands.promised_end)
    answer = least(model, sum(moved) + len(moved) * late, known, budget)
    return (known, 0) if answer is None else (answer.starts, answer.bound)


def _groups(workload: Workload, known: Starts, places: frozenset[int]) -> Groups:
    """Group each machine's tasks: those before the neighbourhood, the neighbourhood's own in any order, and those after it."""
    groups: dict[int, list[list[int]]] = {machine: [] for machine in workload.on_machine}
    for n in workload.sequence(known):
        row = groups[workload.tasks[n].machine]
        if row and n in places and row[-1][0] in places:
            row[-1].append(n)
        else:
            row.append([n])
    return groups


# -- what changed ----------------------------------------------------------------------------------------------------


def told(stands: Standing, schedule: Schedule, starts: Starts, *, is_least: bool) -> Repaired:
    """Return the repair of `schedule` that these starts make, and how much it changes."""
    made = dict(sorted({**stands.begun, **schedule_of(stands.workload, starts)}.items()))
    bound, radius = makespan_bound(stands.workload), edit_radius(schedule, made)
    return Repaired(made, makespan(made), bound, radius, stands, is_least)


def edit_radius(old: Schedule, new: Schedule) -> EditRadius:
    moved = {key: abs(new[key].start - slot.start) for key, slot in old.items() if new[key].start != slot.start}
    return EditRadius(len(moved), len({job for job, _step in moved}), sum(moved.values()))
