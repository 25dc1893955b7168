"""Money: whole cents as exact decimals, a plain number in JSON."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Final

from pydantic import BaseModel, Field, PlainSerializer

from sagagraph.money import money_text as money_text

PRICE_CURRENCY: Final = "USD"
"""What offers are priced and paid in; a budget may be in any currency that the provider knows a rate for."""
LARGEST_BUDGET: Final = 1_000_000_000
"""Whoever says more is asked whether it is meant."""


def as_json_number(amount: Decimal) -> int | float:
    """Return the number that JSON shows: exact, because `Money` holds at most 15 digits."""
    return int(amount) if amount == amount.to_integral_value() else float(amount)


Money = Annotated[
    Decimal,
    Field(max_digits=15, decimal_places=2, allow_inf_nan=False),
    PlainSerializer(as_json_number, return_type=int | float, when_used="json"),
]
"""An amount with at most two decimals; a JSON number is read by its digits, not as a binary fraction."""

Price = Annotated[Money, Field(ge=0)]


def plain_amount(amount: Decimal) -> str:
    """Format `1234.50`, and without decimals if there are none: `5000`."""
    return f"{amount:.0f}" if amount == amount.to_integral_value() else f"{amount:.2f}"


def in_cents(amount: Decimal) -> int:
    return int(amount * 100)


Rate = Annotated[Decimal, Field(gt=0, allow_inf_nan=False)]


class Rates(BaseModel, frozen=True):
    base: str
    on: date
    source: str
    """Who published them."""
    rates: Mapping[str, Rate]
    """What one unit of `base` is worth, by currency; `base` itself need not be among them."""


class Converted(BaseModel, frozen=True, extra="forbid"):
    """A total in the currency of the budget, and where the rate is from."""

    total: Price
    """Rounded up to whole cents, so that it is within a budget only if the exact amount is."""
    currency: str
    on: date
    source: str
