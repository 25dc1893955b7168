"""Team: the agents of a domain at work on one plan: what each was shown and said, and the plan that results."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

from pydantic import BaseModel

from sagagraph.context.slice import tokens_of
from sagagraph.planning.domain import Infeasible, Proposal
from sagagraph.validators.candidates import Candidate, Candidates
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.values import Json

REASON_ASKED_FOR: Final = 80
"""Characters of a reason: small models take long over longer ones. Longer ones are accepted."""
CANDIDATES_ASKED_FOR: Final = 3
Answer = Any
"""Candidates by part, or JSON that looks like them, which the agent's validators check."""


class Agent(Protocol):
    """Agent, called with the facts of its slice. It returns candidates by part, the preferred first, or an awaitable of them.

    The facts: `inputs` has the options by part; the wishes that its role reads have their names; `output of NAME` has the
    candidates of an agent that it depends on; `what was wrong with your last choice` has the objections to its last answer. It
    may be asked three times for one plan, and must have no effect outside.
    """

    def __call__(self, shown: Mapping[str, Json], /) -> Answer: ...


class Runnable(Protocol):
    """Protocol of LangChain's runnables, as far as it is used."""

    async def ainvoke(self, shown: Any, /) -> Answer: ...


async def answer_of(agent: Agent | Runnable, shown: Mapping[str, Json]) -> Answer:
    """Return its answer. A plain function runs in a thread, so it may take its time."""
    invoke = getattr(agent, "ainvoke", None)
    if invoke is not None:
        return await invoke(dict(shown))
    answer = await asyncio.to_thread(agent, shown)  # type: ignore[arg-type]  # it is no runnable
    return await answer if inspect.isawaitable(answer) else answer


@dataclass(frozen=True, slots=True)
class Role:
    """Role in a team. `reads`: the wishes that its agent is shown; `after`: whose results it depends on."""

    name: str
    instructions: str
    """Instructions for a model: written only by the domain."""
    reads: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """Option to choose. `facts`: what is said about it."""

    id: str
    facts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task:
    """Task that one agent is to decide for one plan."""

    options: Mapping[str, tuple[Option, ...]]
    """By part, the search's choice first."""
    proposed: Candidates
    """The search's own candidates, used if nobody else proposes valid ones."""

    def within(self, tokens: int) -> Mapping[str, Json]:
        """Return the options as a slice shows them. If they do not fit, those that rank lowest in the search are left out."""
        kept = {part: [{"id": each.id, **each.facts} for each in some] for part, some in self.options.items()}
        while tokens_of(kept) > tokens and any(len(options) > 1 for options in kept.values()):
            max(kept.values(), key=len).pop()
        return kept


def schema_of(options: Mapping[str, Any]) -> dict[str, Json]:
    """Return the JSON schema of an answer about these options: closed, so that a strict server allows nothing else."""

    def candidates(some: Any) -> dict[str, Json]:
        fields = {
            "choose": {"type": "string", "enum": [each["id"] for each in some]},
            "reason": {"type": "string", "maxLength": REASON_ASKED_FOR},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        }
        one = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        return {"type": "array", "items": one, "minItems": 1, "maxItems": min(len(some), CANDIDATES_ASKED_FOR)}

    parts = {part: candidates(some) for part, some in options.items()}
    return {
        "title": "Candidates",
        "description": "Candidates for each part, the preferred first.",
        "type": "object",
        "properties": parts,
        "required": list(parts),
        "additionalProperties": False,
    }


SEARCH = "search"
"""The voice of a role that has no model or function: the domain's own search."""


class Said(BaseModel, frozen=True):
    """Record of what one agent was shown and said, as the journal keeps it."""

    agent: str
    """The name of its role."""
    by: str = SEARCH
    """Or the name of a model, or of a function."""
    version: int = 0
    """The journal's version when its slice was made."""
    slice_hash: str
    slice_tokens: int
    inputs: dict[str, list[dict[str, Any]]] = {}
    """The options by part, as they were shown: JSON."""
    candidates: dict[str, tuple[Candidate, ...]] = {}
    reason: str = ""
    """Why the search took the role, if somebody else should have."""

    @property
    def is_of_the_search(self) -> bool:
        return self.by == SEARCH


class Team(Protocol):
    """The agents of a domain at work on one request."""

    @property
    def solved(self) -> tuple[Proposal, ...]:
        """Return the plans that the search found alone, the preferred first."""
        ...

    async def task(self, role: str, said: Mapping[str, Said]) -> Task:
        """Return what the agent of `role` is to decide, once those that it depends on have spoken."""
        ...

    async def composed(self, said: Mapping[str, Said]) -> Proposal | Verdict:
        """Return the plan made from what all agents said: a compatible choice among the candidates if there is one.

        Otherwise the first candidates as they are, so that the validators name what does not fit; INVALID if what was chosen is
        no longer available. Raises `ProviderError`.
        """
        ...


@runtime_checkable
class Teamed(Protocol):
    """A domain whose plans agents make together."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """Return the roles, each after those that it depends on."""
        ...

    async def team(self, request: Json) -> Team | Infeasible:
        """Return the team for a request; `Infeasible` if the search knows that no plan meets it. Raises `ProviderError`."""
        ...
