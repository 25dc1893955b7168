"""Validator: judges a schedule by concerns, each with slices of its own (docs/jobshop.md, "How a schedule is judged")."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap
from typing import Any, Final

import msgspec
from msgspec import Struct

from sagagraph.domains.job_shop.parsing import check_legible, parse_schedule
from sagagraph.domains.job_shop.request import Event, JobShop, Slot, grown
from sagagraph.domains.job_shop.rules.case import Case, History, Place, Row, Stop, named, rows_of
from sagagraph.validators import concern
from sagagraph.validators.concern import Concern, Remembered, certified, history_end, in_order_of, judge_scopes, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.rows import readable_rows
from sagagraph.validators.verdict import Verdict, Violation


class Entry(Struct, frozen=True, array_like=True):
    """Entry: a row as written. `needed`: the step's machine; None: there is no such step."""

    index: int
    job: int
    step: int
    machine: int
    needed: int | None
    taken_by: Row | None = None
    """The row of the same step that makes this one too many."""


class EntriesView(Struct, frozen=True):
    machines: tuple[int, int]
    """The first and the last existing numbers."""
    entries: tuple[Entry, ...]


def _entries_scopes(case: Case) -> Iterator[tuple[str, EntriesView]]:
    machines = case.problem.machines[0], case.problem.machines[-1]

    def entry(index: int, slot: Slot) -> Entry:
        step = case.problem.step(slot.job, slot.step)
        return Entry(index, slot.job, slot.step, slot.machine, None if step is None else step.machine, case.taken_by.get(index))

    for window in windows(starmap(entry, case.plan.slots.items())):
        yield f"rows {window[0].index} to {window[-1].index}", EntriesView(machines, tuple(window))


def _check_entries(view: EntriesView) -> Iterator[Violation]:
    for entry in view.entries:
        yield from _names(entry, view.machines)
    for entry in view.entries:
        if entry.taken_by is not None:
            message = f"row {entry.index}: {entry.taken_by} is there already, in row {entry.taken_by.index}"
            yield Violation(code="REPEATED_TASK", message=message, scope={**entry.taken_by.scope, "row": entry.index})


def _names(entry: Entry, machines: tuple[int, int]) -> Iterator[Violation]:
    scope = {"job": entry.job, "step": entry.step, "machine": entry.machine, "row": entry.index}
    if entry.needed is None:
        message = f"row {entry.index}: there is no job {entry.job} with a step {entry.step}"
        yield Violation(code="UNKNOWN_REFERENCE", message=message, scope=scope)
    elif not machines[0] <= entry.machine <= machines[1]:
        message = f"row {entry.index}: there is no machine {entry.machine}"
        yield Violation(code="UNKNOWN_REFERENCE", message=message, scope=scope)
    elif entry.machine != entry.needed:
        message = f"job {entry.job}, step {entry.step} is for machine {entry.needed}, not {entry.machine}"
        evidence = {"stated": entry.machine, "needed": entry.needed}
        yield Violation(code="NOT_ALLOWED", message=message, scope=scope, evidence=evidence)


UNREAD = readable_rows("schedule")
ENTRIES = Concern("rows", Kind.CONTRACT, EntriesView, _entries_scopes, _check_entries)


class JobView(Struct, frozen=True):
    before: Row | None
    """The step before these; None: the job begins with them."""
    rows: tuple[Row, ...]


class Known(Struct, frozen=True, array_like=True):
    """Known step of the problem. `is_told`: a row is about it, or seems to be."""

    job: int
    step: int
    is_told: bool
    is_again: bool
    """The job went back before it."""


class MissingView(Struct, frozen=True):
    steps: tuple[Known, ...]
    excused: int
    """How many of these missing steps rows with unknown steps may stand for: those rows are themselves reported."""


def _jobs_scopes(case: Case) -> Iterator[tuple[str, JobView]]:
    for job, rows in case.jobs.items():
        before: Row | None = None
        for window in windows(rows):
            yield named(f"job {job}", window), JobView(before, tuple(window))
            before = window[-1]


