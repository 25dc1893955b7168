"""Trains: their timetable and fares, wherever a line runs."""

from __future__ import annotations

from datetime import date
from functools import cache, lru_cache
from typing import NamedTuple

from sagagraph.sandbox.world.cities import City, all_cities
from sagagraph.sandbox.world.offers import Departure, Offer, departure_minute, journey_id, journey_offer
from sagagraph.sandbox.world.prices import Place, Spot, distance_km, draw, draw_between, journey_factor, pick


class Railway(NamedTuple):
    name: str
    code: str
    speed_kmh: int
    """Of a whole journey, stops included."""
    price_level: float


class Service(NamedTuple):
    """Service: how trains of some networks run."""

    railways: tuple[Railway, Railway]
    farthest_km: int


class Line(NamedTuple):
    service: Service
    kilometres: float


class _Landfall(NamedTuple):
    """Landfall: where a journey from a city reaches the mainland, in the city itself, or at the end of an island's tunnel or
    bridge.
    """

    network: str
    country: str
    spot: Place
    kilometres: float
    """From the city to there."""


_EUROPEAN = Service((Railway("EuroExpress", "EX", 170, 1.0), Railway("InterLink", "IL", 140, 0.8)), 900)
_BULLET = Service((Railway("Bullet Line", "BL", 230, 1.1), Railway("Rapid Rail", "RR", 150, 0.7)), 1000)
_REGIONAL = Service((Railway("Crossland", "CL", 100, 0.7), Railway("Valley Railways", "VR", 85, 0.55)), 800)
_SLOW = Service((Railway("Long Mail", "LM", 65, 0.4), Railway("Day Express", "DE", 75, 0.55)), 800)
_SERVICES = {
    **dict.fromkeys(("Europe", "Great Britain", "Scandinavia", "Finland"), _EUROPEAN),
    **dict.fromkeys(("China", "Japan", "Korea", "Taiwan"), _BULLET),
    **dict.fromkeys(("India", "Pakistan", "Bangladesh", "Sri Lanka", "Vietnam", "Cambodia", "Myanmar", "Mongolia"), _SLOW),
    **dict.fromkeys(("New Zealand", "New Zealand, South Island", "Cuba", "Argentina", "Tunisia"), _SLOW),
    **dict.fromkeys(("Nigeria", "Ethiopia", "Kenya", "Tanzania", "South Africa"), _SLOW),
}
"""By network; all others are regional."""
_MEETING = (frozenset({"Europe", "South-eastern Europe"}), frozenset({"Europe", "Baltic"}))
"""Networks onto which trains continue."""
_CROSSINGS = {
    "Great Britain": ("FR", Spot(51.1, 1.2)),  # the Channel Tunnel
    "Scandinavia": ("DK", Spot(55.57, 12.85)),  # the Øresund Bridge
}
_SHORTEST_KM = 15
_DETOUR_BY_A_THIRD_COUNTRY = 1.2


@lru_cache(maxsize=10_000)
def line_between(one: City, other: City) -> Line | None:
    """Return the line, the same in both directions; None if no train could run."""
    if one is other or not one.railway or not other.railway:
        return None
    if one.original and other.original:
        # Between the original cities trains run as they always did.
        kilometres = distance_km(one, other)
        runs = one.original.region == other.original.region == "Europe" and kilometres < _EUROPEAN.farthest_km
        return Line(_EUROPEAN, kilometres) if runs else None
    on_land = _kilometres_on_land(one, other)
    service = min(_service(one), _service(other), key=lambda each: each.railways[0].speed_kmh)
    return Line(service, on_land) if on_land is not None and _SHORTEST_KM <= on_land <= service.farthest_km else None


def _service(city: City) -> Service:
    return _SERVICES.get(city.railway, _REGIONAL)


