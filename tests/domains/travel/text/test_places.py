from __future__ import annotations

import pytest

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.language.passage import Passage
from sagagraph.language.places import Place, tag_places

from .atlas import ATLAS


def places(text: str, cities: Gazetteer) -> list[Place]:
    passage = Passage.of(text)
    tag_places(passage, cities)
    return passage.values(Place)


def found(text: str, cities: Gazetteer) -> list[str | None]:
    """Unknown places with a question mark."""
    return [mention.city or f"?{mention.said}" for mention in places(text, cities)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("from San Francisco to Berlin", ["San Francisco", "Berlin"]),
        ("from san francisco to berlin", ["San Francisco", "Berlin"]),
        ("SFO-BER-CGN", ["San Francisco", "Berlin", "Cologne"]),
        ("SF to NYC", ["San Francisco", "New York"]),
        ("from sf to la", ["San Francisco", "Los Angeles"]),
        ("la dolce vita", []),
        ("Köln, München und Zürich", ["Cologne", "Munich", "Zurich"]),
        ("TRIP FROM BOSTON TO SEA", ["Boston", "Seattle"]),
        ("I WANT TO SEE THE SEA", []),
        ("in madrid with mad people", ["Madrid"]),
        ("a nice hotel in Nice", ["Nice"]),
        ("Nice hotels in Berlin", ["Berlin"]),
        ("to nice", ["Nice"]),
        ("change to nice hotels in Berlin", ["Berlin"]),
        ("from berlin to nice for 3 nights", ["Berlin", "Nice"]),
        ("Paris, Nice and Rome", ["Paris", "Nice", "Rome"]),
        ("from Atlantis to Berlin", ["?Atlantis", "Berlin"]),
        ("from atlantis to berlin", ["?atlantis", "Berlin"]),
        ("fly to narnia", ["?narnia"]),
        ("trip to New Narnia City for two", ["?New Narnia City"]),
        ("Boston → Gotham → Paris", ["Boston", "?Gotham", "Paris"]),
        ("to Belrin and Colonge", ["?Belrin", "?Colonge"]),
        ("San Fransisco to Paris", ["?San Fransisco", "Paris"]),
        ("from Boston to Germany", ["Boston", "?Germany"]),
        ("Berlin in Germany", ["Berlin"]),
        ("from the hotel to my home in summer", []),
        ("I want to fly, to see and to stay in Business class", []),
        ("", []),
    ],
)
def test_places_are_found_where_they_can_be_meant(cities: Gazetteer, text: str, names: list[str]) -> None:
    assert found(text, cities) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("from Portland, Maine to Portland, Oregon", ["Portland, Maine", "Portland"]),
        ("from Portland ME to Portland (OR)", ["Portland, Maine", "Portland"]),
        ("Paris, Texas and Paris, France", ["Paris, Texas", "Paris"]),
        ("to Paris, Nice and Split", ["Paris", "Nice", "Split"]),
        ("from London, England to London, Canada", ["London", "London, Canada"]),
        ("from Portland to Paris", ["?Portland", "Paris"]),
        ("from Birmingham to Birmingham, Alabama", ["?Birmingham", "Birmingham, Alabama"]),
        ("most people goes to the best man, of course, in march", []),
        ("Most of the best", []),
        ("from Most to Best, Goes and Of", ["Most", "Best", "Goes", "Of"]),
        ("from March to Male in march", ["March", "Male"]),
        ("a mobile home, split in two, reading a book in the bath", []),
        ("PLEASE GET ME TO PARIS FOR FUN", ["Paris"]),
        ("to see the top of the day", []),
        ("Sydney, Los Angeles, New York", ["Sydney", "Los Angeles", "New York"]),
    ],
)
def test_names_that_are_shared_or_are_words_are_read_with_care(text: str, names: list[str]) -> None:
    assert found(text, ATLAS) == names


def test_a_name_that_several_cities_share_comes_with_the_cities() -> None:
    (mention,) = places("to Portland", ATLAS)
    assert mention.candidates == ("Portland", "Portland, Maine")
    assert mention.unknown == "Which Portland: Portland (United States) or Portland, Maine?"


def test_nobody_who_says_paris_means_the_small_one() -> None:
    (mention,) = places("to Paris", ATLAS)
    assert (mention.city, mention.candidates) == ("Paris", ())


def test_an_unknown_place_comes_with_suggestions(cities: Gazetteer) -> None:
    (mention,) = places("to Belrin", cities)
    assert mention.unknown == "no city called 'Belrin' is known; did you mean Berlin?"
