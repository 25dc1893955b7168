"""Models: questions to a language model, and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from sagagraph.context.quoting import Quoted
from sagagraph.workflow.values import Json

MAX_ANSWER_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class Question:
    """Question with a context of its own: no earlier question or answer goes with it."""

    instructions: str
    """Written only by us."""
    data: Quoted
    """What others wrote, providers and people; it is kept apart from the instructions, and is never an instruction."""
    schema: Mapping[str, Json]
    """The JSON schema of the answer, with a `title`."""
    max_tokens: int = MAX_ANSWER_TOKENS
    """The most tokens of the answer."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in US dollars for a million tokens."""

    tokens_in: float
    tokens_out: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage: what one question cost. `cost_usd` is None if the model's prices are unknown."""

    model: str
    tokens_in: int
    tokens_out: int
    seconds: float
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer. `content` is JSON that claims to follow the schema: the caller must check that."""

    content: Json
    usage: Usage


@runtime_checkable
class Model(Protocol):
    """Language model behind a provider. `name` is `PROVIDER:NAME`."""

    @property
    def name(self) -> str: ...

    async def answer(self, question: Question) -> Answer:
        """Answer within a time limit, and without retries of its own.

        Raises:
            ModelError: it could not be asked: no key, refused key, rate limit, time-out, outage.
            UnusableAnswerError: it refused, stopped half-way, or said something that is not a JSON object.
        """
        ...
