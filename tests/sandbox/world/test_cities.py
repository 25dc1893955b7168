from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies

from sagagraph.sandbox.world.cities import City, all_cities, cities_by_key, find_city, hubs, name_key, original_cities
from sagagraph.sandbox.world.prices import distance_km, hotel_level

CITIES = strategies.sampled_from(all_cities())


def test_the_world_has_thousands_of_cities_in_every_part_of_it_the_biggest_first() -> None:
    cities = all_cities()
    assert len(cities) > 7000
    assert len({city.country.code for city in cities}) > 230
    assert [city.population for city in cities] == sorted((city.population for city in cities), reverse=True)
    assert {"Canberra", "Nuuk", "Apia", "Kathmandu", "Windhoek", "Paramaribo"} <= {city.name for city in cities}


def test_names_and_keys_are_each_citys_own() -> None:
    cities = all_cities()
    assert len({name_key(city.name) for city in cities}) == len(cities)
    assert len({city.key for city in cities}) == len(cities)
    assert len({city.key for city in cities if city.key == city.airport.code}) == len({city.airport for city in cities})


@given(CITIES)
def test_a_city_is_found_by_its_name_and_by_its_key(place: City) -> None:
    assert find_city(place.name) is place
    assert cities_by_key()[place.key] is place


def test_the_original_cities_keep_their_names_and_the_codes_of_their_airports() -> None:
    originals = {city.key: city for city in all_cities() if city.original}
    assert originals.keys() == original_cities().keys()
    assert all(key == city.airport.code for key, city in originals.items())
    assert {"San Francisco", "Washington", "London", "Cologne", "Tokyo"} <= {city.name for city in originals.values()}


@pytest.mark.parametrize(
    ("asked", "name", "country"),
    [
        ("Paris", "Paris", "France"),
        ("Paris, Texas", "Paris, Texas", "United States"),
        ("paris texas", "Paris, Texas", "United States"),
        ("Portland", "Portland", "United States"),
        ("Portland, Maine", "Portland, Maine", "United States"),
        ("San Jose", "San Jose", "United States"),
        ("San José, Costa Rica", "San José, Costa Rica", "Costa Rica"),
        ("San Jose, Costa Rica", "San José, Costa Rica", "Costa Rica"),
        ("Valencia", "Valencia", "Venezuela"),
        ("Valencia, Spain", "Valencia, Spain", "Spain"),
        ("Birmingham", "Birmingham", "United Kingdom"),
        ("Birmingham, Alabama", "Birmingham, Alabama", "United States"),
        ("London, Canada", "London, Canada", "Canada"),
        ("Hyderabad", "Hyderabad", "India"),
    ],
)
def test_the_plain_name_is_the_biggest_citys_and_namesakes_say_where_they_are(asked: str, name: str, country: str) -> None:
    city = find_city(asked)
    assert city
    assert (city.name, city.country.name) == (name, country)


@pytest.mark.parametrize("asked", ["Atlantis", "Paris, Atlantis", ",", "", "  ", "Париж?", "x" * 5000])
def test_what_is_no_city_is_not_found(asked: str) -> None:
    assert find_city(asked) is None


@pytest.mark.parametrize(
    ("name", "airport"),
    [
        ("Lyon", "LYS"), ("Phoenix", "PHX"), ("Perth", "PER"), ("Cape Town", "CPT"), ("Osaka", "KIX"), ("Yokohama", "HND"),
        ("Buenos Aires", "EZE"), ("Düsseldorf", "DUS"), ("Bonn", "CGN"), ("Honolulu", "HNL"), ("Ushuaia, Argentina", None),
        ("Dubrovnik", "DBV"), ("Venice", "VCE"), ("Reykjavík", "KEF"), ("Kathmandu", "KTM"), ("Chihuahua", "CUU"),
    ],
)  # fmt: skip
def test_a_city_has_the_airport_that_serves_it(name: str, airport: str | None) -> None:
    city = find_city(name)
    assert (city and city.airport.code) == airport


def test_all_cities_of_an_airport_keep_the_same_time() -> None:
    kept: dict[str, set[object]] = {}
    for city in all_cities():
        for month in (1, 7):
            offset = datetime(2025, month, 15, tzinfo=UTC).astimezone(city.zone).utcoffset()
            kept.setdefault(f"{city.airport.code} {month}", set()).add(offset)
    assert all(len(offsets) == 1 for offsets in kept.values())


def test_every_hub_serves_a_city() -> None:
    assert len(hubs()) > 70
    assert set(hubs()) <= {city.airport for city in all_cities()}


def test_rooms_cost_more_in_dear_countries_and_in_big_cities() -> None:
    def level(name: str) -> float:
        city = find_city(name)
        assert city
        return hotel_level(city)

    assert level("Geneva") > level("Lyon") > level("Kraków") > level("Cairo")
    assert level("Marseille") > level("Limoges")
    assert all(0.3 < hotel_level(city) < 1.6 for city in all_cities())


def test_distances_are_along_the_great_circle() -> None:
    auckland, lima = find_city("Auckland"), find_city("Lima")
    assert auckland
    assert lima
    assert distance_km(auckland, lima) == pytest.approx(10_760, rel=0.01)
