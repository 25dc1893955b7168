"""Job shops, schedules and events for tests; and what is best, by looking at everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from sagagraph.domains.job_shop.planning.dispatching import dispatched
from sagagraph.domains.job_shop.planning.workload import schedule_of, workload_of
from sagagraph.domains.job_shop.request import JobShop, Schedule, Slot, Step, by_attempt
from sagagraph.planning.budget import Budget

Json = dict[str, Any]

ENOUGH_S = 60.0
"""Far more than anything here takes: what is proven does not depend on it."""


def enough() -> Budget:
    return Budget.of(ENOUGH_S)


def shop(*jobs: Sequence[tuple[int, int]]) -> JobShop:
    """Of (machine, duration), machines from 0."""
    most = max(machine for job in jobs for machine, _ in job)
    return JobShop(tuple(tuple(Step(*step) for step in job) for job in jobs), range(most + 1))


THREE = shop([(0, 3), (1, 2), (2, 2)], [(0, 2), (2, 1), (1, 4)], [(1, 4), (2, 3)])


def quick(problem: JobShop, rule: Sequence[int] | None = None) -> Schedule:
    """Some schedule; by default jobs go first that the file names first."""
    workload = workload_of(problem)
    return schedule_of(workload, dispatched(workload, rule or range(len(workload.tasks))))


def rows(schedule: Schedule) -> list[Json]:
    return [each.model_dump() for each in schedule.values()]


def schedule_in(document: Json) -> Schedule:
    return by_attempt(Slot.model_validate(each) for each in document["schedule"])


def shops(jobs: int = 4, steps: int = 4, machines: int = 3, longest: int = 5) -> st.SearchStrategy[JobShop]:
    """Jobs of any lengths, coming back to machines."""
    step = st.tuples(st.integers(0, machines - 1), st.integers(0, longest))
    job = st.lists(step, min_size=1, max_size=steps)
    return st.lists(job, min_size=1, max_size=jobs).map(
        lambda each: JobShop(tuple(tuple(Step(*step) for step in job) for job in each), range(machines))
    )


def events_for(problem: JobShop, latest: int, most: int = 3) -> st.SearchStrategy[list[Json]]:
    at = st.integers(0, latest)
    down = st.builds(
        lambda at, machine, lasts: {"at": at, "event": "machine_down", "machine": machine, "until": at + lasts},
        at,
        st.sampled_from(problem.machines),
        st.integers(0, 6),
    )
    longer = st.builds(
        lambda at, each, minutes: {"at": at, "event": "duration", "job": each[0], "step": each[1], "minutes": minutes},
        at,
        st.sampled_from([(job, number) for job, number, _ in problem.numbered()]),
        st.integers(0, 8),
    )
    slower = st.builds(
        lambda at, machine, percent: {"at": at, "event": "machine_speed", "machine": machine, "percent": percent},
        at,
        st.sampled_from(problem.machines),
        st.sampled_from([1, 50, 99, 150, 300]),
    )
    back = st.builds(
        lambda at, each: {"at": at, "event": "redo", "job": each[0], "step": each[1]},
        at,
        st.sampled_from([(job, number) for job, number, _ in problem.numbered()]),
    )
    return st.lists(down | longer | slower | back, min_size=1, max_size=most)


# -- everything there is ---------------------------------------------------------------------------------------------


def shortest(problem: JobShop) -> int:
    """The least makespan: of every order in which steps can be put on their machines, as early as they go."""

    def ends(at: tuple[int, ...], job_free: tuple[int, ...], machine_free: tuple[int, ...]) -> Iterator[int]:
        left = [job for job, steps in enumerate(problem.jobs) if at[job] < len(steps)]
        if not left:
            yield max(job_free)
        for job in left:
            step = problem.jobs[job][at[job]]
            end = max(job_free[job], machine_free[step.machine]) + step.duration
            yield from ends(_with(at, job, at[job] + 1), _with(job_free, job, end), _with(machine_free, step.machine, end))

    nothing = (0,) * len(problem.jobs)
    return min(ends(nothing, nothing, (0,) * len(problem.machines)))


def _with(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])


def least_weight(problem: JobShop, old: Schedule, event: Json, latest: int) -> int:
    """How little any repair weighs that ends by `latest`: of every order in which the steps that are left can begin."""
    now, promised_end = event["at"], max(slot.end for slot in old.values())
    job_free = dict.fromkeys(range(1, len(problem.jobs) + 1), now)
    machine_free = dict.fromkeys(problem.machines, now)
    left: dict[int, list[tuple[int, int, int, int]]] = {job: [] for job in job_free}
    begun, again = 0, set[tuple[int, int]]()
    for (job, number, _attempt), slot in sorted(old.items()):
        duration = _duration(problem, slot, event)
        if slot.start >= now:
            left[job].append((job, number, slot.machine, duration))
            continue
        if event["event"] == "redo" and event["job"] == job and event["step"] <= number:
            left[job].append((job, number, slot.machine, duration))
            again.add((job, number))
        end = slot.start + duration + (event["until"] - now if _pauses(slot, event) else 0)
        begun = max(begun, end)
        job_free[job], machine_free[slot.machine] = max(now, end), max(machine_free[slot.machine], end)
    if event["event"] == "machine_down":
        machine_free[event["machine"]] = max(machine_free[event["machine"]], event["until"])
    durations = [each[3] for steps in left.values() for each in steps]
    a_place = max(1, 2 * sum(durations) // max(1, len(durations)))
    in_time = sorted(old.values(), key=lambda slot: (slot.start, slot.end, slot.step, slot.job))
    promised = {
        machine: [(slot.job, slot.step) for slot in in_time if slot.machine == machine and slot.start >= now]
        for machine in problem.machines
    }

    def ends(
        at: dict[int, int], jobs: dict[int, int], machines: dict[int, int], orders: dict[int, list[tuple[int, int]]], end: int
    ) -> Iterator[int]:
        if end > latest:
            return
        if all(at[job] == len(steps) for job, steps in left.items()):
            kept = {machine: [key for key in order if key not in again] for machine, order in orders.items()}
            changed = sum(a != b for machine in machines for a, b in zip(kept[machine], promised[machine], strict=True))
            yield 100 * max(0, end - promised_end) + a_place * changed
        for job, steps in left.items():
            if at[job] < len(steps):
                _job, number, machine, duration = steps[at[job]]
                over = max(jobs[job], machines[machine]) + duration
                order = {**orders, machine: [*orders[machine], (job, number)]}
                yield from ends({**at, job: at[job] + 1}, {**jobs, job: over}, {**machines, machine: over}, order, max(end, over))

    nothing: dict[int, list[tuple[int, int]]] = {machine: [] for machine in problem.machines}
    return min(ends(dict.fromkeys(left, 0), job_free, machine_free, nothing, begun))


def _duration(problem: JobShop, slot: Slot, event: Json) -> int:
    known = problem.jobs[slot.job - 1][slot.step - 1].duration
    if event["event"] == "machine_speed":
        is_slower = event["machine"] == slot.machine and slot.start >= event["at"]
        return -(-known * event["percent"] // 100) if is_slower else known
    is_over = slot.end <= event["at"] and slot.start < event["at"]
    is_named = event["event"] == "duration" and (event["job"], event["step"]) == (slot.job, slot.step)
    return event["minutes"] if is_named and not is_over else known


def _pauses(slot: Slot, event: Json) -> bool:
    is_named = event["event"] == "machine_down" and event["machine"] == slot.machine
    return is_named and slot.start < event["at"] < slot.end
