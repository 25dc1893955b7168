"""Flights: direct ones on some pairs of airports, connections through hubs on nearly all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from sagagraph.sandbox.chance import draw, draw_between, pick
from sagagraph.sandbox.cities import Airport, City, airport_of
from sagagraph.sandbox.geometry import distance_km
from sagagraph.sandbox.offers import Offer, Stock
from sagagraph.sandbox.routes import LONG_HAUL_KM, Chain, chains, flown_km, has_direct
from sagagraph.sandbox.seasons import journey_factor
from sagagraph.sandbox.timetable import Times, departure_minute

_CARRIERS = (
    ("Meridian Air", "MD", 1.0),
    ("Polar Line", "PO", 0.92),
    ("Blue Heron", "BH", 1.05),
    ("Aurelia Airways", "AU", 1.7),
)
_DEPARTURES_PER_CHAIN = 2
_MANY_PEOPLE, _FEW_PEOPLE = 3_000_000, 500_000
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
    """By departure; empty between cities with the same airport."""
    ends = airport_of(origin), airport_of(destination)
    offers = [
        _offer(route, origin, destination, day, travellers)
        for route in _routes(*ends)
        if draw("runs", origin.airport, destination.airport, route.number, day) < route.share_of_days
    ]
    return sorted(offers, key=lambda offer: offer.starts)


def _offer(route: _Route, origin: City, destination: City, day: date, travellers: int) -> Offer:
    flight = f"flight.{origin.airport}-{destination.airport}.{day}.{route.number}"
    times = Times.of(origin, destination, day, route.leaves, route.minutes)
    ends = airport_of(origin), airport_of(destination)
    season = journey_factor(day, ends[0].latitude, ends[1].latitude)
    factor = season * _BY_WEEKDAY[day.weekday()] * (0.85 + 0.4 * draw("fare", flight))
    return Offer(
        kind="flight",
        base_id=f"flight.{origin.key}-{destination.key}.{day}.{route.number}",
        quantity=travellers,
        rate=round(route.full_fare * factor) * 100,
        starts=times.departs,
        free_until=None,
        # All cities of an airport share its flights, and their seats.
        stock=(Stock(unit=flight, capacity=draw_between(6, 40, "seats", flight), until=times.departs),),
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


@lru_cache(maxsize=10_000)
def _routes(origin: Airport, destination: Airport) -> tuple[_Route, ...]:
    if origin is destination:
        return ()
    directs = _direct_departures(origin, destination)
    connections = chains(origin, destination) * _DEPARTURES_PER_CHAIN
    return (
        *(_route(origin, (), destination, slot=turn, turn=turn, turns=directs) for turn in range(directs)),
        *(
            _route(origin, via, destination, slot=directs + turn, turn=turn, turns=len(connections))
            for turn, via in enumerate(connections)
        ),
    )


def _route(origin: Airport, via: Chain, destination: Airport, *, slot: int, turn: int, turns: int) -> _Route:
    """`slot` makes the number unique on its pair of airports; `turn` of `turns` spreads its like over the day."""
    pair = (origin.code, destination.code)
    carrier, code, level = pick(_CARRIERS, "carrier", *pair, slot)
    flown = flown_km(origin, via, destination)
    in_the_air = sum(_minutes_in_the_air(*leg) for leg in pairwise((origin, *via, destination)))
    return _Route(
        carrier=carrier,
        number=f"{code}{draw_between(10, 99, 'number', *pair, slot)}{slot}",
        leaves=departure_minute(turn, turns, "flight", *pair, bool(via)),
        minutes=in_the_air + sum(_minutes_to_change(nth, pair, slot) for nth in range(len(via))),
        full_fare=(49 + 0.062 * flown) * level * (0.88 if via else 1.0),
        via=tuple(hub.code for hub in via),
        share_of_days=1.0 if via else 0.85 if flown > LONG_HAUL_KM else 0.95,
    )


def _minutes_to_change(nth: int, pair: tuple[str, str], slot: int) -> int:
    """From 55 to 150."""
    about = (*pair, slot) if nth == 0 else (*pair, slot, nth)
    return draw_between(11, 30, "change", *about) * 5


def _minutes_in_the_air(origin: Airport, destination: Airport) -> int:
    return round((40 + distance_km(origin, destination) / 14) / 5) * 5


def _direct_departures(origin: Airport, destination: Airport) -> int:
    """How many direct flight numbers serve the pair."""
    if not has_direct(origin, destination):
        return 0
    if origin.first and destination.first:
        both_hubs, most = origin.first.is_hub and destination.first.is_hub, 4
    else:
        both_hubs, most = origin.is_hub and destination.is_hub, _most_departures(min(origin.people, destination.people))
    kilometres = distance_km(origin, destination)
    if kilometres > LONG_HAUL_KM:
        return 2 if both_hubs else 1
    return min(most, 3 if kilometres > 1000 else 4)


def _most_departures(people: int) -> int:
    return 4 if people >= _MANY_PEOPLE else 2 if people >= _FEW_PEOPLE else 1
