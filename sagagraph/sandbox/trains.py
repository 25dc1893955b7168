"""Trains: between European cities that are not too far apart."""

from __future__ import annotations

from datetime import date, timedelta

from sagagraph.sandbox.chance import draw, draw_between, pick
from sagagraph.sandbox.cities import City, Region, distance_km
from sagagraph.sandbox.offers import Offer, Stock
from sagagraph.sandbox.seasons import season_factor
from sagagraph.sandbox.timetable import Times, departure_minute

_FARTHEST_KM = 900
_TRACK_PER_KM = 1.2
"""Rails are longer than the great circle."""
_SHORTEST_MINUTES, _LONGEST_MINUTES = 60, 480
_CARRIERS = (("EuroExpress", "EX", 170, 1.0), ("InterLink", "IL", 140, 0.8))
"""Name, code, km/h, price level."""
_BY_WEEKDAY = (1.0, 0.95, 0.95, 1.0, 1.15, 1.0, 1.15)


def trains_between(origin: City, destination: City, day: date, travellers: int) -> list[Offer]:
    """By departure; empty where no line runs."""
    if not _is_linked(origin, destination):
        return []
    departures = draw_between(5, 9, "trains", origin.airport, destination.airport)
    return [_offer(origin, destination, day, travellers, turn, departures) for turn in range(departures)]


def _is_linked(origin: City, destination: City) -> bool:
    both_in_europe = origin.region == destination.region == Region.EUROPE
    return both_in_europe and origin != destination and distance_km(origin, destination) < _FARTHEST_KM


def _offer(origin: City, destination: City, day: date, travellers: int, turn: int, turns: int) -> Offer:
    pair = (origin.airport, destination.airport)
    carrier, code, speed, level = pick(_CARRIERS, "railway", *pair, turn)
    number = f"{code}{draw_between(10, 99, 'train', *pair, turn)}{turn}"
    base_id = f"train.{origin.airport}-{destination.airport}.{day}.{number}"
    kilometres = distance_km(origin, destination)
    times = Times.of(origin, destination, day, departure_minute(turn, turns, "train", *pair), _minutes(kilometres, speed))
    factor = season_factor(day) * _BY_WEEKDAY[day.weekday()] * (0.8 + 0.6 * draw("fare", base_id))
    return Offer(
        kind="train",
        base_id=base_id,
        quantity=travellers,
        rate=round((19 + 0.14 * kilometres) * level * factor) * 100,
        starts=times.departs,
        free_until=times.departs - timedelta(days=1),
        stock=(Stock(unit=base_id, capacity=draw_between(30, 90, "seats", base_id)),),
        facts={
            "carrier": carrier,
            "number": number,
            "origin": origin.name,
            "destination": destination.name,
            "origin_city": origin.name,
            "destination_city": destination.name,
            **times.facts(),
            "stops": 0,
            "via": [],
        },
    )


def _minutes(kilometres: float, speed_kmh: int) -> int:
    minutes = 15 + kilometres * _TRACK_PER_KM / speed_kmh * 60
    return max(_SHORTEST_MINUTES, min(_LONGEST_MINUTES, round(minutes)))
