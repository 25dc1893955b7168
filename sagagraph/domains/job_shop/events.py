"""Events during a schedule (docs/formats.md section 12): what becomes known, and when.

A step on a machine that goes down pauses, and resumes where it stopped when the machine is back. (ADR-0019.)
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from sagagraph.domains.job_shop.plan import Moment, Number
from sagagraph.domains.job_shop.request import LONGEST


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    at: Moment
    """When it becomes known. What began before is history."""


class MachineDown(_Event):
    """No step begins on it in [at, until), and none continues."""

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


Event = MachineDown | DurationChanged
KINDS: Final[dict[str, type[Event]]] = {"machine_down": MachineDown, "duration": DurationChanged}
