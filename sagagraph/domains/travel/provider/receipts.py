"""Receipts: what the reservation service reports as done: the answers to effects, and its books."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Discriminator, Tag

from sagagraph.domains.travel.money import Price
from sagagraph.domains.travel.offers import Bookable

ReservationKind = Literal["flight", "train", "hotel", "insurance"]
EffectKind = Literal["flight", "train", "hotel", "insurance", "payment"]


class _Receipt(BaseModel):
    model_config = ConfigDict(frozen=True)


class ProviderGuarantees(_Receipt):
    """What the service promises about calls that are repeated or arrive late."""

    dedup: timedelta | None
    """For how long it remembers a key; None: it does not."""
    void: bool
    deadline: bool
    refusals_final: bool


class Reservation(_Receipt):
    id: str
    kind: ReservationKind
    state: Literal["confirmed", "cancelled"]
    offer: Bookable
    """As booked."""
    price: Price
    fee: Price
    """What cancelling it has cost so far."""
    currency: str
    created_at: AwareDatetime
    idempotency_key: str | None


class Payment(_Receipt):
    id: str
    state: Literal["captured", "refunded"]
    amount: Price
    currency: str
    created_at: AwareDatetime
    idempotency_key: str | None


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
    """All that landed under a key, in the order of landing."""

    matches: tuple[Landed, ...]
    voided: bool

    @property
    def reservations(self) -> list[Reservation]:
        return [each for each in self.matches if isinstance(each, Reservation)]


class _Row(_Receipt):
    idempotency_key: str | None
    saga_id: str | None
    operation_id: str | None
    created_at: AwareDatetime


class ReservationRow(_Row):
    id: str
    kind: ReservationKind
    state: Literal["confirmed", "cancelled"]
    price: Price
    fee: Price
    currency: str


class PaymentRow(_Row):
    id: str
    state: Literal["captured", "refunded"]
    amount: Price
    currency: str


class CancellationRow(_Row):
    id: str
    reservation_id: str
    fee: Price


class RefundRow(_Row):
    id: str
    payment_id: str
    amount: Price


class VoidRow(_Receipt):
    key: str
    kind: EffectKind
    outcome: Literal["cancelled", "tombstone"]
    saga_id: str | None
    operation_id: str | None
    created_at: AwareDatetime


class Ledger(_Receipt):
    """One row for every call that landed, whoever made it."""

    reservations: tuple[ReservationRow, ...]
    payments: tuple[PaymentRow, ...]
    cancellations: tuple[CancellationRow, ...]
    refunds: tuple[RefundRow, ...]
    voids: tuple[VoidRow, ...] = ()
