"""What is said beside a task, a car or a goal, without a verb for it: a value goes to the nearest field that can hold it."""

from __future__ import annotations

from typing import Any

import pytest

from sagagraph.domains.reunion.text.telling import Told, told
from sagagraph.domains.reunion.transcript import EMPTY

pytestmark = pytest.mark.quick

DAY = "We meet at the Playhouse at 7 pm. Ann is at the office and drives. Ben is in Kendal and needs a lift."


def heard(said: str) -> Told:
    return told(EMPTY, f"{DAY} {said}")


def task(said: str) -> dict[str, Any]:
    """Return the only task of a day. Nothing of the day may be left."""
    found = heard(said)
    assert found.unread == ()
    (only,) = found.filled.problem["tasks"]
    return {key: value for key, value in only.items() if key not in ("name", "attention")}


@pytest.mark.parametrize(
    ("said", "place", "minutes", "window"),
    [
        ("The flowers come from Bloom Corner, which shuts at 6:30 pm, five minutes.", "Bloom Corner", 5, (None, "18:30")),
        ("Kit bag is lying in the clubhouse, it opens at 4 pm.", "Clubhouse", 0, ("16:00", None)),
        ("We still need ice from Raju Stores, 5 mins.", "Raju Stores", 5, None),
        ("As for the bouquet, it waits at Flora House, open 10am to 1pm.", "Flora House", 0, ("10:00", "13:00")),
        ("The only job is the prizes, from Costcutter, before 6pm, 10 mins.", "Costcutter", 10, (None, "18:00")),
    ],
)
def test_a_thing_at_a_shop_is_an_errand(said: str, place: str, minutes: int, window: tuple[str, str] | None) -> None:
    found = task(said)
    assert (found["place"], found["minutes"]) == (place, minutes)
    assert tuple(found.get("window") or ()) == (window or ())


@pytest.mark.parametrize(
    "said",
    [
        "Greetings from Leicester!",
        "Ann has a van and waits at the pool, which opens at 9.",
        "The guests come from York, they open it at 9.",
    ],
)
def test_what_is_no_thing_is_no_errand(said: str) -> None:
    assert heard(said).filled.problem["tasks"] == []


@pytest.mark.parametrize(
    "said",
    [
        "Ann has promised to get the cake.",
        "Ann is on the cake.",
        "Ann will do it on her way.",
        "Ann got that.",
        "Ann has offered to run in for it.",
        "Ann takes care of the cake.",
    ],
)
def test_somebody_named_beside_a_task_does_it(said: str) -> None:
    assert task(f"The cake must be collected at Gail's. {said}")["who"] == ["Ann"]


@pytest.mark.parametrize("said", ["Ann loves the cake.", "Ann ordered the cake.", "Ben is allergic to it."])
def test_somebody_who_only_speaks_of_a_task_does_not_do_it(said: str) -> None:
    found = heard(f"The cake must be collected at Gail's. {said}")
    assert not found.filled.problem["tasks"][0].get("who")
    assert found.unread


@pytest.mark.parametrize(
    "said", ["ten minutes are enough", "it won't take more than 10 minutes", "figure ten minutes", "10 mins"]
)
def test_a_duration_alone_is_of_the_task_before_it(said: str) -> None:
    assert task(f"The cake must be collected at Gail's, {said}.")["minutes"] == 10


@pytest.mark.parametrize(
    "said",
    [
        "somebody must remain with the pot",
        "there must always be one of us with it",
        "with somebody minding it",
        "with one of us in the house the entire time",
    ],
)
def test_somebody_stays_with_what_cooks(said: str) -> None:
    (stew,) = heard(f"The stew simmers at home for two hours, {said}.").filled.problem["tasks"]
    assert stew["attention"] == "watched"


@pytest.mark.parametrize(
    ("said", "seats"),
    [
        ("Carl is in Bath, he will drive and can carry three people.", 4),
        ("Carl is in Bath with an SUV, room for five riders.", 6),
        ("Carl is in Bath with his truck, room for one passenger.", 2),
        ("Carl drives a Corsa with four.", 4),
        ("Carl is in Bath and takes ten people with the driver.", 10),
    ],
)
def test_who_fits_beside_the_driver_is_counted_with_the_driver(said: str, seats: int) -> None:
    cars = {tuple(each["drivers"]): each.get("seats") for each in heard(said).filled.problem["vehicles"]}
    assert cars["Carl",] == seats


