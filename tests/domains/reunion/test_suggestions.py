from __future__ import annotations

from typing import Any

import pytest

from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.request import Attention, ReunionProblem
from sagagraph.domains.reunion.shipped import shipped
from sagagraph.domains.reunion.suggestions import accept, suggestions
from sagagraph.errors import InvalidInputError


def forgetful(**fields: Any) -> ReunionProblem:
    said = {
        "name": "dinner",
        "places": {"HOME": "Home", "BOS": "Boston Airport"},
        "travel_minutes": [["HOME", "BOS", 60]],
        "people": [{"name": "James", "place": "BOS", "from": "13:00"}, {"name": "Sarah", "place": "HOME"}],
        "vehicles": [{"name": "rental car", "seats": 5, "place": "BOS", "drivers": ["James"]}],
        "tasks": [{"name": "turkey", "place": "HOME", "minutes": 240}, {"name": "gift", "place": "HOME"}],
        "goals": [{"people": "all", "place": "HOME", "by": "18:00"}],
    }
    return parse_problem({**said, **fields})


def test_what_people_forget_is_proposed_in_words() -> None:
    assert {each.id: each.sentence for each in suggestions(forgetful())} == {
        "kerb:James": "James needs 30 minutes from landing to the kerb of Boston Airport",
        "rental:rental car": "Renting rental car takes James 30 minutes at Boston Airport",
        "watch:turkey": "turkey: nobody has to work at it, but somebody has to be there all the time",
        "errand:gift": "gift at Home takes 5 minutes",
    }


def test_nothing_is_added_unless_it_is_taken() -> None:
    problem = forgetful()
    suggestions(problem)
    assert accept(problem, ()) == problem == forgetful()


def test_what_is_taken_is_in_the_problem_and_not_proposed_again() -> None:
    problem = accept(forgetful(), [each.id for each in suggestions(forgetful())])
    james, turkey = problem.people[0], problem.tasks[0]
    assert (james.available, turkey.attention, problem.tasks[1].minutes) == (13 * 60 + 30, Attention.WATCHED, 5)
    renting = problem.tasks[2]
    assert (problem.vehicles[0].unlocked_by, renting.minutes, renting.who) == ("rent rental car", 30, ("James",))
    assert suggestions(problem) == ()


def test_one_can_be_taken_without_the_others() -> None:
    problem = accept(forgetful(), ["kerb:James"])
    assert problem.people[0].exit_minutes == 30
    assert (problem.vehicles, problem.tasks) == (forgetful().vehicles, forgetful().tasks)


def test_a_rental_that_takes_no_time_yet_takes_it_then() -> None:
    car = {"name": "rental car", "seats": 5, "place": "BOS", "drivers": ["James"], "unlocked_by": "rent"}
    problem = forgetful(vehicles=[car], tasks=[{"name": "rent", "place": "BOS", "who": ["James"]}])
    assert accept(problem, ["rental:rental car"]).tasks[0].minutes == 30


def test_what_was_not_proposed_cannot_be_taken() -> None:
    with pytest.raises(InvalidInputError, match=r"common_sense: 'kerb:Sarah' is not proposed; there are kerb:James"):
        accept(forgetful(), ["kerb:Sarah"])


@pytest.mark.parametrize("name", ["thanksgiving", "ride_sharing", "campus_tour", "campus_groups"])
def test_problems_that_say_it_all_leave_nothing_to_propose(name: str) -> None:
    assert suggestions(shipped(name)) == ()
