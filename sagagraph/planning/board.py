"""Boards: pages of domains whose plans are only drawn, because they are never carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sagagraph.planning.fields import Form, Sheet
from sagagraph.planning.page import PlanView


@dataclass(frozen=True, slots=True)
class Drawn:
    """Drawn plan to look at, with what is said about it in sentences. `before`: the plan that it repairs."""

    view: PlanView
    told: tuple[str, ...]
    before: PlanView | None = None


class Board(Protocol):
    """Board: what a person fills in, and the result. It is sent to another process, and back.

    All methods raise `InvalidInputError`, naming the field.
    """

    title: str
    opening: str
    showcase: PlanView
    """A plan to look at before there is any."""
    problem: str
    """The label of the problem's text."""
    examples: Mapping[str, Form]
    """Problems to begin with, by name; the first is shown."""

    def problem_in(self, form: Form) -> str:
        """Return the problem that a form holds, as text."""
        ...

    def sheets(self, form: Form) -> tuple[Sheet, ...]:
        """Return the problem as sheets to change, where a cell that cannot be read stays as it was typed and says why; empty if
        it is too large for them.
        """
        ...

    def drawn(self, form: Form, seconds: float) -> Drawn:
        """Plan within `seconds`; then repair, if something has happened."""
        ...
