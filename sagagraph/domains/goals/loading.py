"""Loading: the library that the environment names. It is code, so that no journal, request or model can ever name one."""

from __future__ import annotations

import importlib
from typing import Final

from sagagraph.domains.goals.library import GoalLibrary
from sagagraph.errors import InvalidInputError

_FIELD: Final = "SAGAGRAPH_GOALS"


def library_at(place: str) -> GoalLibrary:
    """Return the library at `package.module:NAME`. Raises `InvalidInputError`, naming the variable, if there is none."""
    module, _, name = place.partition(":")
    if not module or not name:
        raise InvalidInputError("name the library with your actions as package.module:NAME (docs/goals.md)", field=_FIELD)
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as exc:
        raise InvalidInputError(f"{place!r} cannot be loaded: {exc}", field=_FIELD) from exc
    if not isinstance(found, GoalLibrary):
        raise InvalidInputError(f"{place!r} is a {type(found).__name__}, not a GoalLibrary", field=_FIELD)
    return found
