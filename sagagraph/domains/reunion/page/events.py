"""Events of a day, as somebody would report them."""

from __future__ import annotations

from sagagraph.domains.reunion.events import (
    Added,
    Cancelled,
    Delayed,
    Event,
    MayReroute,
    RoadClosed,
    TravelFactor,
    VehicleDown,
)
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.times import text_of


def in_words(event: Event, problem: ReunionProblem) -> str:
    return f"Known at {text_of(event.at)}: {_what(event, problem)}"


def _what(event: Event, problem: ReunionProblem) -> str:
    places = problem.places
    match event:
        case TravelFactor():
            return (
                f"everything at {places.get(event.place, event.place)} takes {event.factor:g} times as long{_until(event.until)}"
            )
        case Delayed():
            return f"{event.person} is delayed until {text_of(event.from_)}"
        case Cancelled():
            return f"{event.person} does not come"
        case Added():
            return f"{event.person.name} comes too"
        case VehicleDown():
            return f"{event.vehicle} is out of order{_until(event.until)}"
        case RoadClosed():
            ends = f"{places.get(event.from_, event.from_)} to {places.get(event.to, event.to)}"
            return f"the road from {ends} is closed{_until(event.until)}"
        case MayReroute():
            return f"{event.vehicle} may go to {', '.join(places.get(each, each) for each in event.minutes_left)} instead"


def _until(moment: int | None) -> str:
    return "" if moment is None else f" until {text_of(moment)}"