def _check_jobs(view: JobView) -> Iterator[Violation]:
    before = view.before
    for row in view.rows:
        if before is not None and row.start < before.end:
            yield row.breaks("ORDER", f"begins before {before} ends", after=before.scope, ends=before.end)
        before = row


def _missing_scopes(case: Case) -> Iterator[tuple[str, MissingView]]:
    about = {each.of for each in case.plan.illegible}
    known = case.needed
    known_keys = {(job, number) for job, number, _step in case.problem.numbered()}
    strange = sum(each.of not in known_keys for each in case.plan.illegible)
    strange += sum((slot.job, slot.step) not in known_keys for slot in case.plan.slots.values())
    told = ((job, number, step) in case.rows or (job, step) in about for job, number, step in known)
    steps = (Known(job, step, is_told, number > 0) for (job, number, step), is_told in zip(known, told, strict=True))
    for window in windows(steps):
        first, last = window[0], window[-1]
        yield f"job {first.job}, step {first.step} to job {last.job}, step {last.step}", MissingView(tuple(window), strange)
        strange = max(0, strange - sum(not each.is_told for each in window))


def _check_missing(view: MissingView) -> Iterator[Violation]:
    missing = [each for each in view.steps if not each.is_told]
    for each in missing[view.excused :]:
        message = f"job {each.job}, step {each.step} is not {'done again' if each.is_again else 'in the schedule'}"
        yield Violation(code="MISSING_TASK", message=message, scope={"job": each.job, "step": each.step})


class OrderView(Struct, frozen=True):
    """View of a job that was added or cancelled, or goes back. `until`: when it was cancelled."""

    added: int
    """When it became known."""
    since: tuple[int, ...]
    """For each row, when the job went back last before it."""
    until: int | None
    rows: tuple[Row, ...]


def _orders_scopes(case: Case) -> Iterator[tuple[str, OrderView]]:
    since = {row.index: case.rounds[job][number].since for (job, number, _step), row in case.rows.items() if job in case.redone}
    for job, rows in case.jobs.items():
        if job in case.added or job in case.cancelled or job in case.redone:
            for window in windows(rows):
                went_back = tuple(since.get(row.index, 0) for row in window)
                view = OrderView(case.added.get(job, 0), went_back, case.cancelled.get(job), tuple(window))
                yield named(f"job {job}", window), view


def _check_orders(view: OrderView) -> Iterator[Violation]:
    for row, since in zip(view.rows, view.since, strict=True):
        if row.start < view.added:
            yield row.breaks("NOT_YET_AVAILABLE", f"begins before its job is known, at {view.added}", known=view.added)
        if row.start < since:
            yield row.breaks("NOT_YET_AVAILABLE", f"begins before its job goes back, at {since}", known=since)
        if view.until is not None and row.start >= view.until:
            yield row.breaks("NOT_ALLOWED", f"begins although its job was cancelled at {view.until}", cancelled=view.until)


ORDERS = Concern("order", Kind.FACTUAL, OrderView, _orders_scopes, _check_orders, version=3)
JOBS = Concern("job", Kind.DEPENDENCY, JobView, _jobs_scopes, _check_jobs)
MISSING = Concern("missing steps", Kind.RETENTION, MissingView, _missing_scopes, _check_missing, version=3)


class MachineView(Struct, frozen=True):
    latest: Row | None
    """Of the steps that begin before these, the one that ends last."""
    rows: tuple[Row, ...]
    """In the order of time."""


def _machines_scopes(case: Case) -> Iterator[tuple[str, MachineView]]:
    for machine, rows in case.machines.items():
        latest: Row | None = None
        for window in windows(rows):
            yield named(f"machine {machine}", window), MachineView(latest, tuple(window))
            for row in window:
                latest = _later(latest, row)


