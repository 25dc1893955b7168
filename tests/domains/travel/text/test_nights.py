from __future__ import annotations

import pytest

from sagagraph.domains.travel.text.stays import Stay, find_stays, tag_nights

from .slots import passage_of


def stays(text: str) -> list[Stay]:
    passage = passage_of(text)
    tag_nights(passage)
    return find_stays(passage)


@pytest.mark.parametrize(
    ("text", "nights"),
    [
        ("4 days in Berlin", [4]),
        ("five nights", [5]),
        ("a week", [7]),
        ("two weeks", [14]),
        ("a fortnight", [14]),
        ("a couple of nights", [2]),
        ("a weekend", [2]),
        ("a long weekend", [3]),
        ("a weekend, Thursday to Sunday", []),
        ("a 10-day trip", [10]),
        ("twenty-one nights", [21]),
        ("another night", [1]),
        ("4 nights Berlin, 2 nights Cologne", [4, 2]),
        ("5 days and 4 nights", [4]),
        ("5 days, 3 nights", [5, 3]),
        ("2, 3 and 4 nights", [2, 3, 4]),
        ("3 + 2 + 2 nights", [3, 2, 2]),
        ("3-5 nights", [None]),
        ("3 or 4 nights", [None]),
        ("3 nights or 4", [None]),
        ("a few days", [None]),
        ("in two weeks", []),
        ("two days later", []),
        ("2 people", []),
    ],
)
def test_durations_are_nights(text: str, nights: list[int | None]) -> None:
    assert [stay.nights for stay in stays(text)] == nights


@pytest.mark.parametrize("text", ["3 nights each", "3 nights in each city", "each for 3 nights", "3 nights per city"])
def test_a_duration_can_be_for_each_stop(text: str) -> None:
    assert [stay.kind for stay in stays(text)] == ["each"]


@pytest.mark.parametrize("text", ["10 days in total", "a 10-day trip", "a total of 10 days", "a 10 day vacation"])
def test_a_duration_can_be_that_of_the_whole_trip(text: str) -> None:
    assert [stay.kind for stay in stays(text)] == ["total"]
