"""Limits: how long a model may think about one plan, and how much it may cost; and one question asked within them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sagagraph.context.model import Model, Prices, Question, Usage
from sagagraph.errors import ModelError, UnusableAnswerError
from sagagraph.saga.core.events import ModelAsked
from sagagraph.saga.core.state import ModelUse, Saga

_BYTES_A_TOKEN = 4

Record = Callable[[ModelAsked], Awaitable[Saga]]
"""Journals what a question cost, and returns the saga with it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one saga. `seconds` are those of one plan: after them the solver plans."""

    seconds: float = 10.0
    cost_usd: float | None = None
    tokens: int | None = None
    prices: Prices | None = None
    """Needed for `cost_usd`: a cost that cannot be known beforehand cannot be limited."""

    async def ask(
        self, model: Model, question: Question, begun: float, deadline: float, clock: Callable[[], float]
    ) -> tuple[Any | ModelError, Usage]:
        """Ask once. Returns what the model answers, or why it does not, and what is known about the cost."""
        try:
            async with asyncio.timeout(max(deadline - begun, 0)):
                answer = await model.answer(question)
        except TimeoutError:
            failure = ModelError(f"{model.name}: no valid answer within {self.seconds:g} s")
        except ModelError as exc:
            failure = exc
        else:
            return answer.content, answer.usage
        usage = failure.usage if isinstance(failure, UnusableAnswerError) else None
        return failure, usage if isinstance(usage, Usage) else Usage(model.name, 0, 0, clock() - begun)

    def why_not(self, question: Question, used: Sequence[ModelUse]) -> str:
        """Return which limit the question, answered at full length, would exceed; empty if none."""
        asked = len(f"{question.instructions}{question.data.text}{dict(question.schema)}".encode()) // _BYTES_A_TOKEN + 1
        if self.tokens is not None:
            spent = sum(each.tokens_in + each.tokens_out for each in used)
            if spent + asked + question.max_tokens > self.tokens:
                return f"another question could exceed the {self.tokens:,} tokens that it may use ({spent:,} are used)"
        if self.cost_usd is not None:
            if self.prices is None or any(each.cost_usd is None for each in used):
                return "what it costs is not known, so that it cannot be limited"
            paid = sum(each.cost_usd or 0.0 for each in used)
            if paid + self.prices.of(asked, question.max_tokens) > self.cost_usd:
                return f"another question could exceed the ${self.cost_usd:g} that it may cost (${paid:.4f} is spent)"
        return ""


def asked(role: str, usage: Usage, outcome: str) -> ModelAsked:
    """Return the event with which a question is journalled."""
    said = " ".join(outcome.split())
    return ModelAsked(role, usage.model, usage.tokens_in, usage.tokens_out, usage.seconds, usage.cost_usd, said)
