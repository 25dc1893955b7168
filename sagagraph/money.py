"""Money as people read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

_WITH_A_SIGN: Final = {"USD": "$"}


def money_text(amount: Decimal, currency: str = "USD") -> str:
    """Format an amount: `$1,234.50`, without decimals if there are none: `$5,000`, `5,000 EUR`."""
    digits = f"{abs(amount):,.0f}" if amount == amount.to_integral_value() else f"{abs(amount):,.2f}"
    sign = "-" if amount < 0 else ""
    symbol = _WITH_A_SIGN.get(currency)
    return f"{sign}{symbol}{digits}" if symbol else f"{sign}{digits} {currency}"


def cost_text(cost: Mapping[str, Any] | None, money: Callable[[Decimal, str], str] = money_text) -> str:
    """Format what a plan costs, as the journal has it: `$2,007`, with any fees after it; empty if it costs nothing. `money`:
    formats an amount.
    """
    fees = cost.get("fees") if cost else None
    if not cost or not cost.get("currency") or not (cost["total"] or fees):
        return ""
    currency = str(cost["currency"])
    beside = f" + {money(Decimal(str(fees)), currency)} fees" if fees else ""
    return money(Decimal(str(cost["total"])), currency) + beside
