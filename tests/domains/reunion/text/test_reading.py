from __future__ import annotations

import pytest

from sagagraph.domains.reunion.request import AS_PEOPLE_PLAN, ReunionProblem
from sagagraph.domains.reunion.shipped import shipped
from sagagraph.domains.reunion.suggestions import accept, suggestions
from sagagraph.domains.reunion.text.facts import Fact
from sagagraph.domains.reunion.text.partial import PartialProblem, read_reunion
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError

from .phrasings import PHRASINGS, RIDE_SHARING, THANKSGIVING, WEDDING

pytestmark = pytest.mark.quick

SMALL = "Dinner at 6 pm at home. Ann is at the station from 4 pm."


@pytest.mark.parametrize(("said", "facts"), PHRASINGS, ids=[said for said, _facts in PHRASINGS])
def test_what_is_said_is_understood_and_nothing_else(said: str, facts: tuple[Fact, ...]) -> None:
    read = read_reunion(said)
    assert (read.facts, read.unread) == (facts, ())


def shape(problem: ReunionProblem, **renamed: str) -> dict[str, object]:
    """What counts of a problem, under the place names of another one."""

    def place(name: str | None) -> str | None:
        return renamed.get(name or "", name)

    return {
        "people": {each.name: (place(each.place), each.available, each.drives is False) for each in problem.people},
        "vehicles": {(place(each.place), each.seats, each.drivers) for each in problem.vehicles},
        "tasks": {(place(t.place), t.minutes, t.window, t.attention, t.people) for t in problem.tasks},
        "goals": {(str(goal.people), place(goal.place), goal.by) for goal in problem.goals}
        | {(person.name, place(goal.place), goal.by) for person in problem.people for goal in person.goals},
        "roads": {(frozenset(map(str, map(place, (road.here, road.there)))), road.amount) for road in problem.travel_minutes},
        "objectives": problem.objectives,
    }


def test_thanksgiving_told_in_sentences_is_the_problem_of_the_papers_once_common_sense_is_taken() -> None:
    told = read_reunion(THANKSGIVING).complete()
    told = accept(told, [each.id for each in suggestions(told)])
    expected, found = shape(shipped("thanksgiving")), shape(told, **THANKSGIVING_PLACES)
    expected["people"] = {**dict(expected["people"]), "Sarah": ("HOME", None, False)}  # type: ignore[call-overload]
    expected["objectives"] = AS_PEOPLE_PLAN
    assert found == expected  # but for Sarah, of whom nobody said that she does not drive: she has no car


THANKSGIVING_PLACES = {"Home": "HOME", "New York": "NY", "Grandma's house": "GRANDMA"}


def test_the_wedding_told_in_sentences_is_the_problem_of_the_papers() -> None:
    places = {"Airport": "B", "Gift shop": "G", "Tailor": "T", "Venue": "W"}
    assert shape(read_reunion(WEDDING).complete(), **places) == {
        **shape(shipped("wedding")),
        "objectives": AS_PEOPLE_PLAN,
    }


def test_ride_sharing_told_in_sentences_is_the_problem_of_the_papers() -> None:
    found, expected = shape(read_reunion(RIDE_SHARING).complete()), shape(shipped("ride_sharing"))
    found["people"] = {name: (place, since, True) for name, (place, since, _) in dict(found["people"]).items()}  # type: ignore[call-overload]
    assert found == expected


def test_what_is_missing_is_asked_for() -> None:
    read = read_reunion(SMALL)
    assert [(each.field, each.text) for each in read.missing()] == [
        ("vehicles", "Who has a car, or which vehicles are there?"),
    ]
    with pytest.raises(InvalidInputError, match="vehicles: Who has a car"):
        read.complete()


def test_bare_answers_are_answers_and_what_was_said_before_is_kept() -> None:
    read: PartialProblem | None = None
    for said in ("Ann is at the station. Turkey takes 4 hours.", "at home at 6 pm", "half an hour", "Ann has a car"):
        read = read_reunion(said, read)
    assert read is not None
    problem = read.complete()
    assert [(goal.place, text_of(goal.by)) for goal in problem.goals] == [("Home", "18:00")]
    assert [(road.here, road.there, road.amount) for road in problem.travel_minutes] == [("Station", "Home", 30)]
    assert [(task.name, task.minutes) for task in problem.tasks] == [("turkey", 240)]


def test_where_somebody_is_can_be_answered_with_a_place() -> None:
    read = read_reunion("Dinner at home at 6 pm. Ann needs a ride. Bob is at home with a car.")
    assert read.missing()[0].text == "Where is Ann?"
    assert not read_reunion("at the station", read).missing()


