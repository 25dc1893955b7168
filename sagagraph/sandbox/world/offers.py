"""Offers: what can be booked, for how much, from which stock, and on what cancellation terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from sagagraph.sandbox.money import CURRENCY, Cents, as_amount

OfferKind = Literal["flight", "train", "hotel", "insurance"]

INSURANCE = "insurance."
"""Before the id of a fare: the id of its insurance."""
_LEAST_FLIGHT_FEE: Cents = 25_00
_LEAST_PREMIUM: Cents = 5_00
_POLICIES = 1000


@dataclass(frozen=True, kw_only=True)
class Stock:
    """A finite thing that offers share: the seats of one flight or train on one day, the rooms of one hotel in one night."""

    unit: str
    capacity: int
    until: datetime
    """When it leaves, or when its night begins: it cannot be booked from then on."""
    sold: int = 0
    """How much other customers have taken."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    kind: OfferKind
    base_id: str
    """The id without the quantity."""
    quantity: int
    """Travellers or rooms."""
    rate: Cents
    """For one traveller, or for one room and night."""
    nights: int = 1
    starts: datetime
    """Departure or check-in; it can be booked until then."""
    stock: tuple[Stock, ...]
    """A booking takes its quantity out of each stock."""
    facts: Mapping[str, Any]
    """What a traveller reads: carrier, times, name, stars."""

    @property
    def offer_id(self) -> str:
        return f"{self.base_id}.x{self.quantity}"

    @property
    def priced_as(self) -> str:
        """What a price rise applies to: a stay, or a journey for any number of travellers."""
        return self.base_id if self.kind == "hotel" else self.stock[0].unit

    @property
    def price(self) -> Cents:
        return self.rate * self.nights * self.quantity

    @property
    def free_until(self) -> datetime | None:
        """Until when a cancellation is free; None: never. Trains: a day before departure. Hotels: two before check-in.
        Insurance: until departure.
        """
        match self.kind:
            case "flight":
                return None
            case "train":
                return self.starts - timedelta(days=1)
            case "hotel":
                return self.starts - timedelta(days=2)
            case "insurance":
                return self.starts

    @property
    def cancellation_fee(self) -> Cents:
        """Flights: a tenth, at least $25. Trains: half. Hotels: one night. Insurance: all of it."""
        match self.kind:
            case "flight":
                return min(self.price, max(_LEAST_FLIGHT_FEE, self.price // 10))
            case "train":
                return self.price // 2
            case "hotel":
                return self.rate * self.quantity
            case "insurance":
                return self.price

    def for_quantity(self, quantity: int) -> Offer:
        return replace(self, quantity=quantity)

    def cover(self) -> Offer:
        """The insurance of a fare: it pays what cancelling costs. A twentieth of the fare, in whole dollars, at least $5."""
        return replace(
            self,
            kind="insurance",
            base_id=f"{INSURANCE}{self.base_id}",
            rate=max(_LEAST_PREMIUM, self.rate // 2000 * 100),
            stock=(Stock(unit=f"{INSURANCE}{self.stock[0].unit}", capacity=_POLICIES, until=self.starts),),
            facts={"name": f"Fare cover {self.facts['number']}", "covers": self.offer_id},
        )

    def raised(self, times: int) -> Offer:
        """The same offer after that many price rises of a fifth."""
        return replace(self, rate=self.rate * 6**times // 5**times)

    def as_json(self, *, left: int) -> dict[str, Any]:
        free_until = self.free_until and self.free_until.isoformat()
        return {
            "offer_id": self.offer_id,
            "kind": self.kind,
            **self.facts,
            **self._quantity_and_rate(),
            "price": as_amount(self.price),
            "currency": CURRENCY,
            "left": left,
            "cancellation": {"free_until": free_until, "fee": as_amount(self.cancellation_fee)},
        }

    def _quantity_and_rate(self) -> dict[str, Any]:
        if self.kind == "hotel":
            return {"rooms": self.quantity, "price_per_night": as_amount(self.rate)}
        return {"travellers": self.quantity, "price_per_person": as_amount(self.rate)}
