"""Bookings: typed requests and results of travel's operations, which are kept in the journal."""

from __future__ import annotations

from decimal import Decimal

from pydantic import AwareDatetime, BaseModel

from sagagraph.domains.travel.money import Price
from sagagraph.domains.travel.offers import Bookable, Cancellation
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.provider.receipts import ReservationKind
from sagagraph.domains.travel.request import Lean


class _Record(BaseModel, frozen=True):
    pass


class Quoted(_Record):
    offer_id: str
    price: Price


class PriceCheck(_Record):
    """Check of prices: the offers of a plan at the prices that were approved."""

    offers: tuple[Quoted, ...]


class PriceCheckResult(_Record):
    checked: int


class BookingRequest(_Record, Lean):
    """Request of a booking. `quantity`: travellers, or rooms. It is made at the approved `price` or not at all."""

    later = frozenset({"lands_by"})

    kind: ReservationKind
    offer_id: str
    title: str
    quantity: int
    price: Price
    offer: Bookable | None = None
    """As planned: the answer is compared with it."""
    lands_by: AwareDatetime | None = None
    """Until when a flight may be confirmed to land: the trains after it depend on that."""


class Booking(_Record):
    reservation_id: str
    price: Price
    currency: str
    cancellation: Cancellation
    offer: Bookable | None = None
    """As the service has booked it."""


class CancelledBooking(_Record):
    """A cancelled booking. `reservation_id` is None if it was given up before anybody knew whether it had landed."""

    reservation_id: str | None
    fee: Price
    currency: str


class KeepRequest(_Record):
    """Request to keep a reservation that another saga made, under `key`."""

    kind: ReservationKind
    title: str
    key: str
    reservation_id: str


class PaymentRequest(_Record):
    """Request of the payment. None stands for insurance that was not taken out."""

    amount: Price
    """For the legs."""
    currency: str
    reservations: tuple[str | None, ...]
    premiums: tuple[Price | None, ...] = ()

    @property
    def due(self) -> Decimal:
        return self.amount + sum((each for each in self.premiums if each is not None), Decimal(0))


class HeldPaymentRequest(PaymentRequest):
    """Request to take what is due of an amount that is held already."""

    payment_intent: str


class CapturedPayment(_Record):
    payment_id: str
    amount: Price
    currency: str
    captured_at: AwareDatetime


class RefundedPayment(_Record):
    payment_id: str | None
    amount: Price
    currency: str
    repaired: str = ""
    """What was wrong with the refund at first, if the rest was refunded by the payment's key."""


class DispatchRequest(_Record):
    """Request of the documents. `reservations`: reservation id by leg label, None for what was not taken; `policies`: that of its
    insurance, if it has one. `plan`: the hash of the itinerary. `landings`: of flights on which trains depend, as they were
    confirmed.
    """

    plan: str = ""
    itinerary: Itinerary
    reservations: dict[str, str | None]
    landings: dict[str, AwareDatetime] = {}
    policies: dict[str, str | None] = {}
    captured_at: AwareDatetime


class Dispatch(_Record):
    """Dispatch: files in the outbox, by name, and what was found in them: the plan, and the reservations by leg label."""

    calendar: str
    text: str
    plan: str = ""
    reservations: dict[str, str] = {}
