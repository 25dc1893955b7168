from __future__ import annotations

import pytest

from sagagraph.domains.travel.cities import City, Gazetteer
from sagagraph.errors import InvalidInputError

from .world import CITIES

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Berlin", "Berlin"),
        ("  berlin ", "Berlin"),
        ("SAN FRANCISCO", "San Francisco"),
        ("SF", "San Francisco"),
        ("SFO", "San Francisco"),
        ("sfo", "San Francisco"),
        ("Köln", "Cologne"),
        ("Koeln", "Cologne"),
        ("Zürich", "Zurich"),
        ("München", "Munich"),
        ("NYC", "New York"),
        ("new york city", "New York"),
        ("JFK", "New York"),
        ("LGA", "New York"),
        ("LGW", "London"),
        ("LON", "London"),
        ("Wien", "Vienna"),
        ("Praha", "Prague"),
        ("San-Francisco", "San Francisco"),
    ],
)
def test_a_city_goes_by_any_of_its_names(cities: Gazetteer, written: str, name: str) -> None:
    found = cities.find(written)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("written", ["", "Atlantis", "Belrin", "Berlin2", "YXU", "XXX", "…"])
def test_what_is_only_close_to_a_name_is_not_taken_for_it(cities: Gazetteer, written: str) -> None:
    assert cities.find(written) is None


def test_a_city_that_does_not_exist_is_reported_with_those_that_are_close(cities: Gazetteer) -> None:
    with pytest.raises(InvalidInputError, match=r"^origin: no city called 'Belrin' is known; did you mean Berlin\?$"):
        cities.require("Belrin", field="origin")


def test_a_city_that_resembles_none_is_reported_without_suggestions(cities: Gazetteer) -> None:
    with pytest.raises(InvalidInputError, match=r"no city called 'Xyzzyx' is known$"):
        cities.require("Xyzzyx", field="origin")


def test_a_country_is_answered_with_its_cities(cities: Gazetteer) -> None:
    assert cities.unknown("germany") == "germany is a country, with Berlin, Cologne, Munich"


def test_other_names_of_cities_that_are_not_served_lead_nowhere() -> None:
    assert Gazetteer(CITIES[:1]).find("Wien") is None


def test_the_zone_of_a_city_is_its_own(cities: Gazetteer) -> None:
    zone = cities.zone("Tokyo")
    assert zone is not None
    assert zone.key == "Asia/Tokyo"
    assert cities.zone("Atlantis") is None


def test_a_zone_that_nobody_knows_is_no_zone() -> None:
    moon = City(name="Tranquility", country="Moon", airport="TRQ", timezone="Moon/Sea", latitude=0, longitude=0)
    assert Gazetteer([moon]).zone("Tranquility") is None


def test_distances_are_along_the_great_circle(cities: Gazetteer) -> None:
    here, there = cities.require("Berlin", field="here"), cities.require("San Francisco", field="there")
    assert here.distance_km(there) == pytest.approx(9100, rel=0.02)
    assert here.distance_km(here) == 0
