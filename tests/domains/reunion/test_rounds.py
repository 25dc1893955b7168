"""Plans of large reunions by rounds, judged by the validator; and the bound, which no plan of a small one goes below."""

from __future__ import annotations

import pytest

from benchmarks.reunions.generator import generate
from sagagraph.domains.reunion.planning.bound import driving_bound
from sagagraph.domains.reunion.planning.planner import plan
from sagagraph.domains.reunion.planning.solving import Solved, plain, questions_of, solve
from sagagraph.domains.reunion.request import Objective
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.planning.budget import Budget

SECONDS = 60.0


@pytest.mark.parametrize(("people", "seed"), [(20, 1), (20, 2), (30, 1)])
def test_rounds_are_driven_least(people: int, seed: int) -> None:
    problem = generate(people, seed)
    answer = plan(problem, Budget.of(SECONDS))
    assert isinstance(answer, Solved)
    assert validate_plan(problem, answer.plan.model_dump(mode="json")).is_valid
    (driven,) = answer.objectives
    assert 0.95 * driven.value <= driven.bound <= driven.value


@pytest.mark.parametrize("kind", ["several goals", "hand-overs"])
def test_rounds_lead_over_several_goals_and_where_drivers_end_elsewhere(kind: str) -> None:
    problem = generate(20, 2, goals=kind == "several goals", hand_overs=kind == "hand-overs")
    answer = plan(problem, Budget.of(SECONDS))
    assert isinstance(answer, Solved)
    assert validate_plan(problem, answer.plan.model_dump(mode="json")).is_valid
    (driven,) = answer.objectives
    assert 0.9 * driven.value <= driven.bound <= driven.value


@pytest.mark.parametrize(("goals", "hand_overs"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_below_the_best_plan(seed: int, goals: bool, hand_overs: bool) -> None:
    problem = generate(5, seed, goals=goals, hand_overs=hand_overs)
    question = questions_of(problem, plain)[0]
    best = solve(problem, question, Budget.of(SECONDS))
    assert isinstance(best, Solved)
    (driven,) = best.objectives
    assert driven.value == driven.bound  # proven by the sequence model, which does not use the bound
    assert 0 < driving_bound(plain(problem, 0, is_free=False), Objective.DRIVING_MINUTES, Budget.of(SECONDS)) <= driven.value
