"""Disruptions that can happen on a planned day: as buttons, and as somebody would report them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sagagraph.domains.reunion.day import DayPlan, ReunionRequest, as_json, parse_request
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.text.news import FACTOR, event_in, is_over
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError
from sagagraph.planning.page import Disruption
from sagagraph.saga.core.state import Saga, Stage

_DELAY: Final = 120
_OVER: Final = "The day is over"


def disruptions(saga: Saga) -> tuple[Disruption, ...]:
    """Return what can happen now. A day does not end while a plan is waiting: the reason for that plan would be forgotten."""
    offered = tuple(_offered(Day(saga))) if _is_open(saga) else ()
    return tuple(each for each in offered if each.key != _OVER or saga.stage is Stage.RUNNING)


def disruption_in(text: str, saga: Saga) -> Disruption | None:
    if not _is_open(saga):
        return None
    day = Day(saga)
    if is_over(text):
        if saga.stage is not Stage.RUNNING:
            raise InvalidInputError(
                "A plan waits for your decision first: approve it or reject it. Then say that the day is over."
            )
        return day.over()
    event = event_in(text, day.problem, day.now, under_way=saga.stage is Stage.RUNNING)
    return None if event is None else day.after(text, event)


def _is_open(saga: Saga) -> bool:
    return saga.stage in (Stage.AWAITING_APPROVAL, Stage.RUNNING) and saga.plan.content is not None


class Day:
    """Day that is open, and what is known about it."""

    def __init__(self, saga: Saga) -> None:
        self.request = parse_request(saga.request)
        self.plan = DayPlan.model_validate(saga.plan.content)

    @property
    def problem(self) -> ReunionProblem:
        return self.request.problem

    @property
    def now(self) -> int:
        """Return when an event without a stated time becomes known: after everything known, and not before the day begins."""
        return max(self.request.known_until or 0, self.plan.begins or 0)

    def after(self, words: str, event: Mapping[str, Any]) -> Disruption:
        told = {"problem": as_json(self.problem), "events": [*(as_json(each) for each in self.request.events), dict(event)]}
        wanted = parse_request({**as_json(self.request), **told})
        return Disruption(words, words, as_json(wanted))

    def over(self) -> Disruption:
        ended: ReunionRequest = self.request.model_copy(update={"is_over": True})
        return Disruption(_OVER, _OVER, as_json(ended))


def _offered(day: Day) -> Iterator[Disruption]:
    at = text_of(day.now)
    for person in day.problem.people:
        if person.from_ is not None and person.from_ >= day.now:
            late = text_of(person.from_ + _DELAY)
            event = {"at": at, "event": "delayed", "person": person.name, "from": late}
            yield day.after(f"{person.name} is delayed until {late}", event)
    begins = [person.place for person in day.problem.people]
    for place in sorted(set(begins), key=lambda place: (-begins.count(place), place))[:1]:
        slow: dict[str, Any] = {"at": at, "event": "travel_factor", "place": place, "factor": FACTOR}
        yield day.after(f"Accident at {day.problem.places[place]}: everything there takes three times as long", slow)
    for vehicle in day.problem.vehicles[:2]:
        yield day.after(f"{vehicle.name} breaks down", {"at": at, "event": "vehicle_down", "vehicle": vehicle.name})
    if day.plan.plan.actions:
        yield day.over()
