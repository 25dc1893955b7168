"""Case from which slices are selected: a schedule, its problem, what became known, and what had been done by then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

from msgspec import Struct

from sagagraph.domains.job_shop.parsing import ParsedSchedule
from sagagraph.domains.job_shop.request import DurationChanged, Event, JobAdded, JobCancelled, JobShop, MachineDown, SpeedChanged
from sagagraph.validators.verdict import Violation

T = TypeVar("T")
K = TypeVar("K")


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
    def rows(self) -> Mapping[tuple[int, int], Row]:
        """Return, for each step, the first row that the schedule has."""
        return rows_of(self.problem, self.plan)

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
    def needed(self) -> tuple[tuple[int, int], ...]:
        """Return the steps that the schedule must have: of a cancelled job, those that had begun, or stand before one it has."""
        begun = dict.fromkeys(self.cancelled, 0)
        for row in self.rows.values():
            if row.job in begun:
                begun[row.job] = max(begun[row.job], row.step)
        for slot in () if self.history is None else self.history.old.slots.values():
            if slot.job in begun and self.history and slot.start < min(self.history.until, self.cancelled[slot.job]):
                begun[slot.job] = max(begun[slot.job], slot.step)
        steps = ((job, number) for job, number, _step in self.problem.numbered())
        return tuple(sorted(key for key in steps if key[1] <= begun.get(key[0], key[1])))


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, tuple[T, ...]]:
    found: dict[K, list[T]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return {name: tuple(group) for name, group in found.items()}


def rows_of(problem: JobShop, plan: ParsedSchedule) -> dict[tuple[int, int], Row]:
    rows: dict[tuple[int, int], Row] = {}
    for index, slot in plan.slots.items():
        step = problem.step(slot.job, slot.step)
        if step is not None:
            rows.setdefault((slot.job, slot.step), Row(index, slot.job, slot.step, step.machine, slot.start, slot.end))
    return rows


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
