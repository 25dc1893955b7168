"""Assignments: what a domain asks a model to choose, and how it reads the answer. No statement of a model counts unchecked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import BaseModel

from sagagraph.context.slice import Fact
from sagagraph.planning.domain import Infeasible, Json, Proposal
from sagagraph.validators.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Assignment:
    instructions: str
    """Written by the domain, with nothing in it that others wrote."""
    facts: tuple[Fact, ...]
    """What others wrote: shown as quoted data, by priority, within a budget."""
    answer: type[BaseModel]
    """The schema of the answer: closed and strict."""
    solved: tuple[Proposal, ...]
    """What the domain's own solver proposes, the preferred plan first: used when the model finds nothing."""


@runtime_checkable
class Assigning(Protocol):
    """A domain whose plans a model may choose."""

    async def assignment(self, request: Json) -> Assignment | Infeasible:
        """The assignment; `Infeasible` where the solver knows that no plan meets the request, so that no model is asked."""
        ...

    async def chosen(self, request: Json, answer: BaseModel, assignment: Assignment) -> Proposal | Verdict:
        """The plan that the answer names; an INVALID verdict where it names none. Raises `ProviderError`."""
        ...
