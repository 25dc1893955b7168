from __future__ import annotations

import pytest

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.reading.passage import Passage
from sagagraph.domains.travel.reading.places import find_mentions


def found(text: str, cities: Gazetteer) -> list[str | None]:
    """Unknown places with a question mark."""
    return [mention.city or f"?{mention.said}" for mention in find_mentions(Passage.of(text), cities)]


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


def test_an_unknown_place_comes_with_suggestions(cities: Gazetteer) -> None:
    (mention,) = find_mentions(Passage.of("to Belrin"), cities)
    assert mention.unknown == "no city called 'Belrin' is known; did you mean Berlin?"
