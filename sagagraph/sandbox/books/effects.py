"""Effects: how a call is counted on arrival, which checks it passes before it lands, and what is remembered of it.

The checks are, in this order: a void of its key, the memory of its key, a recorded refusal, its deadline. A call with the key of
one that landed is thus answered before it can be refused, which is what makes a refusal final: nothing landed under its key.
"""

from __future__ import annotations

import sqlite3
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from sagagraph.sandbox.books import calls as c
from sagagraph.sandbox.books import keys, ledger, stock
from sagagraph.sandbox.books.database import Database
from sagagraph.sandbox.books.faults import Fault, FaultFile, FaultOrders, FaultRule
from sagagraph.sandbox.books.landing import land, void, withdraw
from sagagraph.sandbox.clock import Clock, as_text
from sagagraph.sandbox.settings import SandboxSettings
from sagagraph.sandbox.world.questions import find_offer

_FINAL_CODES = frozenset({"refused", "sold_out", "price_changed"})


@dataclass(frozen=True)
class Arrival:
    """Arrival: what became of a call when it arrived."""

    rule: FaultRule | None = None
    """The fault to apply to it."""
    place: int | None = None
    """Its place among the calls in progress; None: it is carried out at once, or has no key that anybody could ask about."""

    @property
    def fault(self) -> Fault | None:
        return self.rule.fault if self.rule else None


class Effects:
    """Effects of the service. May be used from any thread, and by several processes on one file: every method is one
    transaction.
    """

    def __init__(self, database: Database, clock: Clock, faults: FaultFile, settings: SandboxSettings) -> None:
        self._database = database
        self._clock = clock
        self._faults = faults
        self._settings = settings
        self.orders = FaultOrders()
        self._owner = uuid.uuid4().hex

    # -- arriving ----------------------------------------------------------------------------------------------------

    def count(self, kind: c.Kind, name: c.CallName) -> FaultRule | None:
        """Count a call that has no effect."""
        if ordered := self.orders.take(kind, name, None):
            return ordered
        if not self._faults.concerns(kind, name):
            return None
        with self._database.transaction() as tx:
            return self._faults.take(tx, kind, name)

    def arrive(self, call: c.Call) -> Arrival:
        """Count the call; a late one is scheduled, and a hanging one is in progress from now on."""
        ordered = self.orders.take(call.kind, call.name, call.labels.saga_id)
        if ordered is None and not self._faults.concerns(call.kind, call.name):
            return Arrival()
        with self._database.transaction() as tx:
            rule = ordered or self._faults.take(tx, call.kind, call.name)
            if rule is not None and rule.fault == "late":
                keys.schedule_late_call(tx, call, self._clock.now(tx) + rule.duration)
            key = self._deduplicated_key(call)
            if rule is not None and rule.fault == "hang" and key is not None:
                until = self._clock.real() + rule.duration
                return Arrival(rule, keys.enter_under_way(tx, key, self._owner, until=until))
            return Arrival(rule)

    def give_up_calls_under_way(self) -> None:
        with self._database.transaction() as tx:
            keys.leave_all_under_way(tx, self._owner)

    # -- landing -----------------------------------------------------------------------------------------------------

    def carry_out(self, call: c.Call, arrival: Arrival) -> c.Answer:
        """Land the call, or say why it cannot land."""
        with self._database.transaction() as tx:
            if arrival.place is not None:
                keys.leave_under_way(tx, arrival.place)
            return self._settle(tx, call, arrival)

    def land_late_call(self) -> timedelta | None:
        """Carry out the late call that has been due the longest, if there is one.

        Returns how long nothing will be due: zero after a landing, None if no call is scheduled.
        """
        with self._database.snapshot() as tx:
            due_at, now = keys.first_late_call_due(tx), self._clock.now(tx)
        if due_at is None:
            return None
        if due_at > now:
            return due_at - now
        with self._database.transaction() as tx:
            call = keys.take_late_call(tx, now)
            if call is not None:  # Another process may have been faster.
                self._settle(tx, call, Arrival())
        return timedelta(0)

    def withdraw(self, reservation_id: str) -> dict[str, object]:
        """Do what the provider itself does to a reservation: this is not a call, so no fault applies to it."""
        with self._database.transaction() as tx:
            return withdraw(tx, reservation_id, self._clock.now(tx))

    def _settle(self, tx: sqlite3.Connection, call: c.Call, arrival: Arrival) -> c.Answer:
        now = self._clock.now(tx)
        try:
            if not isinstance(call, c.VoidCall):
                return self._replay(tx, call, arrival, now) or self._land(tx, call, arrival, now)
            if not self._settings.keeps("void"):
                raise c.ServiceError(404, "not_offered", "this service does not offer to void by key")
            self._check_due(call, arrival, now)
            return c.Answer(200, void(tx, call, now))
        except c.ServiceError as error:
            key = call.labels.idempotency_key
            if error.code in _FINAL_CODES and key is not None and self._settings.keeps("refusals"):
                keys.remember_refusal(tx, key, error.answer)
            return error.answer

    def _replay(self, tx: sqlite3.Connection, call: c.KeyedCall, arrival: Arrival, now: datetime) -> c.Answer | None:
        """Return what the service already has on record for the call's key: nothing, the first answer, or a refusal (raised)."""
        key = call.labels.idempotency_key
        if key is None:
            return None
        if ledger.void_of(tx, call.kind, key):
            raise c.refusal("voided", f"the key {key!r} was voided")
        return self._remembered(tx, call, arrival, now) or keys.recorded_refusal(tx, key)

    def _remembered(self, tx: sqlite3.Connection, call: c.KeyedCall, arrival: Arrival, now: datetime) -> c.Answer | None:
        key = self._deduplicated_key(call)
        if key is None:
            return None
        if keys.is_under_way(tx, key, before=arrival.place, real_now=self._clock.real()):
            raise c.ServiceError(409, "in_progress", f"a call with the key {key!r} is still under way")
        retention_s = self._settings.key_retention_s
        since = None if retention_s is None else now - timedelta(seconds=retention_s)
        first = keys.first_answer(tx, key, since=since)
        if first is None:
            return None
        if first.fingerprint != c.fingerprint(call):
            raise c.refusal("key_reused", f"the key {key!r} belongs to another call")
        return c.Answer(200, first.body, is_replay=True)

    def _land(self, tx: sqlite3.Connection, call: c.KeyedCall, arrival: Arrival, now: datetime) -> c.Answer:
        self._check_due(call, arrival, now)
        if arrival.fault == "price_up" and isinstance(call, c.BookCall) and (offer := find_offer(call.offer_id)):
            stock.raise_prices(tx, [offer])
        answer = c.Answer(201, land(tx, call, now, market_moves=self._settings.market_moves, rule=arrival.rule))
        if key := self._deduplicated_key(call):
            keys.remember_answer(tx, key, c.fingerprint(call), answer.body, now)
        return answer

    def _check_due(self, call: c.Call, arrival: Arrival, now: datetime) -> None:
        """Raise for a call that is too late, or refused by a fault."""
        deadline = call.labels.deadline
        if deadline is not None and now > deadline and self._settings.keeps("deadline"):
            raise c.refusal("deadline_passed", f"the deadline was {deadline.isoformat()}; it is {as_text(now)}")
        if arrival.fault == "refuse":
            raise c.refusal("refused", "the provider does not accept this")

    def _deduplicated_key(self, call: c.Call) -> str | None:
        """Return the key under which repetitions of the call are recognised."""
        return call.labels.idempotency_key if self._settings.keeps("dedup") else None
