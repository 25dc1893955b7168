"""Models that speak for the agents of a trip: what they are shown, and answers to it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.models import Asked, Say
from tests.support.models.script import Move

Options = list[dict[str, Any]]
Pick = Callable[[str, str, Options], list[str]]
"""From the role, the part and its options to the ids that are chosen."""


def shown_to(asked: Asked) -> dict[str, Any]:
    """The data of a question."""
    data: dict[str, Any] = json.loads(asked.user.splitlines()[1])
    return data


def role_of(asked: Asked) -> str:
    found = re.search(r"You are the (\w+) agent", asked.system)
    assert found is not None, asked.system
    return found[1]


def candidates(chosen: Mapping[str, list[str]], reason: str = "it suits best", confidence: float = 0.8) -> dict[str, Any]:
    return {
        part: [{"choose": name, "reason": reason, "confidence": confidence} for name in names] for part, names in chosen.items()
    }


def picking(pick: Pick, reason: str = "it suits best") -> Callable[[Asked], Move]:
    """An answer for every part that is asked for."""

    def answer(asked: Asked) -> Say:
        role, inputs = role_of(asked), shown_to(asked)["inputs"]
        return Say(candidates({part: pick(role, part, options) for part, options in inputs.items()}, reason))

    return answer


def first(_role: str, _part: str, options: Options) -> list[str]:
    """Only what stands first."""
    return [options[0]["id"]]


def ranked(_role: str, _part: str, options: Options) -> list[str]:
    """Everything, the last first."""
    return [each["id"] for each in reversed(options)]
