"""Payments and refunds: of the requested amount, found by their key, and once for each key."""

from __future__ import annotations

from typing import Final

from sagagraph.domains.travel.provider.receipts import Payment, Reservation
from sagagraph.errors import ProviderError, Refused
from sagagraph.testing.providers.check import Checks
from sagagraph.testing.providers.trial import ContractBrokenError, Trial, expect, refusal_of

PAYMENTS: Final = Checks()


@PAYMENTS.add(of_each_kind=False)
async def a_payment_is_found_by_its_key(trial: Trial) -> None:
    before = await trial.found(trial.key("pay"), "payment")
    expect(not before.matches, f"before anything was paid, `find` gives {before!r}")
    booked, paid = await _paid(trial)
    said = (paid.state, paid.amount, paid.currency)
    due = ("captured", booked.price, booked.currency)
    expect(said == due, f"the payment says {said}, where {due} is due")
    expect(paid.created_at.utcoffset() is not None, f"it was made at {paid.created_at}, without an offset")
    found = await trial.expect_one(trial.key("pay"), paid.id, "payment")
    expect(isinstance(found, Payment) and found.state == "captured", f"`find` gives {found!r} for what was paid")


@PAYMENTS.add(of_each_kind=False)
async def a_refund_pays_all_back(trial: Trial) -> None:
    _, paid = await _paid(trial)
    refunded = await trial.refund(paid.id, trial.key("refund"))
    said, due = (refunded.payment_id, refunded.amount), (paid.id, paid.amount)
    expect(said == due, f"the refund says {said}, where {due} is due")
    found = await trial.expect_one(trial.key("pay"), paid.id, "payment")
    expect(found.state == "refunded", f"`find` says {found.state} of {paid.id}, which was refunded")


@PAYMENTS.add(promise="dedup", of_each_kind=False)
async def a_key_captures_once(trial: Trial) -> None:
    booked, first = await _paid(trial)
    second = await trial.capture(booked, trial.key("pay"))
    expect(second == first, f"the same payment under the same key gave {first!r}, then {second!r}")
    await trial.expect_one(trial.key("pay"), first.id, "payment")
    books = await trial.books()
    if books is not None:
        rows = [row.id for row in books.payments if trial.made(row)]
        expect(rows == [first.id], f"the books have {', '.join(rows)}, where {first.id} alone was expected")


@PAYMENTS.add(promise="dedup", of_each_kind=False)
async def a_key_refunds_once(trial: Trial) -> None:
    _, paid = await _paid(trial)
    first = await trial.refund(paid.id, trial.key("refund"))
    second = await trial.refund(paid.id, trial.key("refund"))
    expect(second == first, f"the same refund under the same key gave {first!r}, then {second!r}")
    books = await trial.books()
    if books is not None:
        rows = [row.id for row in books.refunds if row.payment_id == paid.id]
        expect(len(rows) == 1, f"the books have {len(rows)} refunds of {paid.id}, under one key")


@PAYMENTS.add(promise="dedup", of_each_kind=False)
async def a_key_is_for_one_payment(trial: Trial) -> None:
    """Check that a key is for one payment. A conflict (`ProviderError`) is as good as a refusal."""
    booked, first = await _paid(trial)
    try:
        other = await trial.pay(booked.price + 1, booked, trial.key("pay"))
    except (Refused, ProviderError):
        await trial.expect_one(trial.key("pay"), first.id, "payment")
    else:
        raise ContractBrokenError(f"the key of {first.id} was taken for another amount; the answer was {other!r}")


@PAYMENTS.add(of_each_kind=False)
async def an_unknown_payment_is_refused(trial: Trial) -> None:
    await refusal_of("paying back what nobody paid", trial.refund(f"{trial.name}-nobody-paid-it", trial.key("refund")))


async def _paid(trial: Trial) -> tuple[Reservation, Payment]:
    booked = await trial.book(await trial.offer(), trial.key())
    return booked, await trial.capture(booked, trial.key("pay"))
