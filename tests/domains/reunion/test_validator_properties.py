"""What is right by construction is VALID; what breaks one rule by construction is told of that rule alone."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.domains.reunion.corruption import OPERATORS, Operator
from tests.domains.reunion.days import problem_of, random_day
from tests.domains.reunion.plans import found, judged, plan_of

CASES = [(code, operator) for code, operators in OPERATORS.items() for operator in operators]
SEEDS = st.integers(0, 10**6)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_a_plan_is_valid_for_the_problem_that_was_made_to_permit_it(seed: int) -> None:
    day = random_day(seed)
    assert found(judged(problem_of(day), day.plan)) == []


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_the_order_of_the_actions_in_the_file_does_not_matter(seed: int) -> None:
    day = random_day(seed)
    actions = list(day.actions)
    Random(seed).shuffle(actions)
    assert found(judged(problem_of(day), plan_of(*actions))) == []
    assert found(judged(problem_of(day), day.plan, against=plan_of(*actions), executed_until="24:00")) == []


@pytest.mark.parametrize(("code", "operator"), CASES, ids=lambda each: getattr(each, "__name__", each))
@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_a_plan_that_breaks_one_rule_is_told_of_that_rule_alone(code: str, operator: Operator, seed: int) -> None:
    broken = operator(random_day(seed), Random(seed))
    verdict = judged(broken.problem, broken.plan, *broken.events, against=broken.against, executed_until=broken.until)
    told = set(found(verdict))
    assert told == {(code, at) for at in broken.at}
    scopes = [json.dumps(each.scope) for each in verdict.violations]
    assert all(any(json.dumps(name) in scope for scope in scopes) for name in broken.names)
    assert len(set(scopes)) == len(scopes), "each fault once"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["travel", "A", "Q", "09:00", "car 1", "rider 1"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["do", "who", "from", "start"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.data())
def test_whatever_a_plan_holds_there_is_a_verdict(seed: int, data: st.DataObject) -> None:
    day = random_day(seed % 20)
    actions: list[Any] = [dict(act) for act in day.actions]
    for _ in range(3):
        n = data.draw(st.integers(0, len(actions) - 1))
        if isinstance(actions[n], dict) and actions[n]:
            actions[n][data.draw(st.sampled_from(sorted(actions[n])))] = data.draw(ANYTHING)
        else:
            actions[n] = data.draw(ANYTHING)
    verdict = judged(problem_of(day), plan_of(*actions), against=day.plan, executed_until="09:00")
    codes = {each.code for each in verdict.violations}
    assert codes <= OPERATORS.keys()
    assert not codes or all(each.message for each in verdict.violations)


def test_every_code_has_an_operator() -> None:
    assert len(OPERATORS) == 18
