"""Service: its database, its clock, the questions that it answers, and its effects."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from sqlite3 import Connection
from typing import Any

from sagagraph.sandbox.books import ledger, stock
from sagagraph.sandbox.books.calls import Kind, refusal, unknown
from sagagraph.sandbox.books.database import Database
from sagagraph.sandbox.books.effects import Effects
from sagagraph.sandbox.books.faults import FaultFile, load_faults
from sagagraph.sandbox.clock import YEARS, Clock
from sagagraph.sandbox.settings import SandboxSettings
from sagagraph.sandbox.world.offers import Offer, OfferKind
from sagagraph.sandbox.world.questions import Question, find_offer

_PROMISED_DEDUP_S = 86400.0
"""The retention that is promised, although keys are in fact remembered for good."""

Json = dict[str, Any]


class Service:
    """Service that answers each question from one consistent moment. May be used from any thread."""

    def __init__(self, settings: SandboxSettings, real_now: Callable[[], datetime]) -> None:
        """Open it.

        Raises:
            InvalidInputError: the faults file or the database is not usable.
        """
        faults = load_faults(settings.faults) if settings.faults else FaultFile()
        self._settings = settings
        self._clock = Clock(real_now)
        self._database = Database(settings.database)
        self.identity = self._database.identity
        with self._database.transaction() as tx:
            self._clock.start(tx, settings.today, moves=settings.moves_clock)
        self.effects = Effects(self._database, self._clock, faults, settings)

    def close(self) -> None:
        """Abandon hanging calls; late ones land after the next start."""
        self.effects.give_up_calls_under_way()
        self._database.close()

    def now(self) -> datetime:
        with self._database.snapshot() as tx:
            return self._clock.now(tx)

    def advance_clock(self, by: timedelta) -> datetime:
        """Advance the clock and land what has become due, so that no caller needs to wait again; return the new time."""
        with self._database.transaction() as tx:
            if (self._clock.now(tx) + by).year not in YEARS:
                raise refusal("invalid", f"seconds: the clock ends with the year {YEARS[-1]}")
            self._clock.advance(tx, by)
        while self.effects.land_late_call() == timedelta(0):
            pass
        return self.now()

    def guarantees(self) -> Json:
        keeps = self._settings.keeps
        dedup_s = self._settings.key_retention_s or _PROMISED_DEDUP_S
        return {
            "dedup_s": dedup_s if keeps("dedup") else None,
            "void": keeps("void"),
            "deadline": keeps("deadline"),
            "refusals_final": keeps("refusals"),
        }

    def search(self, question: Question, *, prices_rise: bool) -> list[Json]:
        """Return what can still be booked in the requested quantity; `prices_rise`: by a fifth first, and for good."""
        with self._database.transaction() if prices_rise else self._database.snapshot() as tx:
            now = self._clock.now(tx)
            if question.first_day < now.date():
                raise refusal("date_past", f"{question.first_day} is over: today is {now.date()}")
            offers = [offer for offer in question.offers() if offer.starts > now]
            if prices_rise:
                stock.raise_prices(tx, offers)
            current = [self._as_it_stands(tx, offer, now) for offer in offers]
        return [offer.as_json(left=left) for offer, left in current if left >= offer.quantity]

    def offer(self, offer_id: str) -> Json:
        offer = find_offer(offer_id)
        if offer is None:
            raise unknown("offer", offer_id)
        with self._database.snapshot() as tx:
            current, left = self._as_it_stands(tx, offer, self._clock.now(tx))
        return current.as_json(left=left)

    def _as_it_stands(self, tx: Connection, offer: Offer, now: datetime) -> tuple[Offer, int]:
        """Return the offer as it is, and how much of it is left."""
        current = stock.as_it_stands(tx, offer, now, market_moves=self._settings.market_moves)
        return current, stock.left_of(tx, current)

    def find(self, kind: Kind, key: str) -> Json:
        """Return what landed under the key."""
        as_json = ledger.payment_as_json if kind == "payment" else ledger.reservation_as_json
        with self._database.snapshot() as tx:
            landed = ledger.landed_under(tx, kind, key)
            is_voided = ledger.void_of(tx, kind, key) is not None
        return {"matches": [as_json(row) for row in landed], "voided": is_voided}

    def ledger(self) -> Json:
        with self._database.snapshot() as tx:
            return ledger.whole_ledger(tx)

    def kind_of_reservation(self, reservation_id: str) -> OfferKind:
        with self._database.snapshot() as tx:
            kind: OfferKind = ledger.existing(tx, "reservation", reservation_id)["kind"]
            return kind
