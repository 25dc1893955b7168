"""Repairs: valid, the past as it was, and no more changed than planning anew would change."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from benchmarks.reunions.anew import recompute
from benchmarks.reunions.generator import generate
from benchmarks.reunions.measure import measured
from sagagraph.domains.reunion.events import Event
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.model.search import Unsolved
from sagagraph.domains.reunion.planning.repair import Repaired, changes, edit_radius, repair
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.times import text_of
from tests.domains.reunion.published import ALAS_TABLE_21, BOTH_ERRANDS_BY_CHRIS
from tests.domains.reunion.solving import budget, events_of, faults, problem_of, read_plan, solved

LATE: dict[str, Any] = {"at": "13:00", "event": "delayed", "person": "James", "from": "16:00"}
SLOW: dict[str, Any] = {"at": "13:00", "event": "travel_factor", "place": "B", "factor": 3}


def repaired(problem: ReunionProblem, plan: ReunionPlan, events: tuple[Event, ...]) -> Repaired:
    """And valid, with the past as it was."""
    answer = repair(problem, plan, events, budget())
    assert isinstance(answer, Repaired), answer
    assert faults(problem, answer.solved.plan, events, against=plan) == []
    return answer


def test_a_late_guest_changes_what_the_guest_takes_part_in_and_nothing_else() -> None:
    problem = problem_of("thanksgiving")
    plan = read_plan(problem, ALAS_TABLE_21)
    events = events_of(problem, LATE)
    answer = repaired(problem, plan, events)
    anew = recompute(problem, plan, events, budget())
    assert isinstance(anew, Repaired)
    assert answer.solved.objectives == anew.solved.objectives
    assert answer.edit_radius.actions < anew.edit_radius.actions
    assert {name for each in answer.changed for name in (each.before or each.after or plan.actions[0]).people} == {
        "James",
        "Emily",
    }


def test_a_reroute_is_taken_only_where_it_is_better() -> None:
    problem = problem_of("thanksgiving")
    plan = read_plan(problem, ALAS_TABLE_21)
    may = {"at": "12:00", "event": "may_reroute", "vehicle": "Michael's car", "minutes_left": {"BOS": 180}}
    staying = repaired(problem, plan, events_of(problem, {**LATE, "at": "12:00"}, may))
    assert all(action.do == "task" or action.to != "BOS" for action in staying.solved.plan.actions)
    without = problem.model_copy(update={"tasks": tuple(each for each in problem.tasks if each.name != "rent a car")})
    walking = without.model_copy(update={"vehicles": tuple(each for each in without.vehicles if each.unlocked_by is None)})
    only = [n for n, each in enumerate(plan.actions) if each.do == "travel" and each.vehicle == "Michael's car"]
    lone = plan.model_copy(update={"actions": tuple(plan.actions[n] for n in only)})
    events = events_of(walking, {**LATE, "at": "12:00"}, may)
    rerouted = repaired(walking, lone, events)
    assert [action.to for action in rerouted.solved.plan.actions if action.do == "travel" and action.start == 11 * 60] == ["BOS"]


@pytest.mark.parametrize(("passed", "radius", "driven"), [([], (1, 3, 0), 180), (["Pat's car"], (0, 0, 0), 140)])
def test_the_traffic_alert_stretches_what_is_under_way(passed: list[str], radius: tuple[int, int, int], driven: int) -> None:
    problem = problem_of("wedding")
    answer = repaired(problem, read_plan(problem, BOTH_ERRANDS_BY_CHRIS), events_of(problem, {**SLOW, "passed": passed}))
    found = answer.edit_radius
    assert (found.actions, found.people, found.minutes) == radius
    assert answer.solved.objectives[0].value == driven


@pytest.mark.parametrize("passed", [[], ["Pat's car"]])
def test_where_nobody_can_be_fetched_in_time_that_is_proven(passed: list[str]) -> None:
    problem = problem_of("wedding")
    answer = repair(problem, solved(problem).plan, events_of(problem, {**SLOW, "passed": passed}), budget())
    assert answer == Unsolved(is_proof=True)


def test_one_ride_is_cancelled_and_another_asked_for() -> None:
    problem = problem_of("ride_sharing")
    plan = solved(problem).plan
    newcomer = {"name": "r5", "place": "F", "from": "08:10", "drives": False, "goals": [{"place": "G", "by": "09:30"}]}
    cancelled = {"at": "08:05", "event": "cancelled", "person": "r2"}
    events = events_of(problem, cancelled, {"at": "08:10", "event": "added", "person": newcomer})
    answer = repaired(problem, plan, events)
    anew = recompute(problem, plan, events, budget())
    assert isinstance(anew, Repaired)
    assert answer.edit_radius.actions <= anew.edit_radius.actions
    assert answer.solved.objectives[0].value == anew.solved.objectives[0].value == 95


def random_event(problem: ReunionProblem, plan: ReunionPlan, random: Random) -> dict[str, Any]:
    first = min(action.start for action in plan.actions)
    at = random.randint(first, max(action.start for action in plan.actions))
    guest = random.choice([each.name for each in problem.people if each.name.startswith("guest")])
    place = random.choice(list(problem.places))
    return random.choice(
        [
            {"at": text_of(at), "event": "cancelled", "person": guest},
            {"at": text_of(at), "event": "travel_factor", "place": place, "factor": 1.5, "until": text_of(at + 20)},
            {"at": text_of(at), "event": "delayed", "person": guest, "from": text_of(at + 5)},
            {"at": text_of(at), "event": "vehicle_down", "vehicle": "car 1", "until": text_of(at + 5)},
        ]
    )


def test_repairs_are_valid_and_keep_no_less_than_planning_anew() -> None:
    kept = compared = 0
    for seed in range(6):
        problem = generate(6, seed)
        plan = solved(problem, 10).plan
        events = events_of(problem, random_event(problem, plan, Random(seed)))
        answer = repair(problem, plan, events, budget(10))
        anew = recompute(problem, plan, events, budget(10))
        assert isinstance(answer, Repaired) is isinstance(anew, Repaired)
        if isinstance(answer, Repaired) and isinstance(anew, Repaired):
            assert faults(problem, answer.solved.plan, events, against=plan) == []
            assert answer.edit_radius.actions <= anew.edit_radius.actions
            kept += anew.edit_radius.actions - answer.edit_radius.actions
            compared += 1
    assert compared >= 3
    assert kept > 0


def test_many_people_are_repaired_where_an_event_touches_them() -> None:
    problem = generate(14, 1)
    plan = solved(problem, 5).plan
    guest = next(name for action in reversed(plan.actions) for name in action.people if name.startswith("guest"))
    events = events_of(problem, {"at": text_of(plan.actions[0].start + 1), "event": "cancelled", "person": guest})
    answer = repaired(problem, plan, events)
    assert answer.edit_radius.actions < len([action for action in plan.actions if action.start >= events[0].at])


def test_what_is_only_told_in_another_order_is_no_change() -> None:
    problem = problem_of("wedding")
    plan = read_plan(problem, BOTH_ERRANDS_BY_CHRIS)
    turned = plan.model_copy(update={"actions": tuple(reversed(plan.actions))})
    assert changes(plan, turned) == ()
    later = plan.actions[0].model_copy(update={"start": plan.actions[0].start + 7, "end": plan.actions[0].end + 7})
    moved = edit_radius(changes(plan, plan.model_copy(update={"actions": (later, *plan.actions[1:])})))
    assert (moved.actions, moved.people, moved.minutes) == (1, 1, 7)


def test_another_wish_before_anything_has_happened_keeps_what_it_can() -> None:
    """On a day that is told and has not begun: nothing is history, and nothing is forgotten."""
    problem = problem_of("wedding")
    old = solved(problem).plan
    later = problem.model_copy(update={"goals": (problem.goals[0].model_copy(update={"by": 15 * 60 + 30}),)})
    again = repair(later, old, (), budget())
    assert isinstance(again, Repaired)
    assert (again.changed, faults(later, again.solved.plan)) == ((), [])


def test_drivers_who_have_been_everywhere_already_are_repaired_too() -> None:
    struck = measured(12, 1, "hand-overs", 5.0)["struck"]
    assert [each["event"] for each in struck] == ["cancelled", "delayed", "vehicle_down"]
    assert {each[arm]["verdict"] for each in struck for arm in ("repair", "recompute")} == {"VALID"}
