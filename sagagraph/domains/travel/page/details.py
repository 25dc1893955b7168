"""Details of a booked trip: why each offer was taken, its terms, its state, and how it can fall through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sagagraph.domains.travel.actions.bookings import Booking
from sagagraph.domains.travel.actions.payer import charged_text
from sagagraph.domains.travel.actions.workflow import PAYMENT
from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.offers import HotelOffer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.progress import as_it_stands, bookings
from sagagraph.domains.travel.wording import compared, day_text
from sagagraph.errors import InvalidInputError
from sagagraph.language.utterance.utterances import falls_through
from sagagraph.planning.page import Detail, Disruption, Line
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus

_OTHERS = 2


def line_key(leg: Leg) -> str:
    """Return the key of the line that shows a leg."""
    offer = leg.offer
    return f"stay {offer.city}" if isinstance(offer, HotelOffer) else f"{offer.origin_city} → {offer.destination_city}"


def charge_lines(itinerary: Itinerary) -> Iterator[Line]:
    """Yield what is charged at whom, unless it is the reservation service's own bank, and in which currency, if it is shown in
    another one.
    """
    if (other := itinerary.converted) is not None:
        paid = money_text(itinerary.total + itinerary.fees, itinerary.currency)
        yield Line("paid", f"Charged in all, at the rate of {day_text(other.on)}", price=paid, kind=PAYMENT)
    if itinerary.charged is not None:
        yield Line(PAYMENT, charged_text(itinerary, itinerary.charged), kind=PAYMENT)


def details(saga: Saga) -> Iterator[Detail]:
    trip = Itinerary.model_validate(saga.plan.content)
    if trip.charged is not None:
        yield Detail(PAYMENT, PAYMENT, terms="all of it is refunded if the trip is cancelled")
    booked = {each.id: each for each in bookings(saga)}
    for leg in as_it_stands(saga, saga.plan.content).legs:
        operation, currency = booked.get(leg.label), leg.offer.currency
        booking = Booking.model_validate(operation.output) if operation is not None and operation.succeeded else None
        terms = leg.offer.cancellation if booking is None else booking.cancellation
        fee = trip.price_text(terms.fee, currency)
        told = f"cancelling costs {fee}" if terms.fee else "cancelling is free"
        if terms.free_until is not None:
            told = f"free to cancel until {terms.free_until.day} {terms.free_until:%B %Y %H:%M}, then {fee}"
        others = (
            f"{each.title}, {trip.price_text(each.price, currency)} ({compared(each.price - leg.offer.price, trip.price_text)})"
            for each in (leg.choice.alternatives[:_OTHERS] if leg.choice else ())
        )
        state = "not booked"
        if operation is not None and operation.id in saga.missing:
            state = "fallen through, and nothing has taken its place"
        elif operation is not None and operation.succeeded:
            state = "given up" if operation.removed else "booked and confirmed"
        yield Detail(
            line_key(leg),
            leg.label,
            leg.choice.why if leg.choice else "",
            tuple(others),
            told,
            state,
            "" if booking is None else booking.reservation_id,
        )


_WAYS: Final = (
    (re.compile(r"\b(?:home|back|return\w*|last)\b", re.IGNORECASE), -1),
    (re.compile(r"\b(?:outbound|outward|first|out|there)\b", re.IGNORECASE), 0),
)
_WORD: Final = re.compile(r"\w+")
_NAMES: Final = {
    "flight": frozenset({"flight", "plane", "airline"}),
    "train": frozenset({"train", "railway"}),
    "hotel": frozenset({"hotel", "room", "inn", "stay"}),
}


def _disrupted(leg: Leg) -> str:
    offer = leg.offer
    if isinstance(offer, HotelOffer):
        return f"The hotel in {offer.city} ({offer.name})"
    return f"The {offer.kind} {offer.origin_city} → {offer.destination_city} ({offer.number})"


def disruptions(saga: Saga) -> tuple[Disruption, ...]:
    """Return what can fall through. Before the payment, failures are repaired automatically: see the faults that can be
    injected.
    """
    return tuple(Disruption(leg.label, f"{_disrupted(leg)} is cancelled", lost=(leg.label,)) for leg in _booked(saga))


def disruption_in(text: str, saga: Saga) -> Disruption | None:
    """Find a disruption by the kind of booking, and by as many words of its title as the text has."""
    if not falls_through(text):
        return None
    said = set(_WORD.findall(text.casefold()))
    if status_of(saga) is SagaStatus.AWAITING_APPROVAL and any(said & names for names in _NAMES.values()):
        raise InvalidInputError("Nothing of this trip is booked yet, so nothing can fall through. Say so again when it is.")
    meant = [leg for leg in _booked(saga) if said & _NAMES[leg.offer.kind]]
    scores = [len(said & set(_WORD.findall(_disrupted(leg).casefold()))) for leg in meant]
    best = [leg for leg, score in zip(meant, scores, strict=True) if score == max(scores)]
    if len(best) > 1 and (way := next((place for words, place in _WAYS if words.search(text)), None)) is not None:
        best = [best[way]]
    if len(best) > 1:
        raise InvalidInputError(f"Which one: {' or '.join(map(_disrupted, best))}?", field="text")
    by_label = {each.key: each for each in disruptions(saga)}
    return by_label[best[0].label] if best else None


def _booked(saga: Saga) -> list[Leg]:
    if status_of(saga) is not SagaStatus.COMMITTED:
        return []
    booked = {each.id for each in bookings(saga) if each.succeeded and not each.removed}
    return [leg for leg in as_it_stands(saga, saga.plan.content).legs if leg.label in booked]
