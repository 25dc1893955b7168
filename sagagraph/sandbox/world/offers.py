"""Offers: what can be booked, for how much, from which stock, and on what cancellation terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal

from sagagraph.sandbox.money import CURRENCY, Cents, as_amount
from sagagraph.sandbox.world.cities import City
from sagagraph.sandbox.world.prices import draw_between

OfferKind = Literal["flight", "train", "hotel", "insurance"]

INSURANCE = "insurance."
"""Prefix before the id of a fare, which makes the id of its insurance."""
_LEAST_FLIGHT_FEE: Cents = 25_00
_LEAST_PREMIUM: Cents = 5_00
_POLICIES = 1000


@dataclass(frozen=True, kw_only=True)
class Stock:
    """Stock: a finite thing that offers share: the seats of one flight or train on one day, the rooms of one hotel in one
    night.
    """

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
    children: int = 0
    """How many of the travellers are children: they pay less."""
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
        return f"{self.base_id}.x{self.quantity}{f'c{self.children}' if self.children else ''}"

    @property
    def priced_as(self) -> str:
        """Return what a price rise applies to: a stay, or a journey for any number of travellers."""
        return self.base_id if self.kind == "hotel" else self.stock[0].unit

    @property
    def price(self) -> Cents:
        return self.rate * self.nights * (self.quantity - self.children) + self.child_rate * self.children

    @property
    def child_rate(self) -> Cents:
        """Return the price for a child under 12: half on a train, three quarters elsewhere, in whole dollars."""
        return self.rate * (2 if self.kind == "train" else 3) // 400 * 100

    @property
    def free_until(self) -> datetime | None:
        """Return until when a cancellation is free; None: never. Trains: a day before departure. Hotels: two before check-in.
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
        """Return the fee. Flights: a tenth, at least $25. Trains: half. Hotels: one night. Insurance: all of it."""
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
        return replace(self, quantity=quantity, children=min(self.children, quantity))

    def cover(self) -> Offer:
        """Return the insurance of a fare, which pays what cancelling costs: a twentieth of the fare, in whole dollars, at least
        $5.
        """
        return replace(
            self,
            kind="insurance",
            base_id=f"{INSURANCE}{self.base_id}",
            rate=max(_LEAST_PREMIUM, self.rate // 2000 * 100),
            stock=(Stock(unit=f"{INSURANCE}{self.stock[0].unit}", capacity=_POLICIES, until=self.starts),),
            facts={"name": f"Fare cover {self.facts['number']}", "covers": self.offer_id},
        )

    def raised(self, times: int) -> Offer:
        """Return the same offer after that many price rises of a fifth."""
        return replace(self, rate=self.rate * 6**times // 5**times)

    def as_json(self, *, left: int) -> dict[str, Any]:
        free_until = self.free_until and self.free_until.isoformat()
        quantity, rate = ("rooms", "price_per_night") if self.kind == "hotel" else ("travellers", "price_per_person")
        family = {"children": self.children, "price_per_child": as_amount(self.child_rate)} if self.children else {}
        return {
            "offer_id": self.offer_id,
            "kind": self.kind,
            **self.facts,
            **family,
            quantity: self.quantity,
            rate: as_amount(self.rate),
            "price": as_amount(self.price),
            "currency": CURRENCY,
            "left": left,
            "cancellation": {"free_until": free_until, "fee": as_amount(self.cancellation_fee)},
        }


_FIRST_MINUTE, _LAST_MINUTE = 6 * 60, 22 * 60


@dataclass(frozen=True, kw_only=True)
class Departure:
    """Departure: one number in the timetable, with the same times on every day on which it runs."""

    kind: Literal["flight", "train"]
    carrier: str
    number: str
    leaves: int
    """Minutes after midnight at the origin."""
    minutes: int
    """The duration."""
    via: tuple[str, ...] = ()


def departure_minute(slot: int, slots: int, *about: object) -> int:
    """Return the minutes after midnight at which the `slot`-th of `slots` departures leaves: they share the day."""
    width = (_LAST_MINUTE - _FIRST_MINUTE) // slots
    minute = _FIRST_MINUTE + slot * width + draw_between(0, width - 1, "departure", slot, *about)
    return minute // 5 * 5


def journey_id(kind: str, origin: str, destination: str, day: date, number: str) -> str:
    return f"{kind}.{origin}-{destination}.{day}.{number}"


def journey_offer(
    departure: Departure, origin: City, destination: City, day: date, travellers: int, *, unit: str, seats: int, dollars: int
) -> Offer:
    """Make the offer. `unit`: what has the seats; cities may share it. `dollars`: per traveller."""
    departs = datetime.combine(day, time(departure.leaves // 60, departure.leaves % 60), origin.zone)
    # In UTC: adding to a local time would ignore a clock change on the way.
    arrives = (departs.astimezone(UTC) + timedelta(minutes=departure.minutes)).astimezone(destination.zone)
    flies = departure.kind == "flight"
    return Offer(
        kind=departure.kind,
        base_id=journey_id(departure.kind, origin.key, destination.key, day, departure.number),
        quantity=travellers,
        rate=dollars * 100,
        starts=departs,
        stock=(Stock(unit=unit, capacity=seats, until=departs),),
        facts={
            "carrier": departure.carrier,
            "number": departure.number,
            "origin": origin.airport.code if flies else origin.name,
            "destination": destination.airport.code if flies else destination.name,
            "origin_city": origin.name,
            "destination_city": destination.name,
            "departs": departs.isoformat(),
            "arrives": arrives.isoformat(),
            "duration_minutes": departure.minutes,
            "stops": len(departure.via),
            "via": list(departure.via),
        },
    )
