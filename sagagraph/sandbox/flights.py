"""Flights: direct ones on some pairs of cities, connections through hubs on all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import pairwise

from sagagraph.sandbox.chance import draw, draw_between, pick
from sagagraph.sandbox.cities import City, all_cities, distance_km
from sagagraph.sandbox.offers import Offer, Stock
from sagagraph.sandbox.seasons import season_factor
from sagagraph.sandbox.timetable import Times, departure_minute

_CARRIERS = (
    ("Meridian Air", "MD", 1.0),
    ("Polar Line", "PO", 0.92),
    ("Blue Heron", "BH", 1.05),
    ("Aurelia Airways", "AU", 1.7),
)
_WORLDWIDE = frozenset({"LHR", "FRA"})
"""Have a direct flight to every city, so that every pair of cities has a connection."""
_LONG_HAUL_WITHOUT_HUB = frozenset({frozenset({"SFO", "BER"}), frozenset({"JFK", "BER"}), frozenset({"BOS", "LIS"})})
_LONG_HAUL_KM = 3500
_SHORTEST_LEG_KM = 200
_HUBS_TRIED, _DEPARTURES_PER_HUB = 3, 2
_BY_WEEKDAY = (1.0, 0.92, 0.92, 1.0, 1.12, 1.0, 1.12)


@dataclass(frozen=True)
class _Route:
    """One flight number: the same times on every day on which it runs."""

    carrier: str
    number: str
    leaves: int
    """Minutes after midnight at the origin."""
    minutes: int
    full_fare: float
    """Dollars for one traveller, before season, weekday and chance."""
    via: tuple[str, ...]
    share_of_days: float
    """On how many of all days it runs."""


def flights_between(origin: City, destination: City, day: date, travellers: int) -> list[Offer]:
    """By departure; empty for a city to itself."""
    offers = [
        _offer(route, origin, destination, day, travellers)
        for route in _routes(origin, destination)
        if draw("runs", origin.airport, destination.airport, route.number, day) < route.share_of_days
    ]
    return sorted(offers, key=lambda offer: offer.starts)


def _offer(route: _Route, origin: City, destination: City, day: date, travellers: int) -> Offer:
    base_id = f"flight.{origin.airport}-{destination.airport}.{day}.{route.number}"
    times = Times.of(origin, destination, day, route.leaves, route.minutes)
    factor = season_factor(day) * _BY_WEEKDAY[day.weekday()] * (0.85 + 0.4 * draw("fare", base_id))
    return Offer(
        kind="flight",
        base_id=base_id,
        quantity=travellers,
        rate=round(route.full_fare * factor) * 100,
        starts=times.departs,
        free_until=None,
        stock=(Stock(unit=base_id, capacity=draw_between(6, 40, "seats", base_id)),),
        facts={
            "carrier": route.carrier,
            "number": route.number,
            "origin": origin.airport,
            "destination": destination.airport,
            "origin_city": origin.name,
            "destination_city": destination.name,
            **times.facts(),
            "stops": len(route.via),
            "via": list(route.via),
        },
    )


@cache
def _routes(origin: City, destination: City) -> tuple[_Route, ...]:
    if origin == destination:
        return ()
    directs = _direct_departures(origin, destination)
    hubs = _hubs(origin, destination) * _DEPARTURES_PER_HUB
    return (
        *(_route(origin, (), destination, slot=turn, turn=turn, turns=directs) for turn in range(directs)),
        *(_route(origin, (hub,), destination, slot=directs + turn, turn=turn, turns=len(hubs)) for turn, hub in enumerate(hubs)),
    )


def _route(origin: City, via: tuple[City, ...], destination: City, *, slot: int, turn: int, turns: int) -> _Route:
    """`slot` makes the number unique on its pair of cities; `turn` of `turns` spreads its like over the day."""
    pair = (origin.airport, destination.airport)
    carrier, code, level = pick(_CARRIERS, "carrier", *pair, slot)
    legs = list(pairwise((origin, *via, destination)))
    flown = sum(distance_km(*leg) for leg in legs)
    changing = sum(draw_between(11, 30, "change", *pair, slot) * 5 for _ in via)
    return _Route(
        carrier=carrier,
        number=f"{code}{draw_between(10, 99, 'number', *pair, slot)}{slot}",
        leaves=departure_minute(turn, turns, "flight", *pair, bool(via)),
        minutes=sum(_minutes_in_the_air(*leg) for leg in legs) + changing,
        full_fare=(49 + 0.062 * flown) * level * (0.88 if via else 1.0),
        via=tuple(hub.airport for hub in via),
        share_of_days=1.0 if via else 0.85 if flown > _LONG_HAUL_KM else 0.95,
    )


def _minutes_in_the_air(origin: City, destination: City) -> int:
    return round((40 + distance_km(origin, destination) / 14) / 5) * 5


def _direct_departures(origin: City, destination: City) -> int:
    """How many direct flight numbers serve the pair."""
    if not _has_direct(origin, destination):
        return 0
    kilometres = distance_km(origin, destination)
    if kilometres > _LONG_HAUL_KM:
        return 2 if origin.is_hub and destination.is_hub else 1
    return 3 if kilometres > 1000 else 4


def _has_direct(one: City, other: City) -> bool:
    if {one.airport, other.airport} & _WORLDWIDE:
        return True
    if one.region == other.region:
        return one.is_hub or other.is_hub or draw("direct", *sorted((one.airport, other.airport))) < 0.6
    return (one.is_hub and other.is_hub) or frozenset({one.airport, other.airport}) in _LONG_HAUL_WITHOUT_HUB


def _hubs(origin: City, destination: City) -> list[City]:
    """The hubs that make the shortest connections."""

    def is_possible(hub: City) -> bool:
        ends = (origin, destination)
        return hub not in ends and all(_has_direct(hub, end) and distance_km(hub, end) >= _SHORTEST_LEG_KM for end in ends)

    possible = [city for city in all_cities() if city.is_hub and is_possible(city)]
    possible.sort(key=lambda hub: distance_km(origin, hub) + distance_km(hub, destination))
    return possible[:_HUBS_TRIED]
