"""Details of a trip: why each offer was taken, what the next best would cost, its cancellation terms, and how it stands."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sagagraph.domains.travel.actions.bookings import Booking
from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.offers import Cancellation, HotelOffer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.progress import bookings
from sagagraph.planning.page import Detail
from sagagraph.saga.core.state import Operation, Saga

_OTHERS = 2


def line_key(leg: Leg) -> str:
    """Return the key of the line that shows a leg."""
    offer = leg.offer
    return f"stay {offer.city}" if isinstance(offer, HotelOffer) else f"{offer.origin_city} → {offer.destination_city}"


def details(saga: Saga) -> Iterator[Detail]:
    booked = {each.id: each for each in bookings(saga)}
    for leg in Itinerary.model_validate(saga.plan.content).legs:
        operation = booked.get(leg.label)
        booking = Booking.model_validate(operation.output) if operation is not None and operation.succeeded else None
        terms = leg.offer.cancellation if booking is None else booking.cancellation
        yield Detail(
            line_key(leg),
            leg.label,
            leg.choice.why if leg.choice else "",
            tuple(_others(leg)),
            _terms(terms, leg.offer.currency),
            _state(saga, operation),
            "" if booking is None else booking.reservation_id,
        )


def _others(leg: Leg) -> Iterator[str]:
    for each in leg.choice.alternatives[:_OTHERS] if leg.choice else ():
        more = each.price - leg.offer.price
        differs = f"{money_text(abs(more), leg.offer.currency)} {'more' if more >= 0 else 'less'}" if more else "the same price"
        yield f"{each.title}: {money_text(each.price, leg.offer.currency)}, {differs}"


def _terms(terms: Cancellation, currency: str) -> str:
    fee = money_text(terms.fee, currency)
    if terms.free_until is None:
        return f"cancelling costs {fee}" if terms.fee else "cancelling is free"
    return f"free to cancel until {_moment(terms.free_until)}, then {fee}"


def _moment(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y %H:%M}"


def _state(saga: Saga, operation: Operation | None) -> str:
    if operation is None or operation.id in saga.missing:
        return "not booked" if operation is None else "fallen through, and nothing has taken its place"
    if operation.succeeded:
        return "given up" if operation.removed else "booked and confirmed"
    return "not booked"
