"""Case: what the checks look at: a schedule, its problem, what became known, and what had been done by then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, inf

from sagagraph.domains.job_shop.parsing import ParsedSchedule
from sagagraph.domains.job_shop.request import (
    DurationChanged,
    Event,
    JobAdded,
    JobCancelled,
    JobShop,
    MachineDown,
    Slot,
    SpeedChanged,
    Step,
)
from sagagraph.validators.verdict import Violation

Check = Callable[["Case"], Iterator[Violation]]


@dataclass(frozen=True, slots=True)
class Row:
    """A slot of an existing step."""

    index: int
    slot: Slot
    step: Step
    """The step as in the problem: its machine counts, whatever the slot says."""

    @property
    def scope(self) -> dict[str, int]:
        return {"job": self.slot.job, "step": self.slot.step, "machine": self.step.machine, "row": self.index}

    def __str__(self) -> str:
        return f"job {self.slot.job}, step {self.slot.step} ({self.slot.start} to {self.slot.end})"


@dataclass(frozen=True)
class History:
    """The schedule as it was; what it begins before `until` was done."""

    old: ParsedSchedule
    until: int


@dataclass(frozen=True)
class Case:
    problem: JobShop
    plan: ParsedSchedule
    events: tuple[Event, ...] = ()
    history: History | None = None
    """None: nothing has been done yet."""

    @cached_property
    def rows(self) -> Mapping[tuple[int, int], Row]:
        """For each step, the first row that the schedule has."""
        return rows_of(self.problem, self.plan)

    @cached_property
    def jobs(self) -> Mapping[int, tuple[Row, ...]]:
        """The readable steps of each job, in order."""
        jobs: dict[int, list[Row]] = defaultdict(list)
        for key in sorted(self.rows):
            jobs[key[0]].append(self.rows[key])
        return {job: tuple(rows) for job, rows in jobs.items()}

    @cached_property
    def machines(self) -> Mapping[int, tuple[Row, ...]]:
        """In the order of time."""
        machines: dict[int, list[Row]] = defaultdict(list)
        for row in sorted(self.rows.values(), key=lambda row: (row.slot.start, row.slot.end, row.index)):
            machines[row.step.machine].append(row)
        return {machine: tuple(rows) for machine, rows in machines.items()}

    @cached_property
    def added(self) -> dict[int, int]:
        """When each added job became known: they are the last jobs, in the order of events."""
        ats = [event.at for event in self.events if isinstance(event, JobAdded)]
        return dict(zip(range(len(self.problem.jobs) + 1 - len(ats), len(self.problem.jobs) + 1), ats, strict=True))

    @cached_property
    def cancelled(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for event in self.events:
            if isinstance(event, JobCancelled):
                found[event.job] = min(event.at, found.get(event.job, event.at))
        return found

    def is_needed(self, job: int, step: int) -> bool:
        """Tell whether the schedule must have it: always, unless its job was cancelled before it, or a later one, began."""
        if job not in self.cancelled or any(key[0] == job and key[1] >= step for key in self.rows):
            return True
        old = {} if self.history is None else self.history.old.slots
        return any(
            slot.job == job and slot.step >= step and slot.start < self.cancelled[job]
            for slot in old.values()
            if self.history is not None and slot.start < self.history.until
        )

    def stop(self, machine: int, moment: int) -> tuple[int, float] | None:
        """Return when the machine went down and comes back, if it is down at that moment."""
        return next(((down, back) for down, back in self._stops.get(machine, ()) if down <= moment < back), None)

    def worked(self, row: Row, until: int) -> int:
        """Return how long its machine has worked on it. Waiting before the start is neither work nor a pause."""
        start = row.slot.start
        stops = (stop for stop in self._stops.get(row.step.machine, ()) if start < stop[0] < until)
        return until - start - int(sum(min(until, back) - down for down, back in stops))

    def duration(self, row: Row) -> int:
        """Return its duration by everything that became known before it was over."""
        start, duration = row.slot.start, row.step.duration
        changes = self._changes.get((row.slot.job, row.slot.step), [])
        for event in [each for each in changes if each.at <= start]:
            duration = event.minutes
        percent = 100
        for other in self.events:
            if isinstance(other, SpeedChanged) and other.machine == row.step.machine and other.at <= start:
                percent = other.percent
        duration = ceil(Fraction(duration * percent, 100))
        for event in [each for each in changes if each.at > start]:
            if self.worked(row, event.at) >= duration:
                break
            duration = event.minutes
        return duration

    @cached_property
    def _stops(self) -> Mapping[int, tuple[tuple[int, float], ...]]:
        found: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for event in self.events:
            if isinstance(event, MachineDown):
                found[event.machine].append((event.at, inf if event.until is None else event.until))
        return {machine: _apart(stops) for machine, stops in found.items()}

    @cached_property
    def _changes(self) -> Mapping[tuple[int, int], list[DurationChanged]]:
        found: dict[tuple[int, int], list[DurationChanged]] = defaultdict(list)
        for event in self.events:
            if isinstance(event, DurationChanged):
                found[event.job, event.step].append(event)
        return found


def rows_of(problem: JobShop, plan: ParsedSchedule) -> dict[tuple[int, int], Row]:
    rows: dict[tuple[int, int], Row] = {}
    for index, slot in plan.slots.items():
        step = problem.step(slot.job, slot.step)
        if step is not None:
            rows.setdefault((slot.job, slot.step), Row(index, slot, step))
    return rows


def _apart(stops: list[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    """Merge the same moments into spans without overlaps, in order of time; empty spans vanish."""
    edges = sorted({edge for stop in stops for edge in stop})
    down = [(a, b) for a, b in pairwise(edges) if any(s <= a and b <= e for s, e in stops)]
    joined: list[tuple[int, float]] = []
    for begin, end in down:
        if joined and joined[-1][1] == begin:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((int(begin), end))
    return tuple(joined)
