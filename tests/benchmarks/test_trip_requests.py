"""The requests that are drawn: the same for the same seed, usable, and of many kinds."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from benchmarks.trips.places import CONTINENTS, Places, continent_of
from benchmarks.trips.requests import Asked, requests
from sagagraph.domains.travel.cities import City, Gazetteer
from sagagraph.domains.travel.request import parse_request
from sagagraph.sandbox.money import BASE
from sagagraph.sandbox.money import rates as exchange_rates
from sagagraph.sandbox.world.cities import all_cities

TODAY = date(2025, 3, 1)


@pytest.fixture(scope="module")
def cities() -> tuple[City, ...]:
    return tuple(
        City(
            name=city.name,
            country=city.country.name,
            airport=city.airport.code,
            timezone=city.timezone,
            latitude=city.latitude,
            longitude=city.longitude,
            population=city.population,
        )
        for city in all_cities()
    )


def drawn(cities: tuple[City, ...], seed: int, count: int = 200) -> list[Asked]:
    rates = {BASE: Decimal(1), **{currency: Decimal(str(rate)) for currency, rate in exchange_rates().items()}}
    return list(requests(seed, count, Places.of(cities), TODAY, rates))


@pytest.fixture(scope="module")
def asked(cities: tuple[City, ...]) -> list[Asked]:
    return drawn(cities, seed=1)


def test_a_seed_makes_the_same_requests_again(cities: tuple[City, ...], asked: list[Asked]) -> None:
    assert drawn(cities, seed=1, count=30) == asked[:30]
    assert drawn(cities, seed=2, count=30) != asked[:30]


def test_each_can_be_planned(cities: tuple[City, ...], asked: list[Asked]) -> None:
    gazetteer = Gazetteer(cities)
    for each in asked:
        parsed = parse_request(each.body, cities=gazetteer, today=TODAY)
        assert [stop.city for stop in parsed.stops] == [stop["city"] for stop in each.body["stops"]]


def test_every_number_of_stops_is_asked_for_from_every_continent(asked: list[Asked]) -> None:
    assert {(len(each.body["stops"]), each.continents[0]) for each in asked} == {
        (stops, continent) for stops in range(1, 7) for continent in CONTINENTS
    }


def test_there_are_all_kinds_of_wishes(asked: list[Asked]) -> None:
    bodies = [each.body for each in asked]
    assert {body["travellers"] for body in bodies} == {1, 2, 3, 4}
    assert {body["direct"] for body in bodies} == {"any", "preferred", "required"}
    assert len({body["currency"] for body in bodies if "budget" in body}) >= 8
    assert any("budget" not in body for body in bodies)
    ends = {"one way" if body["return_to"] is None else body["return_to"] == body["origin"] for body in bodies}
    assert ends == {"one way", True, False}
    for field in ("depart", "window", "hours", "not_on"):
        assert 10 < sum(field in body for body in bodies) < 150
    assert 30 < sum(len(each.continents) > 1 for each in asked) < 150


def test_a_continent_is_told_by_the_clock() -> None:
    assert [continent_of(zone) for zone in ("America/Lima", "Pacific/Auckland", "Australia/Perth", "Indian/Mauritius")] == [
        "America",
        "Oceania",
        "Oceania",
        None,
    ]
