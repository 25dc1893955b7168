"""The planner: beside exhaustive search, on the paper's example, and before the official evaluator."""

from __future__ import annotations

from itertools import count
from random import Random
from statistics import mean
from typing import Any

import pytest

from benchmarks.recipes.official import judged, pairs
from sagagraph.domains.recipes.planning.model import Planned
from sagagraph.domains.recipes.planning.planner import explain, makespan_bound, plan_meal
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.request import Meal, pairs_in, parse_meal
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.planning.budget import Budget
from tests.domains.recipes.exhaustive import UNIT, Kitchen
from tests.domains.recipes.meals import NEEDS_DATA, PAPER, at, drawn, heat, meal_of, recipe, step

pytestmark = pytest.mark.quick


def planned(meal: Meal) -> Planned:
    """A plan that the validator accepts, unless there is none."""
    found = plan_meal(Situation(meal), Budget.of(60))
    assert found.is_infeasible or validate_plan(meal, rows_of(found)).violations == ()
    return found


def is_optimal(found: Planned) -> bool:
    return bool(found.plan) and found.makespan == found.lower_bound


def rows_of(found: Planned) -> list[list[Any]]:
    return [list(row) for row in found.plan]


@pytest.mark.parametrize("seed", range(24))
def test_no_plan_of_a_small_meal_is_earlier(seed: int) -> None:
    document = drawn(Random(seed))
    meal = meal_of(document)
    least = Kitchen(document).least(sum(each.duration for each in meal.steps.values()) // UNIT)
    found = planned(meal)
    assert (found.is_infeasible, is_optimal(found)) == (least is None, least is not None)
    assert least is None or found.makespan == UNIT * least


def test_the_example_of_the_paper_takes_27_minutes() -> None:
    found = planned(parse_meal(PAPER))
    assert (found.makespan, found.lower_bound) == (27 * 60, 27 * 60)
    assert {row.start for row in found.plan if row.step == 0} == {0}  # the oven is heated for both


def test_splitting_a_step_saves_time() -> None:
    """The pan is hot in the middle of the chopping, and the fish goes in while it is."""
    fish = recipe("Fish", step("3 min", kind="a", stove={}), step("2 min", 0, within={0: "1 min"}), step("6 min", 1, kind="a"))
    found = planned(meal_of([fish, recipe("Salad", step("9 min", kind="i"))]))
    assert found.makespan == 11 * 60
    whole = recipe("Salad", step("9 min"))
    assert planned(meal_of([fish, whole])).makespan > found.makespan


def test_every_piece_of_a_step_is_held_to_its_limit() -> None:
    document = [
        recipe("A", step("1 min", kind="a"), step("4 min", 0, kind="i", within={0: "1 min"})),
        recipe("B", step("2 min", kind="a")),
    ]
    found = planned(meal_of(document))
    pieces = [row for row in found.plan if (row.recipe, row.step) == ("A", 1)]
    assert all(row.start <= 2 * 60 for row in pieces)


def test_what_needs_more_than_there_is_in_the_kettle_waits_until_it_is_filled_again() -> None:
    tea = [step("1 min", kettle={"update": {"volume": 500}}), step("1 min", 0, kettle={"require": {"volume": 300}})]
    more = [step("1 min", kettle={"require": {"volume": 300}}), step("1 min", kettle={"update": {"volume": 300}})]
    order = [(row.recipe, row.step) for row in planned(meal_of([recipe("Tea", *tea), recipe("More", *more)])).plan]
    assert order.index(("More", 1)) < order.index(("More", 0))


def test_two_cooks_are_quicker_and_three_recipes_are_planned_together() -> None:
    documents = list(pairs_in(None).values())
    three = [*documents[0], documents[1][1]]
    one, two = planned(meal_of(three)), planned(meal_of(three, cooks=2))
    assert is_optimal(one)
    assert two.makespan < one.makespan


def test_both_dishes_are_warm() -> None:
    document = pairs_in(None)["Flatbread_Custard"]
    meal = meal_of(document, warm={"Flatbread": "2 min", "Custard": "2 min"})
    found = planned(meal)
    ends = [max(row.end for row in found.plan if row.recipe == name) for name in meal.recipes]
    assert max(ends) - min(ends) <= 120


def test_what_cannot_be_kept_together_is_said_and_nothing_else() -> None:
    cake = recipe("Cake", step("5 min", kind="a", oven=heat(350)), step("20 min", 0, kind="a", oven=at(350)), step("2 min", 1))
    glaze = [step("3 min", kind="a", stove={}), step("10 min"), step("1 min", 0, 1, within={0: "2 min"}), step("8 min", 0, 1)]
    glaze[3]["time_constraint"] = {"0": "30 sec", "1": "30 sec"}
    meal = meal_of([cake, recipe("Glaze", *glaze)])
    assert planned(meal).is_infeasible
    conflict = explain(Situation(meal), Budget.of(60))
    assert conflict.is_irreducible
    assert {(wish.recipe, wish.step) for wish in conflict.wishes} <= {("Glaze", 2), ("Glaze", 3)}
    assert not planned(meal.without_time_constraints()).is_infeasible


def test_nobody_heats_the_oven() -> None:
    meal = meal_of([recipe("Cake", step("20 min", kind="a", oven=at(350)))])
    (wish,) = explain(Situation(meal), Budget.of(60)).wishes
    assert wish.sentence == "Cake step 0 needs the oven at temperature 350"


def test_there_is_a_bound_and_no_lie_when_the_time_is_short() -> None:
    """The clock jumps by a second whenever it is read."""
    for document in pairs_in(None).values():
        meal = parse_meal(document)
        found = plan_meal(Situation(meal), Budget(5, count().__next__))
        assert makespan_bound(Situation(meal)) <= found.lower_bound
        assert not found.plan or found.lower_bound <= found.makespan
        assert not found.is_infeasible


@NEEDS_DATA
@pytest.mark.thorough
def test_all_pairs_are_optimal_and_the_official_evaluator_accepts_them() -> None:
    speeds: dict[bool, list[float]] = {False: [], True: []}
    for pair in pairs().values():
        for without in speeds:
            meal = parse_meal(pair)
            found = planned(meal.without_time_constraints() if without else meal)
            assert is_optimal(found)
            theirs = judged(pair, rows_of(found), without=without)
            assert theirs.is_accepted, theirs.says
            speeds[without].append(theirs.speed)
    assert 100 * mean(speeds[True]) >= 104.6
    assert 100 * mean(speed for speed in speeds[False] if speed) >= 118.7
    assert sum(speed == 0 for speed in speeds[False]) == 1  # its reference is null
