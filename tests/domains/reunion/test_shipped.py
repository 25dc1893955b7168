from __future__ import annotations

import pytest

from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.domains.reunion.shipped import SHIPPED, shipped
from sagagraph.errors import InvalidInputError

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("name", SHIPPED)
def test_each_problem_is_sound_and_survives_being_written(name: str) -> None:
    problem = shipped(name)
    assert parse_problem(problem.model_dump(mode="json")) == problem


def test_another_name_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(InvalidInputError, match=r"NAME: no problem is called 'easter'; there are wedding, .*campus_groups"):
        shipped("easter")


def walk(here: str, there: str, start: str, end: str) -> dict[str, object]:
    times = {"start": start, "end": end}
    return {"do": "travel", "vehicle": "on foot", "driver": "visitor", "riders": [], "from": here, "to": there, **times}


def see(task: str, place: str, start: str, end: str) -> dict[str, object]:
    return {"do": "task", "task": task, "who": ["visitor"], "place": place, "start": start, "end": end}


def test_the_campus_tour_can_be_walked() -> None:
    actions = [
        walk("GATE", "LIB", "09:52", "10:00"),
        see("see the library", "LIB", "10:00", "10:25"),
        walk("LIB", "LAB", "10:25", "10:32"),
        see("see the laboratory", "LAB", "10:32", "11:02"),
        walk("LAB", "POOL", "11:02", "11:08"),
        see("see the pool", "POOL", "11:08", "11:23"),
        walk("POOL", "HALL", "11:47", "12:00"),
        see("lunch", "HALL", "12:00", "12:40"),
        walk("HALL", "DORM", "12:48", "13:00"),
        see("see the student village", "DORM", "13:00", "13:20"),
        walk("DORM", "GATE", "13:20", "13:40"),
    ]
    assert validate_plan(shipped("campus_tour"), {"problem": "campus tour", "actions": actions}).is_valid


def lead(guide: str, here: str, there: str, start: str, end: str, *groups: str) -> dict[str, object]:
    times = {"start": start, "end": end}
    tour = {"do": "travel", "vehicle": f"tour of {guide}", "driver": guide, "riders": list(groups)}
    return {**tour, "from": here, "to": there, **times}


def test_the_groups_can_be_led_and_no_guide_leads_after_hours() -> None:
    actions = [
        lead("Ines", "GATE", "END", "09:30", "10:45", "Group North"),
        lead("Ines", "END", "ROOM", "12:55", "13:00"),
        lead("Omar", "GATE", "END", "09:30", "10:45", "Group East"),
        lead("Omar", "END", "ROOM", "10:45", "10:50"),
        lead("Yuki", "GATE", "END", "11:15", "12:30", "Group South"),
        lead("Yuki", "END", "GATE", "12:30", "12:35"),
        lead("Yuki", "GATE", "END", "12:35", "13:50", "Group West"),
        lead("Yuki", "END", "ROOM", "13:50", "13:55"),
    ]
    problem = shipped("campus_groups")
    assert validate_plan(problem, {"problem": "campus groups", "actions": actions}).is_valid
    after_hours = [*actions[:3], lead("Omar", "END", "GATE", "10:45", "10:50"), *actions[4:6]]
    west = [lead("Omar", "GATE", "END", "12:35", "13:50", "Group West"), lead("Omar", "END", "ROOM", "13:50", "13:55")]
    found = validate_plan(problem, {"problem": "campus groups", "actions": [*after_hours, *west]})
    assert {(each.code, str(each.scope.get("people"))) for each in found.violations} >= {("GOAL_MISSED", "['Omar']")}
