"""Who must not wait alone: how it is judged, planned, repaired and told where it cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.reunions.generator import generate
from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.planning.conflict import Why, conflict_json
from sagagraph.domains.reunion.planning.model.search import Unsolved
from sagagraph.domains.reunion.planning.planner import plan
from sagagraph.domains.reunion.planning.repair import Repaired, repair
from sagagraph.domains.reunion.planning.solving import Solved
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.planning.cp_sat import Status
from tests.domains.reunion.exhaustive import in_company, least_driving
from tests.domains.reunion.plans import Json, found, judged, plan_of, shipped, task, travel
from tests.domains.reunion.published import ALAS_TABLE_21, MICHAEL
from tests.domains.reunion.solving import budget, events_of, faults, read_plan, solved

PROBLEM: Json = {
    "name": "station",
    "places": {"H": "home", "S": "station", "M": "market"},
    "travel_minutes": [["H", "S", 20], ["S", "M", 10], ["M", "H", 15]],
    "people": [
        {"name": "Ann", "place": "H"},
        {"name": "Bob", "place": "S", "from": "10:00", "exit_minutes": 10, "never_alone": True},
        {"name": "Cleo", "place": "S", "from": "10:00"},
        {"name": "Dan", "place": "M", "never_alone": True},
    ],
    "vehicles": [
        {"name": "car", "seats": 4, "place": "H", "drivers": ["Ann"]},
        {"name": "taxi", "seats": 1, "place": "S"},
    ],
    "tasks": [
        {"name": "tickets", "place": "S", "minutes": 10, "optional": True},
        {"name": "stall", "place": "S", "minutes": 30, "optional": True, "attention": "watched"},
    ],
    "goals": [{"people": "all", "place": "H", "by": "12:00"}],
}
SEEDS = (0, 1, 134, 141, 275, 354, 365, 819, 1028, 1149)
"""Each is quick, and most of them have another answer without company."""
HOME_AGAIN = (travel("car", "Ann", "S-M", "11:00", "11:10", "Bob"), travel("car", "Ann", "M-H", "11:10", "11:25", "Bob", "Dan"))
CLEO_AT_ONCE = travel("taxi", None, "S-H", "10:00", "10:20", "Cleo")


def meet(arrives: str) -> Json:
    hour, minute = map(int, arrives.split(":"))
    start = 60 * hour + minute - 20
    return travel("car", "Ann", "H-S", f"{start // 60:02}:{start % 60:02}", arrives)


JUDGED: dict[str, tuple[list[Json], list[tuple[str, str, str, str]]]] = {
    "met when they come out": ([meet("10:10"), CLEO_AT_ONCE, *HOME_AGAIN], []),
    "met a minute late": ([meet("10:11"), CLEO_AT_ONCE, *HOME_AGAIN], [("Bob", "S", "10:10", "10:11")]),
    "somebody who leaves when the other comes": (
        [meet("10:40"), travel("taxi", None, "S-H", "10:40", "11:00", "Cleo"), *HOME_AGAIN],
        [],
    ),
    "somebody who leaves a minute before the other comes": (
        [meet("10:40"), travel("taxi", None, "S-H", "10:39", "10:59", "Cleo"), *HOME_AGAIN],
        [("Bob", "S", "10:39", "10:40")],
    ),
    "whoever works is no less there": (
        [
            meet("10:40"),
            task("tickets", "Cleo", "10:10", "10:40"),
            travel("taxi", None, "S-H", "10:40", "11:00", "Cleo"),
            *HOME_AGAIN,
        ],
        [],
    ),
    "at work they do not wait": (
        [meet("10:40"), CLEO_AT_ONCE, task("tickets", "Bob", "10:10", "10:30"), *HOME_AGAIN],
        [("Bob", "S", "10:30", "10:40")],
    ),
    "to watch is to wait": (
        [meet("10:40"), CLEO_AT_ONCE, task("stall", "Bob", "10:10", "10:40"), *HOME_AGAIN],
        [("Bob", "S", "10:10", "10:40")],
    ),
    "alone at home is where they are to be": (
        [
            travel("taxi", None, "S-H", "10:10", "10:30", "Bob"),
            travel("taxi", None, "H-S", "10:30", "10:50"),
            travel("taxi", None, "S-H", "10:50", "11:10", "Cleo"),
            travel("car", "Ann", "H-M", "10:20", "10:35"),
            travel("car", "Ann", "M-H", "11:00", "11:15", "Dan"),
        ],
        [],
    ),
    "who was there from the beginning waits once they have set out": (
        [
            meet("10:10"),
            travel("car", "Ann", "S-H", "10:10", "10:30", "Bob", "Cleo"),
            travel("taxi", None, "S-M", "10:30", "10:40"),
            travel("taxi", None, "M-S", "10:40", "10:50", "Dan"),
            travel("taxi", None, "S-H", "11:05", "11:25", "Dan"),
        ],
        [("Dan", "S", "10:50", "11:05")],
    ),
    "twice": (
        [
            CLEO_AT_ONCE,
            travel("taxi", None, "H-S", "10:20", "10:40"),
            travel("taxi", None, "S-M", "10:40", "10:50", "Bob"),
            travel("car", "Ann", "H-M", "11:00", "11:15"),
            travel("car", "Ann", "M-H", "11:20", "11:35", "Bob", "Dan"),
        ],
        [("Bob", "S", "10:10", "10:40")],
    ),
}


def alone(problem: Json, actions: list[Json], *events: Json) -> list[tuple[str, str, str, str]]:
    verdict = judged(problem, plan_of(*actions), *events)
    assert {each.code for each in verdict.violations} <= {"ALONE"}, verdict.violations
    return [
        (each.scope["people"][0], each.scope["place"], each.evidence["from"], each.evidence["to"]) for each in verdict.violations
    ]


@pytest.mark.parametrize("case", JUDGED)
def test_when_somebody_waits_alone(case: str) -> None:
    actions, expected = JUDGED[case]
    assert alone(PROBLEM, actions) == expected


def test_it_is_told_with_who_and_where_and_how_long() -> None:
    (only,) = judged(PROBLEM, plan_of(meet("10:40"), CLEO_AT_ONCE, *HOME_AGAIN)).violations
    assert only.message == "Bob waits alone at S from 10:10 to 10:40, 30 minutes"
    assert only.evidence == {"from": "10:10", "to": "10:40", "minutes": 30}


def test_who_waits_for_nothing_may_be_alone() -> None:
    """Without a goal there is nothing to wait for, and after the last one nothing more."""
    people = [{**each, "goals": [{"place": "H", "by": "12:00"}]} if each["name"] != "Bob" else each for each in PROBLEM["people"]]
    home = [travel("car", "Ann", "H-M", "10:00", "10:15"), travel("car", "Ann", "M-H", "10:15", "10:30", "Dan"), CLEO_AT_ONCE]
    assert alone({**PROBLEM, "people": people, "goals": []}, home) == []
    early = [{"people": ["Bob"], "place": "S", "by": "10:30"}]
    assert alone({**PROBLEM, "people": people, "goals": early}, home) == []


def test_company_that_is_late_or_cancels_is_none_from_when_that_is_known() -> None:
    actions = [meet("10:40"), travel("taxi", None, "S-H", "10:40", "11:00", "Cleo"), *HOME_AGAIN]
    assert alone(PROBLEM, [actions[0], *HOME_AGAIN], {"at": "10:20", "event": "cancelled", "person": "Cleo"}) == [
        ("Bob", "S", "10:20", "10:40")
    ]
    late = {"at": "09:50", "event": "delayed", "person": "Cleo", "from": "10:25"}
    assert alone(PROBLEM, actions, late) == [("Bob", "S", "10:10", "10:25")]


def test_what_cannot_be_read_may_have_been_company() -> None:
    broken = [{**meet("10:10"), "start": "soon"}, CLEO_AT_ONCE, *HOME_AGAIN]
    assert found(judged(PROBLEM, plan_of(*broken))) == [("MALFORMED", 0)]


# -- plans -----------------------------------------------------------------------------------------------------------


def thanksgiving(*names: str, **since: str) -> ReunionProblem:
    """With those never alone, and others landing at other times."""
    stated: dict[str, Any] = shipped("thanksgiving")
    for each in stated["people"]:
        each["never_alone"] = each["name"] in names
        each.update({"from": since[each["name"]]} if each["name"] in since else {})
    return parse_problem(stated)


@pytest.mark.parametrize(
    ("problem", "least"),
    [
        (thanksgiving("Emily", James="15:30"), 330),
        (thanksgiving("Sarah", "James", "Emily", "Michael", "Grandma"), 390),
        (thanksgiving("Emily", Emily="13:30", James="15:30"), None),
    ],
    ids=["Emily, before James", "nobody", "before anybody can be there"],
)
def test_thanksgiving_in_company_is_proven_best(problem: ReunionProblem, least: int | None) -> None:
    answer = plan(problem, budget())
    if least is None:
        assert answer == Unsolved(is_proof=True)
        return
    assert isinstance(answer, Solved)
    assert (answer.status, answer.objectives[0].value) == (Status.OPTIMAL, least)
    assert faults(problem, answer.plan) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_the_least_driving_in_company_is_what_an_exhaustive_search_finds(seed: int) -> None:
    problem = in_company(seed)
    least = least_driving(problem)
    answer = plan(problem, budget())
    if least is None:
        assert answer == Unsolved(is_proof=True)
        return
    assert isinstance(answer, Solved)
    assert (answer.status, answer.objectives[0].value) == (Status.OPTIMAL, least)
    assert faults(problem, answer.plan) == []


def test_it_makes_a_difference_in_what_the_exhaustive_search_is_asked() -> None:
    """Or the comparison would show nothing."""
    changed = [seed for seed in SEEDS if least_driving(in_company(seed)) != least_driving(unaccompanied(in_company(seed)))]
    assert len(changed) >= 5


def unaccompanied(problem: ReunionProblem) -> ReunionProblem:
    people = tuple(each.model_copy(update={"never_alone": False}) for each in problem.people)
    return problem.model_copy(update={"people": people})


def test_a_team_keeps_its_company() -> None:
    problem = generate(14, 1)
    place = problem.people[-1].place
    together = [each.name for each in problem.people if each.place == place]
    assert len(together) > 1
    people = (each.model_copy(update={"never_alone": each.name in together[:1]}) for each in problem.people)
    accompanied = problem.model_copy(update={"people": tuple(people)})
    assert faults(accompanied, solved(accompanied, 8).plan) == []


# -- what happens ----------------------------------------------------------------------------------------------------


def test_a_repair_sends_somebody_to_meet_them() -> None:
    """James is late. By the minutes driven Michael goes on home and fetches her later; so that she is met he is rerouted, as ALAS
    does."""
    late = (
        {"at": "12:00", "event": "delayed", "person": "James", "from": "16:00"},
        {"at": "12:00", "event": "may_reroute", "vehicle": MICHAEL, "minutes_left": {"BOS": 180}},
    )
    rerouted = {}
    for problem in (thanksgiving(), thanksgiving("Emily")):
        events, before = events_of(problem, *late), read_plan(problem, ALAS_TABLE_21)
        repaired = repair(problem, before, events, budget())
        assert isinstance(repaired, Repaired)
        assert faults(problem, repaired.solved.plan, events, before) == []
        waits = [each for each in faults(thanksgiving("Emily"), repaired.solved.plan, events) if each.startswith("ALONE")]
        rerouted[bool(waits)] = any(
            act.do == "travel" and (act.from_, act.to) == ("NY", "BOS") for act in repaired.solved.plan.actions
        )
    assert rerouted == {True: False, False: True}


def test_where_nobody_can_be_there_in_time_the_wish_is_part_of_the_conflict() -> None:
    """Ann is there at 10:20 at the earliest, Bob at 10:10."""
    stated = {**PROBLEM, "vehicles": PROBLEM["vehicles"][:1], "tasks": [], "people": PROBLEM["people"][:2]}
    stated["people"] = [{**stated["people"][0], "from": "10:00"}, stated["people"][1]]
    problem = parse_problem(stated)
    assert plan(problem, budget()) == Unsolved(is_proof=True)
    told = {each["requirement"]: each["relax"] for each in conflict_json(Why(problem, budget(20)).conflict())}
    assert told["people.Bob.never_alone"]["sentence"] == "if it need not be that Bob never waits alone"
    assert told["people.Ann.from"]["to"] == "09:50"
    assert set(told) == {"people.Ann.from", "people.Bob.from", "people.Bob.goals[0].by", "people.Bob.never_alone"}
