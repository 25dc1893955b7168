"""Settings: how a sandbox runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from sagagraph.errors import InvalidInputError
from sagagraph.sandbox.clock import YEARS

Guarantee = Literal["dedup", "void", "deadline", "refusals"]
GUARANTEES: frozenset[Guarantee] = frozenset({"dedup", "void", "deadline", "refusals"})
MARKETS = ("static", "moving")
_CENTURY_S = 100 * 366 * 86400


@dataclass(frozen=True)
class SandboxSettings:
    """Settings of a sandbox. Raises `InvalidInputError`, naming the option, for settings that no sandbox can run with."""

    database: Path
    """Its SQLite file, which is created if it does not exist."""
    faults: Path | None = None
    today: date | None = None
    """The day on which a new database's clock starts, by default now; an existing clock keeps running."""
    withheld: frozenset[str] = frozenset()
    """Guarantees that it does not keep."""
    key_retention_s: float | None = None
    """By the service's clock; None: keys are remembered for good."""
    market: str = "static"
    """`moving`: other customers book too, and prices move. `static`: only this service's callers change anything."""
    moves_clock: bool = False
    """Whether an existing database's clock is also set to `today` if it shows another day."""

    def __post_init__(self) -> None:
        if unknown := self.withheld - GUARANTEES:
            offered = ", ".join(sorted(GUARANTEES))
            raise InvalidInputError(f"unknown guarantee {min(unknown)!r}; there are {offered}", field="--without")
        retention = self.key_retention_s
        if retention is not None and not 0 < retention <= _CENTURY_S:
            raise InvalidInputError(
                f"must be more than 0 and at most {_CENTURY_S} seconds, not {retention}", field="--key-retention"
            )
        if self.market not in MARKETS:
            raise InvalidInputError(f"must be {' or '.join(MARKETS)}, not {self.market!r}", field="--market")
        if self.today is not None and self.today.year not in YEARS:
            raise InvalidInputError(f"must be in the years {YEARS[0]} to {YEARS[-1]}", field="--today")

    @property
    def market_moves(self) -> bool:
        return self.market == "moving"

    def keeps(self, guarantee: Guarantee) -> bool:
        return guarantee not in self.withheld
