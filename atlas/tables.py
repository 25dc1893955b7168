"""The tables themselves, row by row."""

from __future__ import annotations

from atlas.airports import airport_of, has_own, offsets
from atlas.names import english_name, regions, unique_names
from atlas.places import Airport, Near, Place, airports, countries, places
from sagagraph.sandbox.first_cities import FIRST_CITIES
from sagagraph.sandbox.names import name_key

LEAST_PEOPLE = 100_000
LEAST_WITH_OWN_AIRPORT = 25_000
LEAST_OF_ALL = 15_000
BIG = 1_000_000
_LONGEST_OTHER_NAME = 40
_DISTRICTS = frozenset({("Victoria", "HK"), ("New Territories", "HK"), ("Pudong", "CN"), ("Puxi", "CN")})
"""That GeoNames counts as cities beside the one that they are in."""

Table = list[tuple[object, ...]]


def tables() -> dict[str, Table]:
    """By name."""
    known_airports = airports()
    near, by_code = Near(known_airports), {airport.code: airport for airport in known_airports}
    country_names = {code: country["name"].removeprefix("The ") for code, country in countries().items()}
    everywhere = [place for place in places() if place.country in country_names and (place.name, place.country) not in _DISTRICTS]
    chosen = _chosen(everywhere, near)
    served = _served(chosen, near, by_code)
    named_regions = regions(everywhere, near)
    names = unique_names([place for place in chosen if place.id in served], country_names, named_regions, _first(chosen))
    kept = [place for place in chosen if place.id in names]
    used = {place.country for place in kept}
    return {
        "cities": [_city(place, names[place.id], served[place.id], named_regions) for place in kept],
        "countries": [(code, country_names[code], _borders(code, used)) for code in sorted(used)],
        "other_names": _other_names(kept, names),
    }


def _chosen(everywhere: list[Place], near: Near) -> list[Place]:
    """Big cities, capitals, and of the smaller ones those with an airport of their own that are known or have a big namesake."""
    capitals = _capitals(everywhere)
    big_names = {name_key(place.name) for place in everywhere if place.population >= BIG}

    def belongs(place: Place) -> bool:
        if place.population >= LEAST_PEOPLE or place.id in capitals:
            return True
        own = has_own(place, near) if place.population >= LEAST_OF_ALL else None
        if own is None:
            return False
        is_known = "nternational" in own.name or place.population >= LEAST_WITH_OWN_AIRPORT
        return is_known or name_key(place.name) in big_names

    return [place for place in everywhere if belongs(place)]


def _capitals(everywhere: list[Place]) -> frozenset[int]:
    """Their ids."""
    wanted = {(code, name_key(country["capital"])) for code, country in countries().items() if country["capital"]}
    found: dict[tuple[str, str], int] = {}
    for place in everywhere:
        for key in (name_key(place.name), *map(name_key, place.other_names)):
            if (place.country, key) in wanted:
                found.setdefault((place.country, key), place.id)
    return frozenset(found.values())


def _served(chosen: list[Place], near: Near, by_code: dict[str, Airport]) -> dict[int, Airport]:
    """By the city's id. All cities of one airport keep the same time: what the biggest one keeps."""
    served: dict[int, Airport] = {}
    time_at: dict[str, object] = {}
    for place in chosen:
        airport = airport_of(place, english_name(place), near, by_code)
        if airport and time_at.setdefault(airport.code, offsets(place.timezone)) == offsets(place.timezone):
            served[place.id] = airport
    return served


def _first(chosen: list[Place]) -> dict[int, int]:
    """The ids of the cities that the world began with, and their ranks: they keep their names."""
    by_name = {(english_name(place), place.country): place.id for place in reversed(chosen)}
    return {by_name[name]: rank for rank, name in enumerate(FIRST_CITIES)}


def _city(place: Place, name: str, airport: Airport, named_regions: dict[tuple[str, str], str]) -> tuple[object, ...]:
    return (
        place.id,
        name,
        place.country,
        named_regions.get((place.country, place.admin), ""),
        place.population,
        place.timezone,
        round(place.latitude, 4),
        round(place.longitude, 4),
        airport.code,
        airport.latitude,
        airport.longitude,
    )


def _borders(code: str, used: set[str]) -> str:
    return " ".join(each for each in countries()[code]["neighbours"].split(",") if each in used)


def _other_names(kept: list[Place], names: dict[int, str]) -> Table:
    """What else a city is called, in Latin letters; a name that several have is the biggest one's."""
    taken = {name_key(name) for name in names.values()}
    rows: Table = []
    for place in kept:
        for name in (place.name, *place.other_names):
            key = name_key(name)
            if 1 < len(key) <= _LONGEST_OTHER_NAME and key not in taken:
                taken.add(key)
                rows.append((key, place.id))
    return sorted(rows, key=lambda row: str(row[0]))
