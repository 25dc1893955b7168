"""The route of a plan: great circles on Mercator's projection over the lights of known cities, or a schematic of a network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from sagagraph.planning.page import Connection, Place, PlanView, Route
from sagagraph.ui.pictures.palette import GRID, INK, colours_of, figure, shown

_POINTS: Final = 40
_HIGHEST_LATITUDE: Final = 84.0
_MARGIN: Final = 0.15
_HEIGHT_PX: Final = 380
Point = tuple[float, float]
Drawn = tuple[Connection, list[Point]]
"""A connection, and the points that it passes through."""


def route_map(plan: PlanView) -> go.Figure:
    route = plan.route
    paths = [_path(each, is_map=route.is_map) for each in route.connections]
    if route.is_map:
        paths = _unwrapped(paths)
    drawn = list(zip(route.connections, paths, strict=True))
    xs, ys = _view([point for path in paths for point in path])
    traces: list[Any] = [_backdrop(route, xs, ys)] if route.is_map else []
    for kind, colour in colours_of(plan).items():
        if own := [each for each in drawn if each[0].kind == kind]:
            traces.append(_lines(kind, colour, own))
    traces.append(_places(drawn))
    axis = {"showticklabels": False, "showgrid": route.is_map, "gridcolor": GRID, "zeroline": False, "fixedrange": True}
    same_scale = {} if route.is_map else {"scaleanchor": "x", "constrain": "domain"}
    return figure(traces, height_px=_HEIGHT_PX, xaxis={**axis, "range": xs}, yaxis={**axis, "range": ys, **same_scale})


def _path(connection: Connection, *, is_map: bool) -> list[Point]:
    here, there = connection.origin, connection.destination
    if not is_map:
        return [(here.x, here.y), (there.x, there.y)]
    return [(longitude, mercator(latitude)) for longitude, latitude in great_circle(here, there)]


def great_circle(here: Place, there: Place) -> list[Point]:
    """Degrees of longitude and latitude along the shortest path over the globe; longitudes do not jump at 180°."""
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
    """In degrees, so that both axes have the same scale at the equator."""
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
    """Chains the legs so that each continues where the last one ended, even over the 180th meridian and around the world."""
    found: list[list[Point]] = []
    for path in paths:
        near = found[-1][-1][0] if found else path[0][0]
        shift = _nearest(path[0][0], near) - path[0][0]
        found.append([(x + shift, y) for x, y in path])
    return found


def _view(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    if not points:
        return [-180, 180], [-90, 90]
    sides = []
    for values in ([x for x, _ in points], [y for _, y in points]):
        room = max(max(values) - min(values), 1.0) * _MARGIN
        sides.append([min(values) - room, max(values) + room])
    return sides[0], sides[1]


def _backdrop(route: Route, xs: list[float], ys: list[float]) -> go.Scatter:
    (west, east), (south, north) = xs, ys
    dots = [(_nearest(x, (west + east) / 2), mercator(y)) for x, y in route.lights]
    seen = [(round(x, 2), round(y, 2)) for x, y in dots if west <= x <= east and south <= y <= north]
    return go.Scatter(
        x=[x for x, _ in seen],
        y=[y for _, y in seen],
        mode="markers",
        marker={"size": 2.5, "color": INK, "opacity": 0.35},
        hoverinfo="skip",
        showlegend=False,
    )


def _lines(kind: str, colour: str, drawn: Sequence[Drawn]) -> go.Scatter:
    x: list[float | None] = []
    y: list[float | None] = []
    hover: list[str] = []
    for connection, path in drawn:
        x += [*(point[0] for point in path), None]
        y += [*(point[1] for point in path), None]
        hover += [shown(f"{connection.label}: {connection.origin.name} → {connection.destination.name}")] * (len(path) + 1)
    return go.Scatter(
        x=x, y=y, mode="lines", name=shown(kind), line={"width": 2.5, "color": colour}, hovertext=hover, hoverinfo="text"
    )


def _places(drawn: Sequence[Drawn]) -> go.Scatter:
    spots: dict[str, Point] = {}
    for connection, path in drawn:
        spots.setdefault(connection.origin.name, path[0])
        spots.setdefault(connection.destination.name, path[-1])
    middle = sum(x for x, _ in spots.values()) / max(len(spots), 1)
    sides = _sides(spots, middle)
    return go.Scatter(
        x=[x for x, _ in spots.values()],
        y=[y for _, y in spots.values()],
        mode="markers+text",
        text=[shown(name) for name in spots],
        textposition=[sides[name] for name in spots],
        marker={"size": 9, "color": INK},
        hoverinfo="skip",
        showlegend=False,
    )


def _sides(spots: dict[str, Point], middle: float) -> dict[str, str]:
    """Places names towards the middle of the picture, alternating above and below between neighbours."""
    order = sorted(spots, key=lambda name: spots[name][0])
    towards = {name: "right" if spots[name][0] < middle else "left" for name in order}
    return {name: f"{('top', 'bottom')[place % 2]} {towards[name]}" for place, name in enumerate(order)}
