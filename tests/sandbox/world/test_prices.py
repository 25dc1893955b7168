from __future__ import annotations

from datetime import date

import pytest

from sagagraph.sandbox.world.cities import City, find_city
from sagagraph.sandbox.world.prices import Spot, journey_factor, season_factor
from sagagraph.sandbox.world.questions import StayQuestion


def city(name: str) -> City:
    found = find_city(name)
    assert found
    return found


def test_summer_is_in_july_in_the_north_and_in_january_in_the_south() -> None:
    assert season_factor(date(2025, 7, 10), 50) > season_factor(date(2025, 1, 10), 50)
    assert season_factor(date(2025, 1, 10), -35) > season_factor(date(2025, 7, 10), -35)


def test_the_tropics_differ_less_over_the_year() -> None:
    def spread(latitude: float) -> float:
        factors = [season_factor(date(2025, month, 1), latitude) for month in range(1, 13)]
        return max(factors) - min(factors)

    assert spread(5) < spread(48)
    assert spread(-5) < spread(-34)


def test_a_journey_has_the_seasons_of_both_its_ends() -> None:
    day = date(2025, 7, 10)
    assert journey_factor(day, Spot(50, 8), Spot(48, 16)) == season_factor(day, 50)
    assert season_factor(day, -35) < journey_factor(day, Spot(50, 8), Spot(-35, 18)) < season_factor(day, 50)


@pytest.mark.parametrize(("name", "summer", "winter"), [("Hamburg", 7, 1), ("Sydney", 1, 6), ("Cape Town", 1, 6)])
def test_rooms_are_dearest_in_the_summer_of_their_own_hemisphere(name: str, summer: int, winter: int) -> None:
    def rates(month: int) -> list[int]:
        tuesday = next(date(2025, month, day) for day in range(8, 15) if date(2025, month, day).weekday() == 1)
        wednesday = tuesday.replace(day=tuesday.day + 1)
        return [offer.rate for offer in StayQuestion(city(name), tuesday, wednesday, 1).offers()]

    assert all(dear > cheap for dear, cheap in zip(rates(summer), rates(winter), strict=True))


def test_weekends_are_dearer_everywhere() -> None:
    for name in ("Sydney", "Nairobi", "Toronto"):
        tuesday = StayQuestion(city(name), date(2025, 3, 11), date(2025, 3, 12), 1).offers()
        friday = StayQuestion(city(name), date(2025, 3, 14), date(2025, 3, 15), 1).offers()
        assert all(weekend.rate > week.rate for weekend, week in zip(friday, tuesday, strict=True))
