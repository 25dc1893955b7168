"""Progress of steps as events become known: when a step that begins at a moment ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from sagagraph.domains.job_shop.events import DurationChanged, MachineDown

if TYPE_CHECKING:
    from sagagraph.domains.job_shop.events import Event
    from sagagraph.domains.job_shop.request import JobShop


@dataclass(frozen=True)
class Progress:
    problem: JobShop
    events: tuple[Event, ...]
    """In the order of `at`."""

    def free_from(self, machine: int) -> float:
        """Return when the machine is back by everything known; infinite: never."""
        stops = self._stops.get(machine)
        return stops[-1][1] if stops else 0

    def end(self, job: int, step: int, start: int) -> float:
        """Return the end of a step that begins while its machine is up. Infinite: its machine does not come back."""
        known = self.problem.jobs[job - 1][step - 1]
        duration = known.duration
        for event in self._changes.get((job, step), ()):
            if start < event.at and self._worked(known.machine, start, duration) <= event.at:
                break
            duration = event.minutes
        return self._worked(known.machine, start, duration)

    def _worked(self, machine: int, start: int, duration: int) -> float:
        """Return when this much work has been done: it pauses while the machine is down."""
        end: float = start + duration
        for down, back in self._stops.get(machine, ()):
            if start < down < end:
                end += back - down
        return end

    @cached_property
    def _stops(self) -> Mapping[int, Sequence[tuple[int, float]]]:
        """When each machine goes down and comes back, without overlaps."""
        stops: dict[int, list[tuple[int, float]]] = {}
        for event in self.events:
            if not isinstance(event, MachineDown) or event.until == event.at:
                continue
            until = inf if event.until is None else event.until
            known = stops.setdefault(event.machine, [])
            if known and event.at <= known[-1][1]:
                known[-1] = known[-1][0], max(known[-1][1], until)
            else:
                known.append((event.at, until))
        return stops

    @cached_property
    def _changes(self) -> Mapping[tuple[int, int], Sequence[DurationChanged]]:
        changes: dict[tuple[int, int], list[DurationChanged]] = {}
        for event in self.events:
            if isinstance(event, DurationChanged):
                changes.setdefault((event.job, event.step), []).append(event)
        return changes
