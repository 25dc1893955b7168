"""Progress of steps as events become known: when a step that begins at a moment ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isinf

from sagagraph.domains.job_shop.request import (
    DurationChanged,
    Event,
    JobShop,
    Key,
    MachineDown,
    Schedule,
    Slot,
    SpeedChanged,
)


@dataclass(frozen=True)
class Progress:
    problem: JobShop
    events: tuple[Event, ...]
    """In the order of `at`."""

    def free_from(self, machine: int) -> float:
        """Return when the machine is back, by everything known; infinite: never."""
        stops = self._stops.get(machine)
        return stops[-1][1] if stops else 0

    def end(self, job: int, step: int, start: int) -> float:
        """Return the end of a step that begins while its machine is up. Infinite: its machine does not come back."""
        known = self.problem.jobs[job - 1][step - 1]
        changes = self._changes.get((job, step), ())
        planned = next((event.minutes for event in reversed(changes) if event.at <= start), known.duration)
        duration = -(-planned * self._percent(known.machine, start) // 100)
        for event in changes:
            if start < event.at:
                if self._worked(known.machine, start, duration) <= event.at:
                    break
                duration = event.minutes
        return self._worked(known.machine, start, duration)

    def _percent(self, machine: int, start: int) -> int:
        """Return how much of its duration a step takes that begins then."""
        speeds = (event for event in reversed(self.events) if isinstance(event, SpeedChanged) and event.machine == machine)
        return next((event.percent for event in speeds if event.at <= start), 100)

    def _worked(self, machine: int, start: int, duration: int) -> float:
        """Return when this much work has been done: it pauses while the machine is down."""
        end: float = start + duration
        for down, back in self._stops.get(machine, ()):
            if start < down < end:
                end += back - down
        return end

    @cached_property
    def _stops(self) -> Mapping[int, Sequence[tuple[int, float]]]:
        """Return when each machine goes down and comes back, without overlaps."""
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


@dataclass(frozen=True, slots=True)
class Stuck:
    """Steps that cannot be done, because their machine does not come back."""

    slots: tuple[Slot, ...]

    @property
    def by_machine(self) -> dict[int, list[Slot]]:
        machines: dict[int, list[Slot]] = {}
        for slot in sorted(self.slots, key=lambda slot: (slot.machine, slot.job, slot.step)):
            machines.setdefault(slot.machine, []).append(slot)
        return machines

    @property
    def sentences(self) -> dict[int, str]:
        """Return, for each machine, a sentence about what cannot be done."""
        steps = {
            machine: ", ".join(f"job {slot.job} step {slot.step}" for slot in slots) for machine, slots in self.by_machine.items()
        }
        return {
            machine: f"machine {machine} does not come back, and is still needed by {named}" for machine, named in steps.items()
        }


def carried_on(ordered: Iterable[tuple[Key, Slot]], progress: Progress, now: int) -> Schedule | Stuck:
    """Return when each slot begins and ends by what is known: what began before `now` stands, and the rest waits as needed.

    `ordered`: each slot comes after those that it waits for, of its job and of its machine.
    """
    made: dict[Key, Slot] = {}
    stuck: list[Slot] = []
    job_free: dict[int, float] = defaultdict(int)
    machine_free: dict[int, float] = defaultdict(int)
    for key, slot in ordered:
        start: float = slot.start
        if start >= now:
            start = max(start, job_free[slot.job], machine_free[slot.machine], progress.free_from(slot.machine))
        end = start if isinf(start) else progress.end(slot.job, slot.step, int(start))
        if isinf(end):
            stuck.append(slot)
            continue
        job_free[slot.job] = machine_free[slot.machine] = end
        made[key] = slot.model_copy(update={"start": int(start), "end": int(end)})
    return Stuck(tuple(stuck)) if stuck else made
