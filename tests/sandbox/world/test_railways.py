from __future__ import annotations

from datetime import date
from itertools import combinations

import pytest

from sagagraph.sandbox.world.cities import City, all_cities, find_city
from sagagraph.sandbox.world.questions import JourneyQuestion
from sagagraph.sandbox.world.trains import line_between


def city(name: str) -> City:
    found = find_city(name)
    assert found, name
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Delhi", "Agra"), ("Osaka", "Hiroshima"), ("Sapporo", "Tokyo"), ("Barcelona", "Marseille"), ("Lyon", "Turin"),
        ("Edinburgh", "Manchester"), ("Manchester", "Lille"), ("Malmö", "Berlin"), ("Oslo", "Gothenburg"), ("Belfast", "Dublin"),
        ("Philadelphia", "Boston"), ("Seattle", "Vancouver"), ("Casablanca", "Marrakesh"), ("Jakarta", "Surabaya"),
        ("Kuala Lumpur", "Singapore"), ("Hong Kong", "Changsha"), ("Nairobi", "Mombasa"), ("Moscow", "Saint Petersburg"),
    ],
)  # fmt: skip
def test_trains_run_where_there_is_land_between(one: str, other: str) -> None:
    assert line_between(city(one), city(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rome", "Split"), ("Bari", "Dubrovnik"), ("Stockholm", "Tallinn"), ("Stockholm", "Turku"), ("Helsinki", "Tallinn"),
        ("Naples", "Palermo"), ("Rome", "Cagliari"), ("Barcelona", "Palma"), ("Glasgow", "Belfast"),
        ("London", "Dublin"), ("Málaga", "Tangier"), ("Casablanca", "Madrid"), ("Denpasar", "Surabaya"), ("Jakarta", "Palembang"),
        ("Wellington", "Christchurch"), ("Melbourne", "Hobart"), ("Fukuoka", "Busan"), ("Osaka", "Seoul"), ("Xiamen", "Taipei"),
        ("Guangzhou", "Haikou"), ("Miami", "Havana"), ("Seattle", "Victoria"), ("Chennai", "Colombo"),
        ("Istanbul", "Odesa"), ("Seoul", "Jeju City"), ("Kuala Lumpur", "Kuching"), ("Manila", "Cebu City"), ("Tokyo", "Naha"),
        ("Los Angeles", "Honolulu"), ("Dar es Salaam", "Zanzibar"), ("Athens", "Irákleion"), ("Copenhagen", "Gdańsk"),
    ],
)  # fmt: skip
def test_trains_never_run_across_a_sea(one: str, other: str) -> None:
    assert line_between(city(one), city(other)) is None
    assert JourneyQuestion("train", city(one), city(other), date(2025, 6, 10), 1).offers() == []


@pytest.mark.parametrize(
    ("one", "other"), [("Doha", "Dubai"), ("Reykjavík", "Akureyri"), ("Bogotá", "Medellín"), ("Sanaa", "Aden")]
)
def test_no_trains_run_in_countries_without_passenger_trains(one: str, other: str) -> None:
    assert not city(one).railway
    ends = city(one), find_city(other)
    assert ends[1] is None or line_between(ends[0], ends[1]) is None


def test_the_channel_and_the_sound_are_crossed_where_the_tunnel_and_the_bridge_are() -> None:
    by_tunnel = line_between(city("Manchester"), city("Rotterdam"))
    assert by_tunnel
    assert by_tunnel.kilometres > 1.2 * 470  # straight across the North Sea
    assert line_between(city("Edinburgh"), city("Bergen")) is None


def test_what_is_too_far_by_train_has_none() -> None:
    assert line_between(city("Lille"), city("Seville")) is None
    assert line_between(city("Moscow"), city("Novosibirsk")) is None
    bullet, slow = line_between(city("Wuhan"), city("Zhengzhou")), line_between(city("Delhi"), city("Mumbai"))
    assert bullet
    assert slow is None


def test_lines_between_two_networks_are_only_those_that_meet() -> None:
    rails = [place for place in all_cities() if place.railway and not place.original]
    european = [place for place in rails if place.population > 250_000 and place.timezone.startswith("Europe")]
    met = {
        frozenset({one.railway, other.railway})
        for one, other in combinations([*european, *rails[::25]], 2)
        if one.railway != other.railway and line_between(one, other)
    }
    assert {"Europe", "Great Britain"} in met
    assert met <= {
        frozenset(pair)
        for pair in (
            ("Europe", "Great Britain"), ("Europe", "Scandinavia"), ("Europe", "South-eastern Europe"), ("Europe", "Baltic"),
            ("Great Britain", "Scandinavia"),
        )
    }  # fmt: skip
