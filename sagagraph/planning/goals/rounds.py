"""Rounds of a model: what each cost, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from sagagraph.context.model import Usage


@dataclass(frozen=True, slots=True)
class Round:
    """One question to a model and what came of it. `number` counts from 1 within one decomposition."""

    number: int
    usage: Usage
    outcome: str
