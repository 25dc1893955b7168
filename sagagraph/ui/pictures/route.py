"""The route of a plan: great circles over land on Mercator's projection, or a schematic of a network.

The land is Natural Earth's at 1:110 million, which is in the public domain: rings of longitudes and
latitudes in tenths of a degree.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from markupsafe import Markup

from sagagraph.planning.page import Connection, Place, PlanView
from sagagraph.ui.html.templates import render
from sagagraph.ui.pictures.palette import colours_of

_POINTS: Final = 40
_HIGHEST_LATITUDE: Final = 84.0
_MARGIN: Final = 0.16
_SHAPE: Final = 0.62
"""Height of the picture, as a share of its width."""
_SMALLEST: Final = 6.0
"""In degrees: a picture shows at least this much of the globe."""
_WIDTH: Final = 600
_LAND: Final = Path(__file__).with_name("land.json")
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """Frame: the part of the plane that is drawn."""

    west: float
    north: float
    width: float
    height: float

    def at(self, point: Point) -> Point:
        """Return a position in units of the picture."""
        scale = _WIDTH / self.width
        return round((point[0] - self.west) * scale, 1), round((self.north - point[1]) * scale, 1)

    def percent(self, point: Point) -> Point:
        return round(100 * (point[0] - self.west) / self.width, 2), round(100 * (self.north - point[1]) / self.height, 2)


@dataclass(frozen=True, slots=True)
class Leg:
    connection: Connection
    points: list[Point]
    number: int
    """Its position in the journey; 0: struck through, because it is no longer part of it."""
    colour: int


def route_map(plan: PlanView, before: PlanView | None = None) -> Markup:
    """Draw the plan's connections in their order; those that only `before` had are struck through."""
    route = plan.route
    lost = [] if before is None else [each for each in before.route.connections if each not in route.connections]
    connections = [*route.connections, *lost]
    if not connections:
        return Markup("")
    paths = [_path(each, is_map=route.is_map) for each in connections]
    if route.is_map:
        paths = _unwrapped(paths)
    colours = colours_of(plan, *([] if before is None else [before]))
    numbers = [*range(1, len(route.connections) + 1), *(0 for _ in lost)]
    legs = [Leg(each, path, number, colours[each.kind]) for each, path, number in zip(connections, paths, numbers, strict=True)]
    frame = _frame([point for path in paths for point in path], least=_SMALLEST if route.is_map else 0.5)
    return render(
        "route",
        width=_WIDTH,
        height=round(_WIDTH * _SHAPE),
        land=_land(frame) if route.is_map else "",
        legs=list(_drawn(legs, frame)),
        places=_places(legs, frame),
    )


def _path(connection: Connection, *, is_map: bool) -> list[Point]:
    here, there = connection.origin, connection.destination
    if is_map:
        return [(longitude, mercator(latitude)) for longitude, latitude in great_circle(here, there)]
    return [(here.x, here.y), ((here.x + there.x) / 2, (here.y + there.y) / 2), (there.x, there.y)]


def great_circle(here: Place, there: Place) -> list[Point]:
    """Return degrees of longitude and latitude along the shortest path over the globe; longitudes do not jump at 180°."""
    start, end = _unit(here), _unit(there)
    angle = math.acos(max(-1.0, min(1.0, sum(a * b for a, b in zip(start, end, strict=True)))))
    if math.sin(angle) < 1e-9:
        return [(here.x, here.y), (there.x, there.y)]
    points: list[Point] = []
    for step in range(_POINTS + 1):
        share = step / _POINTS
        weights = math.sin((1 - share) * angle) / math.sin(angle), math.sin(share * angle) / math.sin(angle)
        x, y, z = (weights[0] * a + weights[1] * b for a, b in zip(start, end, strict=True))
        points.append((math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z, math.hypot(x, y)))))
    return _continuous(points, here.x)


def mercator(latitude: float) -> float:
    """Project degrees to degrees, so that both axes have the same scale at the equator."""
    bounded = max(-_HIGHEST_LATITUDE, min(_HIGHEST_LATITUDE, latitude))
    return math.degrees(math.log(math.tan(math.pi / 4 + math.radians(bounded) / 2)))


