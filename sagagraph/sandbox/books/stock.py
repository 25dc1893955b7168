"""Stock: how many seats and rooms on offer are taken, by callers and others, and which prices have risen.

In a market that moves, other customers take seats and rooms as the service's clock advances, and prices move. Both depend only on
the world's seed, the thing that is sold and the time, and change at every full hour.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sagagraph.sandbox.world.offers import Offer
from sagagraph.sandbox.world.prices import draw

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_LAST_DAYS_RISE = 0.35
_SWING = 0.12


def left_of(tx: sqlite3.Connection, offer: Offer) -> int:
    """Return how many travellers or rooms still fit, on its fullest night."""
    return max(0, min(stock.capacity - stock.sold - _taken(tx, stock.unit) for stock in offer.stock))


def take(tx: sqlite3.Connection, offer: Offer) -> None:
    """Take stock; the caller has made sure that enough is left."""
    tx.executemany(
        "INSERT INTO stock (unit, capacity, taken) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET taken = taken + excluded.taken",
        [(stock.unit, stock.capacity, offer.quantity) for stock in offer.stock],
    )


def give_back(tx: sqlite3.Connection, units: Sequence[str], quantity: int) -> None:
    tx.executemany("UPDATE stock SET taken = taken - ? WHERE unit = ?", [(quantity, unit) for unit in units])


def use_up(tx: sqlite3.Connection, units: Sequence[str]) -> None:
    """Mark everything as taken."""
    tx.executemany("UPDATE stock SET taken = capacity WHERE unit = ?", [(unit,) for unit in units])


def raise_prices(tx: sqlite3.Connection, offers: Iterable[Offer]) -> None:
    """Raise the price by a fifth, for good."""
    tx.executemany(
        "INSERT INTO price_rises (base_id, times) VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1",
        [(offer.priced_as,) for offer in offers],
    )


def as_it_stands(tx: sqlite3.Connection, offer: Offer, now: datetime, *, market_moves: bool) -> Offer:
    """Return the offer at its current price; in a moving market, with what other customers have left."""
    if market_moves:
        offer = as_others_left_it(offer, now)
    row = tx.execute("SELECT times FROM price_rises WHERE base_id = ?", (offer.priced_as,)).fetchone()
    return offer.raised(row["times"]) if row else offer


def as_others_left_it(offer: Offer, now: datetime) -> Offer:
    hour = _EPOCH + (now - _EPOCH) // _HOUR * _HOUR
    stock = []
    for each in offer.stock:  # some sell out, some never fill up
        demand = 0.45 + 0.7 * draw("demand", each.unit)
        sold = min(each.capacity, int(each.capacity * demand * _rush(each.unit, each.until, hour)))
        stock.append(replace(each, sold=sold))
    return replace(offer, stock=tuple(stock), rate=_rate(offer, hour))


def _taken(tx: sqlite3.Connection, unit: str) -> int:
    row = tx.execute("SELECT taken FROM stock WHERE unit = ?", (unit,)).fetchone()
    return row["taken"] if row else 0


def _rush(unit: str, until: datetime, hour: datetime) -> float:
    """Return the share of demand that has come: almost none long before, all of it at the end."""
    half_of_it_days = 4 + 26 * draw("rush", unit)
    days_left = max(0.0, (until - hour) / _DAY)
    return 1 / (1 + days_left / half_of_it_days)


def _rate(offer: Offer, hour: datetime) -> int:
    """Return a rate in whole dollars, which rises towards the end and fluctuates from day to day."""
    late = _LAST_DAYS_RISE * _rush(offer.priced_as, offer.starts, hour)
    day, part = divmod(hour - _EPOCH, _DAY)
    before, after = (draw("mood", offer.priced_as, day + n) - 0.5 for n in (0, 1))
    mood = _SWING * (before + (after - before) * (part / _DAY))
    return max(1, round(offer.rate / 100 * (0.9 + late + mood))) * 100
