"""Questions to the service: what is on offer, what landed under a key, what the books say."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Any

from sagagraph.sandbox import inventory, ledger
from sagagraph.sandbox.answers import refusal, unknown
from sagagraph.sandbox.calls import Kind
from sagagraph.sandbox.clock import Clock
from sagagraph.sandbox.database import Database
from sagagraph.sandbox.offers import Offer, OfferKind
from sagagraph.sandbox.world import Question, find_offer


class Enquiries:
    """Each is answered from one consistent moment."""

    def __init__(self, database: Database, clock: Clock, *, market_moves: bool) -> None:
        self._database = database
        self._clock = clock
        self._market_moves = market_moves

    def search(self, question: Question, *, prices_rise: bool) -> list[dict[str, Any]]:
        """What can still be booked in the quantity asked for; `prices_rise`: by a fifth first, and for good."""
        with self._database.transaction() if prices_rise else self._database.snapshot() as tx:
            now = self._clock.now(tx)
            if question.first_day < now.date():
                raise refusal("date_past", f"{question.first_day} is over: today is {now.date()}")
            offers = [offer for offer in question.offers() if offer.starts > now]
            if prices_rise:
                inventory.raise_prices(tx, offers)
            current = [self._as_it_stands(tx, offer, now) for offer in offers]
        return [offer.as_json(left=left) for offer, left in current if left >= offer.quantity]

    def offer(self, offer_id: str) -> dict[str, Any]:
        offer = find_offer(offer_id)
        if offer is None:
            raise unknown("offer", offer_id)
        with self._database.snapshot() as tx:
            current, left = self._as_it_stands(tx, offer, self._clock.now(tx))
        return current.as_json(left=left)

    def _as_it_stands(self, tx: sqlite3.Connection, offer: Offer, now: datetime) -> tuple[Offer, int]:
        """And how much of it is left."""
        current = inventory.at_current_price(tx, offer, now, market_moves=self._market_moves)
        return current, inventory.left_of(tx, current)

    def find(self, kind: Kind, key: str) -> dict[str, Any]:
        as_json = ledger.payment_as_json if kind == "payment" else ledger.reservation_as_json
        with self._database.snapshot() as tx:
            landed = ledger.landed_under(tx, kind, key)
            is_voided = ledger.void_of(tx, kind, key) is not None
        return {"matches": [as_json(row) for row in landed], "voided": is_voided}

    def ledger(self) -> dict[str, Any]:
        with self._database.snapshot() as tx:
            return ledger.whole_ledger(tx)

    def kind_of_reservation(self, reservation_id: str) -> OfferKind:
        with self._database.snapshot() as tx:
            row = ledger.reservation(tx, reservation_id)
        if row is None:
            raise unknown("reservation", reservation_id)
        kind: OfferKind = row["kind"]
        return kind
