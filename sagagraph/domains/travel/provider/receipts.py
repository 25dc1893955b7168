"""Receipts: what the reservation service reports as done: the answers to effects, and its ledger."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Discriminator, Tag

from sagagraph.domains.travel.money import Price
from sagagraph.domains.travel.offers import Bookable

ReservationKind = Literal["flight", "train", "hotel", "insurance"]
EffectKind = Literal["flight", "train", "hotel", "insurance", "payment"]


class _Receipt(BaseModel, frozen=True):
    pass


class ProviderGuarantees(_Receipt):
    """Guarantees of the service about calls that are repeated or arrive late."""

    dedup: timedelta | None
    """For how long it remembers a key; None: it does not."""
    void: bool
    deadline: bool
    refusals_final: bool


class _Entry(_Receipt):
    id: str
    currency: str
    created_at: AwareDatetime
    idempotency_key: str | None


class _Reserved(_Entry):
    kind: ReservationKind
    state: Literal["confirmed", "cancelled"]
    price: Price
    fee: Price
    """What cancelling it has cost so far."""


class Reservation(_Reserved):
    offer: Bookable
    """As booked."""


class Payment(_Entry):
    state: Literal["captured", "refunded"]
    amount: Price


class CancellationReceipt(_Receipt):
    id: str
    reservation_id: str
    fee: Price
    refund: Price
    currency: str
    created_at: AwareDatetime


class RefundReceipt(_Receipt):
    id: str
    payment_id: str
    amount: Price
    currency: str
    created_at: AwareDatetime


class VoidReceipt(_Receipt):
    key: str
    outcome: Literal["cancelled", "tombstone"]
    """`tombstone`: nothing had landed, and nothing can land under the key any more."""
    fee: Price


def _landed_tag(value: object) -> str:
    is_payment = isinstance(value, Payment) or (isinstance(value, dict) and "offer" not in value)
    return "payment" if is_payment else "reservation"


Landed = Annotated[
    Annotated[Reservation, Tag("reservation")] | Annotated[Payment, Tag("payment")],
    Discriminator(_landed_tag),
]


class Found(_Receipt):
    """Everything that landed under a key, in the order of landing."""

    matches: tuple[Landed, ...]
    voided: bool

    @property
    def reservations(self) -> list[Reservation]:
        return [each for each in self.matches if isinstance(each, Reservation)]


class _Labelled(_Receipt):
    saga_id: str | None
    operation_id: str | None
    created_at: AwareDatetime


class ReservationRow(_Reserved, _Labelled): ...


class PaymentRow(Payment, _Labelled): ...


class CancellationRow(_Labelled):
    id: str
    reservation_id: str
    fee: Price
    idempotency_key: str | None


class RefundRow(_Labelled):
    id: str
    payment_id: str
    amount: Price
    idempotency_key: str | None


class VoidRow(_Labelled):
    key: str
    kind: EffectKind
    outcome: Literal["cancelled", "tombstone"]


class Ledger(_Receipt):
    """Ledger, with one row for every call that landed, whoever made it."""

    reservations: tuple[ReservationRow, ...]
    payments: tuple[PaymentRow, ...]
    cancellations: tuple[CancellationRow, ...]
    refunds: tuple[RefundRow, ...]
    voids: tuple[VoidRow, ...] = ()
