"""Scheduling: the planner's answers, judged by the validator, as JSON and in words. Only these commands load OR-Tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sagagraph.cli import render
from sagagraph.domains.job_shop.instances import FIELD, parse_problem
from sagagraph.domains.job_shop.parsing import check_legible, parse_events, parse_schedule
from sagagraph.domains.job_shop.planning.planner import plan, status_of
from sagagraph.domains.job_shop.planning.progress import Stuck
from sagagraph.domains.job_shop.planning.repair import EditRadius, Repaired, edit_radius, repair
from sagagraph.domains.job_shop.planning.workload import schedule_of, workload_of
from sagagraph.domains.job_shop.request import Event, JobShop, Schedule, Slot, makespan
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file, text_file, write_json
from sagagraph.planning.budget import Budget
from sagagraph.validators.concern import Remembered
from sagagraph.validators.verdict import Verdict


def solve(file: Path, seconds: float, out: Path | None, *, as_json: bool) -> int:
    budget = Budget.of(seconds)
    problem = parse_problem(text_file(file, FIELD))
    workload = workload_of(problem)
    planned = plan(workload, budget)
    document = _schedule_json(schedule_of(workload, planned.starts), planned.lower_bound)
    if not as_json:
        render.stderr.print(_makespan_in_words(planned.makespan, planned.lower_bound), markup=False)
    return _end(document, validate_schedule(problem, document), out)


def mend(file: Path, schedule: Path, event: list[Path], seconds: float, out: Path | None, *, as_json: bool) -> int:
    budget = Budget.of(seconds)
    problem = parse_problem(text_file(file, FIELD))
    events = parse_events(problem, *(json_file(each, "--event") for each in event))
    if not events:
        raise InvalidInputError("say what has happened", field="--event")
    said = json_file(schedule, "SCHEDULE")
    known = _known(problem, said, events)
    old = {(slot.job, slot.step): slot for slot in parse_schedule(said).slots.values()}
    answer = repair(problem, old, events, budget, known)
    if isinstance(answer, Stuck):
        return _tell_stuck(answer, as_json=as_json)
    if not as_json:
        _tell_repair(old, answer)
    document = _repaired_json(old, answer)
    return _end(document, validate_schedule(problem, document, events, against=said), out)


def _known(problem: JobShop, said: Any, events: tuple[Event, ...]) -> int:
    """Return how many of the events the schedule already takes into account. It must have been right at that point."""
    check_legible(parse_schedule(said), "SCHEDULE")
    remembered = Remembered()
    for known in range(len(events), -1, -1):
        verdict = validate_schedule(problem, said, events[:known], remembered=remembered)
        if verdict.is_valid:
            return known
    raise InvalidInputError(
        f"is not right before any of these events: {verdict.violations[0].message if verdict.violations else verdict.reason}",
        field="SCHEDULE",
    )


# -- telling ---------------------------------------------------------------------------------------------------------


def _end(document: dict[str, Any], verdict: Verdict, out: Path | None) -> int:
    document["verdict"] = verdict.verdict.value
    if not verdict.is_valid:
        document["violations"] = [each.model_dump(mode="json") for each in verdict.violations]
    if out is not None:
        write_json(out, document, "--out")
    render.print_json(document)
    return 0 if verdict.is_valid else 1


def _schedule_json(schedule: Schedule, lower_bound: int) -> dict[str, Any]:
    ends = makespan(schedule)
    status = status_of(ends, lower_bound)
    slots = [_slot_json(slot) for slot in schedule.values()]
    return {"makespan": ends, "lower_bound": lower_bound, "status": status.value, "schedule": slots}


def _slot_json(slot: Slot) -> dict[str, int]:
    return {"job": slot.job, "step": slot.step, "machine": slot.machine, "start": slot.start, "end": slot.end}


def _repaired_json(old: Schedule, repaired: Repaired) -> dict[str, Any]:
    waiting = repaired.waiting
    return {
        **_schedule_json(repaired.schedule, repaired.lower_bound),
        "edit_radius": asdict(repaired.edit_radius),
        "waiting": {"makespan": makespan(waiting), "edit_radius": asdict(edit_radius(old, waiting))},
        "least": repaired.is_least,
    }


def _tell_stuck(stuck: Stuck, *, as_json: bool) -> int:
    conflict = [_conflict_json(machine, slots) for machine, slots in stuck.by_machine.items()]
    for each in conflict if not as_json else ():
        render.stderr.print(each["sentence"], markup=False)
    nothing: dict[str, Any] = {"makespan": None, "lower_bound": None, "status": "infeasible", "schedule": []}
    render.print_json({**nothing, "edit_radius": asdict(EditRadius(0, 0, 0)), "verdict": "INVALID", "conflict": conflict})
    return 1


def _conflict_json(machine: int, slots: list[Slot]) -> Mapping[str, Any]:
    names = ", ".join(f"job {slot.job} step {slot.step}" for slot in slots)
    return {
        "sentence": f"machine {machine} does not come back, and is still needed by {names}",
        "machine": machine,
        "steps": [{"job": slot.job, "step": slot.step} for slot in slots],
    }


def _tell_repair(old: Schedule, repaired: Repaired) -> None:
    radius = repaired.edit_radius
    render.stderr.print(f"{_makespan_in_words(repaired.makespan, repaired.lower_bound)}; it was {makespan(old)}", markup=False)
    render.stderr.print(
        f"{radius.operations} steps of {radius.jobs} jobs begin at another time, by {radius.displacement} in all", markup=False
    )


def _makespan_in_words(ends: int, lower_bound: int) -> str:
    proof = "the least there is" if ends == lower_bound else f"at least {lower_bound}"
    return f"makespan {ends} ({proof})"
