from __future__ import annotations

import pytest

from sagagraph.domains.reunion.request import AS_PEOPLE_PLAN, ReunionProblem
from sagagraph.domains.reunion.shipped import shipped
from sagagraph.domains.reunion.suggestions import accept, suggestions
from sagagraph.domains.reunion.text.facts import Fact
from sagagraph.domains.reunion.text.partial import PartialProblem, read_reunion
from sagagraph.domains.reunion.text.revision import partial_of, with_said
from sagagraph.domains.reunion.times import text_of
from sagagraph.domains.reunion.transcript import Transcript
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


def roads(text: str) -> set[tuple[str, str, float]]:
    told = read_reunion(text)
    guessed = {(each.here, each.there) for each in told.assembly.estimates}
    return {(row[0], row[1], row[2]) for row in told.problem["travel_minutes"] if (row[0], row[1]) not in guessed}


def test_our_house_is_not_where_all_meet_elsewhere() -> None:
    lunch = "Lunch is at the Riverside Inn at 1 pm. Ann is at Heathrow at 10. I have a car."
    assert roads(f"{lunch} From our house to Heathrow is 35 minutes, the inn is 20 minutes from us.") == {
        ("Home", "Heathrow", 35),
        ("Riverside Inn", "Home", 20),
    }
    told = read_reunion("The barbecue is in our garden at 4 pm. Ann is at home.")
    assert list(told.problem["places"]) == ["Home"]


def test_about_is_no_part_of_a_place() -> None:
    said = "Lunch is at the office at noon. JFK to the office takes 50 minutes, Penn Station about 30."
    assert roads(said) == {("JFK", "Office", 50), ("Penn Station", "Office", 30)}


def goals(text: str) -> list[tuple[str, str]]:
    return [(each["place"], each["by"]) for each in read_reunion(text).problem["goals"]]


def test_another_occasion_is_no_change_of_the_first() -> None:
    wedding = "The wedding is at the church at 2 pm."
    assert goals(f"{wedding} Photos at the lake from 12:30 to 1:15.") == [("Church", "14:00"), ("Lake", "12:30")]
    both = f"{wedding} The reception is at the inn at 5 pm."
    assert goals(f"{both} The reception is at 6 pm.") == [("Church", "14:00"), ("Inn", "18:00")]
    assert goals(f"{both} The wedding is at 3 pm.") == [("Church", "15:00"), ("Inn", "17:00")]
    assert goals("The family dinner is at home at 6 pm. Dinner is at the Ritz at 7 pm.") == [("Ritz", "19:00")]
    assert goals("Dinner is at home at 6 pm. The party is at 7 pm.") == [("Home", "19:00")]


def test_what_she_needs_for_it_is_how_long_it_takes() -> None:
    told = read_reunion("Mrs Patel will make the sandwiches at her house, she needs about an hour. She does not drive.")
    (task,) = told.problem["tasks"]
    assert (task["name"], task["place"], task["minutes"]) == ("make the sandwiches", "Mrs Patel's house", 60)
    assert [each["drives"] for each in told.problem["people"]] == [False]


def test_a_car_that_is_collected_is_rented_and_who_rents_it_is_asked() -> None:
    van = "Dinner at 6 pm at home. Kim is at home. The rental van needs to be picked up at Hertz, it opens at 9."
    told = read_reunion(van)
    assert [each.text for each in told.missing()] == ["Who rents the car?"]
    told = read_reunion("Kim", told)
    assert [each["who"] for each in told.problem["tasks"]] == [["Kim"]]
    told = read_reunion(f"{van[:-1]}, only Kim can drive it, 3 seats")
    assert [(each["name"], each["seats"], each["drivers"]) for each in told.problem["vehicles"]] == [("rental car", 3, ["Kim"])]


def test_two_times_are_of_two_people() -> None:
    told = read_reunion("Mia and Tariq fly into Manchester Airport, Mia at 9:40 and Tariq at 11.")
    assert [each["from"] for each in told.problem["people"]] == ["09:40", "11:00"]


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("I am at the station with the kids, Ollie and Freya.", ["Me", "Ollie", "Freya"]),
        ("Her grandparents Bill and Edna are at the station.", ["Bill", "Edna"]),
        ("Unloading at the new place, 90 mins.", []),
        ("The priest has to be fetched.", ["Priest"]),
    ],
)
def test_who_is_a_person_and_who_is_named_twice(said: str, names: list[str]) -> None:
    assert [each["name"] for each in read_reunion(said).problem["people"]] == names


