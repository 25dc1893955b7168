"""Chores that are told of people: what, where, how long, by whom; and where people are who only have something to do."""

from __future__ import annotations

from typing import Any

import pytest

from sagagraph.domains.reunion.text.telling import told
from sagagraph.domains.reunion.transcript import EMPTY

pytestmark = pytest.mark.quick

DAY = "We meet at the Playhouse at 7 pm. Ann is at the office and drives."


def board(said: str) -> dict[str, Any]:
    """Return the board of a day. Nothing of it may be left."""
    found = told(EMPTY, f"{DAY} {said}")
    assert found.unread == ()
    return found.filled.problem


def task(said: str) -> tuple[Any, ...]:
    (only,) = board(said)["tasks"]
    return only["place"], only["minutes"], only.get("who")


@pytest.mark.parametrize(
    ("said", "place", "minutes", "who"),
    [
        ("Ann will pump up the balls at the club; that takes 15 minutes.", "Club", 15, ["Ann"]),
        ("Ann does the salad at the club, which takes an hour.", "Club", 60, ["Ann"]),
        ("Ann is painting the sign at the club, she says that takes an hour.", "Club", 60, ["Ann"]),
        ("Ann has to put air in her tires at the gas station, maybe 10 minutes.", "Gas station", 10, ["Ann"]),
        ("Ann has potatoes on the stove at the club for 25 minutes.", "Club", 25, ["Ann"]),
        ("Packing the tents will take her another half hour.", "Office", 30, ["Ann"]),
        ("Somebody needs to spend half an hour at the club putting up the signs.", "Club", 30, None),
        ("Lighting the barbecue at the club takes three quarters of an hour.", "Club", 45, None),
        ("There's a ham in the oven at the club that needs another 45 minutes.", "Club", 45, None),
        ("The quiche is in the oven at the club from 5 until 6.", "Club", 60, None),
    ],
)
def test_a_chore_has_its_place_its_minutes_and_who_does_it(said: str, place: str, minutes: int, who: list[str] | None) -> None:
    assert task(said) == (place, minutes, who)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("There are some chairs to collect from the village hall.", "Village hall"),
        ("The dog needs to be dropped at the kennel.", "Kennel"),
        ("Somebody should collect the team shirts from the print shop.", "Print shop"),
        ("Ann's dress is at the tailor and can be fetched.", "Tailor"),
        ("Before the party Ann has to collect a parcel at the post office.", "Post office"),
        ("The cake is ready for collection at Gail's.", "Gail's"),
    ],
)
def test_an_errand_is_told_in_many_ways(said: str, place: str) -> None:
    assert task(said)[:2] == (place, 0)


def test_something_that_is_fetched_and_something_else_are_two_errands() -> None:
    tasks = board("Charcoal is at the store, it closes at 5 pm, and beer is at the cellar.")["tasks"]
    assert [(each["name"], each["place"]) for each in tasks] == [("charcoal", "Store"), ("beer", "Cellar")]


def test_whoever_does_a_task_that_was_named_before_does_that_one() -> None:
    (robes,) = board("Pick up the robes at the cleaner. Ann does the robes.")["tasks"]
    assert (robes["name"], robes["who"]) == ("robes", ["Ann"])


@pytest.mark.parametrize("said", ["Ann has to try on a suit at the tailor", "Ann left the invitations at the tailor"])
def test_nobody_is_where_they_only_have_something_to_do(said: str) -> None:
    found = told(EMPTY, f"{DAY} {said}.")
    assert [each["place"] for each in found.filled.problem["people"]] == ["Office"]


def test_a_chore_that_ends_when_somebody_is_free_is_no_task() -> None:
    problem = board("Ann has to feed the animals until 4 pm.")
    assert problem["tasks"] == []
    assert [each["from"] for each in problem["people"]] == ["16:00"]


@pytest.mark.parametrize(
    "said", ["We need the keys from the caretaker, someone is there from 4 pm", "The keys are at the bank, not ready before 4 pm"]
)
def test_a_place_opens_when_somebody_is_there(said: str) -> None:
    (keys,) = board(f"{said}.")["tasks"]
    assert keys["window"] == ["16:00", None]


@pytest.mark.parametrize(
    "said",
    [
        "Ben is at the gym, he'll need a ride, and so does Zoe, who is at the pool.",
        "Ben and Zoe are at the gym, their car is being repaired.",
        "Ben is at the gym, without a car. Zoe is at the pool, same for her.",
        "Ben is at the gym and Zoe at the pool, both can't get there by themselves.",
    ],
)
def test_whoever_has_no_car_does_not_drive(said: str) -> None:
    people = {each["name"]: each for each in board(said)["people"]}
    assert [people[name].get("drives") for name in ("Ann", "Ben", "Zoe")] == [True, False, False]


