"""Configuration of a mission: how much it may ask, spend and repeat, with PRD-102's defaults (sections 4, 5 and 11)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.reading import converted

_Seconds = Annotated[float, Meta(ge=0)]
_Count = Annotated[int, Meta(ge=1)]
_Share = Annotated[float, Meta(ge=0, le=1)]


class Autonomy(StrEnum):
    """How much a person is asked."""

    APPROVE = "approve"
    """Plan and result wait for a person."""
    AUTONOMOUS = "autonomous"
    """The plan is approved by itself if its estimate is low enough."""
    FULL_AUTO = "full_auto"
    """Nothing waits for a person, until the budget ends."""


class Config(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    autonomy_mode: Autonomy = Autonomy.APPROVE
    auto_approve_threshold: Decimal = Decimal(2)
    max_cost_usd: Decimal = Decimal(5)
    max_tokens: _Count = 500_000
    max_seconds: _Seconds = 3600.0
    warn_at: tuple[_Share, ...] = (0.5, 0.8)
    replan_at: _Share = 0.8
    may_downgrade: bool = False
    max_concurrent_tasks: _Count = 3
    max_attempts: _Count = 3
    max_turns: _Count = 10
    continue_after_s: _Seconds = 1.0
    backoff_s: _Seconds = 10.0
    longest_backoff_s: _Seconds = 300.0
    stall_s: dict[str, float] = {}
    """Limits of states without an event, by state, where they differ from `STALL_S`."""
    pass_at: _Share = 0.7
    least_confidence: _Share = 0.5
    judges: bool = True
    allowed_tools: tuple[str, ...] | None = None
    denied_tools: tuple[str, ...] = ()
    model_preferences: dict[str, Literal["cheap", "mid", "top"]] = {}
    """Type of task → the tier of model that does it, where the team has one."""

    @property
    def may_ask(self) -> bool:
        return self.autonomy_mode is not Autonomy.FULL_AUTO

    def backoff_after(self, attempt: int) -> float:
        """Return how long to wait after this attempt, the first being 1."""
        return min(self.backoff_s * float(2 ** min(attempt - 1, 30)), self.longest_backoff_s)


STALL_S: Final[Mapping[str, float]] = {"assigned": 30.0, "running": 300.0, "continuing": 10.0, "verifying": 180.0}
TICK_S: Final = 5.0
_MOST_USD: Final = 1_000_000_000
MOST_CONTRACTORS: Final = 5
"""Of a workspace, at work at once."""
MOST_CONTRACTORS_OF_MISSION: Final = 3
MOST_CONTRACTORS_EVER: Final = 20
"""In the life of a mission."""


def read_config(value: object) -> Config:
    """Read a configuration. Raises `InvalidInputError`, naming the field."""
    config = converted(value, Config, "config")
    for name in ("max_cost_usd", "auto_approve_threshold"):
        amount = getattr(config, name)
        if not amount.is_finite() or not 0 <= amount <= _MOST_USD:
            raise InvalidInputError(f"an amount of dollars from 0 to {_MOST_USD}", field=f"config.{name}")
    return config
