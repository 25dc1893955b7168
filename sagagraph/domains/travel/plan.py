"""Itinerary: a proposed trip, which is journeys and stays in the order of travel, each with its offer as quoted."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import zip_longest
from typing import Any, Self

from pydantic import AwareDatetime, BaseModel, Field, field_validator

from sagagraph.domains.travel.money import PRICE_CURRENCY, Converted, Price, money_text
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, InsuranceOffer, Offer, TransportOffer
from sagagraph.domains.travel.request import Lean, TripRequest

HASH_DIGITS = 16
INSTEAD = ".instead"
"""Suffix of a leg's label: its alternative."""
_LABEL = re.compile(r"T[1-9]\d*(\.[1-9]\d*)?(\.instead)?")


class Alternative(BaseModel, frozen=True, extra="forbid"):
    """Alternative: an offer that was not taken."""

    offer_id: str
    title: str
    price: Price
    note: str = ""
    """Its terms; if it does not fit, why."""
    fits: bool = True
    """Whether it could have been taken."""


class Choice(BaseModel, frozen=True, extra="forbid"):
    """Choice: why an offer was taken, and what else there was."""

    why: str = ""
    alternatives: tuple[Alternative, ...] = ()
    """The cheapest few; if none fits, a few that do not."""
    by: str = "search"
    """Who chose it: the search, a model or a function."""
    confidence: float | None = None
    """From 0 to 1. The search's is the share of its measures (price, time, comfort, balance) whose best trip has it."""


class OnlyIf(BaseModel, frozen=True, extra="forbid"):
    """Condition of a train, which is decided by what the booking of the flight before it confirms."""

    lands_before: AwareDatetime
    lands_by: AwareDatetime | None = None
    """A flight that is confirmed to land later than this is not what was planned. None: it must land as planned, to the
    minute.
    """
    otherwise: FlightOffer | None = None
    """What is taken if it lands too late, but by `lands_by`."""


class Leg(Lean, frozen=True, extra="forbid"):
    """Leg: one thing to book."""

    later = frozenset({"cover", "only_if"})

    label: str
    """`T1`, `T2`, … in the order of travel, as in SagaLLM; legs added by version 2 of the plan end in `.2`, and so on."""
    offer: Offer
    choice: Choice | None = None
    cover: InsuranceOffer | None = None
    """Insurance of the fare, which is taken out unless the fare turns out to be refundable when it is booked."""
    only_if: OnlyIf | None = None

    @property
    def price(self) -> Decimal:
        """Return the highest possible price: with its insurance, or that of its alternative."""
        insured, instead = self.offer.price + (self.cover.price if self.cover else 0), self.otherwise
        return insured if instead is None else max(insured, instead.offer.price)

    @property
    def otherwise(self) -> "Leg | None":
        """Return what is booked instead if its condition does not hold."""
        if self.only_if is None or self.only_if.otherwise is None:
            return None
        choice = self.choice and Choice(why=f"it is taken if the flight before {self.label} lands too late", by=self.choice.by)
        return Leg(label=f"{self.label}{INSTEAD}", offer=self.only_if.otherwise, choice=choice)

    @property
    def begins(self) -> date:
        """Return the local day of departure or check-in."""
        return self.offer.check_in if isinstance(self.offer, HotelOffer) else self.offer.departs.date()

    @property
    def ends(self) -> date:
        """Return the local day of arrival or check-out."""
        return self.offer.check_out if isinstance(self.offer, HotelOffer) else self.offer.arrives.date()


class Charged(BaseModel, frozen=True, extra="forbid"):
    """Charged account: a payment method, and at whom it is charged."""

    at: str
    method: str


