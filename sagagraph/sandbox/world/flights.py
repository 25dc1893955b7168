"""Flights: direct ones on some pairs of airports, connections through hubs on nearly all."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from sagagraph.sandbox.world.cities import Airport, City
from sagagraph.sandbox.world.distance import distance_km
from sagagraph.sandbox.world.draws import draw, draw_between, pick
from sagagraph.sandbox.world.journeys import Departure, departure_minute, journey_id, journey_offer
from sagagraph.sandbox.world.offers import Offer
from sagagraph.sandbox.world.prices import journey_factor
from sagagraph.sandbox.world.routes import LONG_HAUL_KM, Chain, chains, flown_km, has_direct

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


def flights_between(origin: City, destination: City, day: date, travellers: int) -> list[Offer]:
    """In order of departure; empty between cities with the same airport."""
    offers = [
        _offer(flight, origin, destination, day, travellers)
        for flight in _flights(origin.airport, destination.airport)
        if draw("runs", origin.airport.code, destination.airport.code, flight.departure.number, day) < flight.share_of_days
    ]
    return sorted(offers, key=lambda offer: offer.starts)


def _offer(flight: _Flight, origin: City, destination: City, day: date, travellers: int) -> Offer:
    # All cities of an airport share its flights, and their seats.
    unit = journey_id("flight", origin.airport.code, destination.airport.code, day, flight.departure.number)
    season = journey_factor(day, origin.airport, destination.airport)
    fare = round(flight.full_fare * (season * _BY_WEEKDAY[day.weekday()] * (0.85 + 0.4 * draw("fare", unit))))
    seats = draw_between(6, 40, "seats", unit)
    return journey_offer(flight.departure, origin, destination, day, travellers, unit=unit, seats=seats, dollars=fare)


@lru_cache(maxsize=10_000)
def _flights(origin: Airport, destination: Airport) -> tuple[_Flight, ...]:
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


def _flight(origin: Airport, via: Chain, destination: Airport, *, slot: int, turn: int, turns: int) -> _Flight:
    """`slot` makes the number unique on its pair of airports; `turn` of `turns` spreads similar flights over the day."""
    pair = (origin.code, destination.code)
    carrier, code, level = pick(_CARRIERS, "carrier", *pair, slot)
    flown = flown_km(origin, via, destination)
    in_the_air = sum(_minutes_in_the_air(*leg) for leg in pairwise((origin, *via, destination)))
    departure = Departure(
        kind="flight",
        carrier=carrier,
        number=f"{code}{draw_between(10, 99, 'number', *pair, slot)}{slot}",
        leaves=departure_minute(turn, turns, "flight", *pair, bool(via)),
        minutes=in_the_air + sum(_minutes_to_change(nth, pair, slot) for nth in range(len(via))),
        via=tuple(hub.code for hub in via),
    )
    fare = (49 + 0.062 * flown) * level * (0.88 if via else 1.0)
    return _Flight(departure, fare, 1.0 if via else 0.85 if flown > LONG_HAUL_KM else 0.95)


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
    if origin.original and destination.original:
        both_hubs, most = origin.original.is_hub and destination.original.is_hub, 4
    else:
        both_hubs, most = origin.is_hub and destination.is_hub, _most_departures(min(origin.people, destination.people))
    kilometres = distance_km(origin, destination)
    if kilometres > LONG_HAUL_KM:
        return 2 if both_hubs else 1
    return min(most, 3 if kilometres > 1000 else 4)


def _most_departures(people: int) -> int:
    return 4 if people >= _MANY_PEOPLE else 2 if people >= _FEW_PEOPLE else 1