def _unit(place: Place) -> tuple[float, float, float]:
    longitude, latitude = math.radians(place.x), math.radians(place.y)
    return math.cos(latitude) * math.cos(longitude), math.cos(latitude) * math.sin(longitude), math.sin(latitude)


def _continuous(points: Iterable[Point], near: float) -> list[Point]:
    found: list[Point] = []
    for longitude, latitude in points:
        near = _nearest(longitude, near)
        found.append((near, latitude))
    return found


def _nearest(longitude: float, to: float) -> float:
    return longitude + 360 * round((to - longitude) / 360)


def _unwrapped(paths: Sequence[list[Point]]) -> list[list[Point]]:
    """Chain the legs so that each continues where the last one ended, even over the 180th meridian and around the world."""
    found: list[list[Point]] = []
    for path in paths:
        near = found[-1][-1][0] if found else path[0][0]
        shift = _nearest(path[0][0], near) - path[0][0]
        found.append([(x + shift, y) for x, y in path])
    return found


def _frame(points: Sequence[Point], least: float) -> Frame:
    """Return a frame around everything, with a margin, in the picture's shape."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    wide, high = max(max(xs) - min(xs), least), max(max(ys) - min(ys), least * _SHAPE)
    width = max(wide, high / _SHAPE) * (1 + 2 * _MARGIN)
    middle, centre = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    return Frame(middle - width / 2, centre + width * _SHAPE / 2, width, width * _SHAPE)


def _drawn(legs: Sequence[Leg], frame: Frame) -> Iterator[tuple[Leg, str, Point, int]]:
    """Yield each leg with its line, the middle of it for its number, and how many numbers are there before it: a way back has
    the middle of the way there.
    """
    spots: list[Point] = []
    for leg in legs:
        x, y = frame.percent(leg.points[len(leg.points) // 2])
        yield leg, _svg(map(frame.at, leg.points)), (x, y), sum(abs(x - left) + abs(y - top) < 1 for left, top in spots)
        spots.append((x, y))


def _svg(points: Iterable[Point]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


@cache
def _rings() -> tuple[list[Point], ...]:
    rings = json.loads(_LAND.read_text(encoding="utf-8"))
    found = (_continuous(((x / 10, y / 10) for x, y in zip(ring[::2], ring[1::2], strict=True)), ring[0] / 10) for ring in rings)
    return tuple([(x, mercator(y)) for x, y in ring] for ring in found)


def _land(frame: Frame) -> str:
    """Return the coastlines that reach into the frame, once for each turn around the globe, without points too close to tell
    apart.
    """
    drawn: list[str] = []
    for ring in _rings():
        xs, ys = [x for x, _ in ring], [y for _, y in ring]
        if min(ys) > frame.north or max(ys) < frame.north - frame.height:
            continue
        shifts = [360 * turn for turn in range(-2, 3)]
        seen = [each for each in shifts if min(xs) + each <= frame.west + frame.width and max(xs) + each >= frame.west]
        drawn += [_svg(_coarse([frame.at((x + shift, y)) for x, y in ring])) + "Z" for shift in seen]
    return "".join(drawn)


def _coarse(points: Sequence[Point]) -> list[Point]:
    kept = [points[0]]
    for point in points:
        if abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) >= 2:
            kept.append(point)
    return kept


def _places(legs: Sequence[Leg], frame: Frame) -> list[tuple[str, Point, str]]:
    """Return each place once, with the side of it on which there is room for its name."""
    spots: dict[str, Point] = {}
    for leg in legs:
        spots.setdefault(leg.connection.origin.name, leg.points[0])
        spots.setdefault(leg.connection.destination.name, leg.points[-1])
    order = sorted(spots, key=lambda name: spots[name][0])
    middle = frame.west + frame.width / 2
    sides = {name: f"{('up', 'down')[place % 2]}{'' if spots[name][0] < middle else ' left'}" for place, name in enumerate(order)}
    return [(name, frame.percent(spot), sides[name]) for name, spot in spots.items()]
