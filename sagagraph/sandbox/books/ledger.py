"""Ledger: one row for every call that landed, never removed."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime
from typing import Any, Literal

from sagagraph.sandbox.books.calls import Kind, Labels, VoidCall, unknown
from sagagraph.sandbox.clock import as_text
from sagagraph.sandbox.money import CURRENCY, Cents, as_amount

Book = Literal["reservations", "payments", "cancellations", "refunds"]

_PREFIXES: dict[Book, str] = {"reservations": "R", "payments": "P", "cancellations": "C", "refunds": "F"}
_SHOWN_COLUMNS = {
    "reservations": "id, kind, state, idempotency_key, saga_id, operation_id, price, fee, created_at",
    "payments": "id, state, idempotency_key, saga_id, operation_id, amount, created_at",
    "cancellations": "id, reservation_id, idempotency_key, saga_id, operation_id, fee, created_at",
    "refunds": "id, payment_id, idempotency_key, saga_id, operation_id, amount, created_at",
    "voids": "key, kind, outcome, saga_id, operation_id, created_at",
}
_WITH_CURRENCY = frozenset({"reservations", "payments"})
_MONEY_COLUMNS = frozenset({"price", "fee", "amount"})
_COLUMNS_OF_RESERVATIONS = ("id", "kind", "state", "offer", "price", "fee", "created_at", "idempotency_key")
_COLUMNS_OF_PAYMENTS = ("id", "state", "amount", "created_at", "idempotency_key")


def enter(tx: sqlite3.Connection, book: Book, labels: Labels, at: datetime, **columns: object) -> sqlite3.Row:
    """Write a row and return it with its new id, which counts up from the highest row id: rows are never removed."""
    number = tx.execute(f"SELECT coalesce(max(rowid), 0) + 1 AS next FROM {book}").fetchone()["next"]  # noqa: S608 - our own names
    row = {
        "id": f"{_PREFIXES[book]}-{number:05}",
        **columns,
        "idempotency_key": labels.idempotency_key,
        "saga_id": labels.saga_id,
        "operation_id": labels.operation_id,
        "created_at": as_text(at),
    }
    names, places = ", ".join(row), ", ".join(f":{name}" for name in row)
    query = f"INSERT INTO {book} ({names}) VALUES ({places}) RETURNING *"  # noqa: S608 - our own names
    entered: sqlite3.Row = tx.execute(query, row).fetchone()
    return entered


def enter_cancellation(tx: sqlite3.Connection, reservation_id: str, fee: Cents, labels: Labels, at: datetime) -> sqlite3.Row:
    """Mark the reservation as cancelled too, and charge the fee to it."""
    tx.execute("UPDATE reservations SET state = 'cancelled', fee = fee + ? WHERE id = ?", (fee, reservation_id))
    return enter(tx, "cancellations", labels, at, reservation_id=reservation_id, fee=fee)


def enter_refund(tx: sqlite3.Connection, payment_id: str, amount: Cents, labels: Labels, at: datetime) -> sqlite3.Row:
    """Mark the payment as refunded too."""
    tx.execute("UPDATE payments SET state = 'refunded' WHERE id = ?", (payment_id,))
    return enter(tx, "refunds", labels, at, payment_id=payment_id, amount=amount)


def enter_void(tx: sqlite3.Connection, call: VoidCall, outcome: str, fee: Cents, at: datetime) -> None:
    tx.execute(
        "INSERT INTO voids VALUES (?, ?, ?, ?, ?, ?, ?)",
        (call.kind, call.key, outcome, fee, call.labels.saga_id, call.labels.operation_id, as_text(at)),
    )


def existing(tx: sqlite3.Connection, what: Literal["reservation", "payment"], row_id: str) -> sqlite3.Row:
    """Return the row with this id. Raises `ServiceError` if there is none."""
    row: sqlite3.Row | None = tx.execute(f"SELECT * FROM {what}s WHERE id = ?", (row_id,)).fetchone()  # noqa: S608 - our own names
    if row is None:
        raise unknown(what, row_id)
    return row


def refunded_of(tx: sqlite3.Connection, payment_id: str) -> Cents:
    row = tx.execute("SELECT coalesce(sum(amount), 0) AS sum FROM refunds WHERE payment_id = ?", (payment_id,)).fetchone()
    refunded: Cents = row["sum"]
    return refunded


def landed_under(tx: sqlite3.Connection, kind: Kind, key: str) -> list[sqlite3.Row]:
    """Return the reservations of this kind, or the payments, that landed under the key, in order of landing."""
    if kind == "payment":
        return tx.execute("SELECT * FROM payments WHERE idempotency_key = ? ORDER BY rowid", (key,)).fetchall()
    query = "SELECT * FROM reservations WHERE idempotency_key = ? AND kind = ? ORDER BY rowid"
    return tx.execute(query, (key, kind)).fetchall()


def is_key_of_undoing(tx: sqlite3.Connection, kind: Kind, key: str) -> bool:
    """Tell whether a cancellation or refund of this kind landed under the key."""
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
    shown = {column: row[column] for column in _COLUMNS_OF_RESERVATIONS}
    return _with_money(shown) | {"offer": json.loads(row["offer"]), "currency": CURRENCY}


def payment_as_json(row: sqlite3.Row) -> dict[str, Any]:
    return _with_money({column: row[column] for column in _COLUMNS_OF_PAYMENTS}) | {"currency": CURRENCY}


def whole_ledger(tx: sqlite3.Connection) -> dict[str, list[dict[str, Any]]]:
    ledger: dict[str, list[dict[str, Any]]] = {}
    for book, columns in _SHOWN_COLUMNS.items():
        more = {"currency": CURRENCY} if book in _WITH_CURRENCY else {}
        rows = tx.execute(f"SELECT {columns} FROM {book} ORDER BY rowid")  # noqa: S608 - our own names
        ledger[book] = [_with_money(dict(row)) | more for row in rows]
    return ledger


def _with_money(columns: dict[str, Any]) -> dict[str, Any]:
    return {name: as_amount(value) if name in _MONEY_COLUMNS else value for name, value in columns.items()}
