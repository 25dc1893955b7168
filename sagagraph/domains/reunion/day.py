"""Day of a reunion: the request of its saga (a problem on a date, and what has happened), and the plan that it carries out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from pydantic import BaseModel, Field

from sagagraph.context.slice import content_hash
from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.parsing import parse_events, parse_problem
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.request import Name, ReunionProblem
from sagagraph.domains.reunion.transcript import Transcript
from sagagraph.errors import InvalidInputError
from sagagraph.validators.complaints import checked


class ReunionRequest(BaseModel, extra="forbid", frozen=True, serialize_by_alias=True):
    """Request of a day. `events` in the order in which they became known; `day` is the date of times that have none."""

    problem: ReunionProblem
    day: date
    events: tuple[Event, ...] = ()
    is_over: bool = False
    """The day has been carried out: nothing more of it is planned."""
    told: Transcript | None = Field(None, exclude_if=lambda told: told is None)
    """What was said, if `problem` was made from that; written only if present."""

    @property
    def known(self) -> tuple[Event, ...]:
        """Return what has happened, in the order of the times at which it became known."""
        return tuple(sorted(self.events, key=lambda event: event.at))

    def wishes_for_the_same_as(self, other: ReunionRequest) -> bool:
        """Tell whether both ask for the same, in whatever words."""
        return self.model_copy(update={"told": None}) == other.model_copy(update={"told": None})

    @property
    def known_until(self) -> int | None:
        """Return when the latest event became known; what began before is history. None: nothing has happened yet."""
        return max((event.at for event in self.events), default=None)


class Sending(BaseModel, extra="forbid", frozen=True, serialize_by_alias=True):
    """Where somebody is sent what they are told: an address, the path of a calendar, or both."""

    mail: str = ""
    calendar: str = ""


class DayPlan(BaseModel, extra="forbid", frozen=True, serialize_by_alias=True):
    """Plan of a day, with what is needed to tell people their parts of it."""

    plan: ReunionPlan
    day: date
    places: dict[Name, str]
    is_over: bool = False
    plates: dict[Name, Name] = Field({}, exclude_if=lambda plates: not plates)
    """Vehicles that other reunions use, too."""
    sent: dict[Name, Sending] = Field({}, exclude_if=lambda sent: not sent)
    """Who is sent what they are told; everybody finds it in the outbox."""

    @classmethod
    def of(cls, plan: ReunionPlan, request: ReunionRequest, sent: Mapping[Name, Sending] | None = None) -> DayPlan:
        plates = {each.name: each.plate for each in request.problem.vehicles if each.plate is not None}
        places = request.problem.places
        return cls(plan=plan, day=request.day, places=places, is_over=request.is_over, plates=plates, sent=dict(sent or {}))

    @property
    def begins(self) -> int | None:
        return min((act.start for act in self.plan.actions), default=None)

    @property
    def ends(self) -> int | None:
        return max((act.end for act in self.plan.actions), default=None)


def parse_request(value: Any) -> ReunionRequest:
    """Parse a request. Raises `InvalidInputError`: the first fault, in one line that names the field."""
    if not isinstance(value, Mapping) or "problem" not in value:
        raise InvalidInputError("is missing", field="problem")
    problem = parse_problem(value["problem"])
    parse_events(problem, value.get("events", []))
    return checked(ReunionRequest, value, field="request")


def as_json(model: BaseModel) -> Any:
    return model.model_dump(mode="json")


def hash_of(plan: DayPlan) -> str:
    return content_hash(as_json(plan))
