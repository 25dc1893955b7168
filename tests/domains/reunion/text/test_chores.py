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