def test_opening_hours_that_change_nothing_are_named() -> None:
    told = read_reunion("Dinner at 6 pm at home. Gates open at 2.")
    assert any("Gates" in note for note in told.notes)


def test_both_of_us_are_the_teller_and_another_one() -> None:
    read = read_reunion("Raj and Ann are at home. Both of us drive.")
    assert read.unread == ("Both of us drive",)


def people(text: str) -> dict[str, tuple[str | None, str | None]]:
    return {each["name"]: (each["place"], each.get("from")) for each in read_reunion(text).problem["people"]}


def test_five_past_two_is_in_the_afternoon() -> None:
    assert people("Grandma waits at the bus station from 2:05.") == {"Grandma": ("Bus station", "14:05")}
    assert people("Ann is at the station from 02:05.") == {"Ann": ("Station", "02:05")}


def test_a_show_that_starts_is_nobody_and_moves_no_meal_to_the_night() -> None:
    told = read_reunion("Brunch is at Lux at 11. Jess gets into Paddington at 9:52. Spa starts at 2 at the Grand.")
    assert told.unread == ("Spa starts at 2 at the Grand",)
    assert people("Brunch is at Lux at 11. Jess gets into Paddington at 9:52. Nan works at the Ritz until 2.") == {
        "Jess": ("Paddington", "09:52"),
        "Nan": ("Ritz", "14:00"),
    }
    assert told.problem["goals"][0]["by"] == "11:00"


def test_a_car_is_no_place() -> None:
    told = read_reunion("Max, Lena and Tobi leave Munich together at 1 in Max's Skoda.")
    assert {each["place"] for each in told.problem["people"]} == {"Munich"}
    assert [(each["name"], each["drivers"]) for each in told.problem["vehicles"]] == [("Max's car", ["Max"])]
    assert read_reunion("Sam is on his bike.").facts == ()


def test_what_follows_a_clause_that_is_left_out_stays_with_its_subject() -> None:
    said = "Li lands at Nuremberg airport at 8:05, Paulo sings in the night train and is at the main station from 7:30."
    read = with_said(Transcript(), said)
    assert read.unread == ("Paulo sings in the night train",)
    told = partial_of(read.transcript).problem["people"]
    assert [(each["name"], each["from"]) for each in told] == [("Li", "08:05"), ("Paulo", "07:30")]


def test_them_are_the_tickets() -> None:
    (task,) = read_reunion("Tickets are at the box office, someone has to grab them by 6:30 pm.").problem["tasks"]
    assert (task["place"], task["window"]) == ("Box office", [None, "18:30"])


def test_who_has_to_be_there_at_nine_is_not_there_yet() -> None:
    (kids,) = read_reunion("The match is at the stadium at 10. The kids have to be there at 9.").problem["people"]
    assert (kids["place"], kids["goals"]) == (None, [{"place": "Stadium", "by": "09:00"}])
    assert people("Dinner is at home at 6 pm. Dad should be here around 4. Back at the club by 6 pm.") == {
        "Dad": ("Home", "16:00")
    }


def test_a_town_that_is_reached_by_train_is_its_station() -> None:
    dinner = "Dinner is at home in Munich at 6 pm. "
    for said in (
        "Eva's train gets into Munich at 2.",
        "Eva gets in by train in Munich at 2.",
        "Eva arrives in Munich by train at 2.",
    ):
        assert people(dinner + said) == {"Eva": ("Munich station", "14:00")}
    both = people(dinner + "Eva gets into Nuremberg by train at 2. Max lands at Nuremberg at 3.")
    assert both == {"Eva": ("Nuremberg station", "14:00"), "Max": ("Nuremberg", "15:00")}
    assert people(dinner + "Eva arrives by train at Grandma's at 2.")["Eva"][0] == "Grandma's"


@pytest.mark.parametrize(
    "said",
    [
        "Ana and Ben each have a car with 4 seats.",
        "Ana and Ben have a car each, with 4 seats.",
        "Ana and Ben each have a 4-seater.",
    ],
)
def test_each_has_a_car_of_as_many_seats(said: str) -> None:
    cars = read_reunion(said).problem["vehicles"]
    assert [(each["drivers"], each["seats"]) for each in cars] == [(["Ana"], 4), (["Ben"], 4)]


