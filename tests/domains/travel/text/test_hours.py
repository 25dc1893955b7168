from __future__ import annotations

import pytest

from sagagraph.domains.travel.partial import PartialRequest
from sagagraph.domains.travel.text.when import read_hours, read_weekdays

from .slots import said


def understood(text: str) -> str:
    """`depart 08:00-; arrive -22:00`; with a question mark where it is asked."""
    answer = said(text, read_hours)[0]
    if answer.doubts:
        return f"{answer.doubts[0].field}?"
    if "hours" not in answer.fields:
        return ""
    shown = []
    for name, hours in (("depart", answer.fields["hours"].depart), ("arrive", answer.fields["hours"].arrive)):
        limits = [f"{limit:%H:%M}" if limit else "" for limit in (hours.earliest, hours.latest)]
        shown += [f"{name} {'-'.join(limits)}"] if any(limits) else []
    return "; ".join(shown)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("not before 8am", "depart 08:00-"),
        ("flights after 10 o'clock", "depart 10:00-"),
        ("arrive before 9 o'clock", "hours?"),
        ("no flights before 8:30", "depart 08:30-"),
        ("no earlier than 7 a.m.", "depart 07:00-"),
        ("leave after 10h", "depart 10:00-"),
        ("departing from 9am onwards", "depart 09:00-"),
        ("leave by 6pm", "depart -18:00"),
        ("no departures after 21:00", "depart -21:00"),
        ("no departures after 21", "depart -21:00"),
        ("arriving before 22:00", "arrive -22:00"),
        ("land no later than 9.45 pm", "arrive -21:45"),
        ("we don't want to arrive after ten at night", "arrive -22:00"),
        ("home by 8 in the evening", "arrive -20:00"),
        ("arrive at 10 pm at the latest", "arrive -22:00"),
        ("arrive after noon", "arrive 12:00-"),
        ("not before 8am and back by 10 pm", "depart 08:00-; arrive -22:00"),
        ("by 19:30", "arrive -19:30"),
        # Something else
        ("after 8 June", ""),
        ("from 3 to 20 July", ""),
        ("before 9 May", ""),
        ("no more than 3 nights", ""),
        ("on 5.6.2025", ""),
        ("leaving 2025-06-05", ""),
        ("by the 20th", ""),
        ("at 3 star hotels", ""),
        ("", ""),
    ],
)
def test_hours_are_understood(text: str, hours: str) -> None:
    assert understood(text) == hours


@pytest.mark.parametrize(
    "text",
    [
        "before 21:00",
        *("no arrivals after 9", "not after 25:00", "arrive before 2am"),
        *("leave after 9am, leave after 10am", "leave after 8pm and leave before 9am"),
    ],
)
def test_hours_that_can_mean_more_than_one_thing_are_asked_about(text: str) -> None:
    assert understood(text) == "hours?"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("not on a Sunday", "sunday"),
        ("not on Sundays", "sunday"),
        ("never on a sunday", "sunday"),
        ("no flights on Friday or Saturday", "friday saturday"),
        ("avoid Mondays, Tuesdays and Fridays", "monday tuesday friday"),
        ("I don't want to fly on Wednesdays", "wednesday"),
        ("no travelling on Thursdays", "thursday"),
        ("not on weekends", "saturday sunday"),
        ("weekdays only", "saturday sunday"),
        ("Sundays are out", "sunday"),
        ("on Sunday", ""),
        ("no later than Friday 9 May", ""),
        ("a weekend in Rome", ""),
        ("", ""),
    ],
)
def test_weekdays_to_avoid_are_understood(text: str, days: str) -> None:
    answer = said(text, read_weekdays, PartialRequest())[0]
    assert " ".join(answer.fields.get("not_on", ())) == days


def test_a_week_without_any_day_is_asked_about() -> None:
    every = "Mondays, Tuesdays, Wednesdays, Thursdays, Fridays, Saturdays and Sundays"
    answer = said(f"not on {every}", read_weekdays, PartialRequest())[0]
    assert answer.fields == {}
    assert [doubt.field for doubt in answer.doubts] == ["not_on"]
