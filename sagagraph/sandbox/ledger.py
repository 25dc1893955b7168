"""The books: one row for every call that landed, never removed."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sagagraph.sandbox.calls import BookCall, CaptureCall, Kind, Labels, VoidCall
from sagagraph.sandbox.clock import as_text
from sagagraph.sandbox.money import CURRENCY, Cents, as_amount
from sagagraph.sandbox.offers import Offer

_MONEY_COLUMNS = frozenset({"price", "fee", "amount"})
_LEDGER_QUERIES = {
    "reservations": "SELECT id, kind, state, idempotency_key, saga_id, operation_id, price, fee, created_at FROM reservations",
    "payments": "SELECT id, state, idempotency_key, saga_id, operation_id, amount, created_at FROM payments",
    "cancellations": "SELECT id, reservation_id, idempotency_key, saga_id, operation_id, fee, created_at FROM cancellations",
    "refunds": "SELECT id, payment_id, idempotency_key, saga_id, operation_id, amount, created_at FROM refunds",
    "voids": "SELECT key, kind, outcome, saga_id, operation_id, created_at FROM voids",
}
_WITH_CURRENCY = frozenset({"reservations", "payments"})
_PREFIXES = {"reservations": "R", "payments": "P", "cancellations": "C", "refunds": "F"}


@dataclass(frozen=True)
class Entry:
    """Who did it, under which key, and when: what every row says."""

    key: str | None
    saga_id: str | None
    operation_id: str | None
    at: datetime

    @classmethod
    def of(cls, labels: Labels, at: datetime) -> Entry:
        return cls(labels.idempotency_key, labels.saga_id, labels.operation_id, at)

    @property
    def columns(self) -> tuple[str | None, str | None, str | None, str]:
        return self.key, self.saga_id, self.operation_id, as_text(self.at)


def enter_reservation(tx: sqlite3.Connection, call: BookCall, offer: Offer, left: int, at: datetime) -> sqlite3.Row:
    reservation_id = _next_id(tx, "reservations")
    tx.execute(
        "INSERT INTO reservations VALUES (?, ?, 'confirmed', ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)",
        (
            reservation_id,
            offer.kind,
            json.dumps(offer.as_json(left=left)),
            json.dumps([stock.unit for stock in offer.stock]),
            offer.quantity,
            offer.price,
            offer.free_until and as_text(offer.free_until),
            offer.cancellation_fee,
            *Entry.of(call.labels, at).columns,
        ),
    )
    return _existing(tx, "reservations", reservation_id)


def enter_cancellation(tx: sqlite3.Connection, reservation_id: str, fee: Cents, entry: Entry) -> str:
    """Marks the reservation as well, and charges the fee to it."""
    cancellation_id = _next_id(tx, "cancellations")
    tx.execute("INSERT INTO cancellations VALUES (?, ?, ?, ?, ?, ?, ?)", (cancellation_id, reservation_id, fee, *entry.columns))
    tx.execute("UPDATE reservations SET state = 'cancelled', fee = fee + ? WHERE id = ?", (fee, reservation_id))
    return cancellation_id


def enter_withdrawal(tx: sqlite3.Connection, reservation_id: str, at: datetime) -> None:
    """The provider's own cancellation: it charges nothing, and no customer's key or label stands at it."""
    enter_cancellation(tx, reservation_id, 0, Entry(None, None, None, at))


def enter_payment(tx: sqlite3.Connection, call: CaptureCall, at: datetime) -> sqlite3.Row:
    payment_id = _next_id(tx, "payments")
    tx.execute(
        "INSERT INTO payments VALUES (?, 'captured', ?, ?, ?, ?, ?, ?)",
        (payment_id, call.amount, json.dumps(call.reservation_ids), *Entry.of(call.labels, at).columns),
    )
    return _existing(tx, "payments", payment_id)


def enter_refund(tx: sqlite3.Connection, payment_id: str, amount: Cents, entry: Entry) -> str:
    """Marks the payment as well."""
    refund_id = _next_id(tx, "refunds")
    tx.execute("INSERT INTO refunds VALUES (?, ?, ?, ?, ?, ?, ?)", (refund_id, payment_id, amount, *entry.columns))
    tx.execute("UPDATE payments SET state = 'refunded' WHERE id = ?", (payment_id,))
    return refund_id


def enter_void(tx: sqlite3.Connection, call: VoidCall, outcome: str, fee: Cents, at: datetime) -> None:
    tx.execute(
        "INSERT INTO voids VALUES (?, ?, ?, ?, ?, ?, ?)",
        (call.kind, call.key, outcome, fee, call.labels.saga_id, call.labels.operation_id, as_text(at)),
    )


def reservation(tx: sqlite3.Connection, reservation_id: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = tx.execute("SELECT * FROM reservations WHERE id = ?", (reservation_id,)).fetchone()
    return row


def payment(tx: sqlite3.Connection, payment_id: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = tx.execute("SELECT * FROM payments WHERE id = ?", (payment_id,)).fetchone()
    return row


def refunded_of(tx: sqlite3.Connection, payment_id: str) -> Cents:
    row = tx.execute("SELECT coalesce(sum(amount), 0) AS sum FROM refunds WHERE payment_id = ?", (payment_id,)).fetchone()
    refunded: Cents = row["sum"]
    return refunded


def landed_under(tx: sqlite3.Connection, kind: Kind, key: str) -> list[sqlite3.Row]:
    """The reservations of this kind, or the payments, that landed under the key, in the order of landing."""
    if kind == "payment":
        return tx.execute("SELECT * FROM payments WHERE idempotency_key = ? ORDER BY rowid", (key,)).fetchall()
    query = "SELECT * FROM reservations WHERE idempotency_key = ? AND kind = ? ORDER BY rowid"
    return tx.execute(query, (key, kind)).fetchall()


def is_key_of_undoing(tx: sqlite3.Connection, kind: Kind, key: str) -> bool:
    """Whether a cancellation or refund of this kind landed under the key."""
    if kind == "payment":
        return tx.execute("SELECT 1 FROM refunds WHERE idempotency_key = ?", (key,)).fetchone() is not None
    query = (
        "SELECT 1 FROM cancellations JOIN reservations ON reservations.id = reservation_id"
        " WHERE cancellations.idempotency_key = ? AND kind = ?"
    )
    return tx.execute(query, (key, kind)).fetchone() is not None


def void_of(tx: sqlite3.Connection, kind: Kind, key: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = tx.execute("SELECT * FROM voids WHERE kind = ? AND key = ?", (kind, key)).fetchone()
    return row


def reservation_as_json(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "kind": row["kind"],
        "state": row["state"],
        "offer": json.loads(row["offer"]),
        "price": as_amount(row["price"]),
        "fee": as_amount(row["fee"]),
        "currency": CURRENCY,
        "created_at": row["created_at"],
        "idempotency_key": row["idempotency_key"],
    }


def payment_as_json(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "state": row["state"],
        "amount": as_amount(row["amount"]),
        "currency": CURRENCY,
        "created_at": row["created_at"],
        "idempotency_key": row["idempotency_key"],
    }


def whole_ledger(tx: sqlite3.Connection) -> dict[str, list[dict[str, Any]]]:
    return {
        book: [_ledger_row(row, book) for row in tx.execute(f"{query} ORDER BY rowid")] for book, query in _LEDGER_QUERIES.items()
    }


def _ledger_row(row: sqlite3.Row, book: str) -> dict[str, Any]:
    shown = {column: as_amount(value) if column in _MONEY_COLUMNS else value for column, value in dict(row).items()}
    return shown | {"currency": CURRENCY} if book in _WITH_CURRENCY else shown


def _existing(tx: sqlite3.Connection, book: str, row_id: str) -> sqlite3.Row:
    row: sqlite3.Row = tx.execute(f"SELECT * FROM {book} WHERE id = ?", (row_id,)).fetchone()  # noqa: S608 - our own names
    return row


def _next_id(tx: sqlite3.Connection, book: str) -> str:
    """Rows are never removed, so the highest row id counts them."""
    row = tx.execute(f"SELECT coalesce(max(rowid), 0) + 1 AS next FROM {book}").fetchone()  # noqa: S608 - our own names
    return f"{_PREFIXES[book]}-{row['next']:05}"
