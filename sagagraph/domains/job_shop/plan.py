"""Schedule: when each step of each job is on its machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

LATEST: Final = 10**15
Moment = Annotated[int, Field(strict=True, ge=0, le=LATEST)]
"""In the unit of the instance, from its beginning."""
Number = Annotated[int, Field(strict=True)]


class Slot(BaseModel):
    """One row of a schedule. Fields that no rule needs are ignored: many programs write schedules."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    job: Number
    step: Number
    machine: Number
    start: Moment
    end: Moment

    @model_validator(mode="after")
    def _runs_forwards(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"end: {self.end} is before the start at {self.start}")
        return self


Schedule = Mapping[tuple[int, int], Slot]
"""By job and step, every step once."""


def makespan(schedule: Schedule) -> int:
    return max((slot.end for slot in schedule.values()), default=0)
