"""What the readers of values make of words, one value at a time."""

from __future__ import annotations

from datetime import date
from time import process_time

import pytest

from sagagraph.domains.travel.text.slots import CUES, TRIP_UNITS
from sagagraph.language.calendar import Expression, resolved
from sagagraph.language.clock import Clock, Lasting
from sagagraph.language.money import Money
from sagagraph.language.numbers import Nth, Number
from sagagraph.language.quantities import Quantity
from sagagraph.language.tagging import tagged

pytestmark = pytest.mark.quick

TODAY = date(2025, 3, 1)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("7", [7]),
        ("twenty-one", [21]),
        ("two hundred and fifty", [250]),
        ("five thousand", [5000]),
        ("4.5k", [4500]),
        ("3,500 and 5 000 and 4'500", [3500, 5000, 4500]),
        ("5.000", [None]),
        ("no one, one way, someone", []),
    ],
)
def test_numbers(text: str, counts: list[int | None]) -> None:
    assert [number.count for number in tagged(text).values(Number)] == counts


@pytest.mark.parametrize(("text", "places"), [("the second", [2]), ("5th", [5]), ("twenty-first", [21]), ("first, 3rd", [1, 3])])
def test_places_in_a_row(text: str, places: list[int]) -> None:
    assert [nth.place for nth in tagged(text).values(Nth)] == places


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a couple of nights", "2 night"),
        ("2, 3 and 4 nights", "2 3 4 night and"),
        ("3+2 nights", "3 2 night and"),
        ("3-5 nights", "3 5 night or"),
        ("3 nights or 4", "3 4 night or"),
        ("three- or four-star", "3 4 star or"),
        ("3 star or 4 star", "3 4 star or"),
        ("at least 4 stars", "4 star least"),
        ("4+ stars", "4 star least"),
        ("4 stars or better", "4 star least"),
        ("no more than 3 stars", "3 star most"),
        ("one night longer", "1 night more"),
        ("another two nights", "2 night more"),
        ("remove one star", "1 star less"),
        ("extend the stay by two nights", "2 night more"),
        ("a week later", "1 week later"),
        ("a few days", "day"),
        ("12 km", "12 km"),
    ],
)
def test_quantities(text: str, said: str) -> None:
    (quantity,) = tagged(text, units=TRIP_UNITS).values(Quantity)
    words = [*map(str, quantity.counts), quantity.unit, quantity.link, quantity.bound, quantity.change]
    assert " ".join(filter(None, words)) == said


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("at 1 pm", 780),
        ("2.30 pm", 870),
        ("18:05", 1085),
        ("after 10h", 600),
        ("until 10h30", 630),
        ("by 8 in the evening", 1200),
        ("ten at night", 1320),
        ("noon", 720),
        ("midnight", 1440),
        ("9 o'clock", None),
        ("25:00", None),
    ],
)
def test_times_of_day(text: str, minutes: int | None) -> None:
    assert [clock.minutes for clock in tagged(text).values(Clock)] == [minutes]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("an hour and a half", 90),
        ("half an hour", 30),
        ("1 hour and 20 minutes", 80),
        ("1h30", 90),
        ("a 40-minute drive", 40),
        ("a quarter of an hour", 15),
        ("three quarters of an hour", 45),
    ],
)
def test_how_long_something_takes(text: str, minutes: float) -> None:
    assert [lasting.minutes for lasting in tagged(text).values(Lasting)] == [minutes]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Friday 9 May", "2025-05-09", "2025-05-09"),
        ("mid-June", "2025-06-11", "2025-06-20"),
        ("the last week of February", "2026-02-22", "2026-02-28"),
        ("28 December to 4 January", "2025-12-28", "2026-01-04"),
        ("November to January", "2025-11-01", "2026-01-31"),
        ("29 February", "2028-02-29", "2028-02-29"),
    ],
)
def test_days(text: str, first: str, last: str) -> None:
    (expression,) = tagged(text, today=TODAY).values(Expression)
    assert resolved(expression, [expression], TODAY) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize("kin", ["my mum, ", "son, ", "my son, he's ", "daughter Ann, "])
def test_a_long_list_of_kin_takes_time_in_proportion_to_its_length(kin: str) -> None:
    def seconds(times: int) -> float:
        before = process_time()
        tagged(kin * times)
        return process_time() - before

    seconds(10)  # patterns are compiled when they are first used
    assert min(seconds(280) for _ in range(3)) < 9 * min(seconds(70) for _ in range(3)), "linear is 4, quadratic 16"


def test_between_two_amounts_of_which_only_one_has_a_currency_is_the_upper_end() -> None:
    passage = tagged("between $50 and 90", units=TRIP_UNITS, currencies=frozenset({"USD"}), cues=CUES)
    assert [each.most for each in passage.values(Money)] == [90]
