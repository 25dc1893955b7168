"""The validator: each code alone, the edges of the rules, and agreement with Recipe2Plan's own evaluator."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from benchmarks.recipes.official import judged, pairs
from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS
from sagagraph.domains.recipes.planning.planner import plan_meal
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.request import Meal, pairs_in, parse_meal
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.planning.budget import Budget
from sagagraph.validators import concern
from tests.domains.recipes.corruption import FAULTS, MEAL, PLAN, Rows, faulty
from tests.domains.recipes.meals import IS_FULL, NEEDS_DATA, at, drawn, heat, meal_of, recipe, step

pytestmark = pytest.mark.quick


def codes(meal: Meal, rows: Any) -> set[str]:
    return {each.code for each in validate_plan(meal, rows).violations}


def test_a_right_plan_has_no_fault() -> None:
    assert codes(meal_of(MEAL), PLAN) == set()
    assert validate_plan(meal_of(MEAL), {"plan": PLAN}).is_valid


@pytest.mark.parametrize("code", FAULTS)
def test_each_fault_is_reported_once_and_alone(code: str) -> None:
    found = validate_plan(meal_of(MEAL), FAULTS[code]).violations
    assert [each.code for each in found] == [code]


@NEEDS_DATA
def test_the_official_evaluator_rejects_each_of_these_faults() -> None:
    assert judged(MEAL, PLAN).says == "Actions executed successfully."
    assert [code for code, rows in FAULTS.items() if judged(MEAL, rows).is_accepted] == []


@pytest.mark.parametrize(
    "said", [None, 7, {}, {"plan": "soon"}, [1], [[0, "Pie", 600]], [[0, "Pie", "long", 0]], [["0", 0, 1, 2]]]
)
def test_what_cannot_be_read_is_malformed(said: Any) -> None:
    assert "MALFORMED" in codes(meal_of(MEAL), said)


def test_a_piece_of_no_length_and_a_start_before_the_beginning_are_refused() -> None:
    assert codes(meal_of(MEAL), [*PLAN, [5, "Pie", 0, 3000]]) == {"DURATION"}
    assert codes(meal_of(MEAL), [[0, "Pie", 600, -60], *PLAN[1:]]) == {"IN_THE_PAST"}


HANDS = [recipe("A", step("4 min"), step("2 min", kind="a"), step("1 min", kind="a", oven=heat(350)))]
HANDS += [recipe("B", step("1 min", kind="a", oven=heat(350)), step("1 min", 0, kind="a", oven=at(350)))]
BOTH = [[2, "A", 60, 240], [0, "B", 60, 240]]
EDGES: dict[str, tuple[Rows, set[str]]] = {
    "at the start, listed before": ([[1, "A", 120, 0], [0, "A", 240, 0], *BOTH, [1, "B", 60, 300]], set()),
    "at the start, listed behind": ([[0, "A", 240, 0], [1, "A", 120, 0], *BOTH, [1, "B", 60, 300]], {"IN_THE_PAST"}),
    "inside": ([[0, "A", 240, 0], [1, "A", 120, 239], *BOTH, [1, "B", 60, 300]], {"IN_THE_PAST"}),
    "at the end": ([[0, "A", 240, 0], [1, "A", 120, 240], *BOTH, [1, "B", 60, 300]], set()),
    "heated apart": ([[1, "A", 120, 0], [0, "A", 240, 0], [2, "A", 60, 240], [0, "B", 60, 270], [1, "B", 60, 330]], {"OCCUPIED"}),
    "heated while it is so hot": (
        [[1, "A", 120, 0], [0, "A", 240, 0], [0, "B", 60, 240], [1, "B", 60, 300], [2, "A", 60, 300]],
        set(),
    ),
    "heated before what coincides": (
        [[1, "A", 120, 0], [0, "A", 240, 0], [0, "B", 60, 240], [2, "A", 60, 300], [1, "B", 60, 300]],
        {"OCCUPIED"},
    ),
}


@pytest.mark.parametrize("edge", EDGES)
def test_the_edges_of_the_rules(edge: str) -> None:
    rows, found = EDGES[edge]
    assert codes(meal_of(HANDS), rows) == found


@NEEDS_DATA
@pytest.mark.parametrize("edge", EDGES)
def test_the_official_evaluator_has_the_same_edges(edge: str) -> None:
    rows, found = EDGES[edge]
    assert judged(HANDS, rows).is_accepted is not bool(found)


def test_two_cooks_have_four_hands_and_no_more() -> None:
    document = [recipe("A", step("2 min"), step("2 min"), step("2 min"), step("1 min", kind="a"))]
    rows = [[3, "A", 60, 0], [0, "A", 120, 0], [1, "A", 120, 0], [2, "A", 120, 120]]
    assert codes(meal_of(document), rows) == {"OVERLAP"}
    assert codes(meal_of(document, cooks=2), rows) == set()
    assert codes(meal_of(document, cooks=2), [*rows[1:3], [3, "A", 60, 60], rows[3]]) == {"IN_THE_PAST"}
    assert codes(meal_of(document, cooks=2), [*rows[:3], [2, "A", 120, 60]]) == {"OVERLAP"}


def test_a_dish_that_is_to_be_warm_ends_near_the_end() -> None:
    document = [recipe("A", step("2 min")), recipe("B", step("5 min"))]
    rows = [[0, "A", 120, 0], [0, "B", 300, 120]]
    assert codes(meal_of(document, warm={"A": "4 min"}), rows) == {"TOO_LATE"}
    assert codes(meal_of(document, warm={"A": "5 min"}), rows) == set()


@pytest.mark.parametrize("room", [40, 400])
def test_windows_together_imply_the_rules(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, meal = Random(3), meal_of(MEAL)
    plans = [PLAN, *FAULTS.values(), *(faulty(PLAN, rng) for _ in range(150))]
    whole = [validate_plan(meal, rows) for rows in plans]
    monkeypatch.setattr(concern, "ROOM_BYTES", room)
    in_windows = [validate_plan(meal, rows) for rows in plans]
    assert [each.violations for each in in_windows] == [each.violations for each in whole]
    assert len(in_windows[0].certificates) > len(whole[0].certificates)


def test_slices_stay_small_however_long_the_meal_is() -> None:
    meal = meal_of([recipe(f"Dish {n}", *(step("2 min", *range(max(0, k - 1), k)) for k in range(40))) for n in range(10)])
    rows = [[k, f"Dish {n}", 120, 120 * (40 * n + k)] for n in range(10) for k in range(40)]
    verdict = validate_plan(meal, rows)
    assert verdict.is_valid
    assert max(each.slice_tokens for each in verdict.certificates) <= DEFAULT_BUDGET_TOKENS


OURS = {
    "is not one of our goals": {"UNKNOWN_RECIPE"},
    "does not exist": {"UNKNOWN_STEP"},
    "in the past": {"IN_THE_PAST", "OVERLAP"},
    "is occupied": {"OCCUPIED", "OVERLAP", "REPEATED", "NOT_INTERRUPTIBLE"},
    "The temperature of": {"TEMPERATURE"},
    "Time constraint violated": {"TOO_LATE"},
    "is already executed": {"REPEATED"},
    "is already executing": {"DURATION"},
    "exceeds the time needed": {"DURATION"},
    "not interruptable": {"NOT_INTERRUPTIBLE", "DURATION"},
    "prerequisite step": {"NOT_READY", "MISSING_STEP", "DURATION", "NOT_INTERRUPTIBLE"},
}
"""What the official evaluator says first, and the codes of which one stands for it."""


def check_agreement(document: Any, rows: Rows, *, without: bool) -> bool:
    """Returns whether the plan is right."""
    meal = meal_of(document)
    found = codes(meal.without_time_constraints() if without else meal, rows)
    theirs = judged(document, rows, without=without)
    is_right, says = theirs.is_accepted, theirs.says
    assert is_right is not bool(found), (rows, says, found)
    for words, ours in OURS.items():
        assert words not in says or found & ours, (rows, says, found)
    return is_right


@NEEDS_DATA
@pytest.mark.thorough
def test_the_official_evaluator_agrees_on_plans_right_and_wrong() -> None:
    rng, right = Random(1), 0
    some = list(pairs().values())[:: 1 if IS_FULL else 8]
    plans = [(pair, without, _planned(pair, without=without)) for pair in some for without in (False, True)]
    many = 8000 if IS_FULL else 600
    for n in range(many):
        pair, without, rows = plans[n % len(plans)]
        right += check_agreement(pair, faulty(rows, rng), without=without)
    assert many // 24 < right < many // 2


@NEEDS_DATA
@pytest.mark.thorough
def test_the_official_evaluator_agrees_on_meals_at_random() -> None:
    rng, right = Random(2), 0
    for _ in range(100 if IS_FULL else 10):
        document = drawn(rng, most=4)
        rows = _planned(document, without=True)
        for _ in range(20):
            right += check_agreement(document, faulty(rows, rng), without=rng.random() < 0.5)
    assert 10 < right < 1000


def _planned(document: Any, *, without: bool) -> Rows:
    meal = parse_meal(document)
    planned = plan_meal(Situation(meal.without_time_constraints() if without else meal), Budget.of(20)).plan
    return [list(row) for row in planned]


def test_the_shipped_pairs_are_planned_and_judged() -> None:
    for pair in pairs_in(None).values():
        assert codes(parse_meal(pair), _planned(pair, without=False)) == set()
