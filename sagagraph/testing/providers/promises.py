"""Promises besides remembered keys: voids, deadlines and final refusals, each checked if it is declared."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from sagagraph.domains.travel.provider.receipts import Reservation
from sagagraph.testing.providers.check import Checks
from sagagraph.testing.providers.trial import A_MINUTE, Trial, expect, refusal_of

PROMISES: Final = Checks()


@PROMISES.add(promise="void")
async def a_void_of_nothing_leaves_a_tombstone(trial: Trial) -> None:
    receipt = await trial.void(trial.key())
    said = (receipt.key, receipt.outcome, receipt.fee)
    due = (trial.key(), "tombstone", Decimal(0))
    expect(said == due, f"a void of what never landed says {said}, where {due} is due")
    expect((await trial.found(trial.key())).voided, "`find` does not say that the key is voided")
    await refusal_of("a booking under a voided key", trial.book(await trial.offer(), trial.key()))
    await trial.expect_nothing_landed(trial.key(), "a booking under a voided key was refused")


@PROMISES.add(promise="void")
async def a_void_undoes_what_landed(trial: Trial) -> None:
    offer = await trial.offer()
    booked = await trial.book(offer, trial.key())
    receipt = await trial.void(trial.key())
    expect(receipt.outcome == "cancelled", f"a void of {booked.id}, which had landed, says {receipt.outcome!r}, not 'cancelled'")
    await trial.expect_nothing_stands(trial.key(), f"{booked.id} was voided")
    found = await trial.expect_one(trial.key(), booked.id)
    fee = found.fee if isinstance(found, Reservation) else None
    expect(fee == receipt.fee, f"`find` says that the void cost {fee}, and its receipt {receipt.fee}")
    await refusal_of("a booking under a voided key", trial.book(offer, trial.key()))
    await trial.expect_nothing_stands(trial.key(), "a booking under a voided key was refused")


@PROMISES.add(promise="void")
async def a_void_repeated_changes_nothing(trial: Trial) -> None:
    booked = await trial.book(await trial.offer(), trial.key())
    first, second = await trial.void(trial.key()), await trial.void(trial.key())
    expect(second == first, f"a void gave {first!r}, and repeated {second!r}")
    found = await trial.expect_one(trial.key(), booked.id)
    fee = found.fee if isinstance(found, Reservation) else None
    expect(fee == first.fee, f"voiding twice cost {fee}, where {first.fee} was due once")


@PROMISES.add(promise="void", of_each_kind=False)
async def a_void_holds_for_payments(trial: Trial) -> None:
    booked = await trial.book(await trial.offer(), trial.key())
    paid = await trial.capture(booked, trial.key("pay"))
    await trial.void(trial.key("pay"), "payment")
    await trial.expect_nothing_stands(trial.key("pay"), f"{paid.id} was voided", "payment")
    nothing = await trial.void(trial.key("again"), "payment")
    expect(nothing.outcome == "tombstone", f"a void of what was never paid says {nothing.outcome!r}, not 'tombstone'")
    await refusal_of("a payment under a voided key", trial.capture(booked, trial.key("again")))
    await trial.expect_nothing_landed(trial.key("again"), "a payment under a voided key was refused", "payment")


@PROMISES.add(promise="deadline")
async def a_booking_in_time_is_taken(trial: Trial) -> None:
    deadline = await trial.provider.now() + A_MINUTE
    booked = await trial.book(await trial.offer(), trial.key(), deadline=deadline)
    await trial.expect_one(trial.key(), booked.id)


@PROMISES.add(promise="deadline")
async def a_booking_that_comes_late_is_refused(trial: Trial) -> None:
    deadline = await trial.past()
    await refusal_of("a booking after its deadline", trial.book(await trial.offer(), trial.key(), deadline=deadline))
    await trial.expect_nothing_landed(trial.key(), "a booking after its deadline was refused")


@PROMISES.add(promise="deadline")
async def a_cancellation_that_comes_late_is_refused(trial: Trial) -> None:
    booked = await trial.book(await trial.offer(), trial.key())
    deadline = await trial.past()
    await refusal_of("a cancellation after its deadline", trial.cancel(booked.id, trial.key("C1"), deadline=deadline))
    found = await trial.expect_one(trial.key(), booked.id)
    expect(found.state == "confirmed", f"a cancellation after its deadline was refused, and yet {booked.id} is {found.state}")


@PROMISES.add(promise="deadline", of_each_kind=False)
async def a_payment_that_comes_late_is_refused(trial: Trial) -> None:
    booked = await trial.book(await trial.offer(), trial.key())
    late = await trial.past()
    await refusal_of("a payment after its deadline", trial.capture(booked, trial.key("late"), deadline=late))
    await trial.expect_nothing_landed(trial.key("late"), "a payment after its deadline was refused", "payment")


@PROMISES.add(promise="deadline", of_each_kind=False)
async def a_refund_that_comes_late_is_refused(trial: Trial) -> None:
    booked = await trial.book(await trial.offer(), trial.key())
    paid = await trial.capture(booked, trial.key("pay"))
    late = await trial.past()
    await refusal_of("a refund after its deadline", trial.refund(paid.id, trial.key("refund"), deadline=late))
    found = await trial.expect_one(trial.key("pay"), paid.id, "payment")
    expect(found.state == "captured", f"a refund after its deadline was refused, and yet {paid.id} is {found.state}")


@PROMISES.add(promise="refusals_final")
async def a_refusal_stays_one(trial: Trial) -> None:
    offer = await trial.offer()
    await refusal_of("a booking at another price", trial.book(offer, trial.key(), price=offer.price - Decimal("0.01")))
    await refusal_of("a booking under a key that was refused before", trial.book(offer, trial.key()))
    await trial.expect_nothing_landed(trial.key(), "every call with the key was refused")
