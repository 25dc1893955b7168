"""Ablation: drafts of an unreliable planner, and a breakdown, with the whole of it, without validation and without repair.

A draft is a dispatching rule's schedule in which some steps begin too early, as language models write them. *Whole*: the
validator judges it, and what is invalid is finished by the search, in its order. *Without validation*: the draft is taken as it
is. *Without repair*: an invalid draft is refused. Then a machine breaks down: the whole repairs the schedule; without validation,
what nobody knows to be invalid stays; without repair every schedule stays. A judgement at the end says which of these hold.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from benchmarks.alas.repairs import breakdown
from benchmarks.jobshop.cases import Instance
from sagagraph.domains.job_shop.planning.dispatching import dispatched, first_schedule
from sagagraph.domains.job_shop.planning.repair import Repaired, repair
from sagagraph.domains.job_shop.planning.tabu_search import improved
from sagagraph.domains.job_shop.planning.workload import makespan_bound, schedule_of, workload_of
from sagagraph.domains.job_shop.request import Event, JobShop, Schedule, makespan
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.planning.budget import Budget

DRAFTS: Final = 3
WHOLE, UNVALIDATED, UNREPAIRED = "whole", "without validation", "without repair"
ABLATED: Final = (WHOLE, UNVALIDATED, UNREPAIRED)
_FAULTS: Final = (0, 1, 3)
"""Steps that begin too early, in turn: a third of the drafts has no fault."""


def ablated(instance: Instance, draft: int, seconds: float) -> dict[str, Any]:
    """Measure one draft in all arms."""
    problem, began = instance.problem, _draft(instance, draft, seconds)
    made = {
        WHOLE: began if _holds(problem, began) else _finished(problem, began, seconds),
        UNVALIDATED: began,
        UNREPAIRED: began if _holds(problem, began) else None,
    }
    row: dict[str, Any] = {"name": instance.name, "draft": draft, "limit": seconds, "best_known": instance.best_known}
    return {
        **row,
        "faults": _FAULTS[draft % len(_FAULTS)],
        **{arm: _told(problem, arm, made[arm], draft, seconds) for arm in ABLATED},
    }


def _draft(instance: Instance, draft: int, seconds: float) -> Schedule:
    workload, random = workload_of(instance.problem), Random(f"{instance.name} {draft}")  # noqa: S311 - no secret: the same again
    schedule = dict(schedule_of(workload, first_schedule(workload, Budget.of(seconds))))
    late = [key for key, slot in schedule.items() if slot.start > 0]
    for key in random.sample(late, min(len(late), _FAULTS[draft % len(_FAULTS)])):
        slot = schedule[key]
        sooner = random.randint(1, slot.start)
        schedule[key] = slot.model_copy(update={"start": slot.start - sooner, "end": slot.end - sooner})
    return schedule


def _finished(problem: JobShop, draft: Schedule, seconds: float) -> Schedule:
    workload = workload_of(problem)
    order = [draft[task.key].start for task in workload.tasks]
    return schedule_of(workload, improved(workload, dispatched(workload, order), Budget.of(seconds), makespan_bound(workload)))


def _told(problem: JobShop, arm: str, made: Schedule | None, draft: int, seconds: float) -> dict[str, Any]:
    if made is None:
        return {"verdict": "refused", "struck": "refused"}
    holds = _holds(problem, made)
    events = breakdown(problem, makespan(made), draft)
    kept = made
    if arm != UNREPAIRED:
        answer = repair(problem, made, events, Budget.of(seconds)) if holds else None
        kept = answer.schedule if isinstance(answer, Repaired) else made
    struck = _holds(problem, kept, events, made)
    return {"verdict": _word(holds=holds), "makespan": makespan(made), "struck": _word(holds=struck)}


def _holds(problem: JobShop, schedule: Schedule, events: tuple[Event, ...] = (), against: Schedule | None = None) -> bool:
    rows = [slot.model_dump() for slot in schedule.values()]
    old = None if against is None else [slot.model_dump() for slot in against.values()]
    return validate_schedule(problem, rows, events, against=old).is_valid


def _word(*, holds: bool) -> str:
    return "VALID" if holds else "INVALID"
