"""Matching: who does a task: deterministic scores, never a model (PRD-102, section 8). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

from sagagraph.coordination.core.plan import TaskSpec, TaskType

LEAST_SCORE: Final = 0.4
"""Below it nobody of the roster is taken, and a contractor is made."""
_NO_HISTORY: Final = 0.5


class Tier(StrEnum):
    """What a model can do, and costs."""

    CHEAP = "cheap"
    MID = "mid"
    TOP = "top"


TIERS: Final = (Tier.CHEAP, Tier.MID, Tier.TOP)
EXPECTED: Final[Mapping[TaskType, Tier]] = {
    TaskType.CODING: Tier.TOP,
    TaskType.SIMPLE: Tier.CHEAP,
    TaskType.RESEARCH: Tier.MID,
    TaskType.ANALYSIS: Tier.MID,
    TaskType.WRITING: Tier.MID,
    TaskType.REVIEW: Tier.MID,
}
TOKENS: Final[Mapping[TaskType, tuple[int, int]]] = {
    TaskType.RESEARCH: (8000, 4000),
    TaskType.ANALYSIS: (6000, 3000),
    TaskType.WRITING: (5000, 4000),
    TaskType.CODING: (8000, 5000),
    TaskType.REVIEW: (6000, 2000),
    TaskType.SIMPLE: (2000, 500),
}
"""What a task of a type takes on average: tokens in, tokens out."""


class Similarity(Protocol):
    """Port: how alike two texts are, from 0 to 1; by words (`language.likeness`), or by embeddings where a model makes them."""

    def __call__(self, one: str, other: str, /) -> float: ...


@dataclass(frozen=True, slots=True)
class Profile:
    """Profile of an agent, as it is matched. `history`: type of task → mean score by verifiers. `limit`: tasks at once."""

    id: str
    skills: tuple[str, ...] = ()
    tools: frozenset[str] = frozenset()
    tier: Tier = Tier.MID
    family: str = ""
    history: Mapping[str, float] = field(default_factory=dict)
    busy: int = 0
    limit: int = 1
    online: bool = True
    specialist: bool = False
    """It takes only tasks that name it, or ask for a tool of its own: what has effects is given to nobody by likeness."""


@dataclass(frozen=True, slots=True)
class Match:
    agent: str
    score: float


def ranked(
    task: TaskSpec, roster: Iterable[Profile], similarity: Similarity, *, families: Collection[str] = ()
) -> tuple[Match, ...]:
    """Return the eligible agents, the best first; equal ones by id.

    `families`: those of whose work a review judges: nobody of them is eligible for it.
    """
    found = [
        _match(task, each, similarity)
        for each in roster
        if is_eligible(task, each) and not (task.type is TaskType.REVIEW and each.family and each.family in families)
    ]
    return tuple(sorted(found, key=lambda each: (-each.score, each.agent)))


def is_eligible(task: TaskSpec, agent: Profile) -> bool:
    wanted = set(task.tools)
    return agent.online and wanted <= agent.tools and (not agent.specialist or bool(wanted))


def _match(task: TaskSpec, agent: Profile, similarity: Similarity) -> Match:
    parts = {
        "tools": len(set(task.tools) & agent.tools) / len(set(task.tools)) if task.tools else 1.0,
        "skills": max((similarity(each, task.type.value) for each in agent.skills), default=0.0),
        "model": model_fit(task.type, agent.tier),
        "history": agent.history.get(task.type.value, _NO_HISTORY),
        "availability": max(0.0, 1.0 - agent.busy / agent.limit) if agent.limit else 0.0,
    }
    return Match(agent.id, sum(_WEIGHTS[name] * value for name, value in parts.items()))


_WEIGHTS: Final = {"tools": 0.35, "skills": 0.25, "model": 0.15, "history": 0.15, "availability": 0.10}


def model_fit(task: TaskType, tier: Tier) -> float:
    expected = EXPECTED[task]
    if tier is expected:
        return 1.0
    if tier is Tier.CHEAP:
        return 0.2
    return 0.8 if (tier, expected) == (Tier.TOP, Tier.MID) else 0.5
