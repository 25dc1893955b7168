"""Meals as JSON: what is read, and what is wrong with them, in one line that names the field."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sagagraph.domains.recipes.plan import parse_plan
from sagagraph.domains.recipes.request import parse_meal
from sagagraph.errors import InvalidInputError
from tests.domains.recipes.meals import PAPER, recipe, step

pytestmark = pytest.mark.quick


def test_what_is_written_is_read() -> None:
    meal = parse_meal({"recipes": PAPER, "cooks": 2, "warm": {"Baked-Potato": "5 min"}})
    assert parse_meal(meal.document()) == meal


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("10 min", 600), ("30 sec", 30), ("1 hour", 3600), ("2 minutes", 120), ("3 mins.", 180), (90, 90), (60.0, 60)],
)
def test_times(said: Any, seconds: int) -> None:
    assert parse_meal([recipe("A", step(said))]).steps["A", 0].duration == seconds


WRONG: dict[str, tuple[Any, str]] = {
    "a word": ("soup", "FILE: a meal is a list of recipes, not 'soup'"),
    "nothing": ([], "recipes: is empty"),
    "pairs": ([PAPER, PAPER], "FILE: holds several meals"),
    "no steps": ([recipe("A")], "recipes[0].steps: is empty"),
    "no name": ([{"steps": [step(60)]}], "recipes[0].recipe: is missing"),
    "a name twice": ([recipe("A", step(60)), recipe("A", step(60))], "recipes[1].recipe: there is another recipe 'A'"),
    "no time": ([recipe("A", {"step": 0})], "recipes[0].steps[0].time: is missing"),
    "no time at all": ([recipe("A", step("0 min"))], "recipes[0].steps[0].time: must be longer than 0 s"),
    "two units": ([recipe("A", step("1 hour 30 min"))], "recipes[0].steps[0].time: must be a time such as"),
    "half a second": ([recipe("A", step(0.5))], "recipes[0].steps[0].time: must be a time such as"),
    "too large for a float": ([recipe("A", step(10**400))], "recipes[0].steps[0].time: must be between"),
    "no number": ([recipe("A", step(float("nan")))], "recipes[0].steps[0].time: must be a time such as"),
    "for ever": ([recipe("A", step("9999 hours"))], "recipes[0].steps[0].time: must be between 0 s and a week"),
    "a step too many": ([recipe("A", step(60, 4))], "recipes[0].steps[0].prequisites: A has no step 4"),
    "itself": ([recipe("A", step(60, 0))], "recipes[0].steps[0].prequisites: it is this step"),
    "a circle": ([recipe("A", step(60, 1), step(60, 0))], "recipes[0].steps: steps 0, 1 of A wait for each other in a circle"),
    "other numbers": ([recipe("A", {**step(60), "step": 1})], "recipes[0].steps[0].step: steps are numbered from 0"),
    "a limit on nothing": ([recipe("A", step(60, within={3: "1 min"}))], "recipes[0].steps[0].time_constraint: A has no step 3"),
    "no cook": ({"recipes": PAPER, "cooks": 0}, "cooks: must be greater than or equal to 1"),
    "nobody is warm": ({"recipes": PAPER, "warm": {"Tea": "1 min"}}, "warm: there is no recipe 'Tea'"),
    "a flag": ([recipe("A", {**step(60), "parallel": 7})], "recipes[0].steps[0].parallel: "),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_line(case: str) -> None:
    document, words = WRONG[case]
    with pytest.raises(InvalidInputError) as raised:
        parse_meal(document)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["recipe", "steps", "time", "plan"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(value=JSON)
def test_no_value_whatever_raises_anything_else(value: Any) -> None:
    with suppress(InvalidInputError):
        parse_meal(value)
    parse_plan(value)
