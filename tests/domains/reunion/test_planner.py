"""The planner: the papers' cases proven best, an exhaustive search that agrees, and a validator that accepts every plan."""

from __future__ import annotations

import pytest

from benchmarks.reunions.generator import generate
from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.planning.measure import check_distances, measure
from sagagraph.domains.reunion.planning.model.search import Unsolved
from sagagraph.domains.reunion.planning.planner import plan
from sagagraph.domains.reunion.planning.solving import Solved
from sagagraph.domains.reunion.request import Objective
from sagagraph.domains.reunion.rules.robustness import not_survived
from sagagraph.errors import InvalidInputError
from sagagraph.planning.cp_sat import Status
from tests.domains.reunion.exhaustive import least_driving, tiny
from tests.domains.reunion.plans import shipped
from tests.domains.reunion.solving import budget, faults, problem_of, solved


@pytest.mark.parametrize(("name", "least"), [("thanksgiving", 330), ("wedding", 115), ("ride_sharing", 87)])
def test_the_papers_cases_are_proven_best_and_valid(name: str, least: float) -> None:
    problem = problem_of(name)
    answer = solved(problem)
    assert answer.status is Status.OPTIMAL
    assert [(each.value, each.bound) for each in answer.objectives] == [(least, least)]
    assert measure(problem, answer.plan, problem.objectives[0]) == least
    assert faults(problem, answer.plan) == []


@pytest.mark.parametrize("seed", [*range(13), 135, 146])
def test_the_least_driving_is_what_an_exhaustive_search_finds(seed: int) -> None:
    problem = tiny(seed)
    least = least_driving(problem)
    answer = plan(problem, budget())
    if least is None:
        assert answer == Unsolved(is_proof=True)
        return
    assert isinstance(answer, Solved)
    assert (answer.status, answer.objectives[0].value) == (Status.OPTIMAL, least)
    assert faults(problem, answer.plan) == []


def test_two_people_and_one_seat_take_two_journeys() -> None:
    stated = {
        "name": "one seat",
        "places": {"A": "A", "B": "B"},
        "travel_minutes": [["A", "B", 2]],
        "people": [
            {"name": name, "place": "A", "from": "08:00", "goals": [{"place": "B", "by": "08:08"}]} for name in ("p", "q")
        ],
        "vehicles": [{"name": "v", "seats": 1, "place": "A", "from": "08:00"}],
    }
    problem = parse_problem(stated)
    answer = solved(problem)
    assert answer.objectives[0].value == least_driving(problem) == 6
    assert faults(problem, answer.plan) == []


def test_the_exhaustive_search_meets_plans_and_problems_without_one() -> None:
    assert {least_driving(tiny(seed)) is None for seed in range(8)} == {True, False}


@pytest.mark.parametrize("objective", list(Objective))
def test_a_plan_for_any_objective_is_valid_and_its_value_is_what_is_measured(objective: Objective) -> None:
    problem = problem_of("ride_sharing").model_copy(update={"objectives": (objective,)})
    answer = plan(problem, budget(2))
    assert isinstance(answer, Solved)
    assert faults(problem, answer.plan) == []
    is_judged = objective is Objective.ROBUSTNESS
    measured = len(not_survived(problem, answer.plan)) if is_judged else measure(problem, answer.plan, objective)
    assert answer.objectives[0].value == measured
    assert answer.objectives[0].bound <= answer.objectives[0].value


def test_objectives_count_in_their_order() -> None:
    both = (Objective.MAKESPAN, Objective.DRIVING_MINUTES)
    problem = problem_of("wedding").model_copy(update={"objectives": both})
    first, second = solved(problem, 30).objectives
    assert first.value < measure(problem, solved(problem_of("wedding")).plan, Objective.MAKESPAN)
    assert second.value > 115


def test_the_same_question_has_the_same_answer() -> None:
    assert solved(tiny(14)).plan == solved(tiny(14)).plan


def test_many_people_are_planned_by_rounds() -> None:
    problem = generate(14, 1)
    answer = solved(problem, 8)
    assert faults(problem, answer.plan) == []
    assert 0 < answer.objectives[0].bound <= answer.objectives[0].value


def test_soft_wishes_come_after_the_objectives() -> None:
    problem = problem_of("ride_sharing")
    answer = solved(problem)
    arrivals = [action.end for action in answer.plan.actions if action.do == "travel" and action.to == "G"]
    assert min(arrivals) >= 8 * 60 + 45


def test_a_road_without_a_distance_is_bad_input_where_distance_counts() -> None:
    stated = shipped("ride_sharing")
    stated["distance_km"] = stated["distance_km"][1:]
    with pytest.raises(InvalidInputError, match="distance_km: A to B has none"):
        check_distances(parse_problem(stated))
