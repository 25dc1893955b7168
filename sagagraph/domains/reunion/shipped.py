"""The problems that come with SagaGraph, written from the facts in the papers, and two tours of a campus."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Final

from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.errors import InvalidInputError

SHIPPED: Final = {
    "wedding": "four guests, two cars and two errands before a wedding (SagaLLM, P5)",
    "thanksgiving": "arrivals, a rental car and a turkey that has to be watched (SagaLLM, P6)",
    "ride_sharing": "four riders and three vehicles to an airport, by the least distance (ALAS, appendix E)",
    "campus_tour": "one visitor, five places with opening hours, and back at the gate",
    "campus_groups": "four groups, three guides with hours of their own, tours of 75 minutes",
}
"""What each is about, by name."""


def shipped(name: str) -> ReunionProblem:
    """Return one of them. Raises `InvalidInputError` for a name that is not in `SHIPPED`."""
    if name not in SHIPPED:
        raise InvalidInputError(f"no problem is called {name!r}; there are {', '.join(SHIPPED)}", field="NAME")
    text = files("sagagraph.domains.reunion").joinpath("problems", f"{name}.json").read_text(encoding="utf-8")
    return parse_problem(json.loads(text))
