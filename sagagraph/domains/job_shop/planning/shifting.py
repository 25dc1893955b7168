"""Shifting: what becomes of a schedule if nobody acts: every machine keeps its order, and what must wait waits.

(The right shift of rescheduling: Abumaizar and Svestka, "Rescheduling job shops under random disruptions", IJPR 1997.)
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING

from sagagraph.domains.job_shop.plan import Slot

if TYPE_CHECKING:
    from sagagraph.domains.job_shop.plan import Schedule
    from sagagraph.domains.job_shop.planning.progress import Progress


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


def in_order(schedule: Schedule) -> list[Slot]:
    """Sort the steps so that each comes after the steps it waits for."""
    return sorted(schedule.values(), key=lambda slot: (slot.start, slot.end, slot.step, slot.job))


def shifted(schedule: Schedule, progress: Progress, now: int) -> Schedule | Stuck:
    """Shift a schedule that was right before `now`. What began before then stands."""
    made: dict[tuple[int, int], Slot] = {}
    stuck: list[Slot] = []
    job_free: dict[int, float] = defaultdict(int)
    machine_free: dict[int, float] = defaultdict(int)
    for slot in in_order(schedule):
        start: float = slot.start
        if start >= now:
            start = max(start, job_free[slot.job], machine_free[slot.machine], progress.free_from(slot.machine))
        end = start if isinf(start) else progress.end(slot.job, slot.step, int(start))
        if isinf(end):
            stuck.append(slot)
            continue
        job_free[slot.job] = machine_free[slot.machine] = end
        made[slot.job, slot.step] = slot.model_copy(update={"start": int(start), "end": int(end)})
    return Stuck(tuple(stuck)) if stuck else made
