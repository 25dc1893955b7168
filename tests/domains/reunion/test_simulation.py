"""Where everybody is at a moment, also half-way along a road."""

from __future__ import annotations

import pytest

from sagagraph.domains.reunion.parsing import parse_events, parse_plan, parse_problem
from sagagraph.domains.reunion.rules.facts.case import Case
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.simulation import in_words, whereabouts
from tests.domains.reunion.plans import Json, plan_of, shipped, task, travel
from tests.domains.reunion.published import ALAS_TABLE_21, SAGALLM_TABLE_5

pytestmark = pytest.mark.quick


def told(problem: Json, plan: Json, at: str, *events: Json) -> list[str]:
    known = parse_problem(problem)
    case = Case(Circumstances(known, parse_events(known, list(events))), parse_plan(known, plan))
    return [in_words(each) for each in whereabouts(case.simulation, int(at[:2]) * 60 + int(at[3:]))]


def test_everybody_is_on_the_road_or_waits_or_is_not_there_yet() -> None:
    assert told(shipped("wedding"), SAGALLM_TABLE_5, "13:00") == [
        "Alex is between B and G, 10 of 45 minutes",
        "Jamie is between B and G, 10 of 45 minutes",
        "Pat is between B and G, 10 of 45 minutes",
        "Chris is not available yet, and will be at W",
        "Pat's car is between B and G, 10 of 45 minutes",
        "Chris's car is not available yet, and will be at W",
    ]


def test_who_works_is_told_and_who_only_watches_is_not() -> None:
    assert told(shipped("thanksgiving"), ALAS_TABLE_21, "17:00")[:2] == [
        "Sarah is at HOME, at work on side dishes",
        "James is at HOME",
    ]
    assert told(shipped("thanksgiving"), ALAS_TABLE_21, "15:30")[3:5] == [
        "Michael is between GRANDMA and HOME, 0 of 30 minutes",
        "Grandma is between GRANDMA and HOME, 0 of 30 minutes",
    ]


def test_they_have_arrived_when_the_journey_ends_and_left_when_it_begins() -> None:
    for at, where in (("12:39", "between W and B, 39 of 40 minutes"), ("12:40", "at B"), ("12:49", "at B"), ("14:40", "at W")):
        assert f"Pat is {where}" in told(shipped("wedding"), SAGALLM_TABLE_5, at)


def test_nobody_is_told_of_who_has_cancelled_or_is_not_known_yet() -> None:
    events: list[Json] = [
        {"at": "08:05", "event": "cancelled", "person": "r2"},
        {"at": "08:10", "event": "added", "person": {"name": "r5", "place": "F", "from": "08:10"}},
    ]
    names = [[line.split(" ")[0] for line in told(shipped("ride_sharing"), plan_of(), at, *events)] for at in ("08:04", "08:10")]
    assert names == [["r1", "r2", "r3", "r4", "k1", "k2", "k3"], ["r1", "r3", "r4", "r5", "k1", "k2", "k3"]]


def test_where_a_plan_contradicts_itself_both_places_are_told() -> None:
    plan = plan_of(task("gift", "Pat", "12:30", "12:35"))
    assert told(shipped("wedding"), plan, "12:40")[2] == "Pat is at G or W"


def test_a_plan_that_teleports_goes_on_from_where_it_says() -> None:
    plan = plan_of(travel("Pat's car", "Pat", "G-T", "12:30", "12:50"))
    assert told(shipped("wedding"), plan, "13:00")[2] == "Pat is at T"
