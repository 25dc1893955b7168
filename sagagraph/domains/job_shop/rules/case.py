"""Case from which slices are selected: a schedule, its problem, what became known, and what had been done by then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

from msgspec import Struct

from sagagraph.domains.job_shop.parsing import ParsedSchedule
from sagagraph.domains.job_shop.request import (
    DurationChanged,
    Event,
    JobAdded,
    JobCancelled,
    JobShop,
    MachineDown,
    Redo,
    SpeedChanged,
)
from sagagraph.domains.job_shop.rules.rounds import Round, round_at, rounds_of
from sagagraph.validators.verdict import Violation

T = TypeVar("T")
K = TypeVar("K")
Place = tuple[int, int, int]
"""Place in the order of all jobs: job, round of it (from 0), and step."""


class Row(Struct, frozen=True, array_like=True):
    """Row: a slot of an existing step. `machine`: the step's in the problem, whatever the slot says."""

    index: int
    job: int
    step: int
    machine: int
    start: int
    end: int

    @property
    def scope(self) -> dict[str, int]:
        return {"job": self.job, "step": self.step, "machine": self.machine, "row": self.index}

    def __str__(self) -> str:
        return f"job {self.job}, step {self.step} ({self.start} to {self.end})"

    def breaks(self, code: str, message: str, **evidence: Any) -> Violation:
        """Return a violation at this row."""
        times = {"start": self.start, "end": self.end}
        return Violation(code=code, message=f"{self} {message}", scope=self.scope, evidence={**times, **evidence})


class Stop(Struct, frozen=True, array_like=True):
    """Stop of a machine in [down, back). `back` None: for ever."""

    down: int
    back: int | None


