"""The board of job shops: a Gantt chart with a row for each machine and a colour for each job, and its repair."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from sagagraph.domains.job_shop.instances import parse_problem
from sagagraph.domains.job_shop.parsing import parse_events
from sagagraph.domains.job_shop.request import Event, JobShop, Schedule
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.planning.board import Board, Drawn
from sagagraph.planning.budget import Budget
from sagagraph.planning.fields import Cell, Field, Form, Sheet, Widget, choices_of
from sagagraph.planning.page import COUNT_BEGINS, Bar, PlanView, showcase_of
from sagagraph.validators.complaints import shown

_MOST_STEPS: Final = 2000
_MOST_ON_SHEET: Final = 400
"""The most steps that are shown in fields; larger problems are text."""
_LATEST: Final = 1_000_000_000
"""The last time on the chart; after it the calendar has no dates."""
_EXAMPLE: Final = "4 3\n0 3 1 2 2 4\n1 4 0 3 2 2\n2 3 0 2 1 4\n0 2 2 3 1 1\n"
_LEAVE_OUT: Final = "Leave empty what has not happened."
_NEWS: Final[Mapping[str, tuple[str, Mapping[str, tuple[str, str]]]]] = {
    "Machine down": ("machine_down", {"machine": ("machine", "machine"), "from": ("at", "from"), "until": ("until", "until")}),
    "Step longer": (
        "duration",
        {"job": ("job", "job"), "step": ("step", "step"), "minutes": ("minutes", "takes in all"), "at": ("at", "known at")},
    ),
    "Job goes back": (
        "redo",
        {"job-back": ("job", "job"), "step-back": ("step", "to step"), "back": ("at", "known at")},
    ),
}
"""What can happen: by its row, the event's name, and of each cell the event's field and the label."""
_CELL: Final = re.compile(r"(minutes|machine)-([1-9][0-9]{0,2})-([1-9][0-9]{0,2})")
_WHOLE: Final = re.compile(r"[0-9]{1,9}")
_NOT_WHOLE: Final = "is not a whole number from 0 to 999999999"
Steps = tuple[tuple[str, str], ...]
"""Machine and time of each step of a job, as they are typed."""


class JobShopBoard(Board):
    title = "Job shops"
    opening = "Which step of which job is on which machine when: the least makespan, and what becomes of it when a machine fails."
    showcase = showcase_of(
        ("Machine 0", (("Job 1", 0, 3), ("Job 4", 3, 5), ("Job 3", 5, 7), ("Job 2", 7, 10))),
        ("Machine 1", (("Job 2", 0, 4), ("Job 1", 4, 6), ("Job 3", 7, 11), ("Job 4", 11, 12))),
        ("Machine 2", (("Job 3", 0, 3), ("Job 1", 6, 10), ("Job 2", 10, 12))),
    )
    problem = "Jobs, machines and durations, in the standard format, Taillard's, or REALM-Bench's JSON"
    examples: Mapping[str, Form] = {
        "Four jobs on three machines": {"problem": _EXAMPLE},
        "A machine fails": {"problem": _EXAMPLE, "machine": "1", "from": "2", "until": "9"},
        "A step takes longer": {"problem": _EXAMPLE, "job": "3", "step": "1", "minutes": "8", "at": "1"},
        "A job goes back to a step": {"problem": _EXAMPLE, "job-back": "1", "step-back": "1", "back": "4"},
    }

    def problem_in(self, form: Form) -> str:
        return _problem_in(form)

    def sheets(self, form: Form) -> tuple[Sheet, ...]:
        jobs, faults = _jobs(form), _faults(form)
        longest = max(map(len, jobs), default=0)
        if len(jobs) * longest > _MOST_ON_SHEET:
            return ()
        machines = {machine for steps in jobs for machine, _ in steps if _WHOLE.fullmatch(machine)}
        known = ("", *sorted({*machines, str(len(machines))}, key=int))
        rows = tuple(
            (f"Job {number}", tuple(_step(number, place, steps, known) for place in range(1, longest + 2)))
            for number, steps in enumerate((*jobs, ()), start=1)
        )
        columns = tuple(f"Step {place}" for place in range(1, longest + 2))
        hint = "Machine and time of each step. The last row and the last column are for more; what is empty is left out."
        happened = tuple(
            (row, tuple((Field(name, label, form.get(name, "")),) for name, (_, label) in cells.items()))
            for row, (_, cells) in _NEWS.items()
        )
        names = ("which", "from, or step", "until, in all, or known at", "known at")
        sheets = (Sheet("Jobs and machines", columns, rows, hint), Sheet("What has happened since", names, happened, _LEAVE_OUT))
        return tuple(each.marked(lambda field: field.asking(faults)) for each in sheets)

    def drawn(self, form: Form, seconds: float) -> Drawn:
        problem, budget = parse_problem(_problem_in(form)), Budget.of(seconds)
        if sum(map(len, problem.jobs)) > _MOST_STEPS:
            raise InvalidInputError(f"more than {_MOST_STEPS} steps: use `sagagraph jobshop solve` for it", field="problem")
        events = _events(problem, form)
        with needing("jobshop"):
            from sagagraph.domains.job_shop.planning.planner import makespan_in_words, plan
            from sagagraph.domains.job_shop.planning.progress import Stuck
            from sagagraph.domains.job_shop.planning.repair import repair
            from sagagraph.domains.job_shop.planning.workload import schedule_of, workload_of

        workload = workload_of(problem)
        planned = plan(workload, budget.part(budget.left / 2) if events else budget)
        first = schedule_of(workload, planned.starts)
        told = f"The plan: {makespan_in_words(planned.makespan, planned.lower_bound)}."
        if not events:
            return Drawn(_chart(first), (told, _judged(problem, first)))
        repaired = repair(problem, first, events, budget, 0)
        if isinstance(repaired, Stuck):
            return Drawn(_chart(first), (told, *(f"No repair: {each}." for each in repaired.sentences.values())))
        moved = repaired.edit_radius
        radius = f"{moved.operations} steps of {moved.jobs} jobs begin at another time, by {moved.displacement} in all"
        again = f"Repaired: {makespan_in_words(repaired.makespan, repaired.lower_bound)}; {radius}."
        return Drawn(_chart(repaired.schedule), (told, again, _judged(problem, repaired.schedule, events, first)), _chart(first))


def _step(job: int, place: int, steps: Steps, machines: tuple[str, ...]) -> Cell:
    machine, minutes = steps[place - 1] if place <= len(steps) else ("", "")
    label = f"step {place}"
    return (
        Field(f"machine-{job}-{place}", f"{label}: machine", machine, Widget.CHOICE, choices_of(*machines)),
        Field(f"minutes-{job}-{place}", f"{label}: time", minutes, size=4),
    )


def _jobs(form: Form) -> tuple[Steps, ...]:
    """Return the jobs of a form; those in cells that cannot be read, as they were typed."""
    try:
        return tuple(
            tuple((str(each.machine), str(each.duration)) for each in steps) for steps in parse_problem(_problem_in(form)).jobs
        )
    except InvalidInputError:
        if "problem" in form:
            raise
    cells = [(int(found[2]), int(found[3])) for found in map(_CELL.fullmatch, form) if found]
    longest = max((step for _, step in cells), default=0)
    return tuple(
        tuple((form.get(f"machine-{job}-{step}", ""), form.get(f"minutes-{job}-{step}", "")) for step in range(1, longest + 1))
        for job in range(1, max((job for job, _ in cells), default=0) + 1)
    )


def _problem_in(form: Form) -> str:
    """Return the text that was sent or else what the cells say, in the standard format. A step is there if its time is."""
    if "problem" in form:
        return form["problem"]
    jobs: dict[int, list[tuple[int, str, str]]] = {}
    for found in filter(None, map(_CELL.fullmatch, form)):
        if found[1] == "minutes" and form[found[0]]:
            job, step = int(found[2]), int(found[3])
            where = f"job {job}, step {step}"
            machine = _whole(where, form.get(f"machine-{job}-{step}") or "0")
            jobs.setdefault(job, []).append((step, machine, _whole(where, form[found[0]])))
    machines = [int(machine) for steps in jobs.values() for _, machine, _ in steps]
    lines = (" ".join(f"{machine} {minutes}" for _, machine, minutes in sorted(jobs[job])) for job in sorted(jobs))
    return "\n".join([f"{len(jobs)} {max(machines, default=0) + 1}", *lines, ""])


def _events(problem: JobShop, form: Form) -> tuple[Event, ...]:
    """Return what has happened. Raises `InvalidInputError`, naming row and cell."""
    said: list[dict[str, Any]] = []
    words = dict[str, str]()
    for kind, cells in _NEWS.values():
        entries = {key: int(_whole(_where(name), form[name])) for name, (key, _) in cells.items() if form.get(name)}
        if entries:
            words |= {f"events[{len(said)}].{key}": _where(name) for name, (key, _) in cells.items()}
            said.append({"event": kind, "at": 0, **entries})
    try:
        return parse_events(problem, said)
    except InvalidInputError as exc:
        message = str(exc).removeprefix(f"{exc.field}: ")
        raise InvalidInputError(message, field=words.get(exc.field or "", exc.field)) from exc


def _where(cell: str) -> str:
    """Return the row and the label of a cell about what has happened."""
    return next(f"{row.casefold()}, {cells[cell][1]}" for row, (_, cells) in _NEWS.items() if cell in cells)


def _whole(where: str, said: str) -> str:
    if not _WHOLE.fullmatch(said):
        raise InvalidInputError(f"{shown(said)} {_NOT_WHOLE}", field=where)
    return said


def _faults(form: Form) -> dict[str, str]:
    """Return why cells cannot be read, by their names; where all are numbers, what is wrong with what has happened."""
    cells = [name for name in form if _CELL.fullmatch(name) or any(name in each for _, each in _NEWS.values())]
    wrong = {name: f"{shown(form[name])} {_NOT_WHOLE}" for name in cells if form[name] and not _WHOLE.fullmatch(form[name])}
    try:
        _events(parse_problem(_problem_in(form)), form)
    except InvalidInputError as exc:
        told = str(exc).removeprefix(f"{exc.field}: ")
        return wrong or {name: told for _, each in _NEWS.values() for name in each if _where(name) == exc.field}
    return wrong


def _judged(problem: JobShop, schedule: Schedule, events: tuple[Event, ...] = (), against: Schedule | None = None) -> str:
    verdict = validate_schedule(problem, _rows(schedule), events, against=against and _rows(against))
    wrong = "; ".join(each.message for each in verdict.violations)
    return "The validators, which share no code with the planner, accept it." if verdict.is_valid else f"It is refused: {wrong}."


def _rows(schedule: Schedule) -> list[dict[str, Any]]:
    return [slot.model_dump() for slot in schedule.values()]


def _chart(schedule: Schedule) -> PlanView:
    slots = sorted(schedule.values(), key=lambda slot: (slot.machine, slot.start))
    return PlanView(bars=tuple(_bar(each.machine, each.job, each.step, each.start, each.end) for each in slots), is_counted=True)


def _bar(machine: int, job: int, step: int, start: int, end: int) -> Bar:
    begins, ends = (COUNT_BEGINS + timedelta(minutes=min(each, _LATEST)) for each in (start, end))
    return Bar(f"Machine {machine}", f"{job}.{step}", f"Job {job}", begins, ends)
