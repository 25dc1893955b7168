"""Figures to compare plans by."""

from __future__ import annotations

from typing import Any

from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.planning.measure import Tradeoffs, tradeoffs
from tests.domains.reunion.plans import Json, plan_of, task, travel
from tests.domains.reunion.solving import read_plan

PROBLEM: Json = {
    "name": "lunch",
    "places": {"H": "home", "S": "station", "M": "market"},
    "travel_minutes": [["H", "S", 25], ["S", "M", 10], ["M", "H", 20]],
    "people": [
        {"name": "Ann", "place": "H"},
        {"name": "Bob", "place": "S", "from": "10:00", "exit_minutes": 10},
        {"name": "Cleo", "place": "H"},
    ],
    "vehicles": [{"name": "car", "seats": 4, "place": "H", "drivers": ["Ann"]}],
    "tasks": [
        {"name": "fish", "place": "M", "minutes": 5},
        {"name": "soup", "place": "H", "minutes": 90, "attention": "watched"},
    ],
    "goals": [{"people": "all", "place": "H", "by": "12:00"}],
}
ROUND = plan_of(
    task("soup", "Ann,Cleo", "10:00", "11:30"),
    travel("car", "Ann", "H-S", "10:00", "10:25"),
    travel("car", "Ann", "S-M", "10:30", "10:40", "Bob"),
    task("fish", "Ann", "10:42", "10:47"),
    travel("car", "Ann", "M-H", "10:47", "11:07", "Bob"),
)


def figures(plan: Json, **fields: Any) -> Tradeoffs:
    problem = parse_problem({**PROBLEM, **fields})
    return tradeoffs(problem, read_plan(problem, plan))


def test_a_plan_in_figures() -> None:
    """Bob waits 20 minutes for the car and 7 at the market; Ann 5 and 2. Who watches, and who is at home, waits for nobody."""
    assert figures(ROUND) == Tradeoffs(driving_minutes=55, kilometres=None, ends=11 * 60 + 30, spread=120, waiting=34)


def test_kilometres_count_where_there_are_any() -> None:
    assert figures(ROUND, distance_km=[["H", "S", 20], ["S", "M", 5.5], ["M", "H", 12]]).kilometres == 37.5


def test_a_plan_of_nothing_costs_nothing() -> None:
    assert figures(plan_of()) == Tradeoffs(driving_minutes=0, kilometres=None, ends=0, spread=0, waiting=0)
