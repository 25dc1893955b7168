"""The board of job shops: a Gantt chart with a row for each machine and a colour for each job, and its repair."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from sagagraph.domains.job_shop.instances import parse_problem
from sagagraph.domains.job_shop.parsing import parse_events
from sagagraph.domains.job_shop.request import Event, JobShop, Schedule, Step
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.planning.board import Board, Drawn
from sagagraph.planning.budget import Budget
from sagagraph.planning.fields import Cell, Field, Form, Sheet, Widget, choices_of
from sagagraph.planning.page import COUNT_BEGINS, Bar, PlanView, showcase_of

_MOST_STEPS: Final = 2000
_MOST_ON_SHEET: Final = 400
"""The most steps that are shown in fields; larger problems are text."""
_LATEST: Final = 1_000_000_000
"""The last time on the chart; after it the calendar has no dates."""
_EXAMPLE: Final = "4 3\n0 3 1 2 2 4\n1 4 0 3 2 2\n2 3 0 2 1 4\n0 2 2 3 1 1\n"
_LEAVE_OUT: Final = "Leave empty what has not happened."
_NEWS: Final[Mapping[str, Mapping[str, str]]] = {
    "Machine down": {"machine": "machine", "from": "from", "until": "until"},
    "Step longer": {"job": "job", "step": "step", "minutes": "takes in all", "at": "known at"},
    "Job goes back": {"job-back": "job", "step-back": "to step", "back": "known at"},
}
_FIELDS: Final = {name: label for fields in _NEWS.values() for name, label in fields.items()}


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
        return form["problem"] if "problem" in form else _standard_text(form)

    def sheets(self, form: Form) -> tuple[Sheet, ...]:
        jobs = parse_problem(self.problem_in(form)).jobs
        if sum(map(len, jobs)) > _MOST_ON_SHEET:
            return ()
        longest, machines = max(map(len, jobs)), [str(step.machine) for steps in jobs for step in steps]
        known = ("", *sorted({*machines, str(len(set(machines)))}, key=int))
        rows = tuple(
            (f"Job {number}", tuple(_step(number, place, steps, known) for place in range(1, longest + 2)))
            for number, steps in enumerate((*jobs, ()), start=1)
        )
        columns = tuple(f"Step {place}" for place in range(1, longest + 2))
        hint = "Machine and time of each step. The last row and the last column are for more; what is empty is left out."
        happened = tuple(
            (row, tuple((Field(name, label, form.get(name, "")),) for name, label in fields.items()))
            for row, fields in _NEWS.items()
        )
        names = ("which", "from, or step", "until, in all, or known at", "known at")
        news = Sheet("What has happened since", names, happened, _LEAVE_OUT)
        return (Sheet("Jobs and machines", columns, rows, hint), news)

    def drawn(self, form: Form, seconds: float) -> Drawn:
        problem, budget = parse_problem(self.problem_in(form)), Budget.of(seconds)
        if sum(map(len, problem.jobs)) > _MOST_STEPS:
            raise InvalidInputError(f"more than {_MOST_STEPS} steps: use `sagagraph jobshop solve` for it", field="problem")
        events = parse_events(problem, _events(form))
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


def _step(job: int, place: int, steps: tuple[Step, ...], machines: tuple[str, ...]) -> Cell:
    machine, minutes = (str(steps[place - 1].machine), str(steps[place - 1].duration)) if place <= len(steps) else ("", "")
    label = f"step {place}"
    return (
        Field(f"machine-{job}-{place}", f"{label}: machine", machine, Widget.CHOICE, choices_of(*machines)),
        Field(f"minutes-{job}-{place}", f"{label}: time", minutes, size=4),
    )


def _standard_text(form: Form) -> str:
    """Return what the fields say in the standard format. A step is there if its time is."""
    jobs: dict[int, list[tuple[int, str, str]]] = {}
    for name, minutes in form.items():
        kind, _, place = name.partition("-")
        if kind == "minutes" and minutes:
            job, step = (_number("job", each) for each in place.split("-", 1))
            jobs.setdefault(job, []).append((step, form.get(f"machine-{place}") or "0", minutes))
    machines = [_number("machine", machine) for steps in jobs.values() for _, machine, _ in steps]
    lines = (" ".join(f"{machine} {minutes}" for _, machine, minutes in sorted(jobs[job])) for job in sorted(jobs))
    return "\n".join([f"{len(jobs)} {max(machines, default=0) + 1}", *lines, ""])


def _events(form: Form) -> list[dict[str, Any]]:
    """Return the events of a form as in files, even incomplete ones, which are then refused by name."""
    said = {name: _number(name, form[name]) for name in _FIELDS if form.get(name)}
    down: dict[str, Any] = {name: said[name] for name in ("machine", "until") if name in said}
    longer: dict[str, Any] = {name: said[name] for name in ("job", "step", "minutes") if name in said}
    events: list[dict[str, Any]] = []
    if down or "from" in said:
        events.append({"event": "machine_down", "at": said.get("from", 0), **down})
    if longer or "at" in said:
        events.append({"event": "duration", "at": said.get("at", 0), **longer})
    back = {name.removesuffix("-back"): said[name] for name in ("job-back", "step-back") if name in said}
    if back or "back" in said:
        events.append({"event": "redo", "at": said.get("back", 0), **back})
    return events


def _number(name: str, said: str) -> int:
    try:
        return int(said)
    except ValueError:
        raise InvalidInputError(f"{said!r} is not a whole number", field=_FIELDS[name]) from None


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