def test_who_must_not_drive_at_some_hour_is_no_one_who_never_drives() -> None:
    said = "Ben has a car with 4 seats. Ben must not drive after 1:30 pm."
    read = with_said(Transcript(), said)
    assert read.unread == ("Ben must not drive after 1:30 pm",)
    assert [each["drives"] for each in partial_of(read.transcript).problem["people"]] == [True]


def test_whom_somebody_does_not_want_to_drive_does_not() -> None:
    assert [each["drives"] for each in read_reunion("James lands at 1 pm. I don't want James to drive.").problem["people"]] == [
        False
    ]


def test_a_road_goes_on_to_another_place_and_a_stop_takes_time() -> None:
    assert roads("From the church to the station is 10 minutes, to the airport 35.") == {
        ("Church", "Station", 10),
        ("Church", "Airport", 35),
    }
    (keg,) = read_reunion("Tom picks up the keg at the store (10 min stop, store closes at 3).").problem["tasks"]
    assert (keg["minutes"], keg["window"]) == (10, [None, "15:00"])


def test_both_are_not_the_people_before_a_clause_that_is_not_understood() -> None:
    read = read_reunion("Reunion at the lake house at 3pm. Pat lands at noon. Eve is in Bonn. We have two cars, both at home.")
    assert [fact.place for fact in read.facts if getattr(fact, "name", "") in ("Pat", "Eve")] == [None, "Bonn"]
    assert "both at home" in read.unread


def test_whoever_is_to_be_brought_somewhere_has_a_goal_of_their_own() -> None:
    told = "We need to get the kids to grandma's by 10. The kids and Tom are at home. Tom has a car. Home-grandma's 30 minutes."
    goals = {person.name: [goal.by for goal in person.goals] for person in read_reunion(told).complete().people}
    assert goals == {"Kids": [600], "Tom": []}


@pytest.mark.parametrize(
    "said",
    [
        "We want to have dinner at 7 at my place",
        "Hi, we'd like to have dinner at my place at 7",
        "I'm hosting a dinner at my place at 7",
        "We are planning a dinner for Saturday at 7 at my place",
        "Let's have dinner at 7 at my place",
    ],
)
def test_whoever_wants_to_have_a_dinner_says_where_all_are_to_be(said: str) -> None:
    read = read_reunion(f"{said}. I'm at home with my car. Ann lands at 3 pm at BOS. My place to BOS 30 minutes.")
    problem = read.complete()
    assert ([(goal.place, goal.by) for goal in problem.goals], read.unread) == ([("Home", 1140)], ())


@pytest.mark.parametrize(
    ("said", "place", "since"),
    [
        ("James lands at 1 pm at BOS. James arrives at 2", "BOS", 840),
        ("James arrives at 3 at the station. James comes at 4", "Station", 960),
        ("James is at the office. James comes at 5", "Home", 1020),
    ],
)
def test_whoever_arrives_later_still_arrives_where_they_land(said: str, place: str, since: int) -> None:
    told = f"Dinner at 7 at home. Ann is at home with her car. {said}. Home-BOS 30 minutes, home-station 20, home-office 10."
    james = next(each for each in read_reunion(told).complete().people if each.name == "James")
    assert (james.place, james.available) == (place, since)


@pytest.mark.parametrize("said", ["at our house, 6pm", "at our house at 6", "Dinner at 5 at our house. Let's move dinner to 6"])
def test_where_and_when_are_read_without_a_whole_sentence(said: str) -> None:
    rest = "Ann is at our house with her car. Bob lands at BOS at 3 pm. Our house-BOS 30 minutes."
    read = read_reunion(rest, read_reunion(said))
    assert ([(goal.place, goal.by) for goal in read.complete().goals], read.unread) == ([("Home", 1080)], ())


def test_names_alone_take_part() -> None:
    read = read_reunion("Mom, Dad, my brother Max and me.")
    assert ([each["name"] for each in read.problem["people"]], read.unread) == (["Mom", "Dad", "Max", "Me"], ())


def test_whoever_comes_by_train_arrives_at_the_only_station() -> None:
    told = "Dinner at 6 at home. Sue is at home with her car. Uncle Ted arrives by train at 12:40. Home to the station 20."
    ted = next(each for each in read_reunion(told).complete().people if each.name == "Uncle Ted")
    assert (ted.place, ted.available) == ("Station", 760)


def test_whom_somebody_brings_along_is_a_guest() -> None:
    read = read_reunion("Dinner at 6 at home. Tom is at the office. Tom is bringing his kids. Ann brings the salad.")
    assert [question.text for question in read.missing()][:1] == ["Where are the kids?"]
