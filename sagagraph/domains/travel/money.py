"""Money: whole cents as exact decimals, a plain number in JSON."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field, PlainSerializer


def as_json_number(amount: Decimal) -> int | float:
    """The number that JSON shows: exact, because `Money` holds at most 15 digits."""
    return int(amount) if amount == amount.to_integral_value() else float(amount)


Money = Annotated[
    Decimal,
    Field(max_digits=15, decimal_places=2, allow_inf_nan=False),
    PlainSerializer(as_json_number, return_type=int | float, when_used="json"),
]
"""An amount with at most two decimals; a JSON number is read by its digits, not as a binary fraction."""

Price = Annotated[Money, Field(ge=0)]


def money_text(amount: Decimal) -> str:
    """`$1,234.50`, and without decimals where there are none: `$5,000`."""
    digits = f"{abs(amount):,.0f}" if amount == amount.to_integral_value() else f"{abs(amount):,.2f}"
    return f"{'-' if amount < 0 else ''}${digits}"
