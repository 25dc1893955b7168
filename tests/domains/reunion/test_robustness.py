"""Slack against delays: judged by playing the plan, counted by the model, and what people's usual wishes come to."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.reunions.generator import generate
from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.planning.measure import measure
from sagagraph.domains.reunion.planning.planner import plan
from sagagraph.domains.reunion.planning.repair import Repaired, repair
from sagagraph.domains.reunion.planning.solving import Solved
from sagagraph.domains.reunion.request import AS_PEOPLE_PLAN, Objective, ReunionProblem
from sagagraph.domains.reunion.rules.robustness import disturbances, not_survived, slack_told
from tests.domains.reunion.plans import Json, plan_of, task, travel
from tests.domains.reunion.solving import budget, events_of, faults, problem_of, read_plan, solved
from tests.domains.reunion.text.days import THANKSGIVING, WEDDING, told_problem

HOUSE: Json = {
    "name": "supper",
    "places": {"H": "home", "S": "station"},
    "travel_minutes": [["H", "S", 20]],
    "people": [{"name": "Ann", "place": "H"}, {"name": "Bob", "place": "S", "from": "10:00"}],
    "vehicles": [{"name": "car", "seats": 4, "place": "H", "drivers": ["Ann"]}],
    "tasks": [{"name": "roast", "place": "H", "minutes": 60, "window": [None, "12:00"], "attention": "watched", "food": True}],
    "goals": [{"people": "all", "place": "H", "by": "12:00"}],
}


def _fetch(start: str, there: str, back: str, home: str, roast: tuple[str, str]) -> Json:
    return plan_of(
        travel("car", "Ann", "H-S", start, there),
        travel("car", "Ann", "S-H", back, home, "Bob"),
        task("roast", "Bob", *roast),
    )


def _broken(problem: Json, made: Json) -> list[str]:
    known = parse_problem(problem)
    return [each.words for each in not_survived(known, read_plan(known, made))]


@pytest.mark.quick
def test_a_plan_with_room_survives_and_one_without_is_told_what_breaks_it() -> None:
    assert _broken(HOUSE, _fetch("09:40", "10:00", "10:00", "10:20", ("10:20", "11:20"))) == []
    late = _fetch("10:10", "10:30", "10:30", "10:50", ("10:55", "11:55"))
    assert _broken(HOUSE, late) == ["Ann is 30 minutes late", "home to station takes half as long again"]


def test_whoever_is_expected_is_late_where_they_come_from_and_others_with_what_they_do_first() -> None:
    known = parse_problem(HOUSE)
    assert [(each.words, each.late) for each in disturbances(known)] == [
        ("Ann is 30 minutes late", "Ann"),
        ("Bob is 30 minutes late", None),
        ("home to station takes half as long again", None),
    ]


def test_who_leaves_what_is_watched_waits_until_somebody_else_has_come() -> None:
    """Ann leaves the roast at 10:20, when Dan is back: if his road takes longer, she waits for him."""
    problem = {
        **HOUSE,
        "people": [*HOUSE["people"], {"name": "Dan", "place": "S"}],
        "vehicles": [*HOUSE["vehicles"], {"name": "bike", "seats": 1, "place": "S", "drivers": ["Dan"]}],
    }
    made = plan_of(
        travel("bike", "Dan", "S-H", "10:00", "10:20"),
        task("roast", "Ann", "09:50", "10:50"),
        travel("car", "Ann", "H-S", "10:20", "10:40"),
        travel("car", "Ann", "S-H", "10:40", "11:00", "Bob"),
    )
    assert _broken(problem, made) == []


@pytest.mark.parametrize("seed", range(4))
def test_what_the_model_counts_is_what_the_judge_finds(seed: int) -> None:
    problem = _as_people_plan(generate(4 + seed % 2, seed, room=80 + 15 * seed))
    answer = plan(problem, budget())
    assert isinstance(answer, Solved)
    assert faults(problem, answer.plan) == []
    assert answer.objectives[0].value == len(not_survived(problem, answer.plan))


def test_thanksgiving_told_in_words_has_slack_fresh_food_and_no_car_for_nothing() -> None:
    problem = told_problem(THANKSGIVING)
    assert problem.objectives == AS_PEOPLE_PLAN
    assert [each.name for each in problem.tasks if each.food] == ["turkey", "sides"]
    answer = solved(problem)
    assert faults(problem, answer.plan) == []
    assert not_survived(problem, answer.plan) == ()
    assert measure(problem, answer.plan, Objective.FRESH_FOOD) <= 30
    assert measure(problem, answer.plan, Objective.UNUSED_RENTALS) == 0
    assert slack_told(problem, answer.plan) == (
        "it still works out if anybody is 30 minutes late, or any road takes half as long again",
    )


def test_the_alert_at_the_wedding_is_survived_by_what_is_planned_where_it_is_told() -> None:
    problem = told_problem(WEDDING)
    airport = next(key for key, name in problem.places.items() if "irport" in name)
    made = solved(problem).plan
    assert not_survived(problem, made) == ()
    alert = events_of(problem, {"at": "13:00", "event": "travel_factor", "place": airport, "factor": 3})
    answer = repair(problem, made, alert, budget())
    assert isinstance(answer, Repaired)
    assert faults(problem, answer.solved.plan, alert, against=made) == []
    assert max(each.end for each in answer.solved.plan.actions) <= 15 * 60


def test_a_car_that_is_rented_and_left_counts() -> None:
    rented: Json = {
        **HOUSE,
        "vehicles": [*HOUSE["vehicles"], {"name": "rental", "seats": 4, "place": "S", "drivers": ["Bob"], "unlocked_by": "rent"}],
        "tasks": [*HOUSE["tasks"], {"name": "rent", "place": "S", "minutes": 5}],
    }
    made = _fetch("09:45", "10:05", "10:05", "10:25", ("10:25", "11:25"))
    made["actions"].append(task("rent", "Bob", "10:00", "10:05"))
    known = parse_problem(rented)
    assert measure(known, read_plan(known, made), Objective.UNUSED_RENTALS) == 1
    answer = solved(known.model_copy(update={"objectives": (Objective.UNUSED_RENTALS, Objective.DRIVING_MINUTES)}))
    assert [each.value for each in answer.objectives] == [0, 20]


def test_more_than_ten_people_are_planned_without_slack_and_told_so() -> None:
    problem = _as_people_plan(generate(12, 1))
    answer = plan(problem, budget(3))
    assert isinstance(answer, Solved)
    assert Objective.ROBUSTNESS not in [each.objective for each in answer.objectives]
    assert "more than 10 people" in slack_told(problem, answer.plan)[0]


def test_a_file_that_says_nothing_still_means_driving() -> None:
    stated: dict[str, Any] = {name: value for name, value in HOUSE.items() if name != "objectives"}
    assert parse_problem(stated).objectives == (Objective.DRIVING_MINUTES,)
    assert problem_of("wedding").objectives == (Objective.DRIVING_MINUTES,)


def _as_people_plan(problem: ReunionProblem) -> ReunionProblem:
    return problem.model_copy(update={"objectives": AS_PEOPLE_PLAN})
