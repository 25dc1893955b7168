"""What happens on a day, as somebody reports it: nothing of it is dropped, and what it does not say is asked."""

from __future__ import annotations

from typing import Any

import pytest

from sagagraph.domains.reunion.shipped import shipped
from sagagraph.domains.reunion.text.news import event_in
from sagagraph.errors import InvalidInputError

pytestmark = pytest.mark.quick

DAY = shipped("thanksgiving")


def news(text: str, *, under_way: bool = True) -> dict[str, Any] | None:
    return event_in(text, DAY, 12 * 60, under_way=under_way)


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("Michael's car breaks down until 3 pm", {"event": "vehicle_down", "vehicle": "Michael's car", "until": "15:00"}),
        ("michaels car is out of order", {"event": "vehicle_down", "vehicle": "Michael's car"}),
        (
            "the road from home to the airport is closed until 3 pm",
            {"event": "road_closed", "from": "HOME", "to": "BOS", "until": "15:00"},
        ),
        (
            "there's an accident near the airport, everything takes twice as long",
            {"event": "travel_factor", "place": "BOS", "factor": 2.0},
        ),
        ("Emily lands at 4 pm", {"event": "delayed", "person": "Emily", "from": "16:00"}),
        ("Emily's flight was cancelled, she lands at 7 pm", {"event": "delayed", "person": "Emily", "from": "19:00"}),
        ("Emily's flight was cancelled, she does not come", {"event": "cancelled", "person": "Emily"}),
        ("Emily lands at half past three", {"event": "delayed", "person": "Emily", "from": "15:30"}),
        ("Emily's flight got moved to 4:15", {"event": "delayed", "person": "Emily", "from": "16:15"}),
        ("grandma is sick", {"event": "cancelled", "person": "Grandma"}),
        ("Grandma's not feeling well and stays home", {"event": "cancelled", "person": "Grandma"}),
        ("Grandma stays at home", {"event": "cancelled", "person": "Grandma"}),
    ],
)
def test_all_that_is_said_of_it_is_in_the_event(text: str, event: dict[str, Any]) -> None:
    assert news(text) == {"at": "12:00", **event}


def test_another_time_before_the_day_is_under_way_is_a_wish() -> None:
    assert news("Emily lands at 4 pm", under_way=False) is None


@pytest.mark.parametrize("text", ["maybe later, I have to ask Sarah", "Sarah is nice", "has James landed?"])
def test_what_is_no_news_is_none(text: str) -> None:
    assert news(text) is None


def test_a_cancelled_flight_does_not_say_whether_its_passenger_stays_away() -> None:
    with pytest.raises(InvalidInputError, match="When does Emily come then"):
        news("Emily's flight got cancelled")


@pytest.mark.parametrize(
    "text",
    [
        "Emily is delayed until 3:15, and dinner at 6:30 then",
        "Emily is late until 3 and needs a lift",
        "Emily is an hour late and Grandma is sick",
        "Michael's car broke down, James takes a taxi",
    ],
)
def test_of_several_things_none_is_dropped(text: str) -> None:
    with pytest.raises(InvalidInputError, match="more than one thing"):
        news(text)


def test_later_than_nobody_knows_when_is_asked() -> None:
    with pytest.raises(InvalidInputError, match="Until when is Grandma delayed"):
        news("Grandma is half an hour late")


def test_who_stays_where_all_meet_is_no_news() -> None:
    assert news("Sarah stays home") is None


@pytest.mark.parametrize("text", ["Sarah is sick", "Sarah is sick and can't cook", "Grandma is ill and can't drive"])
def test_who_is_sick_where_all_meet_or_only_cannot_do_something_may_still_be_there(text: str) -> None:
    with pytest.raises(InvalidInputError, match="out of it altogether"):
        news(text)


@pytest.mark.parametrize("text", ["James is here", "James has landed"])
def test_who_is_there_without_a_time_is_asked_since_when(text: str) -> None:
    with pytest.raises(InvalidInputError, match="Since when is James there"):
        news(text)
    assert news(text, under_way=False) is None
