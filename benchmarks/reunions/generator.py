"""Random logistics problems by size and seed: people to be fetched, errands on the way, a kitchen that is not to be left alone.

A feasible one is built around a plan: each vehicle fetches its people in rounds, and all is due when the last round is over. An
infeasible one is the same, but for one person who is due before anybody could bring them.

With several goals, everybody who is not at the venue from the beginning is at a ceremony first. With hand-overs, half of the
drivers are due at a station, to which they bring the people near it: the others fetch them there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, pairwise
from random import Random
from typing import Final

from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.times import text_of

_BEGINS: Final = 9 * 60
_SEATS: Final = 5
_ERRAND: Final = 10
_VENUE: Final = "V"
_CEREMONY: Final = "C"
_STATION: Final = "S"
_SIDE: Final = 40
"""Of the square on which places lie, in minutes."""


@dataclass(frozen=True, slots=True)
class _Layout:
    points: dict[str, tuple[float, float]]

    def minutes(self, here: str, there: str) -> int:
        return max(2, math.ceil(math.dist(self.points[here], self.points[there])))

    def is_nearer(self, here: str, than_venue: str) -> bool:
        return self.minutes(here, than_venue) < self.minutes(here, _VENUE)


def generate(
    people: int, seed: int, *, is_feasible: bool = True, room: int | None = None, goals: bool = False, hand_overs: bool = False
) -> ReunionProblem:
    """`people` at least 4: a host, one driver for every six (at least two with `hand_overs`), and those who are fetched. `room`:
    minutes from the beginning to the last goal; None: what one round after the other takes. `goals`: several for each.
    """
    random = Random(f"{people} {seed}")  # noqa: S311 - no secret: the same problem for the same seed
    names = ["P" + str(number) for number in range(1, max(2, people // 4) + 1)]
    layout = _Layout({name: (random.uniform(0, _SIDE), random.uniform(0, _SIDE)) for name in (_VENUE, *names)})
    cars = max(2 if hand_overs else 1, people // 6)
    guests = {f"guest {number}": random.choice(names) for number in range(1, people - cars)}
    errands = {f"errand {number}": random.choice(names) for number in range(1, max(1, people // 8) + 1)}
    for name in (*([_CEREMONY] if goals else []), *([_STATION] if hand_overs else [])):
        layout.points[name] = random.uniform(0, _SIDE), random.uniform(0, _SIDE)
    shuttles = cars // 2 if hand_overs else 0
    dues = _dues(layout, guests, errands, cars - shuttles, shuttles, _CEREMONY if goals else _VENUE)
    due = dues[_VENUE] if room is None else _BEGINS + room
    late = {} if is_feasible else {"guest 1": _BEGINS + layout.minutes(guests["guest 1"], _VENUE) - 1}
    fetching = [f"driver {number}" for number in range(1, cars - shuttles + 1)]
    at_both = [{"people": [*guests, *fetching], "place": _CEREMONY, "by": text_of(dues[_CEREMONY])}] if goals else []
    last = {"people": ["host", *guests, *fetching] if shuttles else "all", "place": _VENUE, "by": text_of(due)}
    return ReunionProblem.model_validate(
        {
            "name": f"{people} people, seed {seed}{'' if is_feasible else ', infeasible'}",
            "places": {name: name for name in layout.points},
            "travel_minutes": [[a, b, layout.minutes(a, b)] for a, b in combinations(layout.points, 2)],
            "people": [
                _host(),
                *(_driver(number) for number in range(1, cars - shuttles + 1)),
                *(_driver(number, due=dues[_STATION]) for number in range(cars - shuttles + 1, cars + 1)),
                *_guests(guests, late),
            ],
            "vehicles": [_car(number, _STATION if number > cars - shuttles else _VENUE) for number in range(1, cars + 1)],
            "tasks": [_roast(due), *(_errand(name, place, due) for name, place in errands.items())],
            "goals": [*at_both, last],
        }
    )


def _dues(
    layout: _Layout, guests: dict[str, str], errands: dict[str, str], cars: int, shuttles: int, fetched_to: str
) -> dict[str, int]:
    """When the last vehicle is at each place where people are to be, as a plan would have it."""
    near = [name for name in guests if shuttles and layout.is_nearer(guests[name], _STATION)]
    dues = {}
    if shuttles:
        dues[_STATION] = _due(layout, _STATION, _rounds(layout, near, guests, shuttles, _STATION), guests, {}, _STATION)
    others = [name for name in guests if name not in near]
    dues[fetched_to] = _due(layout, _VENUE, _rounds(layout, others, guests, cars, fetched_to), guests, errands, fetched_to)
    legs = [(_STATION, fetched_to, len(near)), (_CEREMONY, _VENUE, len(guests) if fetched_to == _CEREMONY else 0)]
    for here, there, number in legs:
        if number:
            times = 2 * math.ceil(number / (_SEATS - 1) / cars)
            dues[there] = max(dues.get(there, 0), dues.get(here, 0)) + 5 * math.ceil(layout.minutes(here, there) * times / 5)
    return dues


def _rounds(layout: _Layout, names: list[str], at: dict[str, str], cars: int, to: str) -> list[list[list[str]]]:
    """For each vehicle its rounds, each a list of guests: neighbours together, by their direction from where they are taken."""
    middle = layout.points[to]

    def direction(name: str) -> tuple[float, str]:
        x, y = layout.points[at[name]]
        return math.atan2(y - middle[1], x - middle[0]), name

    ordered = sorted(names, key=direction)
    groups = [ordered[start : start + _SEATS - 1] for start in range(0, len(ordered), _SEATS - 1)]
    return [groups[car::cars] for car in range(cars)]


def _due(layout: _Layout, start: str, rounds: list[list[list[str]]], at: dict[str, str], errands: dict[str, str], to: str) -> int:
    """When the last vehicle is back; the first does the errands before, one after the other."""
    ends = []
    for car, groups in enumerate(rounds):
        stops = [place for group in groups for place in (*(at[name] for name in group), to)]
        way = [start, *([*errands.values(), to] if car == 0 and errands else []), *stops]
        driven = sum(layout.minutes(here, there) for here, there in pairwise(way) if here != there)
        ends.append(driven + (_ERRAND * len(errands) if car == 0 else 0))
    return _BEGINS + 5 * math.ceil(max(ends) / 5)


def _host() -> dict[str, object]:
    return {"name": "host", "place": _VENUE, "from": text_of(_BEGINS), "drives": False}


def _driver(number: int, *, due: int | None = None) -> dict[str, object]:
    """`due`: when they are to be at the station, where they begin; None: they are at the venue."""
    driver: dict[str, object] = {"name": f"driver {number}", "place": _VENUE, "from": text_of(_BEGINS), "drives": True}
    station = {} if due is None else {"place": _STATION, "goals": [{"place": _STATION, "by": text_of(due)}]}
    return {**driver, **station}


def _guests(at: dict[str, str], late: dict[str, int]) -> list[dict[str, object]]:
    def guest(name: str) -> dict[str, object]:
        goals = [{"place": _VENUE, "by": text_of(late[name])}] if name in late else []
        return {"name": name, "place": at[name], "from": text_of(_BEGINS), "drives": False, "goals": goals}

    return [guest(name) for name in at]


def _car(number: int, place: str) -> dict[str, object]:
    return {
        "name": f"car {number}",
        "seats": _SEATS,
        "place": place,
        "from": text_of(_BEGINS),
        "drivers": [f"driver {number}"],
    }


def _roast(due: int) -> dict[str, object]:
    return {
        "name": "roast",
        "place": _VENUE,
        "minutes": (due - _BEGINS) // 2,
        "window": [None, text_of(due)],
        "attention": "watched",
    }


def _errand(name: str, place: str, due: int) -> dict[str, object]:
    return {"name": name, "place": place, "minutes": _ERRAND, "window": [None, text_of(due)]}