@dataclass(frozen=True)
class History:
    """History: the schedule as it was; what it begins before `until` was done."""

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
    def rows(self) -> Mapping[Place, Row]:
        """Return the row of each place: for a step that is to be done once, the first that the schedule has."""
        found: dict[Place, Row] = {}
        for (job, step), rows in self._written.items():
            rounds = [number for number, each in enumerate(self.rounds[job]) if each.begins <= step <= each.reached]
            found |= {(job, number, step): row for number, row in self._placed(rows, rounds)}
        return found

    def _placed(self, rows: Sequence[Row], rounds: Sequence[int]) -> Iterator[tuple[int, Row]]:
        """Yield in which of these rounds each row of a step is, in the order of time; where some lack, in the nearest."""
        in_time = rows if len(rounds) == 1 else sorted(rows, key=lambda row: row.start)
        if len(rows) >= len(rounds):
            yield from zip(rounds, in_time, strict=False)
            return
        free = list(rounds)
        for row in in_time:
            nearest = min(free, key=lambda number: abs(number - self.round_of(row.job, row.start)))
            free.remove(nearest)
            yield nearest, row

    @cached_property
    def taken_by(self) -> Mapping[int, Row]:
        """Return, for each row that has no place, the last of its step that has one, by index."""
        placed = {(row.job, row.step): row for row in sorted(self.rows.values(), key=lambda row: row.start)}
        indexes = {row.index for row in self.rows.values()}
        return {row.index: placed[step] for step, rows in self._written.items() for row in rows if row.index not in indexes}

    @cached_property
    def _written(self) -> Mapping[tuple[int, int], tuple[Row, ...]]:
        """Return the rows of each step, in the order of the schedule."""
        return _grouped(rows_of(self.problem, self.plan), lambda row: (row.job, row.step))

    @cached_property
    def jobs(self) -> Mapping[int, tuple[Row, ...]]:
        """Return the readable steps of each job, in order."""
        return _grouped((self.rows[key] for key in sorted(self.rows)), lambda row: row.job)

    @cached_property
    def machines(self) -> Mapping[int, tuple[Row, ...]]:
        """Return the readable steps of each machine, in order of time."""
        in_time = sorted(self.rows.values(), key=lambda row: (row.start, row.end, row.index))
        return _grouped(in_time, lambda row: row.machine)

    @cached_property
    def stops(self) -> Mapping[int, tuple[Stop, ...]]:
        """Return the stops by machine, without overlaps and in order of time."""
        down = (event for event in self.events if isinstance(event, MachineDown))
        return {machine: _apart(stops) for machine, stops in _grouped(down, lambda event: event.machine).items()}

    @cached_property
    def changes(self) -> Mapping[tuple[int, int], tuple[DurationChanged, ...]]:
        """Return the changes by step, in the order in which they became known."""
        changed = (event for event in self.events if isinstance(event, DurationChanged))
        return _grouped(changed, lambda event: (event.job, event.step))

    @cached_property
    def speeds(self) -> Mapping[int, tuple[SpeedChanged, ...]]:
        """Return the changes of speed by machine, in the order in which they became known."""
        changed = (event for event in self.events if isinstance(event, SpeedChanged))
        return _grouped(changed, lambda event: event.machine)

    @cached_property
    def added(self) -> Mapping[int, int]:
        """Return when each added job became known."""
        events = [event for event in self.events if isinstance(event, JobAdded)]
        first = len(self.problem.jobs) - len(events) + 1
        return {first + place: event.at for place, event in enumerate(events)}

    @cached_property
    def cancelled(self) -> Mapping[int, int]:
        """Return when each cancelled job was cancelled, for the first time."""
        return {event.job: event.at for event in reversed(self.events) if isinstance(event, JobCancelled)}

    @cached_property
    def redone(self) -> Mapping[int, tuple[Redo, ...]]:
        """Return when each job goes back to which step, in the order of time."""
        return _grouped((event for event in self.events if isinstance(event, Redo)), lambda event: event.job)

    def round_of(self, job: int, moment: int) -> int:
        return round_at(self.redone.get(job, ()), moment)

    @cached_property
    def rounds(self) -> Mapping[int, tuple[Round, ...]]:
        """Return the rounds of each job: of a cancelled one, with the steps that had begun, or stand before one it has."""
        old, until = ({}, 0) if self.history is None else (self.history.old.slots, self.history.until)
        done = (slot for slot in old.values() if slot.start < min(until, self.cancelled.get(slot.job, until)))
        begun: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for slot in (*self.plan.slots.values(), *done):
            if self.problem.step(slot.job, slot.step) is not None:
                begun[slot.job].append((slot.start, slot.step))
        return {
            job: rounds_of(len(steps), self.redone.get(job, ()), begun[job], is_cancelled=job in self.cancelled)
            for job, steps in enumerate(self.problem.jobs, start=1)
        }

    @cached_property
    def needed(self) -> tuple[Place, ...]:
        """Return the places that the schedule must fill, in order."""
        return tuple(
            (job, number, step)
            for job, rounds in self.rounds.items()
            for number, each in enumerate(rounds)
            for step in range(each.begins, each.reached + 1)
        )


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, tuple[T, ...]]:
    found: dict[K, list[T]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return {name: tuple(group) for name, group in found.items()}


def rows_of(problem: JobShop, plan: ParsedSchedule) -> Iterator[Row]:
    for index, slot in plan.slots.items():
        step = problem.step(slot.job, slot.step)
        if step is not None:
            yield Row(index, slot.job, slot.step, step.machine, slot.start, slot.end)


def named(what: str, rows: list[Row]) -> str:
    """Return the name of a window of rows."""
    return f"{what}, from {rows[0].start} to {max(row.end for row in rows)}"


def _apart(events: Sequence[MachineDown]) -> tuple[Stop, ...]:
    """Merge simultaneous spans into spans without overlaps, in order of time; empty spans vanish."""
    for_ever = float("inf")
    spans = [(each.at, for_ever if each.until is None else each.until) for each in events]
    edges = sorted({edge for span in spans for edge in span})
    down = [(a, b) for a, b in pairwise(edges) if any(s <= a and b <= e for s, e in spans)]
    joined: list[tuple[float, float]] = []
    for begin, end in down:
        if joined and joined[-1][1] == begin:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((begin, end))
    return tuple(Stop(int(begin), None if end == for_ever else int(end)) for begin, end in joined)
