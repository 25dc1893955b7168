"""Trains: wherever there could be one (railways.py)."""

from __future__ import annotations

from datetime import date, timedelta

from sagagraph.sandbox.chance import draw, draw_between, pick
from sagagraph.sandbox.cities import City
from sagagraph.sandbox.offers import Offer, Stock
from sagagraph.sandbox.railways import Line, line_between
from sagagraph.sandbox.seasons import journey_factor
from sagagraph.sandbox.timetable import Times, departure_minute

_TRACK_PER_KM = 1.2
"""Rails are longer than the great circle."""
_AT_STATIONS_MINUTES = 15
_FIRST_SHORTEST_MINUTES, _FIRST_LONGEST_MINUTES = 60, 480
"""Between the cities that the world began with."""
_SHORTEST_MINUTES = 20
_MANY_PEOPLE = 300_000
_BY_WEEKDAY = (1.0, 0.95, 0.95, 1.0, 1.15, 1.0, 1.15)


def trains_between(origin: City, destination: City, day: date, travellers: int) -> list[Offer]:
    """By departure; empty where no line runs."""
    line = line_between(origin, destination)
    if line is None:
        return []
    departures = _departures(origin, destination)
    return [_offer(line, origin, destination, day, travellers, turn, departures) for turn in range(departures)]


def _departures(origin: City, destination: City) -> int:
    is_busy = (origin.first and destination.first) or min(origin.population, destination.population) >= _MANY_PEOPLE
    return draw_between(*((5, 9) if is_busy else (2, 5)), "trains", origin.key, destination.key)


def _offer(line: Line, origin: City, destination: City, day: date, travellers: int, turn: int, turns: int) -> Offer:
    pair = (origin.key, destination.key)
    carrier, code, speed, level = pick(line.service.railways, "railway", *pair, turn)
    number = f"{code}{draw_between(10, 99, 'train', *pair, turn)}{turn}"
    base_id = f"train.{origin.key}-{destination.key}.{day}.{number}"
    are_first = origin.first is not None and destination.first is not None
    times = Times.of(
        origin, destination, day, departure_minute(turn, turns, "train", *pair), _minutes(line.kilometres, speed, are_first)
    )
    season = journey_factor(day, origin.latitude, destination.latitude)
    factor = season * _BY_WEEKDAY[day.weekday()] * (0.8 + 0.6 * draw("fare", base_id))
    return Offer(
        kind="train",
        base_id=base_id,
        quantity=travellers,
        rate=max(1, round((19 + 0.14 * line.kilometres) * level * factor)) * 100,
        starts=times.departs,
        free_until=times.departs - timedelta(days=1),
        stock=(Stock(unit=base_id, capacity=draw_between(30, 90, "seats", base_id), until=times.departs),),
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


def _minutes(kilometres: float, speed_kmh: int, are_first: bool) -> int:
    minutes = round(_AT_STATIONS_MINUTES + kilometres * _TRACK_PER_KM / speed_kmh * 60)
    if are_first:
        return max(_FIRST_SHORTEST_MINUTES, min(_FIRST_LONGEST_MINUTES, minutes))
    return max(_SHORTEST_MINUTES, minutes)
