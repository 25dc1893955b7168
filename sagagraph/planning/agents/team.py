"""Team: the agents of a domain at work on one plan: what each was shown and said, and the plan that is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from sagagraph.planning.agents.agent import Role, Task
from sagagraph.planning.domain import Infeasible, Json, Proposal
from sagagraph.validators.candidates import Candidate
from sagagraph.validators.verdict import Verdict

SEARCH = "search"
"""Who speaks for a role that has no model or function: the domain's own search."""


class Said(BaseModel):
    """What one agent was shown and said, as the journal keeps it."""

    model_config = ConfigDict(frozen=True)

    agent: str
    """The name of its role."""
    by: str = SEARCH
    """Or the name of a model, or of a function."""
    version: int = 0
    """Of the journal, when its slice was made."""
    slice_hash: str
    slice_tokens: int
    inputs: dict[str, list[dict[str, Any]]] = {}
    """The options by part, as they were shown: JSON."""
    candidates: dict[str, tuple[Candidate, ...]] = {}
    reason: str = ""
    """Why the search speaks for it, where somebody else should have."""

    @property
    def is_of_the_search(self) -> bool:
        return self.by == SEARCH


class Team(Protocol):
    """The agents of a domain at work on one request."""

    @property
    def solved(self) -> tuple[Proposal, ...]:
        """The plans that the search found alone, the preferred first."""
        ...

    async def task(self, role: str, said: Mapping[str, Said]) -> Task:
        """What the agent of `role` is to decide, once those that it depends on have spoken."""
        ...

    async def composed(self, said: Mapping[str, Said]) -> Proposal | Verdict:
        """The plan of all that was said: a compatible choice among the candidates where there is one.

        Otherwise the first candidates as they are, so that the validators name what does not fit; INVALID if what was chosen is
        not to be had any more. Raises `ProviderError`.
        """
        ...


@runtime_checkable
class Teamed(Protocol):
    """A domain whose plans agents make together."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """In an order in which each comes after those that it depends on."""
        ...

    async def team(self, request: Json) -> Team | Infeasible:
        """The team for a request; `Infeasible` where the search knows that no plan meets it. Raises `ProviderError`."""
        ...