def test_whoever_is_picked_up_is_not_who_picks_them_up() -> None:
    people = board("Ben is at the gym until 4 pm. Zoe picks him up, she is at the pool.")["people"]
    assert [(each["name"], each["place"], each.get("prefers")) for each in people[1:]] == [
        ("Ben", "Gym", "Zoe"),
        ("Zoe", "Pool", None),
    ]


def test_she_who_drops_him_off_is_nobody_who_was_spoken_of() -> None:
    found = told(EMPTY, f"{DAY} Ben is at his mum's until 4 pm, she'll drop him off.")
    assert found.unread == ("she will drop him off",)


def test_people_who_are_got_somewhere_are_all_of_them() -> None:
    found = told(EMPTY, "I'm in charge of getting people to the church by 2 pm. Ann is at the office and drives.")
    assert found.filled.problem["goals"] == [{"place": "Church", "by": "14:00", "people": "all"}]


def test_a_list_says_what_somebody_has_to_do_with_its_entry() -> None:
    found = told(
        EMPTY, "We meet at the hall at 5 pm.\n- Tom: hotel, no car\n- Speech: Tom has to print it at the hotel, 10 minutes"
    )
    (speech,) = found.filled.problem["tasks"]
    assert (speech["place"], speech["minutes"], speech["who"]) == ("Hotel", 10, ["Tom"])


def test_a_shop_that_closes_at_twelve_does_so_at_noon_even_if_all_meet_before() -> None:
    found = told(
        EMPTY,
        "We meet at the cemetery at 11 am. Ann is at home. The wreath is at the florist, which opens at 9 and closes at 12.",
    )
    assert found.filled.problem["tasks"][0]["window"] == ["09:00", "12:00"]


@pytest.mark.parametrize(
    ("said", "place", "minutes", "window"),
    [
        ("The present must be engraved at the jeweller before 5:30 pm; it takes 25 minutes.", "Jeweller", 25, [None, "17:30"]),
        (
            "The robes are to be pressed at the laundry, which takes an hour, and it closes at 5:30 pm.",
            "Laundry",
            60,
            [None, "17:30"],
        ),
        (
            "Somebody has to fill in the permit at the club, which takes 15 minutes and is possible from 3 pm.",
            "Club",
            15,
            ["15:00", None],
        ),
        ("It takes 30 minutes to set up the chairs at the club, and they only let us in from 5 pm.", "Club", 30, ["17:00", None]),
        ("Please plan 15 minutes for loading the drums at the club.", "Club", 15, None),
    ],
)
def test_a_task_is_done_to_a_thing_somewhere_in_its_time(
    said: str, place: str, minutes: int, window: list[str | None] | None
) -> None:
    (only,) = board(said)["tasks"]
    assert (only["place"], only["minutes"], only.get("window")) == (place, minutes, window)


@pytest.mark.parametrize(
    "said",
    [
        "Ben is at the gym and would love a lift.",
        "Ben is at the gym, he's hoping for a lift.",
        "Ben is at the gym and needs to be given a lift.",
        "Ben is at the gym. Ben's car is in the workshop.",
        "Ben is at the gym. His licence is suspended.",
    ],
)
def test_whoever_asks_for_a_lift_does_not_drive(said: str) -> None:
    assert [each.get("drives") for each in board(said)["people"]] == [True, False]


def test_seats_that_are_free_are_those_beside_the_driver() -> None:
    assert board("Ben is at the gym and has a van, 4 free seats.")["vehicles"][1]["seats"] == 5


def test_what_belongs_to_somebody_is_not_where_they_are() -> None:
    day = board("Grandad's hearing aid is at the optician's and must be picked up before noon.")
    assert [each["name"] for each in day["people"]] == ["Ann"]
    assert [each["place"] for each in day["tasks"]] == ["Optician's"]


def test_he_is_nobody_where_he_may_be_either_of_two() -> None:
    found = told(EMPTY, f"{DAY} Ben and Zoe are at the gym; he drives.")
    assert found.unread == ("he drives",)


@pytest.mark.parametrize(
    ("said", "by"),
    [
        ("The lane is ours from 8 pm at the Strike, so everyone should be there by ten to.", "19:50"),
        ("The ceremony is at 2:30 pm in All Saints Church and guests should be seated by quarter past two.", "14:15"),
        ("Carol service in the cathedral, we sing at 6 pm and have to be in our places at 5:30 pm.", "17:30"),
    ],
)
def test_all_are_due_before_it_begins(said: str, by: str) -> None:
    (goal,) = told(EMPTY, f"{said} Ann is at the office and drives.").filled.problem["goals"]
    assert goal["by"] == by


def test_whoever_something_is_picked_up_by_does_it() -> None:
    day = board("Ben is at the gym. The card is at the print shop, to be picked up by Ben.")
    assert [each["who"] for each in day["tasks"]] == [["Ben"]]


