"""Estimates: driving times that nobody has stated, from the places' coordinates, or a fixed time within one town."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Final

_AIRPORT: Final = re.compile(r"\bairport\b", re.IGNORECASE)
_LED: Final = re.compile(
    r"(?:.*\b(?:in|near|suburban|downtown|greater|from)\s+|(?:the )?airport (?:of|at) )?(?P<city>.+?)"
    r"(?: (?:(?:international )?airport|station))?$",
    re.IGNORECASE,
)
IN_TOWN: Final = 20
TO_THE_AIRPORT: Final = 30
"""Minutes within one town, and between it and its airport."""
_SAME_TOWN_KM: Final = 15
_FARTHEST_KM: Final = 600
"""Nobody drives farther to a dinner: such a way is asked for."""
_DETOUR: Final = 1.2
_KM_A_MINUTE: Final = 1.5
_START: Final = 10
"""Minutes until one is out of town."""
_MOST_PLACES: Final = 14
_CODE: Final = re.compile(r"\b[A-Z]{3}\b")
_SHORT: Final = {"ny": "new york", "nyc": "new york", "sf": "san francisco", "la": "los angeles", "dc": "washington"}

Position = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    here: str
    there: str
    minutes: int
    why: str


def estimates(places: Mapping[str, str], told: Iterator[tuple[str, str]], home: str | None) -> Iterator[Estimate]:
    """Yield a time for each two places that the roads which were `told` do not connect. `home`: where people meet; what has
    no coordinates is in that town. A way that is too far to guess is left out.
    """
    import networkx as nx  # slow to import, and a server is to answer soon

    roads: nx.Graph[str] = nx.Graph()
    roads.add_nodes_from(places)
    roads.add_edges_from(told)
    if not 1 < len(places) <= _MOST_PLACES or nx.is_connected(roads):
        return
    known = _positions(places, home)
    for here, there in combinations(places, 2):
        estimate = None if nx.has_path(roads, here, there) else _estimate(places, known, here, there)
        if estimate is not None:
            yield estimate


def _estimate(places: Mapping[str, str], known: Mapping[str, Position | None], here: str, there: str) -> Estimate | None:
    one, other = known[here], known[there]
    km = 0.0 if one is None or other is None else _distance_km(one, other)
    if km > _FARTHEST_KM:
        return None
    if km < _SAME_TOWN_KM:
        is_airport = any(_AIRPORT.search(f"{each} {places[each]}") for each in (here, there))
        return Estimate(here, there, TO_THE_AIRPORT if is_airport else IN_TOWN, "a guess, as within a town")
    return Estimate(here, there, 5 * math.ceil((_START + _DETOUR * km / _KM_A_MINUTE) / 5), "estimated by the distance")


def _positions(places: Mapping[str, str], home: str | None) -> dict[str, Position | None]:
    """Return where each place is. Of namesakes it is the one nearest to the others; unknown places are in their town."""
    candidates = {key: _candidates(key, name) for key, name in places.items()}
    sure = [found[0] for key, found in candidates.items() if len(found) == 1 and key != home]
    town = min(candidates.get(home or "", ()), key=lambda each: _far(each, sure), default=None)
    near = [town] if town is not None else sure
    nearest = {key: min(found, key=lambda each: _far(each, near), default=None) for key, found in candidates.items()}
    anchor = town or next((each for key, each in nearest.items() if each is not None and _AIRPORT.search(places[key])), None)
    return {key: each or anchor for key, each in nearest.items()}


def _far(one: Position, others: list[Position]) -> float:
    return sum(_distance_km(one, each) for each in others)


def _candidates(key: str, name: str) -> tuple[Position, ...]:
    """Return everything that the place can be, by an airport's code, or the city in its name."""
    by_code, by_city = _world()
    for code in _CODE.findall(f"{key} {name}"):
        if code in by_code:
            return (by_code[code],)
    led = _LED.match(name)
    city = led["city"].casefold() if led else ""
    named = (by_city.get(f"{word} airport", ()) for word in city.split())
    return by_city.get(_SHORT.get(city, city), ()) or next((each for each in named if len(each) == 1), ())


@cache
def _world() -> tuple[dict[str, Position], dict[str, tuple[Position, ...]]]:
    """Return airports by their codes and by their cities, and `Heathrow airport` by its own name."""
    import airportsdata  # this takes half a second, but only for people who leave out how far it is

    by_code: dict[str, Position] = {}
    by_city: dict[str, tuple[Position, ...]] = {}
    for code, airport in airportsdata.load("IATA").items():
        by_code[code] = airport["lat"], airport["lon"]
        city = airport["city"].casefold()
        names = {f"{word} airport" for word in re.findall(r"[^\W\d_]{5,}", airport["name"].casefold())}
        for name in {city, *names}:
            by_city[name] = (*by_city.get(name, ()), by_code[code])
    return by_code, by_city


def _distance_km(one: Position, other: Position) -> float:
    """Return the distance along the great circle."""
    (lat_1, lon_1), (lat_2, lon_2) = (tuple(map(math.radians, each)) for each in (one, other))
    half = math.sin((lat_2 - lat_1) / 2) ** 2 + math.cos(lat_1) * math.cos(lat_2) * math.sin((lon_2 - lon_1) / 2) ** 2
    return 2 * 6371.0 * math.asin(min(1.0, math.sqrt(half)))
