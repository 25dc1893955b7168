"""Metering: a model each of whose calls is admitted by its estimate, before it goes out, and booked at its cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from sagagraph.context.model import Answer, Model, Prices, Question, Usage
from sagagraph.context.slice import BYTES_PER_TOKEN
from sagagraph.errors import UnusableAnswerError

_OUTPUT_SHARE: Final = Decimal("0.7")
"""How much of the longest answer is reckoned with."""
_CENTS: Final = Decimal("0.000001")


def cost_of(prices: Prices, tokens_in: int, tokens_out: int) -> Decimal:
    rates = Decimal(str(prices.tokens_in)), Decimal(str(prices.tokens_out))
    return ((tokens_in * rates[0] + tokens_out * rates[1]) / 1_000_000).quantize(_CENTS)


Admit = Callable[[int, Decimal], Awaitable[str]]
"""Admits a call by its estimate, in tokens and money, and returns its id. Raises `Refused` if it does not fit."""
Book = Callable[[str, Usage, Decimal], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class MeteredModel:
    model: Model
    prices: Prices
    admit: Admit
    book: Book

    @property
    def name(self) -> str:
        return self.model.name

    async def answer(self, question: Question) -> Answer:
        """Answer if the call is admitted. Raises what `admit` and the model raise."""
        told = f"{question.instructions}{question.data.text}{dict(question.schema)}".encode()
        tokens_in, tokens_out = len(told) // BYTES_PER_TOKEN + 1, int(_OUTPUT_SHARE * question.max_tokens)
        call = await self.admit(tokens_in + tokens_out, cost_of(self.prices, tokens_in, tokens_out))
        usage = Usage(self.name, 0, 0, 0.0)
        try:
            answer = await self.model.answer(question)
            usage = answer.usage
        except UnusableAnswerError as exc:
            usage = exc.usage if isinstance(exc.usage, Usage) else usage
            raise
        finally:
            await self.book(call, usage, cost_of(self.prices, usage.tokens_in, usage.tokens_out))
        return answer
