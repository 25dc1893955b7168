"""Scheduling: the planner's answers, judged by the validator, as JSON and in words. Only these commands load OR-Tools."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from sagagraph.cli import render
from sagagraph.domains.job_shop.gantt import gantt
from sagagraph.domains.job_shop.instances import FIELD, parse_problem
from sagagraph.domains.job_shop.parsing import check_legible, parse_events, parse_schedule
from sagagraph.domains.job_shop.planning.planner import makespan_in_words, plan, status_of
from sagagraph.domains.job_shop.planning.progress import Stuck
from sagagraph.domains.job_shop.planning.proposals import Asked, Shop, ask, facts_of, facts_of_repair
from sagagraph.domains.job_shop.planning.repair import EditRadius, edit_radius, repair, told
from sagagraph.domains.job_shop.planning.workload import schedule_of, workload_of
from sagagraph.domains.job_shop.request import Event, JobShop, Schedule, by_attempt, makespan
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file, text_file, write_json, write_text
from sagagraph.planning.budget import Budget
from sagagraph.registry import limits_of, model_of
from sagagraph.settings import Settings
from sagagraph.validators.concern import Remembered
from sagagraph.validators.verdict import Verdict


def solve(file: Path, seconds: float, out: Path | None, settings: Settings, *, as_json: bool) -> int:
    budget = Budget.of(seconds)
    problem = parse_problem(text_file(file, FIELD))
    workload = workload_of(problem)
    planned = plan(workload, budget)
    judge = partial(validate_schedule, problem)
    asked = _asked(Shop(facts_of(problem), workload, {}, planned.starts, workload.ends, judge), settings)
    starts = planned.starts if asked is None else asked.starts
    document = _schedule_json(schedule_of(workload, starts), planned.lower_bound) | _asked_json(asked)
    if not as_json:
        _tell(makespan_in_words(workload.ends(starts), planned.lower_bound))
        _tell_asked(asked)
    return _end(document, validate_schedule(problem, document), out)


def mend(
    file: Path, schedule: Path, event: list[Path], seconds: float, out: Path | None, settings: Settings, *, as_json: bool
) -> int:
    budget = Budget.of(seconds)
    problem = parse_problem(text_file(file, FIELD))
    events = parse_events(problem, *(json_file(each, "--event") for each in event))
    if not events:
        raise InvalidInputError("say what has happened", field="--event")
    said = json_file(schedule, "SCHEDULE")
    known = _known(problem, said, events)
    old = by_attempt(parse_schedule(said).slots.values())
    answer = repair(problem, old, events, budget, known)
    if isinstance(answer, Stuck):
        return _tell_stuck(answer, out, as_json=as_json)
    stands = answer.stands
    starts = tuple(answer.schedule[task.key].start for task in stands.workload.tasks)
    facts, weigh = facts_of_repair(problem, old, events, stands.begun), stands.weight
    judge = partial(validate_schedule, problem, events=events, against=said)
    asked = _asked(Shop(facts, stands.workload, stands.begun, starts, weigh, judge, is_repair=True), settings)
    if asked is not None:
        answer = told(stands, old, asked.starts, is_least=answer.is_least)
    radius, bound = answer.edit_radius, answer.lower_bound
    if not as_json:
        _tell(f"{makespan_in_words(answer.makespan, bound)}; it was {makespan(old)}")
        if again := sum(attempt > 1 for _job, _step, attempt in answer.schedule.keys() - old.keys()):
            _tell(f"{again} steps are done again")
        _tell(f"{radius.places} steps change their places in the order of their machines")
        _tell(f"{radius.operations} steps of {radius.jobs} jobs begin at another time, by {radius.displacement} in all")
        _tell_asked(asked)
    waiting = {"makespan": makespan(answer.waiting), "edit_radius": asdict(edit_radius(old, answer.waiting))}
    document = _schedule_json(answer.schedule, bound)
    document |= {"edit_radius": asdict(radius), "waiting": waiting, "least": answer.is_least}
    document |= _asked_json(asked)
    return _end(document, validate_schedule(problem, document, events, against=said), out)


def show(file: Path, schedule: Path, event: list[Path], out: Path | None, *, as_json: bool) -> int:
    problem = parse_problem(text_file(file, FIELD))
    events = parse_events(problem, *(json_file(each, "--event") for each in event))
    said = json_file(schedule, "SCHEDULE")
    parsed = parse_schedule(said)
    check_legible(parsed, "SCHEDULE")
    chart, verdict = gantt(by_attempt(parsed.slots.values())), validate_schedule(problem, said, events)
    if not as_json:
        for each in verdict.violations:
            _tell(f"{each.code}: {each.message}")
    if out is not None:
        write_text(out, chart, "--out")
    elif not as_json:
        sys.stdout.write(f"{chart}\n")
    if as_json:
        render.print_json(
            {
                "chart": chart,
                "verdict": verdict.verdict.value,
                "violations": [each.model_dump(mode="json") for each in verdict.violations],
            }
        )
    return 0


def _asked(shop: Shop, settings: Settings) -> Asked | None:
    """Ask the settings' model, if they name one."""
    model = model_of(settings)
    return None if model is None else asyncio.run(ask(shop, model, limits_of(settings)))


def _known(problem: JobShop, said: Any, events: tuple[Event, ...]) -> int:
    """Return how many of the events the schedule already takes into account. It must have been valid at that point."""
    check_legible(parse_schedule(said), "SCHEDULE")
    remembered, verdicts = Remembered(), list[Verdict]()
    for known in range(len(events), -1, -1):
        verdicts.insert(0, validate_schedule(problem, said, events[:known], remembered=remembered))
        if verdicts[0].is_valid:
            return known
    nearest = min(verdicts, key=lambda verdict: len(verdict.violations))
    why = nearest.violations[0].message if nearest.violations else nearest.reason
    raise InvalidInputError(f"is not valid before any of these events: {why}", field="SCHEDULE")


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
    slots = [slot.model_dump() for slot in schedule.values()]
    return {"makespan": ends, "lower_bound": lower_bound, "status": status_of(ends, lower_bound).value, "schedule": slots}


def _asked_json(asked: Asked | None) -> dict[str, Any]:
    if asked is None:
        return {}
    return {"proposed_by": asked.proposed_by, "reasons": asked.reasons, "models": to_builtins(asked.models)}


def _tell_asked(asked: Asked | None) -> None:
    if asked is not None:
        _tell("; ".join([f"proposed by {asked.proposed_by}", *asked.reasons]))


def _tell_stuck(stuck: Stuck, out: Path | None, *, as_json: bool) -> int:
    conflict: list[dict[str, Any]] = []
    for machine, slots in stuck.by_machine.items():
        sentence = stuck.sentences[machine]
        if not as_json:
            _tell(sentence)
        steps = [{"job": slot.job, "step": slot.step} for slot in slots]
        conflict.append({"sentence": sentence, "machine": machine, "steps": steps})
    nothing: dict[str, Any] = {"makespan": None, "lower_bound": None, "status": "infeasible", "schedule": []}
    document = {**nothing, "edit_radius": asdict(EditRadius(0, 0, 0, 0)), "verdict": "INVALID", "conflict": conflict}
    if out is not None:
        write_json(out, document, "--out")
    render.print_json(document)
    return 1


def _tell(sentence: str) -> None:
    render.stderr.print(sentence, markup=False)
