"""Disruptions of a booked trip: each of its reservations can fall through."""

from __future__ import annotations

import re
from typing import Final

from sagagraph.domains.travel.offers import HotelOffer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.progress import bookings
from sagagraph.errors import InvalidInputError
from sagagraph.planning.page import Disruption
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus

_FELL_THROUGH: Final = re.compile(
    r"\b(?:(?:hotel|flight|train|room|booking|stay)s? (?:just )?(?:cancell?ed|overbooked)|cancell?ed on (?:us|me)"
    r"|(?:is|was|were|got|has been|been) (?:cancell?ed|overbooked)|fell through|has fallen through"
    r"|does(?:n't| not) (?:run|fly)|overbooked|cancell?ed (?:my|our|the))\b",
    re.IGNORECASE,
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


def _title(leg: Leg) -> str:
    offer = leg.offer
    if isinstance(offer, HotelOffer):
        return f"The hotel in {offer.city} ({offer.name})"
    return f"The {offer.kind} {offer.origin_city} → {offer.destination_city} ({offer.number})"


def _words_of(leg: Leg) -> set[str]:
    return set(_WORD.findall(_title(leg).casefold()))


def disruptions(saga: Saga) -> tuple[Disruption, ...]:
    """Return what can fall through. Before the payment, failures are repaired automatically: see the faults that can be
    ordered.
    """
    return tuple(Disruption(leg.label, f"{_title(leg)} is cancelled", lost=(leg.label,)) for leg in _booked(saga))


def disruption_in(text: str, saga: Saga) -> Disruption | None:
    """Find a disruption by the kind of booking, and by as many words of its title as were said."""
    if not _FELL_THROUGH.search(text):
        return None
    said = set(_WORD.findall(text.casefold()))
    if status_of(saga) is SagaStatus.AWAITING_APPROVAL and any(said & names for names in _NAMES.values()):
        raise InvalidInputError("Nothing of this trip is booked yet, so nothing can fall through. Say so again when it is.")
    meant = [leg for leg in _booked(saga) if said & _NAMES[leg.offer.kind]]
    scores = [len(said & _words_of(leg)) for leg in meant]
    best = [leg for leg, score in zip(meant, scores, strict=True) if score == max(scores)]
    if len(best) > 1 and (way := next((place for words, place in _WAYS if words.search(text)), None)) is not None:
        best = [best[way]]
    if len(best) > 1:
        raise InvalidInputError(f"Which one: {' or '.join(map(_title, best))}?", field="text")
    by_label = {each.key: each for each in disruptions(saga)}
    return by_label[best[0].label] if best else None


def _booked(saga: Saga) -> list[Leg]:
    if status_of(saga) is not SagaStatus.COMMITTED:
        return []
    booked = {each.id for each in bookings(saga) if each.succeeded and not each.removed}
    return [leg for leg in Itinerary.model_validate(saga.plan.content).legs if leg.label in booked]
