"""Cancellations: for the fee that the offer named, visible to queries, and once for each key."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from sagagraph.domains.travel.provider.receipts import CancellationReceipt, Reservation
from sagagraph.testing.providers.check import Checks
from sagagraph.testing.providers.trial import Trial, expect, refusal_of

CANCELLATIONS: Final = Checks()


@CANCELLATIONS.add()
async def a_cancellation_costs_what_the_offer_said(trial: Trial) -> None:
    terms = (await trial.offer()).cancellation
    booked, receipt = await _booked_and_cancelled(trial)
    expect(receipt.reservation_id == booked.id, f"the receipt is for {receipt.reservation_id}, not for {booked.id}")
    is_free = terms.free_until is not None and receipt.created_at <= terms.free_until
    due = Decimal(0) if is_free else terms.fee
    expect(isinstance(receipt.fee, Decimal), f"the fee is a {type(receipt.fee).__name__}, not a Decimal")
    expect(receipt.fee == due, f"cancelling cost {receipt.fee}, and the offer said {due}")


@CANCELLATIONS.add()
async def a_cancelled_booking_is_found_undone(trial: Trial) -> None:
    booked, receipt = await _booked_and_cancelled(trial)
    found = await trial.expect_one(trial.key(), booked.id)
    expect(found.state == "cancelled", f"`find` says {found.state} of {booked.id}, which was cancelled")
    fee = found.fee if isinstance(found, Reservation) else None
    expect(fee == receipt.fee, f"`find` says that cancelling cost {fee}, and the receipt {receipt.fee}")


@CANCELLATIONS.add(promise="dedup")
async def a_key_cancels_once(trial: Trial) -> None:
    booked, first = await _booked_and_cancelled(trial)
    second = await trial.cancel(booked.id, trial.key("C1"))
    expect(second == first, f"the same cancellation under the same key gave {first!r}, then {second!r}")
    found = await trial.expect_one(trial.key(), booked.id)
    fee = found.fee if isinstance(found, Reservation) else None
    expect(fee == first.fee, f"cancelling twice under one key cost {fee}, where {first.fee} was due once")
    books = await trial.books()
    if books is not None:
        rows = [row.id for row in books.cancellations if row.reservation_id == booked.id]
        expect(len(rows) == 1, f"the books have {len(rows)} cancellations of {booked.id}, under one key")


@CANCELLATIONS.add(of_each_kind=False)
async def an_unknown_reservation_is_refused(trial: Trial) -> None:
    unknown = f"{trial.name}-nobody-made-it"
    await refusal_of("cancelling what nobody reserved", trial.cancel(unknown, trial.key("C1")))


async def _booked_and_cancelled(trial: Trial) -> tuple[Reservation, CancellationReceipt]:
    booked = await trial.book(await trial.offer(), trial.key())
    return booked, await trial.cancel(booked.id, trial.key("C1"))
