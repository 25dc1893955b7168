"""A plan as a file holds it (FORMATS, "Plan"): journeys and tasks with stated times. Whoever is not travelling stays put."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from sagagraph.domains.reunion.problem import Name
from sagagraph.domains.reunion.times import Moment

_FORBID: Final = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)


class Journey(BaseModel):
    model_config = _FORBID

    do: Literal["travel"] = "travel"
    vehicle: Name
    driver: Name | None = None
    """None where the vehicle brings its own."""
    riders: tuple[Name, ...] = ()
    from_: Name = Field(alias="from")
    to: Name
    start: Moment
    end: Moment

    @property
    def people(self) -> tuple[str, ...]:
        return self.riders if self.driver is None else (self.driver, *self.riders)


class Work(BaseModel):
    """Doing a task."""

    model_config = _FORBID

    do: Literal["task"] = "task"
    task: Name
    who: tuple[Name, ...]
    place: Name | None = None
    """None: the task's own place, or where its people are."""
    start: Moment
    end: Moment

    @property
    def people(self) -> tuple[str, ...]:
        return self.who


Act = Annotated[Journey | Work, Field(discriminator="do")]


class ReunionPlan(BaseModel):
    """`actions` in any order; their index is what scopes and edits name."""

    model_config = _FORBID

    problem: str
    actions: tuple[Act, ...]
