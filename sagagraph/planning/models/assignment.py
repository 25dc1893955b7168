"""Assignments: what a domain asks a model to choose, and how it reads the answer. No statement of a model counts unchecked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import BaseModel

from sagagraph.context.slice import Fact
from sagagraph.planning.domain import Infeasible, Json, Proposal
from sagagraph.saga.core.state import Saga
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

    async def assignment(self, request: Json) -> Assignment | tuple[Proposal, ...] | Infeasible:
        """The assignment. No model is asked where the solver knows that no plan meets the request, or has all there is to
        propose.
        """
        ...

    async def chosen(self, request: Json, answer: BaseModel, assignment: Assignment) -> Proposal | Verdict:
        """The plan that the answer names; an INVALID verdict where it names none. Raises `ProviderError`."""
        ...


@runtime_checkable
class Finishing(Assigning, Protocol):
    """One whose solver can go on from what a model began."""

    async def finished(self, request: Json, answer: Json) -> tuple[Proposal, ...]:
        """The plan that keeps as much as can be of an answer that was not taken; none if there is none."""
        ...


@runtime_checkable
class Mending(Assigning, Protocol):
    """One whose plans a model may repair as well, under the same limits."""

    async def mending(self, saga: Saga) -> Assignment | tuple[Proposal, ...] | Infeasible:
        """The assignment of a repair: `Domain.repair` for a model."""
        ...

    async def mended(self, saga: Saga, answer: BaseModel) -> Proposal | Verdict:
        """The plan that the answer names, with all that is done and wanted again; an INVALID verdict where it names none."""
        ...