def _check_machines(view: MachineView) -> Iterator[Violation]:
    """Check that no step begins while another is on the machine. Two simultaneous steps of one job are reported as out of order
    instead.
    """
    latest = view.latest
    for row in view.rows:
        if latest is not None and row.start < latest.end and row.job != latest.job:
            message = f"begins on machine {row.machine} while {latest} is on it"
            yield row.breaks("OVERLAP", message, beside=latest.scope, ends=latest.end)
        latest = _later(latest, row)


def _later(latest: Row | None, row: Row) -> Row:
    return row if latest is None or row.end > latest.end else latest


MACHINES = Concern("machine", Kind.TEMPORAL, MachineView, _machines_scopes, _check_machines)


class Change(Struct, frozen=True, array_like=True):
    """Change of a step's duration that became known, and when."""

    at: int
    minutes: int


class Timed(Struct, frozen=True, array_like=True):
    row: Row
    duration: int
    changes: tuple[Change, ...]

    @property
    def until(self) -> int:
        """Return until when its machine's pauses matter."""
        return max([self.row.end, *(each.at for each in self.changes)])


class Speed(Struct, frozen=True, array_like=True):
    """Speed of a machine: steps that begin then or later take this part of their duration, in percent."""

    at: int
    percent: int


class DowntimeView(Struct, frozen=True):
    """View of steps on a machine with pauses. `stops`: of the machine, as far as they touch these steps."""

    stops: tuple[Stop, ...]
    steps: tuple[Timed, ...]
    speeds: tuple[Speed, ...] = ()
    """Of the machine, in the order in which they became known."""


def _downtime_scopes(case: Case) -> Iterator[tuple[str, DowntimeView]]:
    def timed(row: Row) -> Timed:
        changes = case.changes.get((row.job, row.step), ())
        duration = case.problem.jobs[row.job - 1][row.step - 1].duration
        return Timed(row, duration, tuple(Change(each.at, each.minutes) for each in changes))

    for machine, rows in case.machines.items():
        speeds = tuple(Speed(each.at, each.percent) for each in case.speeds.get(machine, ()))
        for window in windows(map(timed, rows)):
            for view in _fitting(tuple(window), case.stops.get(machine, ()), speeds):
                yield named(f"machine {machine}", [each.row for each in view.steps]), view


def _fitting(steps: tuple[Timed, ...], stops: tuple[Stop, ...], speeds: tuple[Speed, ...]) -> Iterator[DowntimeView]:
    """Yield the steps with the stops that touch them, halved as long as these are too many."""
    first, last = min(each.row.start for each in steps), max(each.until for each in steps)
    touching = tuple(stop for stop in stops if stop.down <= last and (stop.back is None or first < stop.back))
    if len(steps) > 1 and len(msgspec.json.encode((touching, steps))) > concern.ROOM_BYTES:
        half = len(steps) // 2
        yield from _fitting(steps[:half], touching, speeds)
        yield from _fitting(steps[half:], touching, speeds)
    else:
        yield DowntimeView(touching, steps, speeds)


def _check_downtime(view: DowntimeView) -> Iterator[Violation]:
    for row in (each.row for each in view.steps):
        for stop in view.stops:
            if stop.down <= row.start and (stop.back is None or row.start < stop.back):
                until = "for ever" if stop.back is None else f"until {stop.back}"
                message = f"begins while machine {row.machine} is down, from {stop.down} {until}"
                yield row.breaks("NOT_YET_AVAILABLE", message, down=stop.down)
    for step in view.steps:
        yield from _duration(step, view)


