"""Budget: what models cost, and whether a call still fits what is left of a mission's money (PRD-102, section 11). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from sagagraph.context.model import Model, Prices
from sagagraph.coordination.core.matching import Tier
from sagagraph.coordination.core.mission import Mission

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


def why_not(mission: Mission, tokens: int, cost: Decimal) -> str:
    """Return why a call may not go out; empty if it may. Calls under way count with their estimates."""
    cap = mission.config.max_cost_usd
    if mission.committed + cost > cap or mission.spent >= cap > 0:
        return f"a call for about ${cost} does not fit: ${mission.committed} of ${cap} are spent or under way"
    if mission.tokens + tokens > mission.config.max_tokens:
        return f"a call of about {tokens} tokens does not fit: {mission.tokens} of {mission.config.max_tokens} are used"
    return ""
