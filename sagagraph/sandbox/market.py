"""The other customers: as the service's clock goes on they take seats and rooms, and prices move.

What they do follows from the world's seed, the thing that is sold and the time alone; it changes at every full hour.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sagagraph.sandbox.chance import draw
from sagagraph.sandbox.offers import Offer, Stock

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_LAST_DAYS_RISE = 0.35
_SWING = 0.12


def as_of(offer: Offer, now: datetime) -> Offer:
    """The offer as other customers have left it at that time."""
    hour = _EPOCH + (now - _EPOCH) // _HOUR * _HOUR
    stock = tuple(replace(each, sold=_sold(each, hour)) for each in offer.stock)
    return replace(offer, stock=stock, rate=_rate(offer, hour))


def _sold(stock: Stock, hour: datetime) -> int:
    """Never less than an hour before. Some sell out, some are never full."""
    demand = 0.45 + 0.7 * draw("demand", stock.unit)
    return min(stock.capacity, int(stock.capacity * demand * _rush(stock.unit, stock.until, hour)))


def _rush(unit: str, until: datetime, hour: datetime) -> float:
    """How much of the demand has come: next to nothing long before, all of it at the end."""
    half_of_it_days = 4 + 26 * draw("rush", unit)
    days_left = max(0.0, (until - hour) / _DAY)
    return 1 / (1 + days_left / half_of_it_days)


def _rate(offer: Offer, hour: datetime) -> int:
    """Whole dollars: dearer towards the end, and up and down from day to day."""
    late = _LAST_DAYS_RISE * _rush(offer.priced_as, offer.starts, hour)
    day, part = divmod(hour - _EPOCH, _DAY)
    before, after = (draw("mood", offer.priced_as, day + n) - 0.5 for n in (0, 1))
    mood = _SWING * (before + (after - before) * (part / _DAY))
    return max(1, round(offer.rate / 100 * (0.9 + late + mood))) * 100
