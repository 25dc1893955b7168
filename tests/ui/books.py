"""What a reservation service has on its books, asked of itself: the judge of what a page says was booked or undone."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import httpx2

PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Books:
    """Of one saga, and of those that change or undo it."""

    confirmed: int
    cancelled: int
    captured: int
    refunded: int
    repeated: tuple[str, ...]
    """Keys by which something landed more than once."""


def books_of(url: str, saga_id: str) -> Books:
    ledger = httpx2.get(f"{url}/ledger", timeout=60).json()
    own = {
        name: [row for row in ledger[name] if str(row.get("saga_id") or "").startswith(saga_id)]
        for name in ("reservations", "payments", "cancellations", "refunds")
    }
    states = Counter(row["state"] for name in ("reservations", "payments") for row in own[name])
    keys = Counter((name, row["idempotency_key"]) for name, rows in own.items() for row in rows)
    repeated = tuple(key for (_name, key), landed in keys.items() if landed > 1)
    return Books(states["confirmed"], states["cancelled"], states["captured"], states["refunded"], repeated)


def order(url: str, saga_id: str, fault: str | int, **call: Any) -> None:
    """At a call of this saga only: others on the same service are not struck."""
    told = httpx2.post(f"{url}/faults", timeout=60, json={"saga_id": saga_id, "fault": fault, "nth": 1, **call})
    assert told.status_code == 201, told.text


def until_confirmed(url: str, saga_id: str, reservations: int) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while books_of(url, saga_id).confirmed < reservations:
        assert time.monotonic() < give_up_at, "the call that hung never landed"
        time.sleep(0.1)
