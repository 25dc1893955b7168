"""People who are to be kept apart do no task together, and none side by side."""

from __future__ import annotations

from typing import Any

import pytest

from sagagraph.domains.reunion.parsing import parse_events, parse_problem
from sagagraph.domains.reunion.planning.conflict import Why, conflict_json
from sagagraph.domains.reunion.planning.model.search import Unsolved
from sagagraph.domains.reunion.planning.planner import plan
from sagagraph.domains.reunion.planning.repair import Repaired, repair
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.errors import InvalidInputError
from tests.domains.reunion.plans import Json, plan_of, task
from tests.domains.reunion.solving import budget, faults, read_plan, solved

KITCHEN: Json = {
    "name": "kitchen",
    "places": {"H": "home", "G": "garden"},
    "travel_minutes": [["H", "G", 5]],
    "people": [{"name": "Sarah", "place": "H", "from": "14:00"}, {"name": "Grandma", "place": "H", "from": "14:00"}],
    "tasks": [
        {"name": "soup", "place": "H", "minutes": 60, "who": ["Sarah"]},
        {"name": "cake", "place": "H", "minutes": 60, "who": ["Grandma"]},
    ],
    "goals": [{"people": "all", "place": "H", "by": "16:00"}],
    "objectives": ["makespan"],
    "apart": [["Sarah", "Grandma"]],
}


def kitchen(**fields: Any) -> ReunionProblem:
    return parse_problem({**KITCHEN, **fields})


def cooked(soup: str, cake: str, *, beside: tuple[str, ...] = ()) -> Json:
    return plan_of(
        task("soup", ",".join(("Sarah", *beside)), soup, f"{int(soup[:2]) + 1}{soup[2:]}"),
        task("cake", "Grandma", cake, f"{int(cake[:2]) + 1}{cake[2:]}"),
    )


def codes(problem: ReunionProblem, plan: Json) -> set[str]:
    return {each.split(":")[0] for each in faults(problem, read_plan(problem, plan))}


def test_they_work_one_after_the_other_and_without_the_wish_at_once() -> None:
    one_by_one = solved(kitchen())
    assert one_by_one.objectives[0].value == 120
    assert faults(kitchen(), one_by_one.plan) == []
    assert solved(kitchen(apart=[])).objectives[0].value == 60


@pytest.mark.parametrize(("soup", "cake", "found"), [("14:00", "14:30", {"TOGETHER"}), ("14:00", "15:00", set())])
def test_side_by_side_is_found_and_one_after_the_other_is_not(soup: str, cake: str, found: set[str]) -> None:
    assert codes(kitchen(), cooked(soup, cake)) == found


def test_together_in_one_task_is_found_and_elsewhere_is_not() -> None:
    anybody = [{"name": "soup", "place": "H", "minutes": 60}, {"name": "cake", "place": "H", "minutes": 60}]
    assert "TOGETHER" in codes(kitchen(tasks=anybody), cooked("14:00", "15:00", beside=("Grandma",)))
    outside = [KITCHEN["tasks"][0], {"name": "cake", "place": "G", "minutes": 60, "who": ["Grandma"]}]
    people = [KITCHEN["people"][0], {**KITCHEN["people"][1], "place": "G"}]
    apart = kitchen(tasks=outside, people=people, goals=[])
    assert faults(apart, solved(apart).plan) == []
    assert solved(apart).objectives[0].value == 60


def test_who_works_already_is_not_joined_after_an_event() -> None:
    problem = kitchen(goals=[{"people": "all", "place": "H", "by": "18:00"}])
    old = read_plan(problem, cooked("14:00", "15:00"))
    events = parse_events(problem, {"at": "14:30", "event": "delayed", "person": "Grandma", "from": "14:40"})
    repaired = repair(problem, old, events, budget())
    assert isinstance(repaired, Repaired)
    assert faults(problem, repaired.solved.plan, events) == []


def test_it_is_named_where_it_is_what_makes_a_plan_impossible() -> None:
    short = kitchen(
        goals=[{"people": "all", "place": "H", "by": "15:30"}],
        tasks=[{**each, "window": ["14:00", "15:30"]} for each in KITCHEN["tasks"]],
    )
    assert isinstance(plan(short, budget()), Unsolved)
    told = {each["requirement"]: each["relax"] for each in conflict_json(Why(short, budget()).conflict())}
    assert told["apart[0]"]["sentence"] == "if it need not be that Sarah and Grandma do not work side by side"


def test_nobody_is_apart_from_nobody() -> None:
    with pytest.raises(InvalidInputError, match=r"apart\[0\]: name at least two people"):
        kitchen(apart=[["Sarah"]])
    with pytest.raises(InvalidInputError, match=r"apart\[0\]: nobody is called 'Zoe'"):
        kitchen(apart=[["Sarah", "Zoe"]])
