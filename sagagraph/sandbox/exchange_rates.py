"""Exchange rates: a fixed table of one day."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import Any, Final

from sagagraph.sandbox.world.tables import rows

BASE: Final = "EUR"
ON: Final = date(2025, 2, 28)
SOURCE: Final = "European Central Bank, euro foreign exchange reference rates"


@cache
def rates() -> dict[str, float]:
    """What one unit of the base is worth in each currency."""
    return {currency: float(rate) for currency, rate in rows("exchange_rates")}


def rates_as_json() -> dict[str, Any]:
    return {"base": BASE, "on": ON.isoformat(), "source": SOURCE, "rates": rates()}
