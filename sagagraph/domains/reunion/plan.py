"""Plan of a reunion as in files (docs/formats.md section 9): journeys and tasks with stated times. Everybody else stays put."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from sagagraph.domains.reunion.request import Name
from sagagraph.domains.reunion.times import Moment, text_of

"""Many programs write plans, with remarks of their own: fields that no rule mentions are ignored."""


class _Timed(BaseModel, extra="ignore", frozen=True, populate_by_name=True, serialize_by_alias=True):
    start: Moment
    end: Moment

    @model_validator(mode="after")
    def _runs_forwards(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"end: {text_of(self.end)} is before the start at {text_of(self.start)}")
        return self


class Journey(_Timed):
    do: Literal["travel"] = "travel"
    vehicle: Name
    driver: Name | None = None
    """None if the vehicle brings its own."""
    riders: tuple[Name, ...] = ()
    from_: Name = Field(alias="from")
    to: Name

    @property
    def people(self) -> tuple[str, ...]:
        return self.riders if self.driver is None else (self.driver, *self.riders)


class Work(_Timed):
    """Work on a task."""

    do: Literal["task"] = "task"
    task: Name
    who: tuple[Name, ...]
    place: Name | None = None
    """None: the task's own place, or where its people are."""

    @property
    def people(self) -> tuple[str, ...]:
        return self.who


Act = Annotated[Journey | Work, Field(discriminator="do")]


class ReunionPlan(BaseModel, extra="ignore", frozen=True, populate_by_name=True, serialize_by_alias=True):
    """Plan. `actions` may be in any order; their index is what scopes and edits name."""

    problem: str
    actions: tuple[Act, ...]

    @property
    def in_time(self) -> list[Act]:
        return sorted(self.actions, key=lambda act: (act.start, act.end))
