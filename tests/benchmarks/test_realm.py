"""Instances of REALM-Bench, made here in their shape; the samples themselves where SAGAGRAPH_DATA names their folder."""

from __future__ import annotations

import json
import os
from itertools import permutations, product
from math import inf
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reunions.realm import read_realm
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError

TOUR: dict[str, Any] = {
    "instance_id": "p1",
    "locations": ["gate", "old-library", "gym"],
    "start_location": "gate",
    "end_location": "gate",
    "distances": {
        "gate-old-library": 10,
        "old-library-gate": 12,
        "gate-gym": 20,
        "gym-gate": 20,
        "old-library-gym": 5,
        "gym-old-library": 6,
    },
    "time_windows": {"old-library": [9, 12], "gym": [15, 18]},
    "max_duration": 180,
}
GROUPS: dict[str, Any] = {
    "instance_id": "p2",
    "visitor_groups": [{"group_id": "g1", "size": 9, "preferred_time": 11, "arrival_time": 9}],
    "tour_guides": [{"guide_id": "guide1", "availability": [8, 12], "max_group_size": 15}],
    "tour_duration": 90,
}
RIDES: dict[str, Any] = {
    "instance_id": "p4",
    "city_map": {"locations": ["mall", "park"], "distances": {"mall-park": 20, "park-mall": 20}},
    "ride_requests": [{"passenger_id": "p1", "pickup": "park", "dropoff": "mall", "time_window": [14.0, 14.25], "deadline": 30}],
    "vehicles": [{"vehicle_id": "v1", "location": "mall", "capacity": 4, "fuel": 50}],
    "disruptions": [
        {"type": "accident", "location": "mall", "start_time": 10, "duration": 65},
        {"type": "road_closure", "route": "mall-park", "start_time": 11.5, "duration": 30},
        {"type": "traffic_delay", "route": "park-mall", "delay": 9, "start_time": 12, "duration": 30},
    ],
}


def walk(here: str, there: str, start: str, end: str) -> dict[str, Any]:
    way = {"do": "travel", "vehicle": "on foot", "driver": "visitor", "riders": []}
    return {**way, "from": here, "to": there, "start": start, "end": end}


def visit(place: str, at: str) -> dict[str, Any]:
    return {"do": "task", "task": f"visit {place}", "who": ["visitor"], "place": place, "start": at, "end": at}


WALKED = {
    "problem": "p1",
    "actions": [
        walk("gate", "old-library", "11:50", "12:00"),
        visit("old-library", "12:00"),
        walk("old-library", "gym", "14:55", "15:00"),
        visit("gym", "15:00"),
        walk("gym", "gate", "15:00", "15:20"),
        walk("gate", "end of the tour", "15:20", "15:20"),
    ],
}


def test_a_tour_is_too_long_by_its_limit_and_can_be_walked_without_it() -> None:
    assert [each.code for each in validate_plan(read_realm(TOUR).problem, WALKED).violations] == ["GOAL_MISSED"]
    assert validate_plan(read_realm(TOUR, max_duration=False).problem, WALKED).is_valid


def test_a_tour_that_has_ended_is_not_gone_on_with() -> None:
    first = [
        walk("gate", "old-library", "11:50", "12:00"),
        visit("old-library", "12:00"),
        walk("old-library", "gate", "12:00", "12:12"),
    ]
    home = [*first, walk("gate", "end of the tour", "12:12", "12:12")]
    back = [walk("end of the tour", "gym", "14:00", "15:00"), visit("gym", "15:00")]
    found = validate_plan(read_realm(TOUR).problem, {"problem": "p1", "actions": [*home, *back]}).violations
    assert {each.code for each in found} >= {"NO_ROUTE"}


def test_the_limit_counts_from_the_last_moment_to_set_out() -> None:
    (goal,) = read_realm(TOUR).problem.goals
    assert text_of(goal.by) == "14:50"  # from 11:50, when the library can just be reached; the gym opens at 15:00


def test_a_guide_leads_a_group_and_is_back_in_time() -> None:
    lead = {"do": "travel", "vehicle": "tour of guide1", "driver": "guide1"}
    tour = {**lead, "riders": ["g1"], "from": "gate", "to": "end of the tour", "start": "10:30", "end": "12:00"}
    home = {**lead, "riders": [], "from": "end of the tour", "to": "guides' room", "start": "12:00", "end": "12:00"}
    instance = read_realm(GROUPS)
    assert validate_plan(instance.problem, {"problem": "p2", "actions": [tour, home]}).is_valid
    late = {**tour, "start": "10:40", "end": "12:10"}
    codes = {each.code for each in validate_plan(instance.problem, {"problem": "p2", "actions": [late]}).violations}
    assert codes == {"GOAL_MISSED"}


