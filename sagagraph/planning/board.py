"""Boards: pages of domains whose problems are pasted and whose plans are only drawn, because they are never carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sagagraph.planning.page import PlanView


@dataclass(frozen=True, slots=True)
class Drawn:
    """Drawn plan to look at, with what is said about it in sentences. `before`: the plan that it repairs."""

    view: PlanView
    told: tuple[str, ...]
    before: PlanView | None = None


class Board(Protocol):
    """Board: the fields that a person fills in, and the result. It is sent to another process, and back."""

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
