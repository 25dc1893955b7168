"""What has been taken out of the world's stock, and which prices have risen."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from sagagraph.sandbox import market
from sagagraph.sandbox.offers import Offer


def left_of(tx: sqlite3.Connection, offer: Offer) -> int:
    """How many travellers or rooms it still has a place for, on its fullest night."""
    return max(0, min(stock.capacity - stock.sold - _taken(tx, stock.unit) for stock in offer.stock))


def take(tx: sqlite3.Connection, offer: Offer) -> None:
    """The caller has made sure that so much is left."""
    tx.executemany(
        "INSERT INTO stock (unit, capacity, taken) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET taken = taken + excluded.taken",
        [(stock.unit, stock.capacity, offer.quantity) for stock in offer.stock],
    )


def give_back(tx: sqlite3.Connection, units: Sequence[str], quantity: int) -> None:
    tx.executemany("UPDATE stock SET taken = taken - ? WHERE unit = ?", [(quantity, unit) for unit in units])


def use_up(tx: sqlite3.Connection, units: Sequence[str]) -> None:
    """Nobody gets anything of them any more."""
    tx.executemany("UPDATE stock SET taken = capacity WHERE unit = ?", [(unit,) for unit in units])


def raise_prices(tx: sqlite3.Connection, offers: Iterable[Offer]) -> None:
    """By a fifth, for good."""
    tx.executemany(
        "INSERT INTO price_rises (base_id, times) VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1",
        [(offer.priced_as,) for offer in offers],
    )


def at_current_price(tx: sqlite3.Connection, offer: Offer, now: datetime, *, market_moves: bool) -> Offer:
    """And, in a market that moves, with what other customers have left."""
    if market_moves:
        offer = market.as_of(offer, now)
    row = tx.execute("SELECT times FROM price_rises WHERE base_id = ?", (offer.priced_as,)).fetchone()
    return offer.raised(row["times"]) if row else offer


def _taken(tx: sqlite3.Connection, unit: str) -> int:
    row = tx.execute("SELECT taken FROM stock WHERE unit = ?", (unit,)).fetchone()
    return row["taken"] if row else 0