def test_a_group_that_is_too_big_for_a_guide_is_refused_by_name() -> None:
    crowd = {**GROUPS, "visitor_groups": [{**GROUPS["visitor_groups"][0], "size": 20}]}
    with pytest.raises(InvalidInputError, match=r"visitor_groups\[0\]\.size: 20 are too many for guide1"):
        read_realm(crowd)


def test_rides_are_bound_by_their_arrival_and_what_is_left_out_is_named() -> None:
    instance = read_realm(RIDES)
    (person,) = instance.problem.people
    assert (text_of(person.from_ or 0), text_of(person.goals[0].by)) == ("14:00", "14:45")
    assert instance.unsaid == (
        "p1 is picked up by 14:15: only the arrival is bound",
        "the fuel of the vehicles: nothing says how far it goes",
    )


def test_disruptions_become_events() -> None:
    told = [each.model_dump(mode="json") for each in read_realm(RIDES).events]
    assert told == [
        {"at": "10:00", "until": "11:05", "event": "travel_factor", "place": "mall", "factor": 2.0, "passed": []},
        {"at": "11:30", "until": "12:00", "event": "road_closed", "from": "mall", "to": "park"},
        {"at": "12:00", "until": "12:30", "event": "road_closed", "from": "park", "to": "mall"},
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"distances": {"gate-moon": 3}}, r"distances\.gate-moon: .*two places"),
        ({"max_duration": "long"}, "max_duration: must be a valid number"),
        ({"time_windows": {"gym": [9]}}, "time_windows.gym"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_realm({**TOUR, **change})


@pytest.mark.parametrize("value", [{}, [], None, {"job": 1}])
def test_something_else_is_no_instance(value: object) -> None:
    with pytest.raises(InvalidInputError, match="no instance of REALM"):
        read_realm(value)


def test_an_unknown_disruption_is_named() -> None:
    unknown = {**RIDES, "disruptions": [{"type": "flood", "start_time": 9, "duration": 5}]}
    with pytest.raises(InvalidInputError, match=r"disruptions\[0\]\.type: nothing is known of 'flood'"):
        read_realm(unknown)


def ends_at(instance: dict[str, Any]) -> float:
    """The earliest end of any tour, over every order of the visits: minutes since midnight, or infinity."""
    names = [*instance["locations"]]
    way = {(a, b): 0.0 if a == b else float(instance["distances"].get(f"{a}-{b}", inf)) for a, b in product(names, names)}
    for middle, a, b in product(names, names, names):
        way[a, b] = min(way[a, b], way[a, middle] + way[middle, b])
    best = inf
    for order in permutations(instance["time_windows"]):
        now, here = 0.0, instance["start_location"]
        for place in order:
            opens, closes = (60 * hour for hour in instance["time_windows"][place])
            now, here = max(now + way[here, place], opens), place
            if now > closes:
                break
        else:
            best = min(best, now + way[here, instance["end_location"]])
    return best


def test_no_order_of_the_visits_keeps_to_the_limit_and_one_does_without() -> None:
    (limited,), (free,) = (read_realm(TOUR, max_duration=each).problem.goals for each in (True, False))
    assert limited.by < ends_at(TOUR) <= free.by


@pytest.mark.skipif("SAGAGRAPH_DATA" not in os.environ, reason="SAGAGRAPH_DATA names no folder of benchmark data")
def test_no_sample_of_a_campus_tour_can_keep_to_its_limit() -> None:
    paths = sorted(Path(os.environ["SAGAGRAPH_DATA"], "realm", "P1").glob("*.json"))
    for instance in [json.loads(path.read_text()) for path in paths]:
        (limited,), (free,) = (read_realm(instance, max_duration=each).problem.goals for each in (True, False))
        assert limited.by < ends_at(instance) <= free.by


@pytest.mark.skipif("SAGAGRAPH_DATA" not in os.environ, reason="SAGAGRAPH_DATA names no folder of benchmark data")
@pytest.mark.parametrize("family", ["P1", "P2", "P3", "P4"])
def test_every_sample_is_read(family: str) -> None:
    paths = sorted(Path(os.environ["SAGAGRAPH_DATA"], "realm", family).glob("*.json"))
    instances = [read_realm(json.loads(path.read_text())) for path in paths]
    assert len(instances) == len(paths) > 0
    assert all(each.events for each in instances) is (family == "P4")
