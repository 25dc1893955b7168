"""What becomes known counts from then on, and what was done before stands."""

from __future__ import annotations

from typing import Any

import pytest

from sagagraph.errors import InvalidInputError
from tests.domains.reunion.plans import Json, found, judged, plan_of, shipped, task, travel
from tests.domains.reunion.published import ALAS_TABLE_21, BOTH_ERRANDS_BY_CHRIS, MICHAEL, PAT, RENTAL

pytestmark = pytest.mark.quick

PROBLEM: Json = {
    "name": "events",
    "places": {"A": "home", "B": "market", "C": "church"},
    "travel_minutes": [["A", "B", 40], ["B", "C", 19.8]],
    "people": [{"name": "Ann", "place": "A"}, {"name": "Bob", "place": "A", "from": "09:00", "exit_minutes": 10}],
    "vehicles": [{"name": "car", "place": "A", "seats": 3, "drivers": ["Ann"]}],
    "tasks": [{"name": "shop", "place": "B", "optional": True}, {"name": "nap", "optional": True}],
}


def one_way(start: str, end: str, *riders: str, way: str = "A-B") -> Json:
    return travel("car", "Ann", way, start, end, *riders)


def slow(at: str, factor: float, place: str = "B", **more: Any) -> Json:
    return {"at": at, "event": "travel_factor", "place": place, "factor": factor, **more}


SHORTEST: dict[str, tuple[list[Json], Json, str]] = {
    "nothing happened": ([], one_way("10:00", "10:40"), "10:40"),
    "before it is known": ([slow("10:40", 3)], one_way("10:00", "10:40"), "10:40"),
    "from the moment that it is known": ([slow("10:00", 3)], one_way("10:00", "10:40"), "12:00"),
    "under way": ([slow("10:10", 3)], one_way("10:00", "10:40"), "11:40"),
    "under way, and beyond it": ([slow("10:10", 3, passed=["car"])], one_way("10:00", "10:40"), "10:40"),
    "beyond it once, and there again later": ([slow("10:00", 3, passed=["car"])], one_way("10:00", "10:40"), "12:00"),
    "faster": ([slow("10:10", 0.5)], one_way("10:00", "10:40"), "10:25"),
    "just before it ends": ([slow("09:00", 3, until="10:01")], one_way("10:00", "10:40"), "12:00"),
    "when it has ended": ([slow("09:00", 3, until="10:00")], one_way("10:00", "10:40"), "10:40"),
    "under way, whenever it ends": ([slow("10:10", 3, until="10:11")], one_way("10:00", "10:40"), "11:40"),
    "a place that it does not touch": ([slow("10:00", 3, "C")], one_way("10:00", "10:40"), "10:40"),
    "two at once": ([slow("09:00", 2), slow("09:30", 1.5, "A")], one_way("10:00", "10:40"), "12:00"),
    "two under way": ([slow("10:30", 2), slow("10:10", 2)], one_way("10:00", "10:40"), "11:50"),
    "one before and one under way": ([slow("09:00", 2), slow("11:00", 2)], one_way("10:00", "10:40"), "11:40"),
}


@pytest.mark.parametrize("case", SHORTEST)
def test_a_journey_takes_so_long_with_what_slows_it(case: str) -> None:
    events, journey, ends = SHORTEST[case]
    shorter = f"{ends[:3]}{int(ends[3:]) - 1:02}" if ends[3:] != "00" else f"{int(ends[:2]) - 1:02}:59"
    assert found(judged(PROBLEM, plan_of({**journey, "end": ends}), *events)) == []
    verdict = judged(PROBLEM, plan_of({**journey, "end": shorter}), *events)
    assert [(each.code, each.evidence["short_by"]) for each in verdict.violations] == [("TRAVEL_TIME", 1)]


def test_fractions_are_rounded_up_at_the_end() -> None:
    there = travel("car", "Ann", "A-B", "08:00", "08:40")
    for end, faults in (("10:59", [("TRAVEL_TIME", 1)]), ("11:00", [])):
        plan = plan_of(there, one_way("10:00", end, way="B-C"))
        assert found(judged(PROBLEM, plan, slow("09:00", 3))) == faults


