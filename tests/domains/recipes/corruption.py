"""A meal with a plan, each of whose faults is the only one; and faults at random."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from tests.domains.recipes.meals import at, heat, recipe, step

Rows = list[list[Any]]

MEAL: Final = [
    recipe(
        "Soup",
        step("2 min", kind="i"),
        step("3 min", kind="a", stove={}),
        step("2 min", 0, 1, within={1: "2 min"}, stove={}),
        step("1 min", microwave={"require": {"volume": 300}}),
    ),
    recipe(
        "Pie",
        step("10 min", kind="a", oven=heat(350)),
        step("3 min"),
        step("5 min", 0, 1, kind="a", oven=at(350)),
        step("1 min", microwave={"update": {"volume": 500}}),
        step("1 min", 3, microwave={"require": {"volume": 300}}),
        step("4 min", 2, kind="i"),
    ),
    recipe(
        "Bread",
        step("10 min", kind="a", oven=heat(450)),
        step("5 min", 0, kind="a", oven=at(450)),
        step("1 min", microwave={"update": {"volume": 500}}),
    ),
]
"""Water in the microwave: it is an object that the official evaluator knows."""

PLAN: Final[Rows] = [
    [0, "Pie", 600, 0],
    [1, "Pie", 180, 0],
    [0, "Soup", 120, 180],
    [1, "Soup", 180, 300],
    [3, "Pie", 60, 300],
    [4, "Pie", 60, 360],
    [2, "Soup", 120, 480],
    [2, "Pie", 300, 600],
    [2, "Bread", 60, 720],
    [3, "Soup", 60, 780],
    [5, "Pie", 240, 900],
    [0, "Bread", 600, 1140],
    [1, "Bread", 300, 1740],
]


def _moved(*moves: tuple[int, str, int]) -> Rows:
    starts = {(number, name): start for number, name, start in moves}
    return [[number, name, takes, starts.get((number, name), start)] for number, name, takes, start in PLAN]


def _without(number: int, name: str) -> Rows:
    return [row for row in PLAN if row[:2] != [number, name]]


FAULTS: Final[dict[str, Rows]] = {
    "UNKNOWN_RECIPE": [*PLAN, [0, "Stew", 60, 3000]],
    "UNKNOWN_STEP": [*PLAN, [6, "Pie", 60, 3000]],
    "IN_THE_PAST": [PLAN[1], PLAN[0], *PLAN[2:]],
    "OVERLAP": _moved((0, "Soup", 150)),
    "OCCUPIED": _moved((0, "Bread", 870), (5, "Pie", 900)),
    "TEMPERATURE": _moved((2, "Pie", 2040), (5, "Pie", 2340)),
    "VOLUME": _moved((3, "Soup", 420), (2, "Bread", 720)),
    "NOT_READY": _moved((5, "Pie", 870)),
    "REPEATED": [*PLAN, [5, "Pie", 240, 3000]],
    "TOO_LATE": _moved((2, "Soup", 601), (2, "Bread", 750), (3, "Soup", 810)),
    "DURATION": [*_without(5, "Pie"), [5, "Pie", 210, 900]],
    "NOT_INTERRUPTIBLE": [*_without(1, "Pie"), [1, "Pie", 90, 0], [1, "Pie", 90, 90]],
    "MISSING_STEP": _without(5, "Pie"),
}
"""By code: the plan with that fault, and no other."""


def faulty(rows: Rows, rng: Random) -> Rows:
    """Return the plan with one to three random changes, which may be harmless."""
    rows = [list(row) for row in rows]
    for _ in range(rng.randint(1, 3)):
        if rows:
            rng.choice(CHANGES)(rows, rng)
    return rows


def _shift(rows: Rows, rng: Random) -> None:
    row = rng.choice(rows)
    row[3] = max(0, row[3] + 30 * rng.randint(-10, 10))


def _shift_rest(rows: Rows, rng: Random) -> None:
    since, by = rng.choice(rows)[3], 30 * rng.randint(1, 10)
    for row in rows:
        row[3] += by if row[3] >= since else 0


def _shuffle(rows: Rows, rng: Random) -> None:
    n = rng.randrange(len(rows))
    rows.insert(rng.randrange(len(rows)), rows.pop(n))


def _split(rows: Rows, rng: Random) -> None:
    n = rng.randrange(len(rows))
    number, name, takes, start = rows[n]
    if takes > 30:
        part = 30 * rng.randint(1, takes // 30)
        rest = [[number, name, takes - part, start + part + 30 * rng.randint(0, 2)]] if takes > part else []
        rows[n : n + 1] = [[number, name, part, start], *rest]


def _drop(rows: Rows, rng: Random) -> None:
    del rows[rng.randrange(len(rows))]


def _repeat(rows: Rows, rng: Random) -> None:
    number, name, takes, start = rng.choice(rows)
    rows.append([number, name, takes, start + 30 * rng.randint(0, 40)])


def _lengthen(rows: Rows, rng: Random) -> None:
    row = rng.choice(rows)
    row[2] = max(30, row[2] + 30 * rng.randint(-3, 3))


def _rename(rows: Rows, rng: Random) -> None:
    row, other = rng.choice(rows), rng.choice(rows)
    row[0] = other[0] if rng.random() < 0.7 else 60
    row[1] = other[1] if rng.random() < 0.7 else "Nobody"


def _swap(rows: Rows, rng: Random) -> None:
    one, two = rng.choice(rows), rng.choice(rows)
    one[3], two[3] = two[3], one[3]


CHANGES: Final = (_shift, _shift, _shift_rest, _shuffle, _shuffle, _split, _drop, _repeat, _lengthen, _rename, _swap)
