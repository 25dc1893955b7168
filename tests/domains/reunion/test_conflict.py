"""Conflicts: no requirement too many, and relaxations that help and could not be less."""

from __future__ import annotations

import pytest

from benchmarks.reunions.generator import generate
from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.planning.conflict import Why, conflict_json
from sagagraph.domains.reunion.planning.planner import plan
from sagagraph.domains.reunion.planning.progress import standing
from sagagraph.domains.reunion.planning.requirement import by_person, requirements_of
from sagagraph.domains.reunion.planning.solving import Solved
from tests.domains.reunion.exhaustive import tiny
from tests.domains.reunion.plans import shipped
from tests.domains.reunion.solving import budget, events_of, problem_of, solved


@pytest.mark.parametrize("seed", [0, 4])
def test_a_conflict_has_no_plan_and_has_one_without_any_of_its_requirements(seed: int) -> None:
    problem = by_person(tiny(seed))
    found = Why(problem, budget(8)).conflict()
    names = {each.name for each in found.requirements}
    assert names
    for left_out in [None, *names]:
        rest = problem
        for each in requirements_of(problem):
            rest = each.without(rest) if each.name not in names - {left_out} else rest
        has_plan = isinstance(plan(rest, budget(10)), Solved)
        assert has_plan is (left_out is not None)


def test_the_relaxations_help_and_could_not_be_less() -> None:
    late = generate(5, 1, is_feasible=False)
    found = Why(late, budget(20)).conflict()
    told = conflict_json(found)
    assert "people.guest 1.goals[0].by" in [each["requirement"] for each in told]
    goal = next(each for each in found.requirements if each.name == "people.guest 1.goals[0].by")
    assert goal.scale is not None
    relaxed = next(each["relax"]["to"] for each in told if each["requirement"] == goal.name)
    enough = next(minutes for minutes in range(1, goal.scale.most) if goal.scale.value(minutes) == relaxed)
    assert isinstance(plan(goal.scale.at(enough)(by_person(late)), budget()), Solved)
    assert enough == 1 or not isinstance(plan(goal.scale.at(enough - 1)(by_person(late)), budget()), Solved)


def test_what_cannot_be_met_any_more_is_told_of_all_who_are_late_together() -> None:
    problem = problem_of("wedding")
    slow = events_of(problem, {"at": "13:00", "event": "travel_factor", "place": "B", "factor": 3})
    stands = next(standing(problem, solved(problem).plan, slow))
    told = conflict_json(Why(stands.problem, budget(20), stands.setting).conflict())
    assert [each["requirement"] for each in told] == ["people.Alex.goals[0].by"]
    assert told[0]["relax"]["to"] == "16:00"
    assert {each["requirement"] for each in told[0]["relax"]["together"]} == {
        "people.Jamie.goals[0].by",
        "people.Pat.goals[0].by",
    }


def test_a_guest_who_lands_too_late_is_told_when_it_would_do() -> None:
    stated = shipped("thanksgiving")
    next(each for each in stated["people"] if each["name"] == "Emily")["from"] = "17:00"
    told = conflict_json(Why(parse_problem(stated), budget(20)).conflict())
    assert [each["sentence"] for each in told] == ["Emily comes at 17:00 and needs 30 minutes more", "Emily is at HOME by 18:00"]
    assert told[0]["relax"] == {"to": "16:30", "sentence": "if Emily came at 16:30", "least": True}
