"""Lower bound of every schedule: the longest job, and each machine's total if its tasks could be interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagagraph.planning.one_machine import interrupted

if TYPE_CHECKING:
    from sagagraph.domains.job_shop.planning.workload import Workload


def makespan_bound(workload: Workload) -> int:
    heads, tails = workload.heads, workload.tails
    all_tasks = [(heads[n], task.duration, tails[n]) for n, task in enumerate(workload.tasks)]
    longest_job = max((sum(each) for each in all_tasks), default=0)
    machines = (interrupted(all_tasks[n] for n in places) for places in workload.on_machine.values())
    return max(workload.begun_until, longest_job, max(machines, default=0))
