"""Repairs: seeded breakdowns at 30 to 60 % of the makespan, repaired beside waiting and beside scheduling all anew."""

from __future__ import annotations

from random import Random
from time import monotonic
from typing import Any

from benchmarks.jobshop.anew import recompute
from benchmarks.jobshop.cases import Instance
from sagagraph.domains.job_shop.parsing import parse_events
from sagagraph.domains.job_shop.planning.planner import plan
from sagagraph.domains.job_shop.planning.repair import Repaired, repair
from sagagraph.domains.job_shop.planning.workload import schedule_of, workload_of
from sagagraph.domains.job_shop.request import Event, JobShop, Schedule, makespan
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.planning.budget import Budget

BREAKDOWNS = 5
SOONER = (10, 30, 100)
"""Whether a repair reaches in these parts of the time what scheduling anew reaches."""


def breakdown(problem: JobShop, ends: int, seed: int) -> tuple[Event, ...]:
    random = Random(f"{ends} {seed}")  # noqa: S311 - no secret: the same events for the same seed
    at, lasts = int(ends * random.uniform(0.3, 0.6)), int(ends * random.uniform(0.02, 0.1))
    machine = random.choice(problem.machines)
    return parse_events(problem, [{"at": at, "event": "machine_down", "machine": machine, "until": at + max(1, lasts)}])


def repaired(instance: Instance, seed: int, seconds: float, schedules: dict[str, Schedule]) -> dict[str, Any]:
    """Measure one breakdown. `schedules`: those made before, by instance."""
    problem = instance.problem
    if instance.name not in schedules:
        workload = workload_of(problem)
        schedules[instance.name] = schedule_of(workload, plan(workload, Budget.of(seconds)).starts)
    old = schedules[instance.name]
    events = breakdown(problem, makespan(old), seed)
    began = monotonic()
    answer = repair(problem, old, events, Budget.of(seconds))
    took = monotonic() - began
    anew = recompute(problem, old, events, Budget.of(seconds))
    if not (isinstance(answer, Repaired) and isinstance(anew, Repaired)):
        raise TypeError("every machine comes back")
    soon = {part: repair(problem, old, events, Budget.of(seconds / part)) for part in SOONER}
    rows = [slot.model_dump() for slot in answer.schedule.values()]
    verdict = validate_schedule(problem, rows, events, against=[slot.model_dump() for slot in old.values()])
    return {
        "name": instance.name,
        "seed": seed,
        "limit": seconds,
        "steps": len(old),
        "open": len(answer.stands.promised),
        "was": makespan(old),
        "waiting": makespan(answer.waiting),
        "repair": answer.makespan,
        "soon": {part: each.makespan for part, each in soon.items() if isinstance(each, Repaired)},
        "anew": anew.makespan,
        "places": answer.edit_radius.places,
        "later": answer.edit_radius.operations,
        "places_anew": anew.edit_radius.places,
        "seconds": round(took, 2),
        "verdict": verdict.verdict.value,
    }
