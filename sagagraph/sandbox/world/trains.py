"""Trains: their timetable and fares, wherever a line runs."""

from __future__ import annotations

from datetime import date

from sagagraph.sandbox.world.cities import City
from sagagraph.sandbox.world.draws import draw, draw_between, pick
from sagagraph.sandbox.world.journeys import Departure, departure_minute, journey_id, journey_offer
from sagagraph.sandbox.world.offers import Offer
from sagagraph.sandbox.world.prices import journey_factor
from sagagraph.sandbox.world.railways import Line, Railway, line_between

_TRACK_PER_KM = 1.2
"""Rails are longer than the great circle."""
_AT_STATIONS_MINUTES = 15
_SHORTEST_MINUTES = 20
_BETWEEN_ORIGINALS_MINUTES = 60, 480
"""The minimum and the maximum."""
_MANY_PEOPLE = 300_000
_BY_WEEKDAY = (1.0, 0.95, 0.95, 1.0, 1.15, 1.0, 1.15)


def trains_between(origin: City, destination: City, day: date, travellers: int) -> list[Offer]:
    """In order of departure; empty where no line runs."""
    line = line_between(origin, destination)
    if line is None:
        return []
    departures = _departures(origin, destination)
    return [_offer(line, origin, destination, day, travellers, turn, departures) for turn in range(departures)]


def _departures(origin: City, destination: City) -> int:
    is_busy = _are_original(origin, destination) or min(origin.population, destination.population) >= _MANY_PEOPLE
    return draw_between(*((5, 9) if is_busy else (2, 5)), "trains", origin.key, destination.key)


def _offer(line: Line, origin: City, destination: City, day: date, travellers: int, turn: int, turns: int) -> Offer:
    pair = (origin.key, destination.key)
    railway = pick(line.service.railways, "railway", *pair, turn)
    train = Departure(
        kind="train",
        carrier=railway.name,
        number=f"{railway.code}{draw_between(10, 99, 'train', *pair, turn)}{turn}",
        leaves=departure_minute(turn, turns, "train", *pair),
        minutes=_minutes(line, railway, _are_original(origin, destination)),
    )
    unit = journey_id("train", *pair, day, train.number)
    factor = journey_factor(day, origin, destination) * _BY_WEEKDAY[day.weekday()] * (0.8 + 0.6 * draw("fare", unit))
    fare = max(1, round((19 + 0.14 * line.kilometres) * railway.price_level * factor))
    seats = draw_between(30, 90, "seats", unit)
    return journey_offer(train, origin, destination, day, travellers, unit=unit, seats=seats, dollars=fare)


def _are_original(origin: City, destination: City) -> bool:
    return origin.original is not None and destination.original is not None


def _minutes(line: Line, railway: Railway, are_original: bool) -> int:
    minutes = round(_AT_STATIONS_MINUTES + line.kilometres * _TRACK_PER_KM / railway.speed_kmh * 60)
    if are_original:
        shortest, longest = _BETWEEN_ORIGINALS_MINUTES
        return max(shortest, min(longest, minutes))
    return max(_SHORTEST_MINUTES, minutes)