CASES: dict[str, tuple[list[Json], list[Json], list[tuple[str, int | None]]]] = {
    "delayed, and goes at once": (
        [{"at": "08:00", "event": "delayed", "person": "Bob", "from": "10:00"}],
        [one_way("10:09", "10:49", "Bob")],
        [("NOT_YET_AVAILABLE", 0)],
    ),
    "delayed, with luggage again": (
        [{"at": "08:00", "event": "delayed", "person": "Bob", "from": "10:00"}],
        [one_way("10:10", "10:50", "Bob")],
        [],
    ),
    "delayed after it was done": (
        [{"at": "09:30", "event": "delayed", "person": "Bob", "from": "10:00"}],
        [task("nap", "Bob", "09:10", "09:20")],
        [],
    ),
    "delayed twice": (
        [
            {"at": "09:30", "event": "delayed", "person": "Bob", "from": "09:40"},
            {"at": "08:30", "event": "delayed", "person": "Bob", "from": "11:00"},
        ],
        [task("nap", "Bob", "09:50", "10:00")],
        [],
    ),
    "cancelled, and taken along": (
        [{"at": "10:00", "event": "cancelled", "person": "Bob"}],
        [one_way("10:00", "10:40", "Bob")],
        [("UNKNOWN_REFERENCE", 0)],
    ),
    "cancelled on the way": (
        [{"at": "10:01", "event": "cancelled", "person": "Bob"}],
        [one_way("10:00", "10:40", "Bob")],
        [],
    ),
    "added, and taken along": (
        [{"at": "10:00", "event": "added", "person": {"name": "Cid", "place": "A"}}],
        [one_way("10:00", "10:40", "Cid")],
        [],
    ),
    "taken along before being added": (
        [{"at": "10:01", "event": "added", "person": {"name": "Cid", "place": "A"}}],
        [one_way("10:00", "10:40", "Cid")],
        [("UNKNOWN_REFERENCE", 0)],
    ),
    "added, and available later": (
        [{"at": "08:00", "event": "added", "person": {"name": "Cid", "place": "A", "from": "11:00", "exit_minutes": 5}}],
        [one_way("11:04", "11:44", "Cid")],
        [("NOT_YET_AVAILABLE", 0)],
    ),
    "down": (
        [{"at": "10:00", "event": "vehicle_down", "vehicle": "car"}],
        [one_way("10:00", "10:40")],
        [("NOT_YET_AVAILABLE", 0)],
    ),
    "down while on the way, and repaired": (
        [{"at": "10:01", "event": "vehicle_down", "vehicle": "car", "until": "10:40"}],
        [one_way("10:00", "10:40"), one_way("10:40", "11:00", way="B-C")],
        [],
    ),
    "a road closed": (
        [{"at": "10:00", "event": "road_closed", "from": "B", "to": "A"}],
        [one_way("10:00", "10:40")],
        [("NO_ROUTE", 0)],
    ),
    "a road closed behind them, and open again": (
        [{"at": "10:01", "event": "road_closed", "from": "A", "to": "B", "until": "10:40"}],
        [one_way("10:00", "10:40"), one_way("10:40", "11:20", way="B-A")],
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_an_event_counts_from_when_it_is_known(case: str) -> None:
    events, actions, faults = CASES[case]
    assert found(judged(PROBLEM, plan_of(*actions), *events)) == faults


def test_goals_of_those_who_cancel_are_void_and_those_who_are_added_have_the_later_ones_of_all() -> None:
    goals = [{"people": "all", "place": "B", "by": by} for by in ("09:00", "12:00")]
    own = {"name": "Cid", "place": "A", "goals": [{"place": "C", "by": "08:00"}]}
    events: list[Json] = [
        {"at": "10:00", "event": "cancelled", "person": "Bob"},
        {"at": "10:00", "event": "added", "person": own},
    ]
    plan = plan_of(one_way("08:00", "08:40"))
    people = [PROBLEM["people"][0], {**PROBLEM["people"][1], "goals": [{"place": "C", "by": "09:00"}]}]
    problem = {**PROBLEM, "people": people, "goals": goals}
    told = [(each.scope, each.evidence["by"]) for each in judged(problem, plan, *events).violations]
    assert told == [({"people": ["Cid"], "place": "B"}, "12:00"), ({"people": ["Cid"], "place": "C"}, "08:00")]


def test_nobody_watches_who_is_late_or_has_cancelled() -> None:
    problem = {**PROBLEM, "tasks": [{"name": "oven", "place": "A", "attention": "watched"}]}
    plan = plan_of(task("oven", "Ann", "08:00", "12:00"), one_way("10:00", "11:40"), one_way("11:40", "12:20", way="B-A"))
    assert found(judged(problem, plan)) == []
    cancelled: Json = {"at": "10:30", "event": "cancelled", "person": "Bob"}
    late: Json = {"at": "08:00", "event": "delayed", "person": "Bob", "from": "11:00"}
    for event, gap in ((cancelled, ("10:30", "12:00")), (late, ("10:00", "11:10"))):
        (only,) = judged(problem, plan, event).violations
        assert (only.code, only.evidence["from"], only.evidence["to"]) == ("UNATTENDED", *gap)


# -- what was done ---------------------------------------------------------------------------------------------------

OLD = [
    one_way("09:00", "09:40"),
    task("shop", "Ann", "09:40", "10:00"),
    one_way("10:00", "10:20", way="B-C"),
    task("nap", "Ann", "10:20", "10:30"),
]
LATER = one_way("10:00", "10:25", way="B-C")
NAP = task("nap", "Ann", "10:25", "10:35")

PAST: dict[str, tuple[list[Json], str | None, list[Json], list[tuple[str, int | None]]]] = {
    "all as it was": (OLD, "10:10", [], []),
    "in another order": (OLD[::-1], "10:10", [], []),
    "what comes later is free": (OLD[:3], "10:10", [], []),
    "what begins at that moment is free": (OLD[:2], "10:00", [], []),
    "and may be new": ([*OLD[:3], task("nap", "Bob", "10:10", "10:20")], "10:10", [], []),
    "what began a minute before is not": (OLD[:2], "10:01", [], [("PAST_REWRITTEN", 2)]),
    "a journey under way ends later": ([*OLD[:2], LATER, NAP], None, [slow("10:10", 1.1, "C")], []),
    "under way, but nothing happened then": ([*OLD[:2], LATER, NAP], "10:15", [], [("PAST_REWRITTEN", 2)]),
    "a journey under way ends earlier": (
        [*OLD[:2], {**OLD[2], "end": "10:15"}, NAP],
        None,
        [slow("10:10", 0.5, "C")],
        [("PAST_REWRITTEN", 2)],
    ),
    "under way, but what happened was before": (
        [*OLD[:2], LATER, NAP],
        "10:05",
        [slow("09:50", 1, "C")],
        [("PAST_REWRITTEN", 2)],
    ),
    "a journey ends later that had ended": (
        [{**OLD[0], "end": "09:41"}, {**OLD[1], "start": "09:41"}, *OLD[2:]],
        None,
        [slow("10:10", 1, "C")],
        [("PAST_REWRITTEN", 0), ("PAST_REWRITTEN", 1)],
    ),
    "a task under way ends later": (
        [OLD[0], {**OLD[1], "end": "10:01"}, {**OLD[2], "start": "10:01", "end": "10:21"}],
        None,
        [slow("09:50", 1, "C")],
        [("PAST_REWRITTEN", 1)],
    ),
    "another rider": (
        [one_way("09:10", "09:50", "Bob"), {**OLD[1], "start": "09:50"}, *OLD[2:]],
        "09:05",
        [],
        [("PAST_REWRITTEN", 0)],
    ),
    "something made up": ([*OLD, task("nap", "Bob", "09:30", "09:40")], "10:10", [], [("PAST_REWRITTEN", 4)]),
    "something brought forward": ([*OLD[:3], task("nap", "Bob", "10:05", "10:15")], "10:10", [], [("PAST_REWRITTEN", 3)]),
    "something left out, and what follows from it": (OLD[1:], "10:10", [], [("PAST_REWRITTEN", 0)]),
    "something that cannot be read any more": ([{**OLD[0], "do": "drive"}, *OLD[1:]], "10:10", [], [("MALFORMED", 0)]),
}  # fmt: skip


@pytest.mark.parametrize("case", PAST)
def test_what_was_done_stands(case: str) -> None:
    actions, until, events, faults = PAST[case]
    verdict = judged(PROBLEM, plan_of(*actions), *events, against=plan_of(*OLD), executed_until=until)
    assert found(verdict) == faults


def test_a_goal_is_judged_by_what_a_rewritten_past_states() -> None:
    ann = {**PROBLEM["people"][0], "goals": [{"place": "B", "by": "09:40"}]}
    problem = {**PROBLEM, "people": [ann, PROBLEM["people"][1]]}
    later = plan_of(one_way("09:00", "09:50"))
    told = judged(problem, later, against=plan_of(OLD[0]), executed_until="10:00")
    assert found(told) == [("PAST_REWRITTEN", 0), ("GOAL_MISSED", None)]


def test_who_is_on_the_way_does_not_change_when_it_takes_longer() -> None:
    old, new = one_way("09:30", "10:10"), one_way("09:30", "10:15", "Bob")
    assert found(judged(PROBLEM, plan_of(new), slow("09:40", 1), against=plan_of(old))) == [("PAST_REWRITTEN", 0)]
    assert found(judged(PROBLEM, plan_of({**new, "riders": []}), slow("09:40", 1), against=plan_of(old))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (one_way("09:30", "10:10"), one_way("09:30", "10:10", "Bob")),
        (task("nap", "Ann", "09:30", "09:40"), task("nap", "Bob", "09:30", "09:40")),
        (task("nap", "Ann", "09:30", "09:40", "A"), task("nap", "Ann", "09:30", "09:40", "B")),
    ],
    ids=["riders", "who", "place"],
)
def test_other_people_or_another_place_are_another_past(old: Json, new: Json) -> None:
    faults = found(judged(PROBLEM, plan_of(new), against=plan_of(old), executed_until="09:31"))
    assert ("PAST_REWRITTEN", 0) in faults
    assert [code for code, _ in faults if code != "CONTINUITY"] == ["PAST_REWRITTEN"]


def test_what_cannot_be_read_of_the_old_plan_may_have_been_what_the_new_one_tells() -> None:
    old = plan_of({**OLD[0], "end": "?"}, *OLD[1:])
    assert found(judged(PROBLEM, plan_of(*OLD), against=old, executed_until="10:10")) == []


def test_what_is_left_out_is_named_by_the_index_in_the_old_plan() -> None:
    (only,) = judged(PROBLEM, plan_of(*OLD[1:]), against=plan_of(*OLD), executed_until="10:10").violations
    assert only.scope == {"people": ["Ann"], "vehicle": "car", "action": 0, "plan": "old"}
    assert "action 0 of the old plan" in only.message


def test_what_is_still_to_come_is_not_taken_for_what_was_left_out() -> None:
    done, to_come = task("nap", "Bob", "09:30", "09:40"), task("nap", "Bob", "11:00", "11:10")
    (only,) = judged(PROBLEM, plan_of(to_come), against=plan_of(done, to_come), executed_until="10:00").violations
    assert only.scope == {"people": ["Bob"], "task": "nap", "action": 0, "plan": "old"}


def test_what_was_changed_is_named_with_what_it_was() -> None:
    new = [{**OLD[0], "end": "09:41"}, *OLD[1:]]
    told = judged(PROBLEM, plan_of(*new), against=plan_of(*OLD), executed_until="09:01").violations
    past = next(each for each in told if each.code == "PAST_REWRITTEN")
    assert past.evidence["changed"] == {"end": ("09:40", "09:41")}


def test_an_old_plan_needs_a_moment_until_when_it_was_carried_out() -> None:
    with pytest.raises(InvalidInputError, match="executed_until"):
        judged(PROBLEM, plan_of(), against=plan_of())
    with pytest.raises(InvalidInputError, match="against: actions: is missing"):
        judged(PROBLEM, plan_of(), against={}, executed_until="10:00")


# -- the disruptions of the papers -----------------------------------------------------------------------------------

ACCIDENT: Json = slow("13:00", 3)


def test_an_accident_near_the_airport_slows_who_is_on_the_way_from_there() -> None:
    """SagaLLM 5.3: Pat left at 12:40 for forty minutes; twenty are left, and take sixty."""
    wedding, old = shipped("wedding"), BOTH_ERRANDS_BY_CHRIS
    assert found(judged(wedding, old, ACCIDENT, against=old)) == [("TRAVEL_TIME", 1)]
    assert found(judged(wedding, old, {**ACCIDENT, "passed": [PAT]}, against=old)) == []
    actions = list(old["actions"])
    actions[1] = {**actions[1], "end": "14:00"}
    assert found(judged(wedding, plan_of(*actions), ACCIDENT, against=old)) == []
    assert found(judged(wedding, plan_of(*actions[:1], {**actions[1], "end": "13:59"}, *actions[2:]), ACCIDENT, against=old)) == [
        ("TRAVEL_TIME", 1)
    ]


REROUTE: list[Json] = [
    {"at": "12:00", "event": "delayed", "person": "James", "from": "16:00"},
    {"at": "12:00", "event": "may_reroute", "vehicle": MICHAEL, "minutes_left": {"BOS": 180}},
]


def test_a_flight_that_is_late_spoils_what_was_planned_after_it() -> None:
    faults = found(judged(shipped("thanksgiving"), ALAS_TABLE_21, *REROUTE, against=ALAS_TABLE_21))
    assert faults == [("NOT_YET_AVAILABLE", 0), ("NOT_YET_AVAILABLE", 1)]


def rerouted(arrives: str, to: str = "BOS") -> Json:
    """Michael turns to the airport for Emily, and fetches Grandma on the way home; James comes by himself, half an hour late."""
    return plan_of(
        travel(MICHAEL, "Michael", f"NY-{to}", "11:00", arrives),
        travel(MICHAEL, "Michael", "BOS-GRANDMA", "15:00", "16:00", "Emily"),
        travel(MICHAEL, "Michael", "GRANDMA-HOME", "16:00", "16:30", "Emily", "Grandma"),
        task("rent a car", "James", "16:30", "17:00"),
        travel(RENTAL, "James", "BOS-HOME", "17:00", "18:00"),
        task("turkey", "Sarah", "14:00", "18:00"),
        task("side dishes", "Sarah", "16:00", "18:00"),
    )


def test_who_is_on_the_road_may_turn_to_where_the_event_allows() -> None:
    thanksgiving = shipped("thanksgiving")
    assert found(judged(thanksgiving, rerouted("15:00"), *REROUTE, against=ALAS_TABLE_21)) == []
    assert found(judged(thanksgiving, rerouted("15:00"), *REROUTE)) == []
    assert found(judged(thanksgiving, rerouted("14:59"), *REROUTE, against=ALAS_TABLE_21)) == [("TRAVEL_TIME", 0)]
    without = found(judged(thanksgiving, rerouted("15:00"), REROUTE[0], against=ALAS_TABLE_21))
    assert without == [("PAST_REWRITTEN", 0)]
    for other in ({"minutes_left": {"GRANDMA": 180}}, {"vehicle": RENTAL}):
        events = [REROUTE[0], {**REROUTE[1], **other}]
        assert found(judged(thanksgiving, rerouted("15:00"), *events, against=ALAS_TABLE_21)) == [("PAST_REWRITTEN", 0)]


def test_a_new_way_takes_what_is_left_of_it_and_not_what_the_table_says() -> None:
    thanksgiving = shipped("thanksgiving")
    near = [REROUTE[0], {**REROUTE[1], "minutes_left": {"BOS": 90.5}}]
    plan = rerouted("13:31")
    assert found(judged(thanksgiving, plan, *near, against=ALAS_TABLE_21)) == []
    assert found(judged(thanksgiving, rerouted("13:30"), *near, against=ALAS_TABLE_21)) == [("TRAVEL_TIME", 0)]
    nowhere_listed = {
        **thanksgiving,
        "travel_minutes": [row for row in thanksgiving["travel_minutes"] if row[:2] != ["NY", "BOS"]],
    }
    assert found(judged(nowhere_listed, plan, *near, against=ALAS_TABLE_21)) == []
    far = [REROUTE[0], {**REROUTE[1], "minutes_left": {"BOS": 181}}]
    assert found(judged(thanksgiving, rerouted("15:00"), *far, against=ALAS_TABLE_21)) == [("TRAVEL_TIME", 0)]
    never_changed = rerouted("13:31")
    assert found(judged(thanksgiving, never_changed, *near, against=never_changed)) == [("TRAVEL_TIME", 0)]
    planned_so: Json = rerouted("15:00")
    assert found(judged(thanksgiving, planned_so, *far, against=planned_so)) == []
