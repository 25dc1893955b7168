"""Limits: how long a model may think about one plan, and how much it may cost; checked before each question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sagagraph.context.model import Prices, Question
from sagagraph.saga.core.state import ModelUse

_BYTES_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one saga. `seconds` are those of one plan: after them the solver plans."""

    seconds: float = 10.0
    cost_usd: float | None = None
    tokens: int | None = None
    prices: Prices | None = None
    """Needed for `cost_usd`: a cost that cannot be known beforehand cannot be limited."""

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
