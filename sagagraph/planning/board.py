"""Boards: pages of domains whose problems are pasted and whose plans are only drawn, since nothing of them is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sagagraph.planning.page import PlanView


@dataclass(frozen=True, slots=True)
class Drawn:
    """A plan to look at, and what is told of it in sentences. `before`: the plan that it repairs."""

    view: PlanView
    told: tuple[str, ...]
    before: PlanView | None = None


class Board(Protocol):
    """What a person fills in, and what comes of it. It goes to another process, and comes back."""

    title: str
    opening: str
    problem: str
    """The label of the problem's text."""
    example: str
    """A problem to begin with."""
    news: str
    """What the `fields` tell."""
    fields: Mapping[str, str]
    """What may have happened since the plan was made: names and labels."""

    def drawn(self, form: Mapping[str, str], seconds: float) -> Drawn:
        """Plan within `seconds`; then repair, if something has happened. Raises `InvalidInputError`, naming the field."""
        ...
