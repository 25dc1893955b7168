"""Random job shops and events by size and seed, for tests and benchmarks; and how files write them."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from sagagraph.domains.job_shop.request import JobShop, Step

_LONGEST: Final = 99


def generate(jobs: int, machines: int, seed: int, *, is_reentrant: bool = False) -> JobShop:
    """Every job visits every machine once; re-entrant: between one and twice as many steps, each on any machine."""
    random = Random(f"{jobs} {machines} {seed}")  # noqa: S311 - no secret: the same problem for the same seed
    rows = []
    for _ in range(jobs):
        places = random.sample(range(machines), machines)
        if is_reentrant:
            places = random.choices(range(machines), k=random.randint(1, 2 * machines))
        rows.append(tuple(Step(place, random.randint(1, _LONGEST)) for place in places))
    return JobShop(tuple(rows), range(machines))


def strikes(problem: JobShop, makespan: int, seed: int) -> list[dict[str, Any]]:
    """A machine that breaks down for a while, and a step that takes longer, in the first half."""
    random = Random(f"{makespan} {seed}")  # noqa: S311 - no secret: the same events for the same seed
    down, known = sorted(random.randint(1, max(1, makespan // 2)) for _ in range(2))
    job, number, step = random.choice(list(problem.numbered()))
    machine = random.choice(problem.machines)
    return [
        {"at": down, "event": "machine_down", "machine": machine, "until": down + random.randint(1, max(1, makespan // 10))},
        {"at": known, "event": "duration", "job": job, "step": number, "minutes": 2 * step.duration},
    ]


def in_standard_format(problem: JobShop) -> str:
    """Of machines from 0."""
    rows = [" ".join(f"{step.machine} {step.duration}" for step in steps) for steps in problem.jobs]
    return "\n".join((f"{len(problem.jobs)} {len(problem.machines)}", *rows)) + "\n"


def in_taillards_format(problem: JobShop) -> str:
    """Of machines from 0, which it counts from 1."""
    times = [" ".join(str(step.duration) for step in steps) for steps in problem.jobs]
    places = [" ".join(str(step.machine + 1) for step in steps) for steps in problem.jobs]
    head = "Nb of jobs, Nb of Machines, Time seed, Machine seed, Upper bound, Lower bound"
    return "\n".join((head, f"{len(times)} {len(problem.machines)} 1 1 0 0", "Times", *times, "Machines", *places)) + "\n"


def as_realm(problem: JobShop) -> dict[str, Any]:
    """Of machines from 0, which it counts from 1."""
    rows = [
        [{"operation": n, "machine": step.machine + 1, "processing_time": step.duration} for n, step in enumerate(steps, start=1)]
        for steps in problem.jobs
    ]
    return {"num_jobs": len(rows), "num_machines": len(problem.machines), "processing_times": rows}
