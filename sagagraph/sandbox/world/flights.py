"""Flights: direct ones between some pairs of airports, connections through hubs between nearly all."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from sagagraph.sandbox.world import cities as c
from sagagraph.sandbox.world.offers import Departure, Offer, departure_minute, journey_id, journey_offer
from sagagraph.sandbox.world.prices import distance_km, draw, draw_between, journey_factor, pick

Chain = tuple[c.Airport, ...]
"""Where passengers change, in order of travel."""

LONG_HAUL_KM = 3500
_SHORTEST_DIRECT_KM, _SHORTEST_LEG_KM = 150, 200
_CHAINS_TRIED = 3
_A_CHANGE_KM = 600
"""The longest detour that is preferred to another change."""


def has_direct(one: c.Airport, other: c.Airport) -> bool:
    """Tell whether there are direct flights: in both directions or in none."""
    if one.original and other.original:
        return _is_original_direct(one, one.original, other, other.original)
    kilometres = distance_km(one, other)
    if kilometres < _SHORTEST_DIRECT_KM:
        return False
    # An airport always has flights to its gateways, so every airport can be reached.
    is_gateway = (one.is_hub and one in _gateways(other)) or (other.is_hub and other in _gateways(one))
    return is_gateway or _has_demand(one, other, kilometres)


@lru_cache(maxsize=10_000)
def chains(origin: c.Airport, destination: c.Airport) -> tuple[Chain, ...]:
    """Return the best routes with changes, at most three: with one change and no great detour, otherwise with more."""
    if origin.original and destination.original:
        return _original_chains(origin, destination)
    longest = 1.5 * distance_km(origin, destination) + 1200
    once: list[Chain] = [(hub,) for hub in _common_hubs(origin, destination)]
    sensible = [chain for chain in once if flown_km(origin, chain, destination) <= longest]
    if not sensible and not has_direct(origin, destination):
        sensible = [*once, *_longer_chains(origin, destination)]
    sensible.sort(key=lambda via: (flown_km(origin, via, destination) + _A_CHANGE_KM * len(via), [stop.code for stop in via]))
    return tuple(sensible[:_CHAINS_TRIED])


def flown_km(origin: c.Airport, via: Chain, destination: c.Airport) -> float:
    return sum(distance_km(*leg) for leg in pairwise((origin, *via, destination)))


def _longer_chains(origin: c.Airport, destination: c.Airport) -> list[Chain]:
    """Return routes with two changes, or with three between opposite ends of the world."""
    starts, ends = _hubs_with_direct(origin), _hubs_with_direct(destination)
    twice = [(a, b) for a in starts for b in ends if a is not b and b in _hubs_with_direct(a) and a is not destination]
    if twice:
        return [chain for chain in twice if origin not in chain and destination not in chain]
    return [(a, hub, b) for a in starts for b in ends for hub in _common_hubs(a, b) if hub not in (origin, destination)]


def _common_hubs(one: c.Airport, other: c.Airport) -> Iterator[c.Airport]:
    served = _hubs_with_direct(other)
    return (hub for hub in _hubs_with_direct(one) if hub in served and hub is not one and hub is not other)


@cache
def _hubs_with_direct(airport: c.Airport) -> frozenset[c.Airport]:
    return frozenset(hub for hub in c.hubs() if distance_km(hub, airport) >= _SHORTEST_LEG_KM and has_direct(hub, airport))


@cache
def _gateways(airport: c.Airport) -> frozenset[c.Airport]:
    """Return the two nearest hubs, and the nearest one with intercontinental flights."""
    by_distance = sorted((distance_km(hub, airport), hub.code, hub) for hub in c.hubs())
    near = [hub for far, _, hub in by_distance if far >= _SHORTEST_LEG_KM]
    return frozenset([*near[:2], *[hub for hub in near if hub.is_worldwide_hub][:1]])


def _has_demand(one: c.Airport, other: c.Airport, kilometres: float) -> bool:
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


# -- between the original cities -------------------------------------------------------------------------------------


def _is_original_direct(one: c.Airport, its: c.Original, other: c.Airport, others: c.Original) -> bool:
    codes = {one.code, other.code}
    if codes & c.HAVE_FLIGHTS_TO_ALL:
        return True
    if its.region == others.region:
        return its.is_hub or others.is_hub or draw("direct", *sorted(codes)) < 0.6
    return (its.is_hub and others.is_hub) or codes in c.LONG_HAUL_WITHOUT_HUB


def _original_chains(origin: c.Airport, destination: c.Airport) -> tuple[Chain, ...]:
    """Return routes through those of their hubs that make the shortest connections."""
    ends = origin, destination
    possible = [
        (hub,)
        for hub in (c.all_airports()[code] for code, original in c.original_cities().items() if original.is_hub)
        if hub not in ends and all(has_direct(hub, end) and distance_km(hub, end) >= _SHORTEST_LEG_KM for end in ends)
    ]
    return tuple(sorted(possible, key=lambda chain: flown_km(origin, chain, destination))[:_CHAINS_TRIED])


_CARRIERS = (
    ("Meridian Air", "MD", 1.0),
    ("Polar Line", "PO", 0.92),
    ("Blue Heron", "BH", 1.05),
    ("Aurelia Airways", "AU", 1.7),
)
_DEPARTURES_PER_CHAIN = 2
_MANY_PEOPLE, _FEW_PEOPLE = 3_000_000, 500_000
_BY_WEEKDAY = (1.0, 0.92, 0.92, 1.0, 1.12, 1.0, 1.12)


class _Flight(NamedTuple):
    departure: Departure
    full_fare: float
    """Dollars per traveller, before season, weekday and chance."""
    share_of_days: float
    """The share of days on which it flies."""


def flights_between(origin: c.City, destination: c.City, day: date, travellers: int) -> list[Offer]:
    """Return the flights in order of departure; none between cities with the same airport."""
    offers = [
        _offer(flight, origin, destination, day, travellers)
        for flight in _flights(origin.airport, destination.airport)
        if draw("runs", origin.airport.code, destination.airport.code, flight.departure.number, day) < flight.share_of_days
    ]
    return sorted(offers, key=lambda offer: offer.starts)


def _offer(flight: _Flight, origin: c.City, destination: c.City, day: date, travellers: int) -> Offer:
    # All cities of an airport share its flights, and their seats.
    unit = journey_id("flight", origin.airport.code, destination.airport.code, day, flight.departure.number)
    season = journey_factor(day, origin.airport, destination.airport)
    fare = round(flight.full_fare * (season * _BY_WEEKDAY[day.weekday()] * (0.85 + 0.4 * draw("fare", unit))))
    seats = draw_between(6, 40, "seats", unit)
    return journey_offer(flight.departure, origin, destination, day, travellers, unit=unit, seats=seats, dollars=fare)


@lru_cache(maxsize=10_000)
def _flights(origin: c.Airport, destination: c.Airport) -> tuple[_Flight, ...]:
    if origin is destination:
        return ()
    directs = _direct_departures(origin, destination)
    connections = chains(origin, destination) * _DEPARTURES_PER_CHAIN
    return (
        *(_flight(origin, (), destination, slot=turn, turn=turn, turns=directs) for turn in range(directs)),
        *(
            _flight(origin, via, destination, slot=directs + turn, turn=turn, turns=len(connections))
            for turn, via in enumerate(connections)
        ),
    )


def _flight(origin: c.Airport, via: Chain, destination: c.Airport, *, slot: int, turn: int, turns: int) -> _Flight:
    """Make a flight. `slot` makes the number unique on its pair of airports; `turn` of `turns` spreads similar flights over the
    day.
    """
    pair = (origin.code, destination.code)
    carrier, code, level = pick(_CARRIERS, "carrier", *pair, slot)
    flown = flown_km(origin, via, destination)
    legs = pairwise((origin, *via, destination))
    minutes = sum(round((40 + distance_km(*leg) / 14) / 5) * 5 for leg in legs)
    for nth in range(len(via)):  # from 55 to 150 minutes to change
        minutes += draw_between(11, 30, "change", *pair, slot, *([nth] if nth else [])) * 5
    departure = Departure(
        kind="flight",
        carrier=carrier,
        number=f"{code}{draw_between(10, 99, 'number', *pair, slot)}{slot}",
        leaves=departure_minute(turn, turns, "flight", *pair, bool(via)),
        minutes=minutes,
        via=tuple(hub.code for hub in via),
    )
    fare = (49 + 0.062 * flown) * level * (0.88 if via else 1.0)
    return _Flight(departure, fare, 1.0 if via else 0.85 if flown > LONG_HAUL_KM else 0.95)


def _direct_departures(origin: c.Airport, destination: c.Airport) -> int:
    """Return how many direct flight numbers serve the pair."""
    if not has_direct(origin, destination):
        return 0
    if origin.original and destination.original:
        both_hubs, most = origin.original.is_hub and destination.original.is_hub, 4
    else:
        people = min(origin.people, destination.people)
        both_hubs = origin.is_hub and destination.is_hub
        most = 4 if people >= _MANY_PEOPLE else 2 if people >= _FEW_PEOPLE else 1
    kilometres = distance_km(origin, destination)
    if kilometres > LONG_HAUL_KM:
        return 2 if both_hubs else 1
    return min(most, 3 if kilometres > 1000 else 4)
