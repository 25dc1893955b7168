"""News: the steps that events take from a schedule, add to it, and have done again."""

from __future__ import annotations

from collections.abc import Sequence

from sagagraph.domains.job_shop.planning.progress import Progress
from sagagraph.domains.job_shop.request import Event, JobAdded, JobCancelled, Key, Redo, Schedule, Slot

Ordered = list[tuple[Key, Slot]]
"""Each slot comes after those that it waits for, of its job and of its machine."""


def with_news(schedule: Schedule, events: Sequence[Event], progress: Progress) -> Ordered:
    """Return the slots after these events, the latest of those in `progress` and at the same moment.

    New jobs come last. Steps to be redone come right before their job goes on, so that nobody else waits without need.
    """
    cancelled = {event.job: event.at for event in reversed(progress.events) if isinstance(event, JobCancelled)}
    stands = ((key, slot) for key, slot in schedule.items() if slot.start < cancelled.get(slot.job, slot.start + 1))
    ordered = sorted(stands, key=lambda each: (each[1].start, each[1].end, each[1].step, each[1].job))
    added = [event for event in events if isinstance(event, JobAdded)]
    for job, event in enumerate(added, start=len(progress.problem.jobs) + 1 - len(added)):
        if job not in cancelled:
            ordered += [_begun_anew(job, step, 1, event.at, progress) for step in range(1, len(event.steps) + 1)]
    for redo in (event for event in events if isinstance(event, Redo) and event.job not in cancelled):
        _redo(ordered, redo, progress)
    return ordered


def _redo(ordered: Ordered, event: Redo, progress: Progress) -> None:
    of_job = [(place, key, slot) for place, (key, slot) in enumerate(ordered) if slot.job == event.job]
    attempts = {slot.step: attempt for _place, (_job, _step, attempt), slot in of_job}
    left = [(place, slot.step) for place, _key, slot in of_job if slot.start >= event.at]
    place, goes_on = left[0] if left else (len(ordered), len(progress.problem.jobs[event.job - 1]) + 1)
    again = range(event.step, goes_on)
    ordered[place:place] = [_begun_anew(event.job, step, attempts[step] + 1, event.at, progress) for step in again]


def _begun_anew(job: int, step: int, attempt: int, at: int, progress: Progress) -> tuple[Key, Slot]:
    machine = progress.problem.jobs[job - 1][step - 1].machine
    return (job, step, attempt), Slot(job=job, step=step, machine=machine, start=at, end=at)
