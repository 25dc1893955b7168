"""Schedules one instance, lets things happen, repairs it beside scheduling anew, and has everything judged by the validator."""

from __future__ import annotations

from time import process_time
from typing import Any

from benchmarks.jobshop.anew import recompute
from benchmarks.jobshop.cases import Instance
from sagagraph.domains.job_shop.parsing import parse_events
from sagagraph.domains.job_shop.planning.planner import plan
from sagagraph.domains.job_shop.planning.repair import EditRadius, Repaired, edit_radius, repair
from sagagraph.domains.job_shop.planning.workload import schedule_of, workload_of
from sagagraph.domains.job_shop.request import Event, JobShop, Schedule, makespan
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.planning.budget import Budget

Case = dict[str, Any]


def measured(instance: Instance, seconds: float) -> Case:
    problem, began = instance.problem, process_time()
    workload = workload_of(problem)
    planned = plan(workload, Budget.of(seconds, process_time))
    schedule = schedule_of(workload, planned.starts)
    case = {
        "name": instance.name,
        "jobs": len(problem.jobs),
        "machines": len(problem.machines),
        "steps": len(workload.tasks),
        "best_known": instance.best_known,
        "makespan": planned.makespan,
        "bound": planned.lower_bound,
        "seconds": round(process_time() - began, 2),
        "verdict": validate_schedule(problem, _rows(schedule)).verdict.value,
    }
    events = parse_events(problem, instance.events(planned.makespan))
    arms = {"repair": repair, "anew": recompute}
    told = {name: _arm(problem, schedule, events, how, seconds) for name, how in arms.items()}
    return {**case, "is_realm": bool(instance.struck), "waiting": _waited(problem, schedule, events), **told}


def _arm(problem: JobShop, old: Schedule, events: tuple[Event, ...], how: Any, seconds: float) -> Case:
    began = process_time()
    answer = how(problem, old, events, Budget.of(seconds, process_time))
    took = round(process_time() - began, 2)
    verdict = validate_schedule(problem, _rows(answer.schedule), events, against=_rows(old))
    return {**_told(answer.schedule, answer.edit_radius), "seconds": took, "verdict": verdict.verdict.value}


def _waited(problem: JobShop, old: Schedule, events: tuple[Event, ...]) -> Case:
    waiting = repair(problem, old, events, Budget.of(0))
    if not isinstance(waiting, Repaired):
        raise TypeError("every machine comes back")
    return _told(waiting.waiting, edit_radius(old, waiting.waiting))


def _told(schedule: Schedule, radius: EditRadius) -> Case:
    return {"makespan": makespan(schedule), "operations": radius.operations, "displacement": radius.displacement}


def _rows(schedule: Schedule) -> list[dict[str, Any]]:
    return [slot.model_dump() for slot in schedule.values()]
