"""Trials: one check of one provider, with keys of its own, and how it reports faults."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from sagagraph.domains.travel.offers import Offer
from sagagraph.domains.travel.provider.provider import ReservationProvider
from sagagraph.domains.travel.provider.receipts import (
    CancellationReceipt,
    EffectKind,
    Found,
    Landed,
    Ledger,
    Payment,
    PaymentRow,
    ProviderGuarantees,
    RefundReceipt,
    Reservation,
    ReservationKind,
    ReservationRow,
    VoidReceipt,
)
from sagagraph.errors import Refused
from sagagraph.testing.providers.bench import Bench, Journey, Stay

LIVE: Final = ("confirmed", "captured")
A_MINUTE: Final = timedelta(minutes=1)


class ContractBrokenError(AssertionError):
    """The adapter does something other than its port says."""


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ContractBrokenError(otherwise)


async def refusal_of(what: str, call: Awaitable[object]) -> Refused:
    """Require that `call` is refused, with a proper refusal."""
    try:
        answer = await call
    except Refused as refused:
        return refused
    except Exception as exc:
        raise ContractBrokenError(f"{what} raised {type(exc).__name__} ({exc}), where `Refused` is due") from exc
    raise ContractBrokenError(f"{what} was not refused; the answer was {answer!r}")


@dataclass(frozen=True)
class Trial:
    """Trial. `name`: unlike that of any other trial, since every key begins with it."""

    bench: Bench
    promises: ProviderGuarantees
    kind: ReservationKind
    question: Journey | Stay
    """A search with offers of this kind."""
    name: str

    @property
    def provider(self) -> ReservationProvider:
        return self.bench.provider

    def key(self, operation: str = "T1") -> str:
        """Return a key in the form that sagas use."""
        return f"{self.name}/{operation}/1"

    # -- reads -------------------------------------------------------------------------------------------------------

    async def offers(self) -> tuple[Offer, ...]:
        """Return at least one offer: the bench says that there are some."""
        question = self.question
        if isinstance(question, Stay):
            found: tuple[Offer, ...] = await self.provider.hotels(
                question.city, question.check_in, question.check_out, question.rooms
            )
        else:
            ask = self.provider.flights if self.kind == "flight" else self.provider.trains
            found = await ask(question.origin, question.destination, question.day, question.travellers)
        expect(bool(found), f"nothing is on offer for {question}; name a question that has offers")
        return found

    async def offer(self) -> Offer:
        """Return an offer that can be booked."""
        bookable = [each for each in await self.offers() if each.left >= self.question.quantity]
        expect(bool(bookable), f"no offer for {self.question} has anything left; name a question that has")
        return bookable[0]

    async def landed(self, key: str, kind: EffectKind | None = None) -> tuple[Landed, ...]:
        return (await self.found(key, kind)).matches

    async def found(self, key: str, kind: EffectKind | None = None) -> Found:
        return await self.provider.find(kind or self.kind, key)

    async def past(self) -> datetime:
        """Return a deadline that has passed."""
        return await self.provider.now() - A_MINUTE

    async def books(self) -> Ledger | None:
        return None if self.bench.ledger is None else await self.bench.ledger()

    def made(self, row: ReservationRow | PaymentRow) -> bool:
        """Tell whether the ledger attributes it to this trial: a call that lost its key may still have its label."""
        return row.saga_id == self.name or (row.idempotency_key or "").startswith(f"{self.name}/")

    # -- effects, labelled as a saga's -------------------------------------------------------------------------------

    async def book(
        self,
        offer: Offer,
        key: str | None,
        *,
        price: Decimal | None = None,
        quantity: int | None = None,
        deadline: datetime | None = None,
    ) -> Reservation:
        """Book at the offer's price, unless another one is given."""
        return await self.provider.book(
            offer.kind,
            offer.offer_id,
            quantity or self.question.quantity,
            expected_price=offer.price if price is None else price,
            key=key,
            saga_id=self.name,
            operation_id="T1",
            deadline=deadline,
        )

    async def cancel(self, reservation_id: str, key: str | None, *, deadline: datetime | None = None) -> CancellationReceipt:
        return await self.provider.cancel(reservation_id, key=key, saga_id=self.name, operation_id="T1", deadline=deadline)

    async def capture(self, reservation: Reservation, key: str, *, deadline: datetime | None = None) -> Payment:
        """Capture its price."""
        return await self.pay(reservation.price, reservation, key, deadline=deadline)

    async def pay(self, amount: Decimal, reservation: Reservation, key: str, *, deadline: datetime | None = None) -> Payment:
        return await self.provider.capture(
            amount, reservation.currency, [reservation.id], key=key, saga_id=self.name, operation_id="pay", deadline=deadline
        )

    async def refund(self, payment_id: str, key: str, *, deadline: datetime | None = None) -> RefundReceipt:
        """Refund all of it."""
        return await self.provider.refund(payment_id, key=key, saga_id=self.name, operation_id="pay", deadline=deadline)

    async def void(self, key: str, kind: EffectKind | None = None) -> VoidReceipt:
        return await self.provider.void(kind or self.kind, key, saga_id=self.name, operation_id="T1", deadline=None)

    # -- what must be so afterwards ----------------------------------------------------------------------------------

    async def expect_nothing_landed(self, key: str, why: str, kind: EffectKind | None = None) -> None:
        matches = await self.landed(key, kind)
        expect(not matches, f"{why}, and yet {_named(matches)} landed under its key")
        books = await self.books()
        if books is not None:
            rows = [row.id for row in books.reservations if row.idempotency_key == key]
            rows += [row.id for row in books.payments if row.idempotency_key == key]
            expect(not rows, f"{why}, and yet the books have {', '.join(rows)} under its key")

    async def expect_nothing_stands(self, key: str, why: str, kind: EffectKind | None = None) -> None:
        live = [each for each in await self.landed(key, kind) if each.state in LIVE]
        expect(not live, f"{why}, and yet {_named(live)} stands under its key")

    async def expect_one(self, key: str, landed_id: str, kind: EffectKind | None = None) -> Landed:
        """Require that exactly this one landed under the key."""
        matches = await self.landed(key, kind)
        ids = [each.id for each in matches]
        expect(ids == [landed_id], f"`find` shows {_named(matches)} under the key, where {landed_id} alone was expected")
        return matches[0]


def _named(matches: tuple[Landed, ...] | list[Landed]) -> str:
    return ", ".join(f"{each.id} ({each.state})" for each in matches) or "nothing"
