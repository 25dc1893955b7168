"""Budget: no model is called before its cost, estimated high, fits what is left (PRD-102, section 11)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from sagagraph.context.model import Answer, Model, Prices, Question, Usage
from sagagraph.context.slice import BYTES_PER_TOKEN
from sagagraph.coordination.matching import Tier
from sagagraph.coordination.mission import Mission
from sagagraph.errors import UnusableAnswerError

_OUTPUT_SHARE: Final = Decimal("0.7")
"""How much of the longest answer is reckoned with."""
_CENTS: Final = Decimal("0.000001")


FREE: Final = Prices(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Priced:
    """A model, what it can do, and what it costs. `family`: whose it is, so that nobody judges its own relatives."""

    model: Model
    tier: Tier = Tier.MID
    prices: Prices = FREE
    family: str = ""

    @property
    def kin(self) -> str:
        return self.family or self.model.name.partition(":")[0]


def cost_of(prices: Prices, tokens_in: int, tokens_out: int) -> Decimal:
    rates = Decimal(str(prices.tokens_in)), Decimal(str(prices.tokens_out))
    return ((tokens_in * rates[0] + tokens_out * rates[1]) / 1_000_000).quantize(_CENTS)


def why_not(mission: Mission, tokens: int, cost: Decimal) -> str:
    """Return why a call may not go out; empty if it may. Calls under way count with their estimates."""
    cap = mission.config.max_cost_usd
    if mission.committed + cost > cap or mission.spent >= cap > 0:
        return f"a call for about ${cost} does not fit: ${mission.committed} of ${cap} are spent or under way"
    if mission.tokens + tokens > mission.config.max_tokens:
        return f"a call of about {tokens} tokens does not fit: {mission.tokens} of {mission.config.max_tokens} are used"
    return ""


Admit = Callable[[int, Decimal], Awaitable[str]]
"""Admits a call by its estimate, in tokens and money, and returns its id. Raises `Refused` with code `budget`."""
Book = Callable[[str, Usage, Decimal], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class MeteredModel:
    """A model behind the budget of a mission."""

    priced: Priced
    admit: Admit
    book: Book

    @property
    def name(self) -> str:
        return self.priced.model.name

    async def answer(self, question: Question) -> Answer:
        """Answer if the budget allows it. Raises `Refused` with code `budget` if not, and what the model raises."""
        told = f"{question.instructions}{question.data.text}{dict(question.schema)}".encode()
        tokens_in, tokens_out = len(told) // BYTES_PER_TOKEN + 1, int(_OUTPUT_SHARE * question.max_tokens)
        call = await self.admit(tokens_in + tokens_out, cost_of(self.priced.prices, tokens_in, tokens_out))
        usage = Usage(self.name, 0, 0, 0.0)
        try:
            answer = await self.priced.model.answer(question)
            usage = answer.usage
        except UnusableAnswerError as exc:
            usage = exc.usage if isinstance(exc.usage, Usage) else usage
            raise
        finally:
            await self.book(call, usage, cost_of(self.priced.prices, usage.tokens_in, usage.tokens_out))
        return answer
