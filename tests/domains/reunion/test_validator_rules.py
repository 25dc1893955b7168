"""Each fault once, at its own action, and nothing that follows from it: which code counts where several could."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domains.reunion.plans import Json, found, judged, plan_of, task, travel

pytestmark = pytest.mark.quick

PROBLEM: Json = {
    "name": "rules",
    "places": {"A": "home", "B": "market", "C": "church", "Z": "nowhere near"},
    "travel_minutes": [["A", "B", 30], ["B", "C", 20], ["A", "C", 40, "one-way"]],
    "people": [
        {"name": "Ann", "place": "A", "from": "09:00", "exit_minutes": 15},
        {"name": "Bob", "place": "A"},
        {"name": "Cid", "place": "B"},
        {"name": "Dot", "place": "B"},
    ],
    "vehicles": [
        {"name": "car", "place": "A", "seats": 3, "drivers": ["Ann", "Bob"]},
        {"name": "bus", "place": "B", "seats": 2},
        {"name": "rental", "place": "B", "seats": 4, "drivers": ["Cid"], "unlocked_by": "rent"},
    ],
    "tasks": [
        {"name": "shop", "place": "B", "minutes": 10, "optional": True},
        {"name": "cook", "place": "A", "minutes": 20, "after": ["shop"], "optional": True},
        {"name": "oven", "place": "A", "minutes": 60, "attention": "watched", "optional": True},
        {"name": "rent", "place": "B", "minutes": 5, "optional": True},
        {"name": "sing", "minutes": 5, "people": 2, "optional": True},
        {"name": "nap", "minutes": 0, "optional": True},
    ],
}
MALFORMED, STRANGE, ELSEWHERE, OVERLAP, EARLY = "MALFORMED", "UNKNOWN_REFERENCE", "CONTINUITY", "OVERLAP", "NOT_YET_AVAILABLE"
TO_B = travel("car", "Ann", "A-B", "09:30", "10:00", "Bob")
BACK = travel("car", "Ann", "B-A", "10:10", "10:40", "Bob")

RIGHT: dict[str, list[Json]] = {
    "nothing is done": [],
    "they arrive and leave, or begin, at the same moment": [
        TO_B,
        task("shop", "Ann,Bob", "10:00", "10:10"),
        BACK,
        task("cook", "Bob", "10:40", "11:00"),
    ],
    "a journey and a task take longer than they need": [
        travel("car", "Ann", "A-B", "09:15", "10:00"),
        task("shop", "Cid", "09:00", "12:00"),
    ],
    "a watcher does something else, and another one goes on watching": [
        task("oven", "Ann", "09:20", "11:00"),
        task("nap", "Ann", "09:20", "09:40"),
        travel("car", "Ann", "A-B", "09:40", "10:20"),
        travel("car", "Ann", "B-A", "10:30", "11:00"),
    ],
    "who watches comes when the other leaves": [
        travel("bus", None, "B-A", "09:00", "09:30", "Cid"),
        task("oven", "Bob", "09:00", "11:00"),
        travel("car", "Bob", "A-B", "09:30", "10:00"),
    ],
    "who puts it into the oven leaves at once": [
        task("oven", "Bob", "09:15", "10:15"),
        travel("car", "Bob", "A-B", "09:15", "09:45"),
    ],
    "the driver is named among the riders too": [travel("car", "Ann", "A-B", "09:30", "10:00", "Ann", "Bob")],
    "a bus brings its own driver, who has a seat": [travel("bus", None, "B-C", "09:00", "09:20", "Cid", "Dot")],
    "a task is done twice": [task("shop", "Cid", "09:00", "09:10"), task("shop", "Dot", "09:05", "09:15")],
    "what can be done anywhere is done where they are": [task("sing", "Cid,Dot", "09:00", "09:05")],
    "something of no duration is done between two others": [TO_B, task("nap", "Bob", "10:00", "10:00"), BACK],
    "a way that is one-way is taken that way": [travel("car", "Ann", "A-C", "09:15", "09:55")],
    "a rental is driven at the moment that it is unlocked": [
        task("rent", "Dot", "09:00", "09:05"),
        travel("rental", "Cid", "B-A", "09:05", "09:35"),
    ],
    "it says more than anybody asked": [{**TO_B, "note": "by the coast", "confidence": 0.3}],
}

WRONG: dict[str, tuple[list[Any], list[tuple[str, int | None]]]] = {
    "not available yet, and elsewhere": ([task("shop", "Ann", "09:10", "09:20")], [(EARLY, 0)]),
    "each action before one is available": (
        [travel("car", "Ann", "A-B", "08:00", "08:30"), task("shop", "Ann", "08:30", "08:40")],
        [(EARLY, 0), (EARLY, 1)],
    ),
    "in another action, and elsewhere": ([TO_B, task("cook", "Bob", "09:45", "10:05")], [(OVERLAP, 1)]),
    "the later one of two overlaps, wherever it stands": (
        [task("nap", "Bob", "09:45", "09:50"), travel("car", "Bob", "A-B", "09:30", "10:00")],
        [(OVERLAP, 0)],
    ),
    "after an overlap they are where the last of the two ends": (
        [TO_B, travel("bus", None, "B-C", "09:50", "10:10", "Bob"), travel("bus", None, "C-B", "10:10", "10:30", "Bob")],
        [(OVERLAP, 1)],
    ),
    "within another journey, and on from where that one ends": (
        [TO_B, travel("bus", None, "B-C", "09:35", "09:55", "Bob"), BACK],
        [(OVERLAP, 1)],
    ),
    "who watches before being available does watch": (
        [travel("car", "Bob", "A-B", "08:00", "08:30"), task("oven", "Ann", "09:00", "10:00")],
        [(EARLY, 1)],
    ),
    "a car in two journeys": ([TO_B, travel("car", None, "B-C", "09:59", "10:30")], [(OVERLAP, 1), ("NO_DRIVER", 1)]),
    "elsewhere once, and then where the plan says": (
        [travel("bus", None, "B-C", "09:00", "09:20", "Bob"), travel("bus", None, "C-B", "09:20", "09:40", "Bob")],
        [(ELSEWHERE, 0)],
    ),
    "two people who are elsewhere": ([travel("bus", None, "B-C", "09:30", "09:50", "Ann", "Bob")], [(ELSEWHERE, 0)]),
    "at work elsewhere, and then either here or there": (
        [task("shop", "Bob", "09:00", "09:10"), travel("car", "Bob", "A-B", "09:30", "10:00")],
        [(ELSEWHERE, 0)],
    ),
    "a task at another place than its own": ([task("shop", "Ann,Bob", "09:30", "09:40", "A")], [(ELSEWHERE, 0)]),
    "a task at another place than its own, though they are at its own": (
        [task("shop", "Cid,Dot", "09:30", "09:40", "A"), travel("bus", None, "B-C", "09:40", "10:00", "Cid", "Dot")],
        [(ELSEWHERE, 0)],
    ),
    "together, and one of them is elsewhere": ([task("sing", "Ann,Cid", "09:30", "09:35")], [(ELSEWHERE, 0)]),
    "too fast, and then in time": ([{**TO_B, "end": "09:40"}, BACK], [("TRAVEL_TIME", 0)]),
    "no way, and no time that it would take": ([travel("car", "Ann", "A-Z", "09:30", "09:30")], [("NO_ROUTE", 0)]),
    "a one-way road, back": (
        [TO_B, travel("car", "Ann", "B-C", "10:00", "10:20"), travel("car", "Ann", "C-A", "10:20", "11:00")],
        [("NO_ROUTE", 2)],
    ),
    "a journey to where it begins": ([travel("car", "Ann", "A-A", "09:30", "09:40")], [("NO_ROUTE", 0)]),
    "a place that nobody knows has no roads": ([travel("car", "Ann", "A-Q", "09:30", "09:31")], [(STRANGE, 0)]),
    "from a place that nobody knows": ([travel("car", "Ann", "Q-B", "09:30", "09:31"), BACK], [(STRANGE, 0), (ELSEWHERE, 1)]),
    "a driver whom nobody knows": ([travel("car", "Zoe", "A-B", "09:30", "10:00")], [(STRANGE, 0)]),
    "two strangers": ([travel("car", "Zoe", "A-B", "09:30", "10:00", "Yan")], [(STRANGE, 0)] * 2),
    "a stranger who may be somebody who stood there": (
        [travel("car", "Ann", "A-B", "09:30", "10:00", "Zoe"), task("shop", "Bob", "10:00", "10:10")],
        [(STRANGE, 0)],
    ),
    "a stranger who is nobody who stood elsewhere": (
        [
            travel("bus", None, "B-C", "09:00", "09:20", "Dot"),
            travel("car", "Ann", "A-B", "09:30", "10:00", "Zoe"),
            task("shop", "Dot", "10:00", "10:10"),
        ],
        [(STRANGE, 1), (ELSEWHERE, 2)],
    ),
    "a stranger who works": ([task("shop", "Zoe", "09:30", "09:40")], [(STRANGE, 0)]),
    "a task that nobody knows": ([task("juggle", "Cid", "09:30", "09:40", "B")], [(STRANGE, 0)]),
    "a place of a task that nobody knows": ([task("shop", "Cid", "09:30", "09:40", "Q")], [(STRANGE, 0)]),
    "nobody drives, and the driver goes on from there": (
        [travel("car", None, "A-B", "09:30", "10:00", "Bob"), travel("car", "Ann", "B-A", "10:00", "10:30")],
        [("NO_DRIVER", 0)],
    ),
    "the wrong one drives": ([travel("car", "Cid", "A-B", "09:30", "10:00")], [(ELSEWHERE, 0), ("NO_DRIVER", 0)]),
    "somebody drives the bus": ([travel("bus", "Cid", "B-C", "09:30", "09:50")], [("NO_DRIVER", 0)]),
    "too many on the bus": (
        [travel("car", "Ann", "A-B", "09:15", "09:45", "Bob"), travel("bus", None, "B-C", "09:45", "10:05", "Ann", "Cid", "Dot")],
        [("CAPACITY", 1)],
    ),
    "a rental that nobody unlocks": ([travel("rental", "Cid", "B-A", "09:30", "10:00")], [(EARLY, 0)]),
    "before what comes first has ended": (
        [task("shop", "Cid", "09:50", "10:00"), task("cook", "Bob", "09:59", "10:19")],
        [("ORDER", 1)],
    ),
    "too few sing": ([task("sing", "Cid", "09:00", "09:05")], [("NOT_ALLOWED", 0)]),
    "one sings for two": ([task("sing", "Cid,Cid", "09:00", "09:05")], [("NOT_ALLOWED", 0)]),
    "nobody sings": ([task("sing", "", "09:00", "09:05")], [("NOT_ALLOWED", 0)]),
    "who starts the oven is elsewhere": ([task("oven", "Cid", "09:00", "10:00")], [(ELSEWHERE, 0)]),
    "who starts the oven is on the way": (
        [TO_B, task("oven", "Bob", "09:45", "10:45"), travel("bus", None, "B-A", "09:00", "09:30", "Cid")],
        [(ELSEWHERE, 1)],
    ),
    "who starts the oven is on the way to it": (
        [TO_B, BACK, task("oven", "Bob", "10:20", "11:20"), travel("bus", None, "B-A", "09:00", "09:30", "Cid")],
        [(ELSEWHERE, 2)],
    ),
    "nobody is beside the oven, twice": (
        [
            task("oven", "Ann", "09:15", "12:00"),
            TO_B,
            BACK,
            travel("car", "Bob", "A-B", "11:00", "11:30", "Ann"),
            travel("car", "Bob", "B-A", "11:30", "12:00", "Ann"),
        ],
        [("UNATTENDED", 0)] * 2,
    ),
    "nobody is beside the oven, and one who is not available yet": (
        [task("oven", "Bob", "08:00", "10:00"), travel("car", "Bob", "A-B", "08:30", "09:00")],
        [("UNATTENDED", 0)],
    ),
    "an oven too short": ([task("oven", "Bob", "09:00", "09:30")], [("DURATION", 0)]),
    "what cannot be read, and a fault elsewhere": (
        [{"do": "travel", "vehicle": "car"}, task("shop", "Cid", "09:00", "09:05")],
        [(MALFORMED, 0), ("DURATION", 1)],
    ),
    "several fields of one action": ([{"do": "task", "who": "Ann", "start": 9}], [(MALFORMED, 0)]),
    "what cannot be read stands for one journey of each": (
        [{**TO_B, "start": "soon"}, BACK, travel("car", "Ann", "B-A", "11:00", "11:30", "Bob")],
        [(MALFORMED, 0), (ELSEWHERE, 2)],
    ),
    "what cannot be read is no excuse for what was before": (
        [{**TO_B, "do": "fly"}, task("shop", "Bob", "09:00", "09:10")],
        [(MALFORMED, 0), (ELSEWHERE, 1)],
    ),
    "what cannot be read is no excuse for being somewhere else": (
        [
            {**TO_B, "do": "fly"},
            travel("bus", None, "B-C", "10:00", "10:20", "Cid"),
            travel("bus", None, "C-B", "10:20", "10:40", "Bob", "Cid"),
        ],
        [(MALFORMED, 0), (ELSEWHERE, 2)],
    ),
    "what cannot be read may have unlocked it": (
        [{"do": "task", "task": "rent", "who": "Cid"}, travel("rental", "Cid", "B-A", "09:30", "10:00")],
        [(MALFORMED, 0)],
    ),
    "it does something that there is not": ([{**TO_B, "do": "fly"}, BACK], [(MALFORMED, 0)]),
    "hours that there are not": ([{**TO_B, "end": "25:00"}], [(MALFORMED, 0)]),
}


@pytest.mark.parametrize("case", RIGHT)
def test_a_plan_is_right_where(case: str) -> None:
    assert found(judged(PROBLEM, plan_of(*RIGHT[case]))) == []


@pytest.mark.parametrize("case", WRONG)
def test_a_plan_is_wrong_once_where(case: str) -> None:
    actions, faults = WRONG[case]
    assert found(judged(PROBLEM, plan_of(*actions))) == faults


@pytest.mark.parametrize("plan", [None, [], "go home", 3, {}, {"actions": {}}, {"plan": []}], ids=repr)
def test_what_is_no_plan_is_malformed_and_nothing_else(plan: Any) -> None:
    (only,) = judged(with_tasks(shop={"optional": False}), plan).violations
    assert (only.code, only.scope) == ("MALFORMED", {"field": "actions"})


def test_all_whom_a_fault_concerns_are_named_by_it() -> None:
    (only,) = judged(PROBLEM, plan_of(travel("car", "Ann", "B-A", "09:30", "10:00", "Bob"))).violations
    assert only.scope == {"people": ["Ann", "Bob"], "vehicle": "car", "place": "B", "action": 0}
    assert only.message == ("at 09:30, on the way B to A: Ann is at A, not at B; Bob is at A, not at B; car is at A, not at B")
    assert only.evidence["each"][0] == {"name": "Ann", "is_at": ["A"]}


def with_tasks(**changes: Json) -> Json:
    return {**PROBLEM, "tasks": [{**each, **changes.get(each["name"], {})} for each in PROBLEM["tasks"]]}


def test_a_task_that_is_missing_is_told_once_and_not_what_waits_for_it() -> None:
    problem = with_tasks(shop={"optional": False}, rent={"optional": False})
    plan = plan_of(task("cook", "Bob", "09:00", "09:20"), travel("rental", "Cid", "B-A", "09:00", "09:30"))
    verdict = judged(problem, plan)
    assert found(verdict) == [("MISSING_TASK", None)] * 2
    assert [each.scope for each in verdict.violations] == [{"task": "shop"}, {"task": "rent"}]


def test_a_window_is_missed_once_by_both_of_its_ends() -> None:
    plan = plan_of(task("shop", "Cid", "09:00", "09:30"))
    (only,) = judged(with_tasks(shop={"window": ["09:10", "09:25"]}), plan).violations
    assert only.evidence == {"early_by": 10, "late_by": 5}
    assert "10 minutes before 09:10" in only.message
    assert "5 minutes after 09:25" in only.message


def test_a_goal_is_met_from_arrival_to_departure_both_included() -> None:
    plan = plan_of(TO_B, BACK)
    for by, is_met in (("09:59", False), ("10:00", True), ("10:10", True), ("10:11", False)):
        goals = [{"people": ["Bob"], "place": "B", "by": by, "not_before": by}]
        assert judged({**PROBLEM, "goals": goals}, plan).is_valid is is_met, by


def test_each_goal_is_missed_by_each_person_once() -> None:
    goals = [{"people": "all", "place": "B", "by": "09:50"}, {"people": ["Ann"], "place": "C", "by": "12:00"}]
    verdict = judged({**PROBLEM, "goals": goals}, plan_of(TO_B))
    told = [(each.code, each.scope, each.evidence) for each in verdict.violations]
    late = {"by": "09:50", "arrives": "10:00", "late_by": 10}
    assert told == [
        ("GOAL_MISSED", {"people": ["Ann"], "place": "B"}, late),
        ("GOAL_MISSED", {"people": ["Bob"], "place": "B"}, late),
        ("GOAL_MISSED", {"people": ["Ann"], "place": "C"}, {"by": "12:00"}),
    ]


def test_who_is_not_available_in_time_is_not_there() -> None:
    goals = [{"people": ["Ann"], "place": "A", "by": by} for by in ("09:14", "09:15")]
    verdict = judged({**PROBLEM, "goals": goals}, plan_of())
    assert [each.message for each in verdict.violations] == ["Ann is not at A at 09:14, but not available yet"]


def test_preferences_and_hours_before_which_one_would_rather_not_are_no_rules() -> None:
    people = [{**each, "prefers": ["Dot"]} if each["name"] == "Bob" else each for each in PROBLEM["people"]]
    goals = [{"people": ["Bob"], "place": "B", "by": "11:00", "not_before": "10:30"}]
    assert judged({**PROBLEM, "people": people, "goals": goals}, plan_of(TO_B)).is_valid


def test_days_with_dates_are_judged_as_others_are() -> None:
    day = "2025-11-27T"
    people = [{"name": "Ann", "place": "A", "from": f"{day}09:00-05:00"}]
    problem = {**PROBLEM, "people": people, "vehicles": [{**PROBLEM["vehicles"][0], "drivers": ["Ann"]}]}
    plan = [travel("car", "Ann", "A-B", f"{day}09:00-05:00", f"{day}14:30+00:00"), travel("car", "Ann", "B-A", "10:00", "10:30")]
    verdict = judged(problem, plan_of(*plan))
    assert found(verdict) == [("MALFORMED", 1)]
    assert "has no date, and the other times have one" in verdict.violations[0].message


def test_fractions_of_a_minute_round_up() -> None:
    problem = {**PROBLEM, "travel_minutes": [["A", "B", 19.8]]}
    for end, faults in (("09:49", [("TRAVEL_TIME", 0)]), ("09:50", [])):
        assert found(judged(problem, plan_of(travel("car", "Ann", "A-B", "09:30", end)))) == faults
