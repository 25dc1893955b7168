"""Landing: what an effect does. Checks come first, then writes; never half of it.

Every function runs inside the caller's transaction, which is committed whether it returns or refuses: a refusal may need to be
remembered.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, Final

from sagagraph.sandbox.books import calls as c
from sagagraph.sandbox.books import ledger, stock
from sagagraph.sandbox.books.faults import Fault, FaultRule
from sagagraph.sandbox.clock import as_text
from sagagraph.sandbox.money import CURRENCY, Cents, as_amount
from sagagraph.sandbox.world.offers import Offer
from sagagraph.sandbox.world.questions import find_offer

ANOTHER_FEE: Final[Cents] = 25_00
_MOMENTS: Final = ("departs", "arrives")
_DAYS: Final = ("check_in", "check_out")


def mistaken(offer: Offer, fault: Fault, later: timedelta) -> Offer:
    """Return the offer as it is booked by mistake; any other fault changes nothing. `later`: how much later a retimed journey
    ends.
    """
    match fault:
        case "retimed" if "arrives" in offer.facts:
            arrives = datetime.fromisoformat(offer.facts["arrives"]) + later
            minutes = offer.facts["duration_minutes"] + later // timedelta(minutes=1)
            return replace(offer, facts={**offer.facts, "arrives": arrives.isoformat(), "duration_minutes": minutes})
        case "other_night":
            return replace(offer, facts={**offer.facts, **_a_day_later(offer.facts)})
        case "other_class":
            facts = offer.facts
            other = {"stars": facts["stars"] % 5 + 1} if "stars" in facts else {"stops": facts.get("stops", 0) + 1}
            return replace(offer, facts={**facts, **other})
        case "other_name":
            name = "name" if "name" in offer.facts else "number"
            return replace(offer, facts={**offer.facts, name: f"{offer.facts[name]}9"})
        case "double_charge":
            return replace(offer, rate=2 * offer.rate)
        case _:
            return offer


def _a_day_later(facts: Any) -> dict[str, str]:
    a_day = timedelta(days=1)
    moments = {name: (datetime.fromisoformat(facts[name]) + a_day).isoformat() for name in _MOMENTS if name in facts}
    days = {name: (date.fromisoformat(facts[name]) + a_day).isoformat() for name in _DAYS if name in facts}
    return moments | days


Json = dict[str, Any]


def land(tx: sqlite3.Connection, call: c.KeyedCall, now: datetime, *, market_moves: bool, rule: FaultRule | None = None) -> Json:
    fault = rule.fault if rule else None
    match call:
        case c.BookCall():
            return _book(tx, call, now, rule, market_moves=market_moves)
        case c.CancelCall():
            return _cancel(tx, call, now, fault)
        case c.CaptureCall():
            for reservation_id in call.reservation_ids:
                ledger.existing(tx, "reservation", reservation_id)
            amount = 2 * call.amount if fault == "double_charge" else call.amount
            columns = {"state": "captured", "amount": amount, "reservations": json.dumps(call.reservation_ids)}
            return ledger.payment_as_json(ledger.enter(tx, "payments", call.labels, now, **columns))
        case c.RefundCall():
            return _refund(tx, call, now, fault)


def _book(tx: sqlite3.Connection, call: c.BookCall, now: datetime, rule: FaultRule | None, *, market_moves: bool) -> Json:
    offer = find_offer(call.offer_id)
    if offer is None or offer.kind != call.kind:
        raise c.unknown("offer", call.offer_id)
    offer = stock.as_it_stands(tx, offer.for_quantity(call.quantity), now, market_moves=market_moves)
    left = stock.left_of(tx, offer)
    if offer.starts <= now:
        raise c.refusal("date_past", f"{call.offer_id} started at {offer.starts.isoformat()}")
    if left < call.quantity:
        raise c.refusal("sold_out", f"{call.offer_id} has {left} left, not {call.quantity}")
    if call.expected_price not in (None, offer.price):
        price = as_amount(offer.price)
        raise c.refusal("price_changed", f"{call.offer_id} costs {price} {CURRENCY} now", price=price)
    stock.take(tx, offer)
    offer = mistaken(offer, rule.fault, rule.duration) if rule else offer
    row = ledger.enter(
        tx,
        "reservations",
        call.labels,
        now,
        kind=offer.kind,
        state="confirmed",
        offer=json.dumps(offer.as_json(left=left - call.quantity)),
        units=json.dumps([each.unit for each in offer.stock]),
        quantity=offer.quantity,
        price=offer.price,
        fee=0,
        free_until=offer.free_until and as_text(offer.free_until),
        cancellation_fee=offer.cancellation_fee,
    )
    return ledger.reservation_as_json(row)


def _cancel(tx: sqlite3.Connection, call: c.CancelCall, now: datetime, fault: Fault | None) -> Json:
    row = ledger.existing(tx, "reservation", call.reservation_id)
    fee = _cancellation_fee(row, now) + (ANOTHER_FEE if fault == "other_fee" else 0)
    cancellation = _undo_reservation(tx, row, fee, call.labels, now)
    is_first = row["state"] == "confirmed"
    return {
        "id": cancellation["id"],
        "reservation_id": row["id"],
        "fee": as_amount(fee),
        "refund": as_amount(row["price"] - fee if is_first else 0),
        "currency": CURRENCY,
        "created_at": cancellation["created_at"],
    }


def _cancellation_fee(row: sqlite3.Row, now: datetime) -> Cents:
    """Return the fee: nothing until `free_until`, but only once: a second cancellation always costs a fee."""
    is_free = row["state"] == "confirmed" and row["free_until"] is not None and as_text(now) <= row["free_until"]
    fee: Cents = row["cancellation_fee"]
    return 0 if is_free else fee


def _undo_reservation(tx: sqlite3.Connection, row: sqlite3.Row, fee: Cents, labels: c.Labels, now: datetime) -> sqlite3.Row:
    if row["state"] == "confirmed":
        stock.give_back(tx, json.loads(row["units"]), row["quantity"])
    return ledger.enter_cancellation(tx, row["id"], fee, labels, now)


def _refund(tx: sqlite3.Connection, call: c.RefundCall, now: datetime, fault: Fault | None) -> Json:
    row = ledger.existing(tx, "payment", call.payment_id)
    amount = row["amount"] if call.amount is None else call.amount
    if amount > row["amount"]:
        raise c.refusal("invalid", f"amount: {as_amount(amount)} is more than {call.payment_id} captured")
    amount = amount // 2 if fault == "partial_refund" else amount
    refund = ledger.enter_refund(tx, row["id"], amount, call.labels, now)
    return {
        "id": refund["id"],
        "payment_id": row["id"],
        "amount": as_amount(amount),
        "currency": CURRENCY,
        "created_at": refund["created_at"],
    }


def withdraw(tx: sqlite3.Connection, reservation_id: str, now: datetime) -> Json:
    """Cancel it on the provider's side: a train does not run, a hotel is overbooked. Its place is not sold again; repeatable.

    It charges nothing, and has no customer's key or label.
    """
    row = ledger.existing(tx, "reservation", reservation_id)
    if row["state"] == "confirmed":
        stock.use_up(tx, json.loads(row["units"]))
        ledger.enter_cancellation(tx, reservation_id, 0, c.Labels(), now)
    return ledger.reservation_as_json(ledger.existing(tx, "reservation", reservation_id))


def void(tx: sqlite3.Connection, call: c.VoidCall, now: datetime) -> Json:
    """Undo what landed under the key and refuse everything that comes later; a repetition returns the first answer."""
    if row := ledger.void_of(tx, call.kind, call.key):
        return {"key": call.key, "outcome": row["outcome"], "fee": as_amount(row["fee"])}
    landed = ledger.landed_under(tx, call.kind, call.key)
    if not landed and ledger.is_key_of_undoing(tx, call.kind, call.key):
        raise c.refusal("key_reused", f"{call.key!r} is the key of a cancellation or refund, which cannot be undone")
    labels, fee = replace(call.labels, idempotency_key=call.key), 0
    for row in landed:
        if call.kind == "payment":  # what has not been refunded yet; the bank charges nothing for it
            rest = row["amount"] - ledger.refunded_of(tx, row["id"])
            if rest > 0:
                ledger.enter_refund(tx, row["id"], rest, labels, now)
        elif row["state"] != "cancelled":
            fee += (due := _cancellation_fee(row, now))
            _undo_reservation(tx, row, due, labels, now)
    outcome = "cancelled" if landed else "tombstone"
    ledger.enter_void(tx, call, outcome, fee, now)
    return {"key": call.key, "outcome": outcome, "fee": as_amount(fee)}
