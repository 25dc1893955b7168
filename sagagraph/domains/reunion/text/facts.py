"""Facts: what a clause says of one row of the board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

TELLER: Final = "Me"
"""Whoever tells of the day, in the plan: `I` in sentences."""
HERE: Final = "here"
"""Where all meet."""
EVERYBODY: Final = "everybody"
"""In the place of a name."""
RENTAL: Final = "rental car"
ROADS: Final = "travel_minutes"


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact. `name`: of the row; of a goal, whose it is, empty for everybody. `values`: by column, places as they were said."""

    table: str
    name: str
    values: Mapping[str, Any] = field(default_factory=dict)


def fact(table: str, name: str, **values: Any) -> Fact:
    return Fact(table, name, {key: value for key, value in values.items() if value is not None})


def road(here: str, there: str, minutes: float) -> Fact:
    """Return how long one drives. `there` empty: to where all meet."""
    return Fact(ROADS, here, {"there": there, "minutes": minutes})


def car_of(name: str) -> str:
    return "my car" if name == TELLER else f"{name}'s car"
