"""Events during a plan (docs/formats.md section 11): what becomes known, and at which moment."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, model_validator

from sagagraph.domains.reunion.request import Name, Person, ReunionProblem
from sagagraph.domains.reunion.times import Minutes, Moment, text_of


class _Event(BaseModel, extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True):
    at: Moment
    """When it becomes known. What began before is history."""


class _ForATime(_Event):
    until: Moment | None = None

    @model_validator(mode="after")
    def _runs_forwards(self) -> Self:
        if self.until is not None and self.until < self.at:
            raise ValueError(f"until: {text_of(self.until)} is before {text_of(self.at)}")
        return self


class TravelFactor(_ForATime):
    """Journeys to and from a place that begin in [at, until) take `factor` times as long; one that is under way at `at` takes
    T_new = T_elapsed + factor · (T_total − T_elapsed) (SagaLLM 5.3).
    """

    event: Literal["travel_factor"] = "travel_factor"
    place: Name
    factor: float = Field(gt=0, le=1000, allow_inf_nan=False)
    passed: tuple[Name, ...] = ()
    """Vehicles under way that are already beyond it."""


class Delayed(_Event):
    """A person's `from` changes; `exit_minutes` is added again."""

    event: Literal["delayed"] = "delayed"
    person: Name
    from_: Moment = Field(alias="from")


class Cancelled(_Event):
    """A person no longer takes part: nobody fetches them and nobody waits for them."""

    event: Literal["cancelled"] = "cancelled"
    person: Name


class Added(_Event):
    event: Literal["added"] = "added"
    person: Person


class VehicleDown(_ForATime):
    """A vehicle begins no journey in [at, until); one under way continues."""

    event: Literal["vehicle_down"] = "vehicle_down"
    vehicle: Name


class RoadClosed(_ForATime):
    """No journey between the two, either way, begins in [at, until); one under way continues."""

    event: Literal["road_closed"] = "road_closed"
    from_: Name = Field(alias="from")
    to: Name


class MayReroute(_Event):
    """A vehicle under way at `at` may go to one of these places instead, and needs this many minutes from `at`."""

    event: Literal["may_reroute"] = "may_reroute"
    vehicle: Name
    minutes_left: dict[Name, Minutes]


Event = Annotated[
    TravelFactor | Delayed | Cancelled | Added | VehicleDown | RoadClosed | MayReroute, Field(discriminator="event")
]


EVENTS: Final = TypeAdapter[tuple[Event, ...]](
    Annotated[tuple[Event, ...], BeforeValidator(lambda value: [value] if isinstance(value, dict) else value)]
)
"""A file holds one event or a list of them."""


def in_words(event: Event, problem: ReunionProblem) -> str:
    until = f" until {text_of(event.until)}" if isinstance(event, _ForATime) and event.until is not None else ""
    return f"Known at {text_of(event.at)}: {_what(event, problem.places)}{until}"


def _what(event: Event, places: dict[str, str]) -> str:
    match event:
        case TravelFactor():
            return f"everything at {places.get(event.place, event.place)} takes {event.factor:g} times as long"
        case Delayed():
            return f"{event.person} is delayed until {text_of(event.from_)}"
        case Cancelled():
            return f"{event.person} does not come"
        case Added():
            return f"{event.person.name} comes too"
        case VehicleDown():
            return f"{event.vehicle} is out of order"
        case RoadClosed():
            ends = f"{places.get(event.from_, event.from_)} to {places.get(event.to, event.to)}"
            return f"the road from {ends} is closed"
        case MayReroute():
            return f"{event.vehicle} may go to {', '.join(places.get(each, each) for each in event.minutes_left)} instead"
