"""Downtime: no step begins while its machine is down, and each takes its time, without the pauses of its machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from sagagraph.domains.job_shop.rules.case import Row, Stop, named
from sagagraph.validators import concern
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.job_shop.rules.case import Case
    from sagagraph.validators.verdict import Violation


class Change(Struct, frozen=True, array_like=True):
    """What became known of a step's duration, and when."""

    at: int
    minutes: int


class Timed(Struct, frozen=True, array_like=True):
    row: Row
    duration: int
    changes: tuple[Change, ...]

    @property
    def until(self) -> int:
        """Until when its machine's pauses matter."""
        return max([self.row.end, *(each.at for each in self.changes)])


class DowntimeView(Struct, frozen=True):
    """`stops`: of the machine, as far as they touch these steps."""

    stops: tuple[Stop, ...]
    steps: tuple[Timed, ...]


def _scopes(case: Case) -> Iterator[tuple[str, DowntimeView]]:
    for machine, rows in case.machines.items():
        stops = case.stops.get(machine, ())
        for window in windows(_timed(case, row) for row in rows):
            for view in _fitting(tuple(window), stops):
                yield named(f"machine {machine}", [each.row for each in view.steps]), view


def _timed(case: Case, row: Row) -> Timed:
    step = case.problem.jobs[row.job - 1][row.step - 1]
    changes = case.changes.get((row.job, row.step), ())
    return Timed(row, step.duration, tuple(Change(each.at, each.minutes) for each in changes))


def _fitting(steps: tuple[Timed, ...], stops: tuple[Stop, ...]) -> Iterator[DowntimeView]:
    """The steps with the stops that touch them, in halves while these are too many."""
    first, last = min(each.row.start for each in steps), max(each.until for each in steps)
    touching = tuple(stop for stop in stops if stop.down <= last and (stop.back is None or first < stop.back))
    if len(steps) > 1 and len(msgspec.json.encode((touching, steps))) > concern.ROOM_BYTES:
        half = len(steps) // 2
        yield from _fitting(steps[:half], touching)
        yield from _fitting(steps[half:], touching)
    else:
        yield DowntimeView(touching, steps)


def _check(view: DowntimeView) -> Iterator[Violation]:
    for each in view.steps:
        yield from _machine_there(each.row, view.stops)
    for each in view.steps:
        yield from _duration(each, view.stops)


def _machine_there(row: Row, stops: tuple[Stop, ...]) -> Iterator[Violation]:
    for stop in stops:
        if stop.down <= row.start and (stop.back is None or row.start < stop.back):
            until = "for ever" if stop.back is None else f"until {stop.back}"
            message = f"begins while machine {row.machine} is down, from {stop.down} {until}"
            yield row.breaks("NOT_YET_AVAILABLE", message, down=stop.down)


def _duration(step: Timed, stops: tuple[Stop, ...]) -> Iterator[Violation]:
    """Check an exact duration; a step is over when the last of its work is."""
    row = step.row
    needed, worked = _needed(step, stops), _worked(row, row.end, stops)
    idle = worked == needed and row.end > row.start and _worked(row, row.end - 1, stops) == worked
    if worked != needed or idle:
        message = f"is worked at for {worked}, and takes {needed}" if not idle else f"is over before {row.end}"
        yield row.breaks("DURATION", message, worked=worked, needed=needed)


def _needed(step: Timed, stops: tuple[Stop, ...]) -> int:
    """Return its duration by everything that became known before it was over."""
    duration = step.duration
    for change in step.changes:
        if step.row.start < change.at and _worked(step.row, change.at, stops) >= duration:
            break
        duration = change.minutes
    return duration


def _worked(row: Row, until: int, stops: tuple[Stop, ...]) -> int:
    """Return how long its machine has worked on it. Waiting before the start is neither work nor a pause."""
    pauses = (stop for stop in stops if row.start < stop.down < until)
    return until - row.start - sum((until if stop.back is None else min(until, stop.back)) - stop.down for stop in pauses)


DOWNTIME = Concern("downtime", Kind.FACTUAL, DowntimeView, _scopes, _check)
