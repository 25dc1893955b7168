"""What the provider's ledger has to say of a saga: the plan's legs at the plan's prices, paid once; or nothing at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

from sagagraph.domains.travel.provider.provider import ReservationProvider
from sagagraph.domains.travel.provider.receipts import Ledger, PaymentRow, Reservation, ReservationRow


async def faults(provider: ReservationProvider, saga_id: str, plan: Mapping[str, Any] | None) -> list[str]:
    """`plan`: of a saga that committed; None where nothing may stand. Empty where the ledger agrees."""
    ledger = await provider.ledger()
    rows = [row for row in ledger.reservations if row.saga_id == saga_id]
    payments = [(row.state, row.amount) for row in ledger.payments if row.saga_id == saga_id]
    if plan is None:
        return [f"left {len(rows)} reservations and {len(payments)} payments"] if rows or payments else []
    found = [f"{row.id} is {row.state}" for row in rows if row.state != "confirmed"]
    booked = sorted([await _booked(provider, row) for row in rows])
    planned = sorted((leg["offer"]["offer_id"], _amount(leg["offer"]["price"])) for leg in plan["legs"])
    if booked != planned:
        found.append(f"booked {booked}, and planned {planned}")
    if payments != [("captured", _amount(plan["total"]))]:
        found.append(f"paid {payments}, and the plan costs {plan['total']}")
    return found


def strangers(ledger: Ledger, committed: Collection[str]) -> list[str]:
    """What stands in the ledger beside the bookings of these sagas: where none turned back, nothing."""
    rows: list[ReservationRow | PaymentRow] = [*ledger.reservations, *ledger.payments]
    counts = {
        "cancellations": len(ledger.cancellations),
        "refunds": len(ledger.refunds),
        "voids": len(ledger.voids),
        "reservations and payments of nobody": sum(row.saga_id not in committed for row in rows),
    }
    return [f"{count} {name}" for name, count in counts.items() if count]


async def _booked(provider: ReservationProvider, row: ReservationRow) -> tuple[str, Decimal]:
    """Which offer it is, as the provider finds it by its key: a row says the price alone."""
    landed = (await provider.find(row.kind, row.idempotency_key or "")).matches
    offers = [each.offer.offer_id for each in landed if isinstance(each, Reservation) and each.id == row.id]
    return " ".join(offers), row.price


def _amount(value: Any) -> Decimal:
    return Decimal(str(value))
