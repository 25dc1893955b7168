"""What sagas of reunions get from the planner: judged plans, or the conflict in words."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.reunions.realm import read_realm
from sagagraph.domains.reunion.day import as_json
from sagagraph.domains.reunion.parsing import parse_events, parse_problem
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.measure import measure
from sagagraph.domains.reunion.planning.solver import Solver
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.domains.reunion.shipped import shipped
from sagagraph.planning.domain import Infeasible
from tests.benchmarks.test_realm import GROUPS, TOUR

from .scripted import LATE, PROBLEM, TOO_LATE


def dinner(**fields: Any) -> ReunionProblem:
    return parse_problem({**PROBLEM, "people": PROBLEM["people"][:3], "vehicles": PROBLEM["vehicles"][:1], **fields})


@pytest.mark.parametrize(
    "problem",
    [
        dinner(),
        dinner(tasks=[{"name": "milk", "place": "M"}, {"name": "bread", "place": "M"}]),
        read_realm(TOUR, max_duration=False).problem,
        read_realm(GROUPS).problem,
    ],
    ids=["a dinner", "errands of no time", "a tour of REALM", "groups of REALM"],
)
def test_its_plans_are_valid(problem: ReunionProblem) -> None:
    planned = Solver(plan_s=5).plan(problem)
    assert isinstance(planned, tuple)
    assert validate_plan(problem, as_json(planned[0])).violations == ()


@pytest.mark.parametrize("name", ["wedding", "ride_sharing", "campus_groups"])
def test_what_it_tells_on_the_way_is_valid_and_never_worse_than_before(name: str) -> None:
    problem, told = shipped(name), list[ReunionPlan]()
    planned = Solver(plan_s=10).plan(problem, lambda plans: told.extend(plans))
    assert isinstance(planned, tuple)
    assert len(told) >= 2
    assert told[-1] == planned[0]
    assert all(validate_plan(problem, as_json(each)).violations == () for each in told)
    foremost = [measure(problem, each, problem.objectives[0]) for each in told]
    assert foremost == sorted(foremost, reverse=True)


def test_its_repairs_are_valid_and_keep_the_past() -> None:
    problem = dinner()
    planned = Solver().plan(problem)
    assert isinstance(planned, tuple)
    events = parse_events(problem, LATE)
    repaired = Solver().repair(problem, planned[0], events)
    assert not isinstance(repaired, Infeasible)
    assert validate_plan(problem, as_json(repaired), events, against=as_json(planned[0])).violations == ()


def test_what_cannot_be_met_is_said_with_what_would_help() -> None:
    problem = dinner()
    planned = Solver().plan(problem)
    assert isinstance(planned, tuple)
    found = Solver().repair(problem, planned[0], parse_events(problem, TOO_LATE))
    assert isinstance(found, Infeasible)
    assert set(found.conflict) == {"Bob comes at 23:00", "Bob is at H by 18:00"}
    assert {each.needs for each in found.relaxations} == {"17:30", "23:30"}


def test_without_time_it_says_that_nothing_is_proven() -> None:
    found = Solver(plan_s=0).plan(dinner())
    assert isinstance(found, Infeasible)
    assert found.conflict == ()
    assert "not proven" in found.reasons[0]