def test_a_host_is_assumed_to_be_at_home_where_all_meet() -> None:
    found = told(EMPTY, "Lunch is at Uncle Sam's house at 1 pm. Ann is at the office and drives.").filled
    (number,) = (number for number, each in enumerate(found.problem["people"]) if each["name"] == "Uncle Sam")
    assert found.assumed[f"people[{number}].place"] == "all meet there"


@pytest.mark.parametrize(
    "said",
    [
        "I'd like our side of the family to be there no later than 7 pm.",
        "We are four friends who must be there by 7 pm.",
        "My guests and I have to be at the Playhouse by 7 pm.",
    ],
)
def test_whoever_they_are_the_time_by_which_they_must_be_there_is_when_all_meet(said: str) -> None:
    found = told(EMPTY, f"There is a play at the Playhouse. {said}").filled
    (goal,) = found.problem["goals"]
    assert (goal["people"], goal["by"]) == ("all", "19:00")


def test_who_comes_in_the_car_of_somebody_else_does_not_drive() -> None:
    said = "We meet at the hall at 3 pm. Ann is at the office. Tom and Ben are at home, they come in Ann's car."
    (car,) = told(EMPTY, said).filled.problem["vehicles"]
    assert car["drivers"] == ["Ann"]


def test_whoever_gives_a_lift_drives() -> None:
    found = told(EMPTY, "We meet at the hall at 3 pm. Carl gives Ben a lift. Ben is in Bath.").filled.problem
    assert [each["drivers"] for each in found["vehicles"]] == [["Carl"]]


def test_what_must_not_be_forgotten_is_done() -> None:
    assert task("Don't forget to pick up the cake at Gail's.")["place"] == "Gail's"


@pytest.mark.parametrize("said", ["The Swan in Ludlow, 7 pm.", "We meet at 7 pm instead of 6 pm at The Swan in Ludlow."])
def test_where_and_when_all_meet_is_named_or_corrected(said: str) -> None:
    found = told(EMPTY, f"{said} Ann is at the office and drives.").filled.problem
    (goal,) = found["goals"]
    assert (found["places"][goal["place"]], goal["by"]) == ("Swan in Ludlow", "19:00")


def test_here_is_where_whoever_tells_is_and_what_is_only_named_waits_for_its_time() -> None:
    said = "I'm cooking a roast at home and I want everyone here by 1 pm. The roast needs two hours. Tom drives from Marlow."
    found = told(EMPTY, f"{said} I stay at home.")
    (goal,), (roast,) = found.filled.problem["goals"], found.filled.problem["tasks"]
    assert (goal["place"], goal["by"], roast["minutes"], found.unread) == ("Home", "13:00", 120, ())


def test_her_flat_is_that_of_who_is_picked_up_and_the_station_is_the_train_station() -> None:
    said = "Dinner is at 6 pm at home. Lisa arrives at the train station at 3:30 pm, the station is 15 minutes from home."
    found = told(EMPTY, f"{said} Tom picks up Grandma at her flat, which is 25 minutes from home.").filled.problem
    at = {each["name"]: found["places"][each["place"]] for each in found["people"] if each["place"]}
    ways = {frozenset(found["places"][end] for end in row[:2]): row[2] for row in found["travel_minutes"]}
    assert (at["Lisa"], at["Grandma"]) == ("Train station", "Grandma's house")
    assert ways == {frozenset(("Train station", "Home")): 15, frozenset(("Grandma's house", "Home")): 25}


@pytest.mark.parametrize(
    ("said", "place"), [("He picks up Ann from his office", "Tom's office"), ("He picks up Ann at her flat", "Ann's house")]
)
def test_whose_place_it_is_where_somebody_is_picked_up(said: str, place: str) -> None:
    found = told(EMPTY, f"Dinner is at 6 pm at home. Tom drives from York. {said} at 4.").filled.problem
    (at,) = (each["place"] for each in found["people"] if each["name"] == "Ann")
    assert found["places"][at] == place
