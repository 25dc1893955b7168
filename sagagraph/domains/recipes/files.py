"""Files of meals: one meal, several pairs, or a name of what comes with SagaGraph."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from sagagraph.domains.recipes.parsing import FIELD, parse_meal
from sagagraph.domains.recipes.request import Meal
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file

SHIPPED: Final = ("Lentil-Soup", "Flatbread", "Apple-Crumble", "Custard")
"""Recipes of our own."""


def pairs_in(path: Path | None) -> dict[str, Any]:
    """All pairs of a file, as JSON, by name; None: those of the shipped recipes. Raises `InvalidInputError`."""
    if path is None:
        names = [(one, two) for place, one in enumerate(SHIPPED) for two in SHIPPED[place + 1 :]]
        return {f"{one}_{two}": [shipped(one), shipped(two)] for one, two in names}
    value = json_file(path, FIELD)
    meals = value if isinstance(value, list) and value and all(isinstance(each, list) for each in value) else [value]
    return {"_".join(parse_meal(each).recipes): each for each in meals}


def meal_in(path: Path, pair: str = "") -> Meal:
    """The meal of a file, or of that name. Raises `InvalidInputError`."""
    names = path.name.split("_")
    if not path.exists() and all(name in SHIPPED for name in names):
        return parse_meal([shipped(name) for name in names])
    if not pair:
        return parse_meal(json_file(path, FIELD))
    pairs = pairs_in(path)
    if pair not in pairs:
        raise InvalidInputError(f"{path} has no pair {pair!r}; `sagagraph recipes pairs` lists them", field="--pair")
    return parse_meal(pairs[pair])


def shipped(name: str) -> Any:
    return json.loads(files("sagagraph.domains.recipes").joinpath("shipped", f"{name}.json").read_text(encoding="utf-8"))
