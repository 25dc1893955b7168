"""The day on which the reservation services of tests begin: the sample trip is in June 2025."""

from __future__ import annotations

from datetime import date
from typing import Final

TODAY: Final = date(2025, 3, 1)
