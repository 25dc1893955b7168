"""Bookings: at the expected price or not at all, found by their key, and once for each key."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Final

from sagagraph.domains.travel.provider.receipts import Reservation
from sagagraph.errors import ProviderError, Refused
from sagagraph.testing.providers.check import Checks
from sagagraph.testing.providers.trial import ContractBrokenError, Trial, expect, refusal_of

BOOKINGS: Final = Checks()


@BOOKINGS.add()
async def a_booking_is_confirmed_as_offered(trial: Trial) -> None:
    offer = await trial.offer()
    booked = await trial.book(offer, trial.key())
    expect(bool(booked.id), "the reservation has no id")
    expect(isinstance(booked.price, Decimal), f"its price is a {type(booked.price).__name__}, not a Decimal")
    said = (booked.kind, booked.state, booked.offer.offer_id, booked.price, booked.currency, booked.fee)
    due = (offer.kind, "confirmed", offer.offer_id, offer.price, offer.currency, Decimal(0))
    expect(said == due, f"the reservation says {said}, where {due} is due")
    expect(booked.created_at.utcoffset() is not None, f"it was made at {booked.created_at}, without an offset")


@BOOKINGS.add()
async def a_booking_is_found_by_its_key(trial: Trial) -> None:
    before = await trial.found(trial.key())
    expect(not before.matches and not before.voided, f"before anything was booked, `find` gives {before!r}")
    booked = await trial.book(await trial.offer(), trial.key())
    found = await trial.expect_one(trial.key(), booked.id)
    expect(isinstance(found, Reservation) and found.state == "confirmed", f"`find` gives {found!r} for what was booked")
    expect(found.idempotency_key == trial.key(), f"`find` shows it under the key {found.idempotency_key!r}, not {trial.key()!r}")
    other = await trial.landed(trial.key("T2"))
    expect(not other, "`find` shows something under a key that was never used")


@BOOKINGS.add()
async def another_price_is_refused(trial: Trial) -> None:
    offer = await trial.offer()
    refused = await refusal_of("a booking at another price", trial.book(offer, trial.key(), price=offer.price - Decimal("0.01")))
    expect(refused.code == "price_changed", f"it was refused as {refused.code!r}, not as 'price_changed'")
    await trial.expect_nothing_landed(trial.key(), "a booking at another price was refused")


@BOOKINGS.add()
async def an_unknown_offer_is_refused(trial: Trial) -> None:
    unknown = (await trial.offer()).model_copy(update={"offer_id": f"{trial.name}-nobody-made-it"})
    await refusal_of("a booking of an offer that nobody made", trial.book(unknown, trial.key()))
    await trial.expect_nothing_landed(trial.key(), "a booking of an offer that nobody made was refused")


@BOOKINGS.add(promise="dedup")
async def a_key_books_once(trial: Trial) -> None:
    offer = await trial.offer()
    first = await trial.book(offer, trial.key())
    second = await trial.book(offer, trial.key())
    expect(second == first, f"the same call under the same key gave {first!r}, then {second!r}")
    await trial.expect_one(trial.key(), first.id)
    books = await trial.books()
    if books is not None:
        rows = [row.id for row in books.reservations if trial.made(row)]
        expect(rows == [first.id], f"the books have {', '.join(rows)}, where {first.id} alone was expected")


@BOOKINGS.add(promise="dedup")
async def a_key_books_once_at_the_same_time(trial: Trial) -> None:
    """Check that a key books once. The second call may be told that the first is under way (`ProviderError`); a refusal would say
    that nothing happened.
    """
    offer = await trial.offer()
    answers = await asyncio.gather(trial.book(offer, trial.key()), trial.book(offer, trial.key()), return_exceptions=True)
    for answer in answers:
        expect(isinstance(answer, Reservation | ProviderError), f"two calls at once under one key: one was told {answer!r}")
    ids = [each.id for each in await trial.landed(trial.key())]
    expect(len(ids) == 1, f"two calls at once under one key made {len(ids)} reservations: {', '.join(ids)}")


@BOOKINGS.add(promise="dedup")
async def a_key_is_for_one_booking(trial: Trial) -> None:
    """Check that a key is for one booking. A conflict (`ProviderError`) is as good as a refusal, so long as nothing lands and the
    first booking is not returned.
    """
    offer = await trial.offer()
    first = await trial.book(offer, trial.key())
    try:
        other = await trial.provider.book(
            offer.kind,
            offer.offer_id,
            trial.question.quantity + 1,
            expected_price=None,
            key=trial.key(),
            saga_id=trial.name,
            operation_id="T1",
            deadline=None,
        )
    except (Refused, ProviderError):
        await trial.expect_one(trial.key(), first.id)
    else:
        raise ContractBrokenError(f"the key of {first.id} was taken for another quantity; the answer was {other!r}")
