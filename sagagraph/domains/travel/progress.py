"""Progress of a trip: what is booked, what failed, and what cancelling has cost, read from its saga without asking the
provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from sagagraph.domains.travel.actions.bookings import Booking
from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.offers import HotelOffer, TransportOffer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.saga.core.redaction import is_redacted
from sagagraph.saga.core.state import Operation, Saga, operation_key

BOOKINGS: Final = frozenset({"book_flight", "book_hotel", "book_train", "book_insurance"})


@dataclass(frozen=True)
class Standing:
    """Reservation that is confirmed and counts."""

    leg: Leg
    booking: Booking
    key: str
    """The key under which the provider knows it."""

    def fee(self, now: datetime) -> Decimal:
        """Return the fee for cancelling it at `now`."""
        return self.booking.cancellation.fee_at(now)


def standing(saga: Saga, itinerary: Itinerary) -> tuple[Standing, ...]:
    """Return the reservations. `itinerary`: the one that was accepted last, whose legs the saga's operations book."""
    legs = {leg.label: leg for leg in itinerary.legs}
    return tuple(
        Standing(legs[each.id], Booking.model_validate(each.output), operation_key(saga.id, each))
        for each in bookings(saga)
        if each.succeeded and not each.removed and each.id in legs
    )


def as_booked(plan: Any, outputs: Mapping[str, Any]) -> Itinerary:
    """Return what a plan has become by the outputs of its operations: its conditions are decided."""
    itinerary = Itinerary.model_validate(plan)
    flights = {flight.label for flight, _, _ in itinerary.conditions} & outputs.keys()
    offers = {name: Booking.model_validate(outputs[name]).offer for name in flights}
    return itinerary.as_landed({name: offer.arrives for name, offer in offers.items() if isinstance(offer, TransportOffer)})


def as_it_stands(saga: Saga, plan: Any) -> Itinerary:
    """Return what one of the saga's plans has become."""
    return as_booked(plan, {each.id: each.output for each in bookings(saga) if each.succeeded and not each.removed})


def has_begun(leg: Leg, now: datetime, cities: Gazetteer) -> bool:
    """Tell whether it has left, or check-in has begun: it can no longer be changed or cancelled."""
    offer = leg.offer
    if not isinstance(offer, HotelOffer):
        return offer.departs <= now
    return datetime.combine(offer.check_in, offer.check_in_from, cities.zone(offer.city) or UTC) <= now


def refused(saga: Saga) -> frozenset[tuple[str, Decimal]]:
    """Return offers that were unavailable at a price, whatever is quoted."""
    failed = [each for each in bookings(saga) if each.failed or each.given_up]
    failed += [each for each in bookings(saga) if each.fault is not None and each.fault.code == "rejected"]
    return frozenset((each.spec.inputs["offer_id"], Decimal(str(each.spec.inputs["price"]))) for each in failed)


def fees_paid(saga: Saga) -> Decimal:
    return sum(map(fee_of, bookings(saga)), Decimal(0))


def fees_to_come(stands: Iterable[Standing], itinerary: Itinerary, now: datetime) -> Decimal:
    """Return the fees for everything booked that `itinerary` omits."""
    kept = {leg.label for leg in itinerary.legs}
    return sum((each.fee(now) for each in stands if each.leg.label not in kept), Decimal(0))


def fee_of(operation: Operation) -> Decimal:
    """Return what undoing it has cost."""
    output = operation.undo_output
    return amount(output.get("fee", 0)) if isinstance(output, dict) else Decimal(0)


def amount(value: Any) -> Decimal:
    return Decimal(0) if is_redacted(value) else Decimal(str(value))


def bookings(saga: Saga) -> Iterator[Operation]:
    return (each for each in saga.in_order() if each.spec.action in BOOKINGS)
