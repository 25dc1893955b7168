"""Rates of one currency in another, with the day and source that a provider names."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sagagraph.domains.travel.money import Price

Rate = Annotated[Decimal, Field(gt=0, allow_inf_nan=False)]


class Rates(BaseModel):
    model_config = ConfigDict(frozen=True)

    base: str
    on: date
    source: str
    """Who published them."""
    rates: Mapping[str, Rate]
    """What one unit of `base` is worth, by currency; `base` itself need not be among them."""


class Converted(BaseModel):
    """A total in the currency of the budget, and where the rate is from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    total: Price
    """Rounded up to whole cents, so that it is within a budget only if the exact amount is."""
    currency: str
    on: date
    source: str