def _duration(step: Timed, view: DowntimeView) -> Iterator[Violation]:
    """Check an exact duration, by everything that became known before the step was over: when the last of its work is done."""
    row, stops, needed = step.row, view.stops, step.duration
    for change in step.changes:
        if change.at <= row.start:
            needed = change.minutes
    known = [speed.percent for speed in view.speeds if speed.at <= row.start]
    if known:
        whole, rest = divmod(needed * known[-1], 100)
        needed = whole + (rest > 0)
    for change in (each for each in step.changes if each.at > row.start):
        if _worked(row, change.at, stops) >= needed:
            break
        needed = change.minutes
    worked = _worked(row, row.end, stops)
    idle = worked == needed and row.end > row.start and _worked(row, row.end - 1, stops) == worked
    if worked != needed or idle:
        message = f"is worked at for {worked}, and takes {needed}" if not idle else f"is over before {row.end}"
        yield row.breaks("DURATION", message, worked=worked, needed=needed)


def _worked(row: Row, until: int, stops: tuple[Stop, ...]) -> int:
    """Return how long its machine has worked on it. Waiting before the start is neither work nor a pause."""
    pauses = (stop for stop in stops if row.start < stop.down < until)
    return until - row.start - sum((until if stop.back is None else min(until, stop.back)) - stop.down for stop in pauses)


DOWNTIME = Concern("downtime", Kind.FACTUAL, DowntimeView, _downtime_scopes, _check_downtime)


class Moved(Struct, frozen=True, array_like=True):
    """Step as it is planned, and when it began in the schedule that was carried out."""

    row: Row
    was: int


class PastView(Struct, frozen=True):
    until: int
    steps: tuple[Moved, ...]


def _past_scopes(case: Case) -> Iterator[tuple[str, PastView]]:
    if case.history is None:
        return
    until = case.history.until
    begun: dict[Place, int] = {}
    planned: dict[tuple[int, int], int] = {}
    for old in rows_of(case.problem, case.history.old):
        if old.start < until:
            begun.setdefault((old.job, case.round_of(old.job, old.start), old.step), old.start)
        else:
            planned.setdefault((old.job, old.step), old.start)
    both = ((row, begun.get(place, planned.get((row.job, row.step)))) for place, row in case.rows.items())
    moved = (Moved(row, was) for row, was in both if was is not None and min(row.start, was) < until)
    for window in windows(moved):
        first, last = window[0].row, window[-1].row
        yield f"job {first.job}, step {first.step} to job {last.job}, step {last.step}", PastView(until, tuple(window))


def _check_past(view: PastView) -> Iterator[Violation]:
    until = view.until
    for each in view.steps:
        if each.row.start != each.was and min(each.row.start, each.was) < until:
            told = f"began at {each.was}, before {until}, and stands" if each.was < until else f"had not begun before {until}"
            yield each.row.breaks("PAST_REWRITTEN", told, began=each.was, until=until)


PAST = Concern("past", Kind.CONSISTENCY, PastView, _past_scopes, _check_past, version=3)


CONCERNS: Final[tuple[Concern[Case, Any], ...]] = (UNREAD, ENTRIES, JOBS, MACHINES, DOWNTIME, ORDERS, MISSING, PAST)


def validate_schedule(
    problem: JobShop,
    schedule: object,
    events: tuple[Event, ...] = (),
    *,
    against: object = None,
    executed_until: int | None = None,
    remembered: Remembered | None = None,
) -> Verdict:
    """Validate a schedule. `schedule` and `against`, the schedule as it was before, may be any JSON; `against` None: nothing has
    been done yet.

    `events` in the order of `at`. What began before `executed_until` is history; None: before the first event. `remembered`:
    scopes that have been judged already.

    Raises:
        InvalidInputError: there is an old schedule, but nothing says until when it was carried out, or it cannot be read.
    """
    history = None
    if against is not None:
        until = history_end(executed_until, [each.at for each in events], "schedule")
        old = parse_schedule(against)
        check_legible(old, "against")
        history = History(old, until)
    case = Case(grown(problem, events), parse_schedule(schedule), events, history)
    verdict = judge_scopes((UNREAD,) if case.plan.fault else CONCERNS, case, remembered)
    return certified(in_order_of(verdict, "row"), schedule, "jobshop")
