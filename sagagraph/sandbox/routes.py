"""Which airports have direct flights to one another, and where one changes between those that have none."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from sagagraph.sandbox.chance import draw
from sagagraph.sandbox.cities import Airport, airport_of_code, all_cities
from sagagraph.sandbox.first_cities import FIRST_CITIES, FirstCity
from sagagraph.sandbox.geometry import distance_km
from sagagraph.sandbox.hubs import HUBS

Chain = tuple[Airport, ...]
"""Where one changes, in the order of travel."""

LONG_HAUL_KM = 3500
_SHORTEST_DIRECT_KM, _SHORTEST_LEG_KM = 150, 200
_CHAINS_TRIED = 3
_A_CHANGE_KM = 600
"""What one would rather fly than change once more."""

# What is known of the cities that the world began with.
_WORLDWIDE = frozenset({"LHR", "FRA"})
"""Have a direct flight to every one of the first cities, so that every pair of those has a connection."""
_LONG_HAUL_WITHOUT_HUB = frozenset({frozenset({"SFO", "BER"}), frozenset({"JFK", "BER"}), frozenset({"BOS", "LIS"})})


def has_direct(one: Airport, other: Airport) -> bool:
    """In both directions or in none."""
    if one.first and other.first:
        return _has_first_direct(one, one.first, other, other.first)
    kilometres = distance_km(one, other)
    return kilometres >= _SHORTEST_DIRECT_KM and (_is_gateway(one, other) or _has_demand(one, other, kilometres))


@lru_cache(maxsize=10_000)
def chains(origin: Airport, destination: Airport) -> tuple[Chain, ...]:
    """The best ways to change on the way, at most three: with one change where that is no great detour, or else with more."""
    if origin.first and destination.first:
        return tuple((hub,) for hub in _first_hubs(origin, destination))
    longest = 1.5 * distance_km(origin, destination) + 1200
    once: list[Chain] = [(hub,) for hub in _common_hubs(origin, destination)]
    sensible = [chain for chain in once if flown_km(origin, chain, destination) <= longest]
    if not sensible and not has_direct(origin, destination):
        sensible = [*once, *_longer_chains(origin, destination)]
    sensible.sort(key=lambda chain: (_worth_km(origin, chain, destination), [stop.code for stop in chain]))
    return tuple(sensible[:_CHAINS_TRIED])


def flown_km(origin: Airport, via: Chain, destination: Airport) -> float:
    return sum(distance_km(*leg) for leg in pairwise((origin, *via, destination)))


def _worth_km(origin: Airport, via: Chain, destination: Airport) -> float:
    return flown_km(origin, via, destination) + _A_CHANGE_KM * len(via)


def _longer_chains(origin: Airport, destination: Airport) -> list[Chain]:
    """With two changes, or with three between the ends of the world."""
    starts, ends = _hubs_with_direct(origin), _hubs_with_direct(destination)
    twice = [(a, b) for a in starts for b in ends if a is not b and b in _hubs_with_direct(a) and a is not destination]
    if twice:
        return [chain for chain in twice if origin not in chain and destination not in chain]
    return [(a, hub, b) for a in starts for b in ends for hub in _common_hubs(a, b) if hub not in (origin, destination)]


def _common_hubs(one: Airport, other: Airport) -> Iterator[Airport]:
    served = _hubs_with_direct(other)
    return (hub for hub in _hubs_with_direct(one) if hub in served and hub is not one and hub is not other)


@cache
def _hubs_with_direct(airport: Airport) -> dict[Airport, None]:
    """In the order of the table of hubs."""
    return {hub: None for hub in _hubs() if distance_km(hub, airport) >= _SHORTEST_LEG_KM and has_direct(hub, airport)}


@cache
def _hubs() -> tuple[Airport, ...]:
    return tuple(airport_of_code(code) for code in HUBS)


def _is_gateway(one: Airport, other: Airport) -> bool:
    """One is where people of the other change: there are always flights, so that every airport can be reached."""
    return (one.is_hub and one in _gateways(other)) or (other.is_hub and other in _gateways(one))


@cache
def _gateways(airport: Airport) -> frozenset[Airport]:
    """The two nearest hubs, and the nearest from which flights go to other continents."""
    by_distance = sorted((distance_km(hub, airport), hub.code, hub) for hub in _hubs())
    near = [hub for far, _, hub in by_distance if far >= _SHORTEST_LEG_KM]
    return frozenset([*near[:2], *[hub for hub in near if hub.is_worldwide_hub][:1]])


def _has_demand(one: Airport, other: Airport, kilometres: float) -> bool:
    if one.is_hub and other.is_hub:
        both = one.is_worldwide_hub + other.is_worldwide_hub
        return kilometres <= (4500, 9000, 14_500)[both]
    chance = draw("direct", *sorted((one.code, other.code)))
    if one.is_hub or other.is_hub:
        hub, end = (one, other) if one.is_hub else (other, one)
        if hub.is_worldwide_hub and end.people >= 1_500_000 and kilometres <= 12_000:
            return chance < (0.9 if kilometres <= 4000 else 0.5)
        return end.people >= 200_000 and kilometres <= (4000 if hub.is_worldwide_hub else 2500) and chance < 0.75
    both_big = min(1.0, (one.people * other.people) ** 0.5 / 2_500_000)
    return kilometres <= 3000 and chance < 0.7 * both_big * (1 - kilometres / 4000)


# -- between the first cities ----------------------------------------------------------------------------------------


def _has_first_direct(one: Airport, first: FirstCity, other: Airport, second: FirstCity) -> bool:
    if {one.code, other.code} & _WORLDWIDE:
        return True
    if first.region == second.region:
        return first.is_hub or second.is_hub or draw("direct", *sorted((one.code, other.code))) < 0.6
    return (first.is_hub and second.is_hub) or frozenset({one.code, other.code}) in _LONG_HAUL_WITHOUT_HUB


def _first_hubs(origin: Airport, destination: Airport) -> list[Airport]:
    """The hubs among them that make the shortest connections."""

    def is_possible(hub: Airport) -> bool:
        ends = (origin, destination)
        return hub not in ends and all(has_direct(hub, end) and distance_km(hub, end) >= _SHORTEST_LEG_KM for end in ends)

    possible = [hub for hub in _hubs_of_the_first() if is_possible(hub)]
    possible.sort(key=lambda hub: distance_km(origin, hub) + distance_km(hub, destination))
    return possible[:_CHAINS_TRIED]


@cache
def _hubs_of_the_first() -> tuple[Airport, ...]:
    """In the order of their table."""
    codes = {(city.name, city.country_code): city.airport for city in all_cities() if city.first}
    return tuple(airport_of_code(codes[name]) for name, first in FIRST_CITIES.items() if first.is_hub)
