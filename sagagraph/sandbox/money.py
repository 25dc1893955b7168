"""Money: whole cents inside, a JSON number with at most two decimals outside."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, Final

from sagagraph.sandbox.world.tables import rows

CURRENCY = "USD"
_MOST = Decimal(1_000_000_000)

Cents = int


def as_amount(cents: Cents) -> float:
    return cents / 100


def cents_of(amount: object) -> Cents:
    """Return an amount in cents, from its JSON value.

    Raises:
        ValueError: not a number, not finite, negative, absurdly large, or with more than two decimals.
    """
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic turns a ValueError into a finding about the field
    # By way of str: 0.1 means what was written, not the nearest binary fraction.
    exact = Decimal(str(amount))
    if not exact.is_finite() or not 0 <= exact <= _MOST:
        raise ValueError(f"must be an amount between 0 and {_MOST:,}")
    if exact * 100 % 1:
        raise ValueError("must have at most two decimals")
    return int(exact * 100)


BASE: Final = "EUR"
ON: Final = date(2025, 2, 28)
SOURCE: Final = "European Central Bank, euro foreign exchange reference rates"


@cache
def rates() -> dict[str, float]:
    """Return what one unit of the base is worth in each currency."""
    return {currency: float(rate) for currency, rate in rows("exchange_rates")}


def rates_as_json() -> dict[str, Any]:
    return {"base": BASE, "on": ON.isoformat(), "source": SOURCE, "rates": rates()}
