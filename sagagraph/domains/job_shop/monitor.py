"""Monitor of productions: steps that slow machines, stops and longer work would end late, with the room that the schedule has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from sagagraph.domains.job_shop.planning.progress import Progress
from sagagraph.domains.job_shop.request import DurationChanged, Event, Key, MachineDown, Schedule, SpeedChanged, makespan
from sagagraph.errors import InvalidInputError
from sagagraph.planning.monitor import Finding, Observed, Thresholds, findings

_HORIZON: Final = 0.1
"""Of the makespan."""


def delays(schedule: Schedule, progress: Progress) -> tuple[Finding, ...]:
    """Judge every step that the latest event would end late, if each step begins as promised."""
    _check_is_a_delay(progress.events[-1])
    thresholds = Thresholds(horizon=max(1.0, _HORIZON * makespan(schedule)))
    return findings(_observed(schedule, progress), progress.events[-1].at, thresholds)


def _observed(schedule: Schedule, progress: Progress) -> Iterator[Observed]:
    now, before, due = progress.events[-1].at, Progress(progress.problem, progress.events[:-1]), _due(schedule)
    for key, slot in schedule.items():
        start = slot.start if slot.start < now else max(slot.start, int(progress.free_from(slot.machine)))
        end = int(progress.end(slot.job, slot.step, start))
        if slot.end > now and end > slot.end and end > before.end(slot.job, slot.step, slot.start):
            yield Observed(f"job {slot.job} step {slot.step} ends", slot.end, end, due[key] - slot.end)


def _check_is_a_delay(event: Event) -> None:
    if not isinstance(event, DurationChanged | SpeedChanged | MachineDown):
        raise InvalidInputError("is no delay: report it with `sagagraph jobshop repair` once it is known", field="event")
    if isinstance(event, MachineDown) and event.until is None:
        raise InvalidInputError("is missing: a machine that never comes back is no delay", field="until")


def _due(schedule: Schedule) -> dict[Key, int]:
    """Return when each step must have ended: when the next of its job or on its machine begins, or everything is done."""
    due, ends = dict[Key, int](), makespan(schedule)
    job_begins: dict[int, int] = defaultdict(lambda: ends)
    machine_begins: dict[int, int] = defaultdict(lambda: ends)
    for key, slot in sorted(schedule.items(), key=lambda each: (each[1].start, each[1].end, each[0][1]), reverse=True):
        due[key] = min(job_begins[slot.job], machine_begins[slot.machine])
        job_begins[slot.job] = machine_begins[slot.machine] = slot.start
    return due
