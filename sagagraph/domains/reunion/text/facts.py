"""What a sentence can say of a reunion, one fact at a time. Places and people are named as they were said."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PersonFact:
    """Of one person; what is None was not said. `from_` in minutes since midnight."""

    name: str
    place: str | None = None
    from_: int | None = None
    drives: bool | None = None
    prefers: str | None = None
    lands: bool = False


@dataclass(frozen=True, slots=True)
class VehicleFact:
    """`drivers` None: not said; empty: it brings its own."""

    name: str
    place: str | None = None
    seats: int | None = None
    drivers: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TaskFact:
    name: str
    place: str | None = None
    minutes: int | None = None
    opens: int | None = None
    closes: int | None = None
    watched: bool = False
    is_errand: bool = False
    who: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HoursFact:
    """When a place is open."""

    place: str
    opens: int | None = None
    closes: int | None = None


@dataclass(frozen=True, slots=True)
class GoalFact:
    """`people` empty: everybody. `event`: what it is for, where that was said."""

    people: tuple[str, ...] = ()
    place: str | None = None
    by: int | None = None
    event: str = ""


@dataclass(frozen=True, slots=True)
class RoadFact:
    here: str
    there: str
    minutes: float | None = None
    km: float | None = None


@dataclass(frozen=True, slots=True)
class ObjectiveFact:
    objective: str


@dataclass(frozen=True, slots=True)
class CompanyFact:
    """Whether these must not wait alone. `people` empty: nobody must."""

    people: tuple[str, ...] = ()
    is_wanted: bool = True


Fact = PersonFact | VehicleFact | TaskFact | HoursFact | GoalFact | RoadFact | ObjectiveFact | CompanyFact
