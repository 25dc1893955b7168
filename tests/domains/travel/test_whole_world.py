"""The gazetteer on all the cities that the sandbox has: thousands of names, many of them words that mean something else."""

from __future__ import annotations

import pytest

from sagagraph.domains.travel.cities import City, Gazetteer
from sagagraph.language.passage import Passage
from sagagraph.language.places import Place, tag_places
from sagagraph.sandbox.world.cities import all_cities


@pytest.fixture(scope="module")
def world() -> Gazetteer:
    return Gazetteer(
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


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("SFO", "San Francisco"),
        ("JFK", "New York"),
        ("SEA", "Seattle"),
        ("LON", "London"),
        ("CGN", "Cologne"),
        ("OAK", "Oakland"),
    ],
)
def test_a_code_means_the_biggest_city_of_its_airport(world: Gazetteer, code: str, name: str) -> None:
    city = world.find(code)
    assert city
    assert city.name == name


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Please plan a surprise for my man: from Boston to Cusco, then Lima", ["Boston", "Cusco", "Lima"]),
        ("In Nairobi we want to save money on hotels, and to surprise our guests", ["Nairobi"]),
        ("San Fransisco to Portland Maine", ["?San Fransisco", "Portland, Maine"]),
        ("Arrive in Valencia Spain, children under ten", ["Valencia, Spain"]),
        ("from São Paulo to Ho Chi Minh City", ["São Paulo", "Ho Chi Minh City"]),
        ("Birmingham to Birmingham, Alabama", ["?Birmingham", "Birmingham, Alabama"]),
    ],
)
def test_places_are_found_among_all_the_names_of_the_world(world: Gazetteer, text: str, names: list[str]) -> None:
    passage = Passage.of(text)
    tag_places(passage, world)
    assert [place.city or f"?{place.said}" for place in passage.values(Place)] == names


@pytest.mark.parametrize(
    "word", ["Flying", "Monday", "Summer", "Children", "Person", "Arrive", "Wedding", "France", "China", "India", "Poland"]
)
def test_a_word_or_a_country_is_no_misspelling_of_a_city(world: Gazetteer, word: str) -> None:
    assert world.misspelling_of(word) is None


def test_a_misspelling_of_a_well_known_city_is_recognised(world: Gazetteer) -> None:
    assert world.misspelling_of("Belrin") == "Berlin"
    assert world.misspelling_of("Nairobbi") == "Nairobi"
    assert world.suggestions("Berlim") == ("Berlin",)


def test_a_country_is_answered_with_its_biggest_cities(world: Gazetteer) -> None:
    assert world.unknown("kenya").startswith("kenya is a country, with Nairobi, ")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Bali", "Denpasar"),
        ("st petersburg", "Saint Petersburg"),
        ("New Delhi", "Delhi"),
        ("Bern", "Bern"),
        ("Quebec", "Quebec City"),
    ],
)
def test_another_name_of_a_bigger_city_is_not_taken_for_a_smaller_one(world: Gazetteer, said: str, name: str) -> None:
    found = world.find(said)
    assert found is not None
    assert found.name == name