def test_who_does_what_was_not_understood_does_nothing_else() -> None:
    found = told(EMPTY, f"{DAY} The kit must be picked up at the club. Pumps and wires, the studio, 30 minutes, I'll do that.")
    assert [each.get("who") for each in found.filled.problem["tasks"]] == [None]
    assert found.unread


def test_who_comes_by_train_or_stays_with_something_is_not_everybody() -> None:
    day = board("Zoe comes with the train at 4 pm to the main station. The pie needs 40 minutes at the club and I stay with it.")
    assert [each["place"] for each in day["goals"]] == ["Playhouse"]
    assert [each["who"] for each in day["tasks"]] == [["Me"]]


def test_a_car_takes_four_beside_whoever_drives() -> None:
    assert board("I'm at the gym and I can take four people as well as me.")["vehicles"][1]["seats"] == 5


@pytest.mark.parametrize(
    "said", ["Cara told me she'd get the cake", "Cara says she'll get the cake", "Cara said that she will get the cake"]
)
def test_what_somebody_says_of_themselves_is_said_of_them(said: str) -> None:
    assert task(f"{said} from the bakery.") == ("Bakery", 0, ["Cara"])


@pytest.mark.parametrize("place", ["at All Saints", "outside the Town Hall", "in front of the Town Hall"])
def test_all_meet_in_front_of_a_place_and_at_one_called_after_all(place: str) -> None:
    found = told(EMPTY, f"We want to meet {place} by 7 pm. Ann is at the office and drives.")
    assert found.filled.problem["goals"][0]["place"] in ("All Saints", "Town Hall")
    assert found.unread == ()


@pytest.mark.parametrize(
    "said",
    [
        "The cake that we ordered has to be picked up from the bakery.",
        "The cake Ann ordered for the party has to be picked up from the bakery.",
        "The cake my mother baked is waiting at the bakery.",
        "The cake we are giving him needs to be collected from the bakery.",
    ],
)
def test_what_is_told_of_a_thing_beside_it_says_nothing_of_where_anybody_is(said: str) -> None:
    found = board(said)
    assert [(each["name"], each["place"], each["minutes"]) for each in found["tasks"]] == [("cake", "Bakery", 0)]
    assert [each["name"] for each in found["people"]] == ["Ann"]


@pytest.mark.parametrize(
    "said",
    [
        "Ann has to watch the rice at the club, that takes 40 minutes.",
        "The rice is cooked at the club, which takes 40 minutes, and somebody has to wait there with it.",
    ],
)
def test_who_watches_over_a_thing_or_waits_with_it_stays_there(said: str) -> None:
    (rice,) = board(said)["tasks"]
    assert (rice["name"], rice["place"], rice["minutes"], rice["attention"]) == ("rice", "Club", 40, "watched")


@pytest.mark.parametrize(
    ("said", "seats"),
    [
        ("Leo drives, he can take three people.", 4),
        ("Leo drives, he can take four people including himself.", 4),
        ("Leo drives, his car takes four people.", 4),
    ],
)
def test_so_many_as_a_driver_can_take_sit_beside_them(said: str, seats: int) -> None:
    assert [each.get("seats") for each in board(said)["vehicles"]] == [None, seats]


@pytest.mark.parametrize(
    ("said", "drives"),
    [
        ("Ned is at the gym and needs a seat in a car.", False),
        ("Ned is at the gym and comes in my car.", False),
        ("Ned is at the gym and comes in his car.", True),
    ],
)
def test_who_comes_in_the_car_of_somebody_else_does_not_drive(said: str, drives: bool) -> None:
    found = board(said)
    assert ("Ned's car" in [each["name"] for each in found["vehicles"]]) is drives


def test_who_is_free_all_day_is_not_everybody() -> None:
    found = told(EMPTY, f"{DAY} Ivy is free all day and lives near the park.").filled.problem
    assert [each["place"] for each in found["goals"]] == ["Playhouse"]
    assert [(each["name"], each["place"]) for each in found["people"]][1:] == [("Ivy", "Park")]


@pytest.mark.parametrize(
    ("said", "who"),
    [
        ("I'd also like someone to pick up the flowers from the market.", None),
        ("I would like Ann to pick up the flowers from the market.", ["Ann"]),
    ],
)
def test_who_would_like_a_thing_to_be_picked_up_does_not_do_it(said: str, who: list[str] | None) -> None:
    assert task(said) == ("Market", 0, who)


@pytest.mark.parametrize(
    ("said", "at"),
    [
        ("at 8:55 this morning", "08:55"),
        ("at 10:30 in the morning", "10:30"),
        ("at 3:15 this afternoon", "15:15"),
        ("at 6 tonight", "18:00"),
    ],
)
def test_a_morning_is_none_that_is_nearer_to_the_evening(said: str, at: str) -> None:
    _, bev = board(f"Bev gets to the station {said}.")["people"]
    assert (bev["name"], bev["from"]) == ("Bev", at)
