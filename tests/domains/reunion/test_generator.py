"""Generated problems: the same for the same seed, and feasible or not as asked."""

from __future__ import annotations

import pytest

from benchmarks.reunions.generator import generate
from sagagraph.domains.reunion.planning.model.search import Unsolved
from sagagraph.domains.reunion.planning.planner import plan
from tests.domains.reunion.solving import budget, faults, solved


@pytest.mark.parametrize("people", [5, 20, 60])
def test_a_problem_has_as_many_people_as_asked_and_depends_on_the_seed_alone(people: int) -> None:
    assert len(generate(people, 3).people) == people
    assert generate(people, 3) == generate(people, 3)
    assert generate(people, 3).travel_minutes != generate(people, 4).travel_minutes


@pytest.mark.parametrize(("people", "seed"), [(4, 0), (5, 1), (6, 2), (7, 3)])
def test_a_feasible_problem_has_a_valid_plan(people: int, seed: int) -> None:
    problem = generate(people, seed)
    assert faults(problem, solved(problem, 10).plan) == []


@pytest.mark.parametrize(("people", "seed"), [(4, 0), (7, 3), (30, 1), (60, 2)])
def test_an_infeasible_problem_is_proven_to_be(people: int, seed: int) -> None:
    assert plan(generate(people, seed, is_feasible=False), budget(10)) == Unsolved(is_proof=True)
