"""Random logistics problems by size and seed: people to be fetched, errands on the way, a kitchen that is not to be left alone.

A feasible one is built around a plan: each vehicle fetches its people in rounds, and all is due when the last round is over. An
infeasible one is the same, but for one person who is due before anybody could bring them.
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
_SIDE: Final = 40
"""Of the square on which places lie, in minutes."""


@dataclass(frozen=True, slots=True)
class _Layout:
    points: dict[str, tuple[float, float]]

    def minutes(self, here: str, there: str) -> int:
        return max(2, math.ceil(math.dist(self.points[here], self.points[there])))


def generate(people: int, seed: int, *, is_feasible: bool = True, room: int | None = None) -> ReunionProblem:
    """`people` at least 4: a host, one driver for every six, and those who are fetched. `room`: minutes from the
    beginning to the last goal; None: what one round after the other takes.
    """
    random = Random(f"{people} {seed}")  # noqa: S311 - no secret: the same problem for the same seed
    names = ["P" + str(number) for number in range(1, max(2, people // 4) + 1)]
    layout = _Layout({name: (random.uniform(0, _SIDE), random.uniform(0, _SIDE)) for name in (_VENUE, *names)})
    cars = max(1, people // 6)
    guests = {f"guest {number}": random.choice(names) for number in range(1, people - cars)}
    rounds = _rounds(layout, list(guests), guests, cars)
    errands = {f"errand {number}": random.choice(names) for number in range(1, max(1, people // 8) + 1)}
    due = _due(layout, rounds, guests, errands) if room is None else _BEGINS + room
    late = {} if is_feasible else {"guest 1": _BEGINS + layout.minutes(guests["guest 1"], _VENUE) - 1}
    return ReunionProblem.model_validate(
        {
            "name": f"{people} people, seed {seed}{'' if is_feasible else ', infeasible'}",
            "places": {name: name for name in layout.points},
            "travel_minutes": [[a, b, layout.minutes(a, b)] for a, b in combinations(layout.points, 2)],
            "people": [_host(), *(_driver(number) for number in range(1, cars + 1)), *_guests(guests, late)],
            "vehicles": [_car(number) for number in range(1, cars + 1)],
            "tasks": [_roast(due), *(_errand(name, place, due) for name, place in errands.items())],
            "goals": [{"people": "all", "place": _VENUE, "by": text_of(due)}],
        }
    )


def _rounds(layout: _Layout, names: list[str], at: dict[str, str], cars: int) -> list[list[list[str]]]:
    """For each vehicle its rounds, each a list of guests: neighbours together, by their direction from the venue."""
    middle = layout.points[_VENUE]

    def direction(name: str) -> tuple[float, str]:
        x, y = layout.points[at[name]]
        return math.atan2(y - middle[1], x - middle[0]), name

    ordered = sorted(names, key=direction)
    groups = [ordered[start : start + _SEATS - 1] for start in range(0, len(ordered), _SEATS - 1)]
    return [groups[car::cars] for car in range(cars)]


def _due(layout: _Layout, rounds: list[list[list[str]]], at: dict[str, str], errands: dict[str, str]) -> int:
    """When the last vehicle is back; the first does the errands before, one after the other."""
    ends = []
    for car, groups in enumerate(rounds):
        stops = [place for group in groups for place in (*(at[name] for name in group), _VENUE)]
        way = [_VENUE, *([*errands.values(), _VENUE] if car == 0 else []), *stops]
        driven = sum(layout.minutes(here, there) for here, there in pairwise(way) if here != there)
        ends.append(driven + (_ERRAND * len(errands) if car == 0 else 0))
    return _BEGINS + 5 * math.ceil(max(ends) / 5)


def _host() -> dict[str, object]:
    return {"name": "host", "place": _VENUE, "from": text_of(_BEGINS), "drives": False}


def _driver(number: int) -> dict[str, object]:
    return {"name": f"driver {number}", "place": _VENUE, "from": text_of(_BEGINS), "drives": True}


def _guests(at: dict[str, str], late: dict[str, int]) -> list[dict[str, object]]:
    def guest(name: str) -> dict[str, object]:
        goals = [{"place": _VENUE, "by": text_of(late[name])}] if name in late else []
        return {"name": name, "place": at[name], "from": text_of(_BEGINS), "drives": False, "goals": goals}

    return [guest(name) for name in at]


def _car(number: int) -> dict[str, object]:
    return {
        "name": f"car {number}",
        "seats": _SEATS,
        "place": _VENUE,
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
