"""An itinerary as operations: who must be booked before whom, and where the point of no return lies.

A journey comes after the journey that brings one there, a stay after the journey that arrives at it (SagaLLM table 2: hotels are
booked once the flight is); stays and onward journeys are booked side by side. Then the payment, then the itinerary is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from sagagraph.domains.travel.bookings import BookingRequest, PriceCheck, Quoted
from sagagraph.domains.travel.offers import HotelOffer, Offer
from sagagraph.domains.travel.plan import Choice, Itinerary, Leg
from sagagraph.domains.travel.wording import headline
from sagagraph.saga.action import Action
from sagagraph.workflow.operation import OperationSpec, reference

CHECK, PAYMENT, SEND = "check", "payment", "itinerary"


def itinerary_workflow(itinerary: Itinerary, actions: Mapping[str, Action]) -> tuple[OperationSpec, ...]:
    """`actions`: travel's, by name. Operations of legs are called as the legs are: T1, T2, …"""
    labels = tuple(leg.label for leg in itinerary.legs)
    offers = tuple(Quoted(offer_id=leg.offer.offer_id, price=leg.offer.price) for leg in itinerary.legs)
    payment = {
        "amount": itinerary.model_dump(mode="json")["total"],
        "currency": itinerary.currency,
        "reservations": [reference(label, "reservation_id") for label in labels],
    }
    sending = {
        "itinerary": itinerary.model_dump(mode="json", exclude={"legs": {"__all__": {"choice"}}}),
        "reservations": {label: reference(label, "reservation_id") for label in labels},
        "captured_at": reference(PAYMENT, "captured_at"),
    }
    return (
        actions["check_prices"].spec(CHECK, PriceCheck(offers=offers)),
        *_booking_specs(itinerary, actions),
        actions["capture_payment"].spec(PAYMENT, payment, labels, justification="; ".join(itinerary.reasons)),
        actions["send_itinerary"].spec(SEND, sending, (*labels, PAYMENT)),
    )


def _booking_specs(itinerary: Itinerary, actions: Mapping[str, Action]) -> Iterator[OperationSpec]:
    arrived_by = CHECK
    for leg in itinerary.legs:
        request = BookingRequest(
            kind=leg.offer.kind,
            offer_id=leg.offer.offer_id,
            title=headline(leg.offer),
            quantity=_quantity(leg, itinerary),
            price=leg.offer.price,
        )
        choice = leg.choice or Choice()
        yield actions[f"book_{leg.offer.kind}"].spec(
            leg.label,
            request,
            (arrived_by,),
            justification=choice.why,
            alternatives=tuple(each.model_dump(mode="json") for each in choice.alternatives),
            resources=resources(leg.offer),
        )
        if not isinstance(leg.offer, HotelOffer):
            arrived_by = leg.label


def _quantity(leg: Leg, itinerary: Itinerary) -> int:
    return itinerary.request.rooms if isinstance(leg.offer, HotelOffer) else itinerary.request.travellers


def resources(offer: Offer) -> tuple[str, ...]:
    """What a booking takes: a flight or train of one day, a hotel night by night."""
    if isinstance(offer, HotelOffer):
        nights = (offer.check_in + timedelta(days=night) for night in range(offer.nights))
        return tuple(f"hotel {offer.name}, {offer.city} on {night}" for night in nights)
    return (f"{offer.kind} {offer.number} on {offer.departs:%Y-%m-%d}",)