def _kilometres_on_land(one: City, other: City) -> float | None:
    """Return the distance; None if a sea lies between them, or trains of one network do not continue into the other."""
    crosses = one.railway != other.railway
    start, end = _landfall(one, crosses), _landfall(other, crosses)
    meet = start.network == end.network or {start.network, end.network} in _MEETING
    if not meet or not _is_joined(start, end):
        return None
    return start.kilometres + distance_km(start.spot, end.spot) + end.kilometres


def _landfall(city: City, crosses: bool) -> _Landfall:
    if crosses and city.railway in _CROSSINGS:
        country, spot = _CROSSINGS[city.railway]
        return _Landfall("Europe", country, spot, distance_km(city, spot))
    return _Landfall(city.railway, city.country.code, city, 0.0)


def _is_joined(start: _Landfall, end: _Landfall) -> bool:
    """Tell whether they share a country, border on each other, or join through a third nearby; otherwise a sea may intervene."""
    if start.country == end.country or end.country in _neighbours(start.country):
        return True
    longest = _DETOUR_BY_A_THIRD_COUNTRY * distance_km(start.spot, end.spot)
    return any(
        distance_km(start.spot, city) + distance_km(city, end.spot) <= longest
        for third in _neighbours(start.country) & _neighbours(end.country)
        for city in _cities_with_trains().get(third, ())
    )


def _neighbours(country: str) -> frozenset[str]:
    cities = _cities_with_trains()[country]
    return cities[0].country.neighbours


@cache
def _cities_with_trains() -> dict[str, list[City]]:
    """Return the cities by country."""
    found: dict[str, list[City]] = {}
    for city in all_cities():
        if city.railway:
            found.setdefault(city.country.code, []).append(city)
    return found


_TRACK_PER_KM = 1.2
"""Rails are longer than the great circle."""
_AT_STATIONS_MINUTES = 15
_SHORTEST_MINUTES = 20
_BETWEEN_ORIGINALS_MINUTES = 60, 480
"""The minimum and the maximum."""
_MANY_PEOPLE = 300_000
_BY_WEEKDAY = (1.0, 0.95, 0.95, 1.0, 1.15, 1.0, 1.15)


def trains_between(origin: City, destination: City, day: date, travellers: int) -> list[Offer]:
    """Return the trains in order of departure; none if no line runs."""
    line = line_between(origin, destination)
    if line is None:
        return []
    is_busy = _are_original(origin, destination) or min(origin.population, destination.population) >= _MANY_PEOPLE
    departures = draw_between(*((5, 9) if is_busy else (2, 5)), "trains", origin.key, destination.key)
    return [_offer(line, origin, destination, day, travellers, turn, departures) for turn in range(departures)]


def _offer(line: Line, origin: City, destination: City, day: date, travellers: int, turn: int, turns: int) -> Offer:
    pair = (origin.key, destination.key)
    railway = pick(line.service.railways, "railway", *pair, turn)
    shortest, longest = _BETWEEN_ORIGINALS_MINUTES if _are_original(origin, destination) else (_SHORTEST_MINUTES, None)
    minutes = max(shortest, round(_AT_STATIONS_MINUTES + line.kilometres * _TRACK_PER_KM / railway.speed_kmh * 60))
    train = Departure(
        kind="train",
        carrier=railway.name,
        number=f"{railway.code}{draw_between(10, 99, 'train', *pair, turn)}{turn}",
        leaves=departure_minute(turn, turns, "train", *pair),
        minutes=minutes if longest is None else min(longest, minutes),
    )
    unit = journey_id("train", *pair, day, train.number)
    factor = journey_factor(day, origin, destination) * _BY_WEEKDAY[day.weekday()] * (0.8 + 0.6 * draw("fare", unit))
    fare = max(1, round((19 + 0.14 * line.kilometres) * railway.price_level * factor))
    seats = draw_between(30, 90, "seats", unit)
    return journey_offer(train, origin, destination, day, travellers, unit=unit, seats=seats, dollars=fare)


def _are_original(origin: City, destination: City) -> bool:
    return origin.original is not None and destination.original is not None
