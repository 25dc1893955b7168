"""Exchange rates: a fixed table, of one day."""

from __future__ import annotations

from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

BASE: Final = "EUR"
ON: Final = date(2025, 2, 28)
"""The last working day before the sandbox's default today."""
SOURCE: Final = "European Central Bank, euro foreign exchange reference rates"
RATES: Final[Mapping[str, float]] = MappingProxyType(
    {
        "AUD": 1.6741,
        "BGN": 1.9558,
        "BRL": 6.0712,
        "CAD": 1.5019,
        "CHF": 0.9394,
        "CNY": 7.5782,
        "CZK": 25.029,
        "DKK": 7.4583,
        "GBP": 0.82608,
        "HKD": 8.098,
        "HUF": 399.5,
        "IDR": 17228.17,
        "ILS": 3.7457,
        "INR": 90.971,
        "ISK": 145.7,
        "JPY": 156.96,
        "KRW": 1519.92,
        "MXN": 21.2191,
        "MYR": 4.6459,
        "NOK": 11.7245,
        "NZD": 1.8579,
        "PHP": 60.355,
        "PLN": 4.1503,
        "RON": 4.9768,
        "SEK": 11.188,
        "SGD": 1.4037,
        "THB": 35.567,
        "TRY": 38.0186,
        "USD": 1.0411,
        "ZAR": 19.1917,
    }
)
"""What one euro is worth."""
