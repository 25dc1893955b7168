"""Whole days as people tell them: all of it is read, and what nobody said of the roads is estimated, until somebody does."""

from __future__ import annotations

import pytest

from sagagraph.domains.reunion.request import Attention, ReunionProblem
from sagagraph.domains.reunion.shipped import shipped
from sagagraph.domains.reunion.text.partial import ESTIMATED, read_reunion
from sagagraph.domains.reunion.text.revision import meaning_of, with_said
from sagagraph.domains.reunion.times import text_of
from sagagraph.domains.reunion.transcript import Transcript

from .tellings import SAGALLM_THANKSGIVING, SAGALLM_WEDDING, SIX, THANKSGIVING_FACTS, WEDDING_FACTS

pytestmark = pytest.mark.quick


def told(text: str) -> ReunionProblem:
    """All of it is understood, and nothing has to be asked."""
    read = with_said(Transcript(), text)
    assert read.unread == ()
    meaning = meaning_of(read.transcript)
    assert meaning.questions == ()
    assert meaning.problem is not None
    return meaning.problem


def people_of(problem: ReunionProblem) -> dict[str, tuple[str, str | None]]:
    return {each.name: (each.place, None if each.from_ is None else text_of(each.from_)) for each in problem.people}


def roads_of(problem: ReunionProblem) -> dict[frozenset[str], float]:
    return {frozenset((each.here, each.there)): each.amount for each in problem.travel_minutes}


@pytest.mark.parametrize("text", [SAGALLM_WEDDING, WEDDING_FACTS])
def test_the_papers_wedding_is_read_as_it_is_shipped(text: str) -> None:
    problem, papers = told(text), shipped("wedding")
    assert people_of(problem) == people_of(papers)
    assert roads_of(problem) == roads_of(papers)
    assert {(each.place, each.seats, each.drivers) for each in problem.vehicles} == {
        (each.place, each.seats, each.drivers) for each in papers.vehicles
    }
    assert {(each.place, each.window) for each in problem.tasks} == {(each.place, each.window) for each in papers.tasks}
    assert [(goal.people, goal.place, goal.by) for goal in problem.goals] == [("all", "W", 15 * 60)]


def test_the_papers_thanksgiving_is_read_in_its_own_words() -> None:
    problem = told(SAGALLM_THANKSGIVING)
    assert people_of(problem) == {
        "Sarah": ("Home", None),
        "James": ("BOS", "13:00"),
        "Emily": ("BOS", "14:30"),
        "Michael": ("Home", "15:00"),
        "Grandma": ("Grandma's house", None),
    }
    assert sorted(roads_of(problem).values()) == [30, 60, 60]
    assert {(each.name, each.minutes, each.attention) for each in problem.tasks} == {
        ("rent a car", 0, Attention.ACTIVE),
        ("turkey", 240, Attention.WATCHED),
        ("side dishes", 120, Attention.ACTIVE),
    }


def test_where_nobody_says_how_far_it_is_it_is_estimated_and_said_so() -> None:
    problem = told(THANKSGIVING_FACTS)
    assert roads_of(problem) == {
        frozenset(("Home", "BOS")): 30,
        frozenset(("Home", "Grandma's house")): 20,
        frozenset(("BOS", "Grandma's house")): 30,
    }
    assert problem.apart == (("Grandma", "Sarah"),)
    assert {each.name: each.exit_minutes for each in problem.people if each.exit_minutes} == {"James": 30, "Emily": 30}
    assert [each.minutes for each in problem.tasks if each.name == "rent a car"] == [30]
    guessed = [each for each in read_reunion(THANKSGIVING_FACTS).notes if each.startswith(ESTIMATED)]
    assert guessed == [
        f"{ESTIMATED}: BOS to Home 30 minutes, BOS to Grandma's house 30 minutes, Home to Grandma's house 20 minutes"
    ]


def test_an_estimate_is_corrected_by_a_sentence() -> None:
    transcript = with_said(Transcript(), THANKSGIVING_FACTS).transcript
    corrected = with_said(transcript, "it is 60 minutes from the airport to home")
    assert corrected.unread == ()
    problem = meaning_of(corrected.transcript).problem
    assert problem is not None
    assert roads_of(problem)[frozenset(("Home", "BOS"))] == 60
    assert len(roads_of(problem)) == 3


def test_a_day_of_six_with_two_airports_an_oven_a_cake_and_a_dog() -> None:
    problem = told(SIX)
    assert len(problem.people) == 6
    assert {each.name: each.window.closes for each in problem.tasks} == {"walk the dog": 1020, "roast": 1140, "cake": 1020}
    assert [each.name for each in problem.tasks if each.attention is Attention.WATCHED] == ["roast"]
    roads = roads_of(problem)
    assert len(roads) == 15
    assert 45 <= roads[frozenset(("Home", "Augsburg"))] <= 80
    assert 80 <= roads[frozenset(("Home", "Memmingen airport"))] <= 130


def test_a_way_that_nobody_would_drive_is_asked_for() -> None:
    read = read_reunion("Dinner at 6 pm at home in Boston. Ann is in Chicago with a car. Bob is at home.")
    assert [each.text for each in read.missing()] == ["How long does it take from Chicago to Home in Boston?"]
