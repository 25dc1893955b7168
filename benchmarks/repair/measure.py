"""How far a trip was changed from how it was first planned, and what that cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.repair.trips import Outcome


@dataclass(frozen=True)
class Change:
    legs: int
    """With another offer than planned."""
    cancelled: int
    """Reservations."""
    minutes: int
    """By which departures, arrivals, check-ins and check-outs moved, all added up."""
    fees: float
    seconds: float
    calls: int
    """To the provider, bookings and cancellations included."""


def change_of(outcome: Outcome) -> dict[str, Any]:
    before = outcome.first_plan["legs"]
    after = outcome.last_plan["legs"] if outcome.last_plan else before  # a new saga may find no plan at all
    cancelled = outcome.ledger.cancellations
    changed = Change(
        legs=sum(was["offer"]["offer_id"] != now["offer"]["offer_id"] for was, now in zip(before, after, strict=True)),
        cancelled=len(cancelled),
        minutes=sum(_moved(was["offer"], now["offer"]) for was, now in zip(before, after, strict=True)),
        fees=float(sum((row.fee for row in cancelled), Decimal(0))),
        seconds=outcome.meter.seconds,
        calls=outcome.meter.calls,
    )
    return asdict(changed)


def _moved(was: dict[str, Any], now: dict[str, Any]) -> int:
    return sum(abs(ended - begun) for begun, ended in zip(_minutes(was), _minutes(now), strict=True))


def _minutes(offer: dict[str, Any]) -> tuple[int, int]:
    if offer["kind"] == "hotel":
        first, last = (date.fromisoformat(offer[name]).toordinal() * 1440 for name in ("check_in", "check_out"))
        return first, last
    begins, ends = (int(datetime.fromisoformat(offer[name]).timestamp()) // 60 for name in ("departs", "arrives"))
    return begins, ends