class Itinerary(Lean, frozen=True, extra="forbid"):
    later = frozenset({"converted", "fees", "charged"})

    request: TripRequest
    """The request it was made for."""
    legs: tuple[Leg, ...] = Field(min_length=1)
    total: Price
    currency: str
    """Currency of the total and of every offer."""
    fees: Price = Decimal(0)
    """What cancelling has cost so far, plus the cost of moving from the previous plan to this one; not part of the total."""
    converted: Converted | None = None
    """The total, with the fees, in the budget's currency if that differs."""
    charged: Charged | None = None
    """What is charged for it; None: whatever the reservation service's own bank charges."""
    reasons: tuple[str, ...] = ()
    """Why this one: what it is best at, and what that costs."""
    considered: tuple[str, ...] = ()
    """What was dropped on the way, and why."""

    @field_validator("legs")
    @classmethod
    def _labelled_in_order(cls, legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
        labels, expected = [leg.label for leg in legs], [f"T{n}" for n in range(1, len(legs) + 1)]
        is_revised = any("." in label for label in labels)
        if is_revised and len(set(labels)) == len(labels) and all(map(_LABEL.fullmatch, labels)):
            return legs
        if labels != expected:
            raise ValueError(f"the legs are labelled {', '.join(labels)}, not {', '.join(expected)}")
        return legs

    @classmethod
    def of(
        cls,
        request: TripRequest,
        offers: Iterable[Offer],
        *,
        converted: Converted | None = None,
        reasons: tuple[str, ...] = (),
        considered: tuple[str, ...] = (),
        choices: Iterable[Choice] = (),
    ) -> Self:
        """Make an itinerary. `offers` are in the order of travel, and so are `choices`, if known."""
        chosen = zip_longest(offers, choices)
        legs = tuple(Leg(label=f"T{n}", offer=offer, choice=choice) for n, (offer, choice) in enumerate(chosen, start=1))
        return cls(
            request=request,
            legs=legs,
            total=sum((leg.price for leg in legs), Decimal(0)),
            currency=PRICE_CURRENCY,
            converted=converted,
            reasons=reasons,
            considered=considered,
        )

    @property
    def transports(self) -> tuple[TransportOffer, ...]:
        return tuple(leg.offer for leg in self.legs if isinstance(leg.offer, TransportOffer))

    @property
    def stays(self) -> tuple[HotelOffer, ...]:
        return tuple(leg.offer for leg in self.legs if isinstance(leg.offer, HotelOffer))

    @property
    def conditions(self) -> Iterator[tuple[Leg, Leg, OnlyIf]]:
        """Yield each flight on which a train depends, that train, and the condition."""
        flight = None
        for leg in self.legs:
            if leg.only_if is not None and flight is not None:
                yield flight, leg, leg.only_if
            flight = flight if isinstance(leg.offer, HotelOffer) else leg

    def as_landed(self, landings: Mapping[str, datetime]) -> Self:
        """Return the trip once these flights, by label, are confirmed to land then, without the condition."""
        changed: dict[str, Leg] = {}
        for flight, train, only_if in self.conditions:
            lands, offer = landings.get(flight.label), flight.offer
            if lands is not None and isinstance(offer, TransportOffer):
                minutes = offer.duration_minutes + (lands - offer.arrives) // timedelta(minutes=1)
                confirmed = offer.model_copy(update={"arrives": lands, "duration_minutes": minutes})
                changed[flight.label] = flight.model_copy(update={"offer": confirmed})
                decided = train.otherwise if lands >= only_if.lands_before else None
                changed[train.label] = decided or train.model_copy(update={"only_if": None})
        return self.with_legs(changed.get(leg.label, leg) for leg in self.legs) if changed else self

    def price_text(self, amount: Decimal, currency: str) -> str:
        """Format an amount in the currency of the budget, where a rate for it was known."""
        paid = self.total + self.fees
        if self.converted is None or currency != self.currency or not paid:
            return money_text(amount, currency)
        share = amount * self.converted.total / paid
        return money_text(share.quantize(Decimal("0.01")), self.converted.currency)

    def with_legs(self, legs: Iterable[Leg]) -> Self:
        """Return it with these legs, and their total."""
        some = tuple(legs)
        return self.model_copy(update={"legs": some, "total": sum((leg.price for leg in some), Decimal(0))})

    @property
    def minutes_under_way(self) -> int:
        return sum(transport.duration_minutes for transport in self.transports)


def ways_of(legs: Iterable[Leg]) -> tuple[Leg, ...]:
    """Return what may be booked: each leg, and its alternative."""
    return tuple(way for leg in legs for way in (leg, leg.otherwise) if way is not None)


def plan_hash(itinerary: Itinerary) -> str:
    """Return the hash of what would be booked, at what price and when: approval is bound to it. It is the same in every
    process.
    """
    canonical = json.dumps(
        {
            "travellers": itinerary.request.travellers,
            "rooms": itinerary.request.rooms,
            "total": f"{itinerary.total:.2f}",
            "currency": itinerary.currency,
            "legs": [_bookable(leg) for leg in itinerary.legs],
            **({"children": itinerary.request.children} if itinerary.request.children else {}),
            **({"fees": f"{itinerary.fees:.2f}"} if itinerary.fees else {}),
            **({"charged": itinerary.charged.model_dump()} if itinerary.charged else {}),
        },
        sort_keys=True,
        separators=(",", ":"),
    )
    return hashlib.sha256(canonical.encode()).hexdigest()[:HASH_DIGITS]


def moments(offer: Offer) -> tuple[date, date] | tuple[datetime, datetime]:
    """Return when it begins and ends: days for a stay, instants for a journey."""
    return (offer.check_in, offer.check_out) if isinstance(offer, HotelOffer) else (offer.departs, offer.arrives)


def _bookable(leg: Leg) -> dict[str, Any]:
    offer = leg.offer
    begins, ends = moments(offer)
    return {
        "label": leg.label,
        "kind": offer.kind,
        "offer": offer.offer_id,
        "price": f"{offer.price:.2f}",
        "currency": offer.currency,
        "begins": begins.isoformat(),
        "ends": ends.isoformat(),
        **({"cover": [leg.cover.offer_id, f"{leg.cover.price:.2f}"]} if leg.cover else {}),
        **({"only_if": leg.only_if.model_dump(mode="json", exclude={"otherwise": {"left"}})} if leg.only_if else {}),
    }