def test_what_is_said_later_goes_before() -> None:
    read = read_reunion("Dinner is at 7 pm. Ann has a car. Station to home 25 minutes.", read_reunion(SMALL))
    assert text_of(read.complete().goals[0].by) == "19:00"


def test_what_was_taken_for_granted_is_told() -> None:
    read = read_reunion(THANKSGIVING)
    assert "Emily lands at BOS" in read.notes
    assert "turkey is done by 18:00" in read.notes
    assert "Michael's car has 5 seats" in read.notes


def test_what_is_not_understood_is_named_and_the_rest_is_kept() -> None:
    read = read_reunion("Ann is at home. The moon is made of cheese")
    assert (read.unread, len(read.facts)) == (("The moon is made of cheese",), 1)


def test_a_name_stands_for_the_house_where_roads_lead_to_it() -> None:
    read = read_reunion("Grandma needs a ride. Home-Grandma 30 minutes. Dinner at home at 6 pm. Ann is at home with a car.")
    grandma = read.complete().people[0]
    assert (grandma.name, grandma.place) == ("Grandma", "Grandma's house")


def test_a_text_without_end_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="TEXT: has 30000 characters"):
        read_reunion("x" * 30000)


@pytest.mark.parametrize("said", ["", ".", "!!!", "at", "by by by", "\n\n", "and and", "1 2 3", "The", "-", "from to", "é" * 50])
def test_nonsense_is_asked_about_and_never_a_traceback(said: str) -> None:
    assert read_reunion(said).missing()


def test_who_must_not_wait_alone_is_part_of_the_problem_until_it_is_taken_back() -> None:
    def accompanied(known: PartialProblem) -> list[str]:
        return [each.name for each in known.complete().people if each.never_alone]

    told = read_reunion(THANKSGIVING)
    one = read_reunion("Emily should not wait alone.", told)
    assert (accompanied(told), accompanied(one), one.unread) == ([], ["Emily"], ())
    nobody = read_reunion("Nobody should wait alone, but James may wait alone.", one)
    assert (accompanied(nobody), nobody.unread) == (["Sarah", "Emily", "Michael", "Grandma"], ())


def test_a_wish_is_no_answer_to_an_open_question() -> None:
    asked = read_reunion("Dinner at 6 pm at home. Ann needs a ride.")
    told = read_reunion("Ann should not wait alone", asked)
    assert [each.text for each in told.missing()] == [each.text for each in asked.missing()]
    assert told.problem["people"][0]["never_alone"]


@pytest.mark.parametrize(
    "said", ["Emily should not wait alone for more than 30 minutes", "Emily should not wait alone after 3 pm", "Emily is alone"]
)
def test_what_is_a_wish_for_something_else_is_not_taken_for_company(said: str) -> None:
    read = read_reunion(said)
    assert read.unread == (said,)
    assert not read.facts


def test_names_that_nothing_is_said_of_are_named() -> None:
    assert read_reunion("Ann is at home. Bob, Cleo").unread == ("Bob, Cleo",)


def test_he_is_whom_the_clause_before_was_about_though_it_means_nothing_here() -> None:
    """After a clause about somebody that is not understood, `he` is not the one before; of several, it is nobody."""
    read = read_reunion("Grandma is at her house. Uncle Bob sings well, he lands at BOS at noon.")
    assert {each["name"]: each["place"] for each in read.problem["people"]} == {"Grandma": "Grandma's house", "Uncle Bob": "BOS"}
    assert read.unread == ("Uncle Bob sings well",)
    read = read_reunion("Grandma is at her house. Uncle Bob admires Leo, he lands at BOS at noon.")
    assert {each["name"]: each["place"] for each in read.problem["people"]} == {"Grandma": "Grandma's house"}
    assert read.unread == ("Uncle Bob admires Leo, he lands at BOS at noon",)
    told = read_reunion("Grandma is at her house. Uncle Bob is coming too, he lands at BOS at noon.")
    assert {each["name"]: each["place"] for each in told.problem["people"]} == {"Grandma": "Grandma's house", "Uncle Bob": "BOS"}


@pytest.mark.parametrize(
    ("said", "by"),
    [("Dinner at 7 at home", "19:00"), ("Dinner at half past eight at home", "20:30"), ("Brunch at 10 at home", "10:00")],
)
def test_dinner_is_in_the_evening(said: str, by: str) -> None:
    assert read_reunion(said).problem["goals"][0]["by"] == by
