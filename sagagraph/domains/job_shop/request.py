"""Job shops, their schedules, and what becomes known while one is carried out (docs/formats.md section 12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

MOST_STEPS: Final = 50_000
LONGEST: Final = 1_000_000_000
"""The longest duration: sums of these stay far below what a solver can count."""


@dataclass(frozen=True, slots=True)
class Step:
    machine: int
    duration: int
    """In the unit of the instance."""


@dataclass(frozen=True, slots=True)
class JobShop:
    """Job shop. A job may return to a machine, and jobs may differ in length."""

    jobs: tuple[tuple[Step, ...], ...]
    machines: range
    """The number of the machine in the file."""

    def numbered(self) -> Iterator[tuple[int, int, Step]]:
        """Number jobs and steps from 1, in the order of the file."""
        for job, steps in enumerate(self.jobs, start=1):
            for number, step in enumerate(steps, start=1):
                yield job, number, step

    def step(self, job: int, number: int) -> Step | None:
        is_there = 1 <= job <= len(self.jobs) and 1 <= number <= len(self.jobs[job - 1])
        return self.jobs[job - 1][number - 1] if is_there else None


LATEST: Final = 10**15
Moment = Annotated[int, Field(strict=True, ge=0, le=LATEST)]
"""In the unit of the instance, from its beginning."""
Number = Annotated[int, Field(strict=True)]
_END: Final = 10**17
"""The latest end: work that begins at the latest moment ends before it, even if it is slow and done again."""


class Slot(BaseModel):
    """Slot: one row of a schedule. Fields that no rule needs are ignored: many programs write schedules."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    job: Number
    step: Number
    machine: Number
    start: Annotated[int, Field(strict=True, ge=0, le=_END)]
    end: Annotated[int, Field(strict=True, ge=0, le=_END)]

    @model_validator(mode="after")
    def _runs_forwards(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"end: {self.end} is before the start at {self.start}")
        return self


Key = tuple[int, int, int]
"""Job, step, and which attempt at the step, from 1."""
Schedule = Mapping[Key, Slot]


def by_attempt(slots: Iterable[Slot]) -> Schedule:
    """Return the schedule of these slots. The attempts at a step are numbered in the order of time."""
    made: dict[Key, Slot] = {}
    attempts: Counter[tuple[int, int]] = Counter()
    for slot in sorted(slots, key=lambda slot: slot.start):
        attempts[slot.job, slot.step] += 1
        made[slot.job, slot.step, attempts[slot.job, slot.step]] = slot
    return made


def makespan(schedule: Schedule) -> int:
    return max((slot.end for slot in schedule.values()), default=0)


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    at: Moment
    """When it becomes known. What began before is history."""


class MachineDown(_Event):
    """No step begins on this machine in [at, until), and none continues."""

    event: Literal["machine_down"] = "machine_down"
    machine: Number
    until: Moment | None = None
    """None: it does not come back."""

    @field_validator("until")
    @classmethod
    def _runs_forwards(cls, until: int | None, info: ValidationInfo) -> int | None:
        at = info.data.get("at")
        if until is not None and at is not None and until < at:
            raise ValueError(f"{until} is before {at}")
        return until


class DurationChanged(_Event):
    """A step that is not over at `at` takes `minutes` in all; a finished step stays as it was."""

    event: Literal["duration"] = "duration"
    job: Number
    step: Number
    minutes: Annotated[int, Field(strict=True, ge=0, le=LONGEST)]


class SpeedChanged(_Event):
    """Steps that begin on this machine at `at` or later take `percent` of their duration, rounded up; others keep theirs."""

    event: Literal["machine_speed"] = "machine_speed"
    machine: Number
    percent: Annotated[int, Field(strict=True, ge=1, le=10_000)]


class JobAdded(_Event):
    """A new job, behind all others: it has the next number."""

    event: Literal["job_added"] = "job_added"
    steps: Annotated[tuple[tuple[Number, Annotated[int, Field(strict=True, ge=0, le=LONGEST)]], ...], Field(min_length=1)]
    """For each step, its machine and its duration."""


class JobCancelled(_Event):
    """Steps of this job that have not begun at `at` are not done any more; one under way is finished."""

    event: Literal["job_cancelled"] = "job_cancelled"
    job: Number


class Redo(_Event):
    """The job goes back to this step: it and those after it that have begun by `at` are done again, none before `at`.

    What is under way is finished first. A step that has not begun by `at` is done as planned, and nothing changes.
    """

    event: Literal["redo"] = "redo"
    job: Number
    step: Number


Event = MachineDown | DurationChanged | SpeedChanged | JobAdded | JobCancelled | Redo
KINDS: Final[dict[str, type[Event]]] = {
    "machine_down": MachineDown,
    "duration": DurationChanged,
    "machine_speed": SpeedChanged,
    "job_added": JobAdded,
    "job_cancelled": JobCancelled,
    "redo": Redo,
}


def grown(problem: JobShop, events: Iterable[Event]) -> JobShop:
    """Return the shop with the jobs that were added, in the order of events."""
    added = tuple(tuple(Step(*step) for step in event.steps) for event in events if isinstance(event, JobAdded))
    return JobShop(problem.jobs + added, problem.machines)
