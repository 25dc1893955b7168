"""What cities are called here: each by one name of its own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from atlas.places import Near, Place, states
from sagagraph.sandbox.names import name_key

NEAREST_AIRPORT_KM = 120
_IN_ENGLISH = {
    ("Köln", "DE"): "Cologne", ("New York City", "US"): "New York", ("Frankfurt am Main", "DE"): "Frankfurt",
    ("Zürich", "CH"): "Zurich", ("Sevilla", "ES"): "Seville", ("Québec", "CA"): "Quebec City", ("Montréal", "CA"): "Montreal",
    ("Kraków", "PL"): "Krakow", ("Makkah", "SA"): "Mecca",
}  # fmt: skip
"""Where GeoNames uses another name than English does, for cities that are often written about in English."""


def english_name(place: Place) -> str:
    return _IN_ENGLISH.get((place.name, place.country), place.name)


def regions(places: Iterable[Place], near: Near) -> dict[tuple[str, str], str]:
    """The name of each first-order division: GeoNames gives only its code, so the airports in it say what it is called."""
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for place in places:
        if place.country == "US":
            continue
        found = [
            (far, a.code, a.region)
            for far, a in near.within(place, NEAREST_AIRPORT_KM)
            if a.country == place.country and a.region
        ]
        if found:
            votes[place.country, place.admin][min(found)[2]] += 1
    named = {key: min(count.items(), key=lambda item: (-item[1], item[0]))[0] for key, count in votes.items()}
    return named | {("US", code): name for code, name in states().items()}


def unique_names(
    places: Sequence[Place], countries: dict[str, str], regions: dict[tuple[str, str], str], first: dict[int, int]
) -> dict[int, str]:
    """By id. The plain name is the biggest city's; others are told apart by country, or by state or region within one.

    `places`: the biggest first. `first`: the rank of those that keep the plain name whoever is bigger. Of two that can not be
    told apart the smaller one is left out.
    """
    names: dict[int, str] = {}
    taken: set[str] = set()
    for place in sorted(places, key=lambda place: first.get(place.id, len(first))):
        plain = english_name(place)
        region = regions.get((place.country, place.admin))
        wider = [countries[place.country]] if place.country != "US" else []
        for name in (plain, *(f"{plain}, {qualifier}" for qualifier in (*wider, region) if qualifier)):
            key = name_key(name)
            if key and key not in taken:
                taken.add(key)
                names[place.id] = name
                break
    return names
