"""REALM-Bench instances (arXiv 2502.18836) as logistics problems. Their units are undefined; this is how they are read here.

All: distances are minutes, hours are clock hours, rounded to minutes. What a problem can not say is left out, and in `unsaid`.

- P1, a campus tour. Being at a place within its window is a task of no minutes; nothing leads back from the end of the tour.
  Nothing says when a tour begins: `max_duration` counts from the last moment at which one can set out and still reach every place
  before that closes. No tour that keeps to it is lost by this: where the problem has no plan, the instance has none.
- P2, groups and guides. A tour is a journey of `tour_duration` from the gate to its end, one group at a time. A guide goes to the
  guides' room in time, and nothing leads out of it. Groups would rather not be through before `preferred_time` + `tour_duration`.
- P3, rides. A passenger waits from the beginning of `time_window` and is there `deadline` minutes after its end.
- P4, the same with disruptions. An accident or construction has no number: a factor of 2 for its `duration`. A delay of one road
  is read as its closure, for no plan that avoids the road is spoiled by the delay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import networkx as nx
from pydantic import BaseModel, ConfigDict, ValidationError

from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.parsing import parse_events, parse_problem
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.times import text_of, whole_minutes
from sagagraph.errors import InvalidInputError
from sagagraph.validators.complaints import in_words

FACTOR: Final = 2
_HOUR: Final = 60
_GATE, _END, _ROOM = "gate", "end of the tour", "guides' room"


@dataclass(frozen=True, slots=True)
class RealmInstance:
    """`unsaid`: what the instance asks for and the problem does not."""

    problem: ReunionProblem
    events: tuple[Event, ...] = ()
    unsaid: tuple[str, ...] = ()


class _Realm(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    instance_id: str


class _Tour(_Realm):
    locations: tuple[str, ...]
    start_location: str
    end_location: str
    distances: dict[str, float]
    time_windows: dict[str, tuple[float, float]]
    max_duration: float


class _Group(BaseModel):
    group_id: str
    size: int
    preferred_time: float
    arrival_time: float


class _Guide(BaseModel):
    guide_id: str
    availability: tuple[float, float]
    max_group_size: int


class _Groups(_Realm):
    visitor_groups: tuple[_Group, ...]
    tour_guides: tuple[_Guide, ...]
    tour_duration: float


class _Map(BaseModel):
    locations: tuple[str, ...]
    distances: dict[str, float]


class _Ride(BaseModel):
    passenger_id: str
    pickup: str
    dropoff: str
    time_window: tuple[float, float]
    deadline: float


class _Cab(BaseModel):
    vehicle_id: str
    location: str
    capacity: int


class _Disruption(BaseModel):
    type: str
    start_time: float
    duration: float
    location: str | None = None
    route: str | None = None


class _Rides(_Realm):
    city_map: _Map
    ride_requests: tuple[_Ride, ...]
    vehicles: tuple[_Cab, ...]
    disruptions: tuple[_Disruption, ...] = ()


def read_realm(value: Any, *, max_duration: bool = True) -> RealmInstance:
    """An instance of P1 to P4, told apart by its fields. `max_duration=False` lifts that limit of P1.

    Raises:
        InvalidInputError: it is none of them, or names the field that is wrong.
    """
    fields = set(value) if isinstance(value, Mapping) else set()
    try:
        if "start_location" in fields:
            return _campus_tour(_Tour.model_validate(value), limited=max_duration)
        if "visitor_groups" in fields:
            return _campus_groups(_Groups.model_validate(value))
        if "ride_requests" in fields:
            return _rides(_Rides.model_validate(value))
    except ValidationError as exc:
        field, message = in_words(exc)[0]
        raise InvalidInputError(message, field=field) from exc
    raise InvalidInputError(
        "is no instance of REALM P1 to P4: it has neither start_location nor visitor_groups nor ride_requests"
    )


# -- P1 --------------------------------------------------------------------------------------------------------------


def _campus_tour(tour: _Tour, *, limited: bool) -> RealmInstance:
    roads = _roads(tour.distances, tour.locations)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_weighted_edges_from((here, there, whole_minutes(minutes)) for here, there, minutes in roads)
    away = nx.single_source_dijkstra_path_length(graph, tour.start_location)
    latest_start = min(_minutes(closes) - whole_minutes(away[place]) for place, (_opens, closes) in tour.time_windows.items())
    latest_end = max(_minutes(closes) for _opens, closes in tour.time_windows.values()) + whole_minutes(max(away.values()))
    end = latest_start + whole_minutes(tour.max_duration) if limited else latest_end
    problem = {
        "name": tour.instance_id,
        "places": {place: place for place in (*tour.locations, _END)},
        "travel_minutes": [*_one_way(roads), [tour.end_location, _END, 0, "one-way"]],
        "people": [{"name": "visitor", "place": tour.start_location}],
        "vehicles": [{"name": "on foot", "seats": 1, "place": tour.start_location, "drivers": ["visitor"]}],
        "tasks": [
            {"name": f"visit {place}", "place": place, "window": [_clock(opens), _clock(closes)]}
            for place, (opens, closes) in tour.time_windows.items()
        ],
        "goals": [{"people": "all", "place": _END, "by": text_of(end)}],
        "objectives": ["driving_minutes"],
    }
    limit = f"the tour takes {tour.max_duration:g} minutes from its own beginning" if limited else "max_duration"
    return RealmInstance(parse_problem(problem), unsaid=(limit,))


# -- P2 --------------------------------------------------------------------------------------------------------------


def _campus_groups(asked: _Groups) -> RealmInstance:
    _check_sizes(asked)
    tour = whole_minutes(asked.tour_duration)
    last = max(_minutes(guide.availability[1]) for guide in asked.tour_guides)
    problem = {
        "name": asked.instance_id,
        "places": {place: place for place in (_GATE, _END, _ROOM)},
        "travel_minutes": _one_way([(_GATE, _END, tour), (_END, _GATE, 0), (_GATE, _ROOM, 0), (_END, _ROOM, 0)]),
        "people": [
            *(_group(each, tour, last) for each in asked.visitor_groups),
            *(_guide(each) for each in asked.tour_guides),
        ],
        "vehicles": [
            {"name": f"tour of {guide.guide_id}", "seats": 2, "place": _GATE, "drivers": [guide.guide_id]}
            for guide in asked.tour_guides
        ],
        "objectives": ["makespan"],
    }
    return RealmInstance(parse_problem(problem))


def _group(group: _Group, tour: int, last: int) -> dict[str, Any]:
    through = min(last, _minutes(group.preferred_time) + tour)
    goal = {"place": _END, "by": text_of(last), "not_before": text_of(through)}
    waits = {"place": _GATE, "from": _clock(group.arrival_time), "drives": False}
    return {"name": group.group_id, **waits, "goals": [goal]}


def _guide(guide: _Guide) -> dict[str, Any]:
    begins, ends = guide.availability
    goal = {"place": _ROOM, "by": _clock(ends)}
    return {"name": guide.guide_id, "place": _GATE, "from": _clock(begins), "goals": [goal]}


def _check_sizes(asked: _Groups) -> None:
    """A guide takes one group at a time; which groups are too big for which guides is nothing that a problem can say."""
    for number, group in enumerate(asked.visitor_groups):
        too_small = [guide.guide_id for guide in asked.tour_guides if guide.max_group_size < group.size]
        if too_small:
            why = f"{group.size} are too many for {', '.join(too_small)}, and a problem can not say which guides are out"
            raise InvalidInputError(why, field=f"visitor_groups[{number}].size")


# -- P3 and P4 -------------------------------------------------------------------------------------------------------


def _rides(asked: _Rides) -> RealmInstance:
    roads = _roads(asked.city_map.distances, asked.city_map.locations)
    problem = {
        "name": asked.instance_id,
        "places": {place: place for place in asked.city_map.locations},
        "travel_minutes": _one_way(roads),
        "distance_km": _one_way(roads),
        "people": [_passenger(ride) for ride in asked.ride_requests],
        "vehicles": [{"name": cab.vehicle_id, "seats": cab.capacity, "place": cab.location} for cab in asked.vehicles],
        "objectives": ["distance"],
    }
    made = parse_problem(problem)
    unsaid = [
        f"{ride.passenger_id} is picked up by {_clock(ride.time_window[1])}: only the arrival is bound"
        for ride in asked.ride_requests
    ]
    events = [_event(number, each, asked.city_map.locations) for number, each in enumerate(asked.disruptions)]
    return RealmInstance(made, parse_events(made, events), (*unsaid, "the fuel of the vehicles: nothing says how far it goes"))


def _passenger(ride: _Ride) -> dict[str, Any]:
    by = text_of(_minutes(ride.time_window[1]) + whole_minutes(ride.deadline))
    waits = {"place": ride.pickup, "from": _clock(ride.time_window[0]), "drives": False}
    return {"name": ride.passenger_id, **waits, "goals": [{"place": ride.dropoff, "by": by}]}


def _event(number: int, disruption: _Disruption, places: Iterable[str]) -> dict[str, Any]:
    begins = _minutes(disruption.start_time)
    until = text_of(begins + whole_minutes(disruption.duration))
    when = {"at": text_of(begins), "until": until}
    match disruption:
        case _Disruption(type="accident" | "construction", location=str(place)):
            return {**when, "event": "travel_factor", "place": place, "factor": FACTOR}
        case _Disruption(type="accident" | "construction" | "road_closure" | "traffic_delay", route=str(route)):
            here, there = _ends(route, places, f"disruptions[{number}].route")
            return {**when, "event": "road_closed", "from": here, "to": there}
        case _:
            raise InvalidInputError(f"nothing is known of {disruption.type!r} like this", field=f"disruptions[{number}].type")


# -- what they share -------------------------------------------------------------------------------------------------


def _roads(distances: Mapping[str, float], places: Iterable[str]) -> list[tuple[str, str, float]]:
    return [(*_ends(pair, places, f"distances.{pair}"), minutes) for pair, minutes in distances.items()]


def _ends(pair: str, places: Iterable[str], field: str) -> tuple[str, str]:
    """`student_center-gym`; names may hold hyphens of their own."""
    known = set(places)
    cuts = (number for number, letter in enumerate(pair) if letter == "-")
    ends = next(((pair[:cut], pair[cut + 1 :]) for cut in cuts if {pair[:cut], pair[cut + 1 :]} <= known), None)
    if ends is None:
        raise InvalidInputError(f"{pair!r} does not name two places with a hyphen between them", field=field)
    return ends


def _one_way(roads: Iterable[tuple[str, str, float]]) -> list[list[Any]]:
    return [[here, there, minutes, "one-way"] for here, there, minutes in roads]


def _minutes(hours: float) -> int:
    return round(hours * _HOUR)


def _clock(hours: float) -> str:
    return text_of(_minutes(hours))
