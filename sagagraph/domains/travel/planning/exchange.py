"""Exchange: the planner's arithmetic with rates: exact, on whole cents."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from sagagraph.domains.travel.money import PRICE_CURRENCY
from sagagraph.domains.travel.rates import Converted

if TYPE_CHECKING:
    from sagagraph.domains.travel.rates import Rates
    from sagagraph.domains.travel.request import TripRequest


def worth(currency: str, rates: Rates | None) -> Fraction | None:
    """Return the units of `currency` that one unit of the currency of all prices is worth; None if no rate is known."""
    if currency == PRICE_CURRENCY:
        return Fraction(1)
    there, here = _of_base(currency, rates), _of_base(PRICE_CURRENCY, rates)
    return None if there is None or here is None else there / here


def most_cents(request: TripRequest, rates: Rates | None) -> int | None:
    """Return the most that the whole trip may cost, in cents of prices; None: no limit. Zero if no rate is known."""
    if request.budget is None:
        return None
    rate = worth(request.currency, rates)
    return 0 if rate is None else floor(Fraction(request.budget) * 100 / rate)


def converted(request: TripRequest, cents: int, rates: Rates | None) -> Converted | None:
    """Convert a total; None if the budget is in the currency of prices anyway, or no rate is known."""
    rate = worth(request.currency, rates)
    if request.currency == PRICE_CURRENCY or rates is None or rate is None:
        return None
    total = Decimal(ceil(cents * rate)) / 100
    return Converted(total=total, currency=request.currency, on=rates.on, source=rates.source)


def _of_base(currency: str, rates: Rates | None) -> Fraction | None:
    if rates is None:
        return None
    if currency == rates.base:
        return Fraction(1)
    rate = rates.rates.get(currency)
    return None if rate is None else Fraction(rate)
