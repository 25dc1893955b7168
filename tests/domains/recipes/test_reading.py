"""Recipes in plain words: what is understood, what is asked about, and what a correction in brackets does."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.recipes.reading import agreement, measured
from sagagraph.domains.recipes.text import read_meal
from sagagraph.errors import InvalidInputError


def test_brackets_correct_what_the_words_are_taken_to_mean() -> None:
    steps = read_meal("Stew\nStir the stew (10 min, alone)\nBake it (20 min, by hand)\nChop herbs (3 min, in one go)").steps
    assert [step.is_autonomous for step in steps.values()] == [True, False, False]
    assert [step.is_interruptible for step in steps.values()] == [False, False, False]
    assert read_meal("Stew\nChop herbs (3 min)").steps["Stew", 0].is_interruptible


def test_two_recipes_and_a_constraint_on_a_named_step() -> None:
    meal = read_meal(
        "A\n1) Melt butter (2 min)\n2) Peel pears (5 min)\n3) Pour it within 3 min of step 1 (1 min)\n\nB\n- Wash rice (1 min)"
    )
    assert list(meal.recipes) == ["A", "B"]
    assert dict(meal.steps["A", 2].within) == {0: 180}
    assert 0 in meal.steps["A", 2].after


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Stew", "write the recipe's name"),
        ("Stew\nChop herbs", "step 1, 'Chop herbs': say how long it takes"),
        ("Stew\nServe it within 2 min (1 min)", "`within` needs an earlier step"),
        ("Stew\nPour it (1 min)\nServe it within 2 min of step 2 (1 min)", "`within` needs an earlier step"),
        ("A\nWash rice (1 min)\n\nA\nWash rice (1 min)", "there is another recipe 'A'"),
    ],
)
def test_what_is_missing_is_asked_for(text: str, said: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(said)):
        read_meal(text)


@given(st.text(max_size=300))
def test_any_text_is_a_meal_or_a_question(text: str) -> None:
    try:
        read_meal(f"Name\n{text}")
    except InvalidInputError as exc:
        told = str(exc)
    else:
        return
    assert told


def test_the_figures_of_agreement_are_those_computed_by_hand() -> None:
    assert agreement({1, 2, 3, 4}, {2, 3, 5}) == pytest.approx((0.5, 2 / 3, 4 / 7))
    assert agreement(set(), set()) == (1.0, 1.0, 1.0)
    assert agreement({1}, {2}) == (0.0, 0.0, 0.0)


@pytest.mark.skipif("SAGAGRAPH_DATA" not in os.environ, reason="SAGAGRAPH_DATA names no folder of benchmark data")
def test_it_reads_as_annotators_do() -> None:
    found = {what: figures[2] for what, figures in measured().items()}
    assert found["concurrency"] > 0.9
    assert found["objects"] > 0.85
    assert found["dependencies"] > 0.8
