from __future__ import annotations

import json
from datetime import date, time
from decimal import Decimal
from typing import Any

import pytest

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.request import (
    CURRENCIES,
    Direct,
    Hours,
    JourneyHours,
    Stop,
    TripRequest,
    Weekday,
    Window,
    checked_request,
    parse_request,
)
from sagagraph.errors import InvalidInputError

from .world import TODAY, trip

pytestmark = pytest.mark.quick

SAMPLE: dict[str, Any] = {
    "origin": "SF",
    "stops": [{"city": "Berlin", "nights": 4}, {"city": "Köln", "nights": 2}],
    "month": "2025-06",
    "budget": 5000,
    "stars": [3, 4],
    "direct": "preferred",
}


STOPS = SAMPLE["stops"]
DAYS = "'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday' or 'sunday'"


def parse(cities: Gazetteer, **changes: Any) -> TripRequest:
    """`...` leaves a field out."""
    fields = {name: value for name, value in {**SAMPLE, **changes}.items() if value is not ...}
    return parse_request(fields, cities=cities, today=TODAY)


def test_the_sample_trip_is_read(cities: Gazetteer) -> None:
    assert parse(cities) == TripRequest(
        origin="San Francisco",
        stops=(Stop(city="Berlin", nights=4), Stop(city="Cologne", nights=2)),
        return_to="San Francisco",
        window=Window(first=date(2025, 6, 1), last=date(2025, 6, 30)),
        travellers=1,
        rooms=1,
        budget=Decimal(5000),
        currency="USD",
        stars=(3, 4),
        direct=Direct.PREFERRED,
    )


def test_a_request_survives_json(cities: Gazetteer) -> None:
    request = parse(cities, travellers=3, budget=1234.56, return_to=None, depart="2025-06-05")
    again = parse_request(json.loads(request.model_dump_json()), cities=cities, today=TODAY)
    assert again == request
    assert again.budget == Decimal("1234.56")


def test_hours_and_weekdays_survive_json(cities: Gazetteer) -> None:
    hours = {"depart": {"earliest": "08:00"}, "arrive": {"latest": "22:30"}}
    request = parse(cities, hours=hours, not_on=["sunday", "friday", "sunday"])
    assert request.hours == JourneyHours(depart=Hours(earliest=time(8)), arrive=Hours(latest=time(22, 30)))
    assert request.not_on == (Weekday.FRIDAY, Weekday.SUNDAY)
    written = json.loads(request.model_dump_json())
    assert written["hours"]["arrive"] == {"earliest": None, "latest": "22:30"}
    assert parse_request(written, cities=cities, today=TODAY) == request


def test_a_request_without_the_newer_wishes_is_written_as_before_there_were_any(cities: Gazetteer) -> None:
    assert {"hours", "not_on"}.isdisjoint(parse(cities).model_dump(mode="json"))


def test_a_trip_returns_to_its_origin_unless_said_otherwise(cities: Gazetteer) -> None:
    assert parse(cities).return_to == "San Francisco"
    assert parse(cities, return_to=None).return_to is None
    assert parse(cities, return_to="nyc").return_to == "New York"


def test_two_travellers_share_a_room_unless_said_otherwise(cities: Gazetteer) -> None:
    assert [parse(cities, travellers=n).rooms for n in (1, 2, 3, 4)] == [1, 1, 2, 2]
    assert parse(cities, travellers=2, rooms=2).rooms == 2


def test_december_ends_with_the_year(cities: Gazetteer) -> None:
    assert parse(cities, month="2025-12").window == Window(first=date(2025, 12, 1), last=date(2025, 12, 31))


def test_a_window_and_a_day_of_departure_may_both_be_given(cities: Gazetteer) -> None:
    assert parse(cities, depart="2025-06-05").departure_days(TODAY) == (date(2025, 6, 5),)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"origin": ...}, "origin: is missing"),
        ({"origin": None}, "origin: must be a valid string, not null"),
        ({"origin": "Atlantis"}, "origin: no city called 'Atlantis' is known"),
        ({"stops": ...}, "stops: is missing"),
        ({"stops": []}, "stops: is empty"),
        ({"stops": "Berlin"}, "stops: must be a list, not 'Berlin'"),
        ({"stops": [{"nights": 2}]}, "stops[0].city: is missing"),
        ({"stops": [{"city": "Berlin"}]}, "stops[0].nights: is missing"),
        ({"stops": [{"city": "Belrin", "nights": 2}]}, "stops[0].city: no city called 'Belrin' is known; did you mean Berlin?"),
        ({"stops": [{"city": "Berlin", "nights": -1}]}, "stops[0].nights: must be greater than or equal to 0, not -1"),
        ({"stops": [{"city": "Berlin", "nights": 1.5}]}, "stops[0].nights: must be a valid integer, not 1.5"),
        ({"stops": [{"city": "Berlin", "nights": True}]}, "stops[0].nights: must be a valid integer, not true"),
        ({"stops": [{"city": "Berlin", "nights": 10**9}]}, "stops[0].nights: must be less than or equal to 365, not 1000000000"),
        ({"stops": [{"city": "Berlin", "nights": 2, "hotel": 1}]}, "stops[0].hotel: is not a known field"),
        (
            {"stops": [{"city": "SFO", "nights": 2}]},
            "return_to: the trip is in San Francisco already; use null for a trip that ends there",
        ),
        (
            {"stops": [{"city": "Berlin", "nights": 2}, {"city": "BER", "nights": 1}]},
            "stops: Berlin follows Berlin: two in a row are the same city",
        ),
        ({"return_to": "CGN"}, "return_to: the trip is in Cologne already; use null for a trip that ends there"),
        ({"month": "June"}, "month: must be like '2025-06', not 'June'"),
        ({"month": "2025-13"}, "month: must be like '2025-06', not '2025-13'"),
        ({"month": 6}, "month: must be like '2025-06', not 6"),
        ({"window": {"first": "2025-06-01", "last": "2025-06-30"}}, "month: give a month or a window, not both"),
        ({"month": "2024-06"}, "window: it ended on 2024-06-30; today is 2025-03-01"),
        (
            {"month": ..., "window": {"first": "2025-06-20", "last": "2025-06-10"}},
            "window: dates run backwards: 2025-06-20 comes after 2025-06-10",
        ),
        (
            {"month": ..., "window": {"first": "2025-06-20", "last": "2025-06-25"}},
            "window: 2025-06-20 to 2025-06-25 has room for 5 nights; the stops need 6: take fewer nights, or a later last day",
        ),
        (
            {"month": ..., "window": {"first": "2025-02-20", "last": "2025-03-04"}},
            "window: too few of its days are left for 6 nights; today is 2025-03-01",
        ),
        ({"month": ..., "window": {"first": "2025-06-20"}}, "window.last: is missing"),
        (
            {"month": ..., "window": {"first": "soon", "last": "2025-06-25"}},
            "window.first: must be a day like '2025-06-05', not 'soon'",
        ),
        ({"month": ...}, "depart: neither a window nor a day of departure is given"),
        ({"month": ..., "depart": "2025-02-28"}, "depart: 2025-02-28 is in the past; today is 2025-03-01"),
        ({"month": ..., "depart": 20250605}, "depart: must be a day like '2025-06-05', not 20250605"),
        ({"month": ..., "depart": "9999-12-31"}, "depart: 9999-12-31 is too far away; no trip is planned after 2099"),
        ({"depart": "2025-07-01"}, "depart: 2025-07-01 is outside the window 2025-06-01 to 2025-06-30"),
        ({"depart": "2025-06-28"}, "depart: leaving on 2025-06-28, 6 nights do not end by 2025-06-30"),
        ({"travellers": 0}, "travellers: must be greater than or equal to 1, not 0"),
        ({"travellers": "2"}, "travellers: must be a valid integer, not '2'"),
        ({"rooms": 0}, "rooms: must be greater than or equal to 1, not 0"),
        ({"budget": 0}, "budget: must be greater than 0, not 0"),
        ({"budget": -5}, "budget: must be greater than 0, not -5"),
        ({"budget": float("nan")}, "budget: must be a finite number, not nan"),
        ({"budget": "plenty"}, "budget: must be a number, not 'plenty'"),
        ({"budget": True}, "budget: must be a number, not true"),
        ({"budget": 10.001}, "budget: must have no more than 2 decimal places, not 10.001"),
        ({"currency": "XAU"}, f"currency: 'XAU' is not supported; {', '.join(sorted(CURRENCIES))} are"),
        ({"stops": STOPS * 4}, "stops: has more than 6 of them"),
        ({"hours": {"depart": {"earliest": "8"}}}, "hours.depart.earliest: must be a time like '08:30', not '8'"),
        ({"hours": {"depart": {"earliest": 8}}}, "hours.depart.earliest: must be a time like '08:30', not 8"),
        ({"hours": {"depart": {"earliest": "24:00"}}}, "hours.depart.earliest: must be a time like '08:30', not '24:00'"),
        ({"hours": {"arrive": {"latest": "02:00"}}}, "hours.arrive: the latest hour must be 04:00 or later, not 02:00"),
        (
            {"hours": {"arrive": {"earliest": "20:00", "latest": "08:00"}}},
            "hours.arrive: hours run backwards: 20:00 comes after 08:00",
        ),
        ({"not_on": ["caturday"]}, f"not_on[0]: must be {DAYS}, not 'caturday'"),
        ({"not_on": list(Weekday)}, "not_on: no weekday is left to travel on"),
        (
            {"month": None, "depart": "2025-06-01", "not_on": ["sunday"]},
            "not_on: the day of departure, 2025-06-01, is a Sunday",
        ),
        ({"stars": [4, 3]}, "stars: the range runs backwards: 4 to 3"),
        ({"stars": [0, 3]}, "stars[0]: must be greater than or equal to 1, not 0"),
        ({"stars": 3}, "stars: must be a list, not 3"),
        ({"direct": "maybe"}, "direct: must be 'required', 'preferred' or 'any', not 'maybe'"),
        ({"hotel": "Ritz"}, "hotel: is not a known field"),
    ],
)
def test_bad_input_is_answered_in_one_line_that_names_the_field(cities: Gazetteer, changes: dict[str, Any], line: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse(cities, **changes)
    assert str(caught.value) == line
    assert caught.value.field == line.partition(":")[0]


@pytest.mark.parametrize("value", [None, [], "trip", 3])
def test_a_request_is_an_object(cities: Gazetteer, value: object) -> None:
    with pytest.raises(InvalidInputError, match=r"^request: must be a JSON object$"):
        parse_request(value, cities=cities, today=TODAY)


def test_a_long_value_does_not_flood_the_line(cities: Gazetteer) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse(cities, origin="x\n" * 5000)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_no_name_of_a_city_is_longer_than_any_city_has() -> None:
    with pytest.raises(InvalidInputError, match=r"^stops\[0\]\.city: .*at most 200 characters"):
        checked_request({"origin": "Boston", "stops": [{"city": "x" * 201, "nights": 2}], "depart": "2025-06-05"})


def test_every_day_that_leaves_room_for_the_nights_may_begin_the_trip() -> None:
    days = trip().departure_days(date(2025, 6, 10))
    assert (days[0], days[-1], len(days)) == (date(2025, 6, 10), date(2025, 6, 24), 15)
    assert trip().departure_days(date(2025, 6, 25)) == ()
