"""Workflow: an itinerary as operations: what must be booked before what, and where the point of no return lies.

A journey comes after the journey that leads to its start, a stay after the journey that arrives at it (SagaLLM table 2: hotels
are booked once the flight is); stays and onward journeys are booked in parallel. Then comes the payment, then the itinerary is
sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from msgspec.structs import replace

from sagagraph.domains.travel.actions.bookings import BookingRequest, PriceCheck, Quoted
from sagagraph.domains.travel.offers import HotelOffer, Offer
from sagagraph.domains.travel.plan import Choice, Itinerary, Leg, plan_hash
from sagagraph.domains.travel.wording import headline
from sagagraph.planning.domain import Revision
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.workflow.operation import OperationSpec, reference

CHECK, PAYMENT, SEND = "check", "payment", "itinerary"


def itinerary_workflow(itinerary: Itinerary, actions: Mapping[str, Action]) -> tuple[OperationSpec, ...]:
    """Return the workflow. `actions`: travel's, by name. Operations of legs have the names of the legs: T1, T2, …"""
    return _workflow(itinerary, itinerary.legs, actions, "")


def undo_prefix(version: int) -> str:
    """Return how the names of operations begin that undo another saga's."""
    return f"undo.{version}"


def revised_workflow(
    saga: Saga,
    itinerary: Itinerary,
    actions: Mapping[str, Action],
    *,
    version: int | None = None,
    standing_elsewhere: Mapping[str, OperationSpec] | None = None,
    afterwards: tuple[OperationSpec, ...] = (),
    is_paid: bool = False,
) -> Revision:
    """Keep legs for which the saga has operations already; check, book, pay and send everything else under new names.

    `version`: the ending of new names; by default the plan's next version. `standing_elsewhere`: what to do instead for legs that
    another saga has booked. `afterwards`: more operations after the payment. `is_paid`: nothing must be paid or sent.
    """
    elsewhere = standing_elsewhere or {}
    suffix = f".{version or saga.plan.version + 1}"
    known = {each.id for each in saga.in_order() if not each.removed or each.rejected}
    kept = known & {leg.label for leg in itinerary.legs}
    fresh = tuple(leg for leg in itinerary.legs if leg.label not in kept)
    unbooked = tuple(
        leg
        for leg in itinerary.legs
        if leg.label not in elsewhere and (leg.label not in kept or not saga.operations[leg.label].succeeded)
    )
    specs = (*_workflow(itinerary, unbooked, actions, suffix), *afterwards)
    ends = () if is_paid else (PAYMENT + suffix, SEND + suffix, *(each.id for each in afterwards))
    added = {leg.label for leg in fresh} | {CHECK + suffix, *ends}
    removed = tuple(sorted(known - kept - _checks_that_hold(saga)))
    new = tuple(_instead(each, elsewhere) for each in specs if each.id in added)
    return Revision(new, removed, _replaced(saga, itinerary, removed, suffix))


def _instead(spec: OperationSpec, elsewhere: Mapping[str, OperationSpec]) -> OperationSpec:
    """Put the operation where the booking would have been."""
    return replace(elsewhere[spec.id], depends_on=spec.depends_on) if spec.id in elsewhere else spec


def _checks_that_hold(saga: Saga) -> set[str]:
    """Return the checks that bookings were based on: those bookings still depend on them."""
    return {each.id for each in saga.in_order() if each.spec.action == "check_prices" and each.succeeded}


def _replaced(saga: Saga, itinerary: Itinerary, removed: tuple[str, ...], suffix: str) -> dict[str, str]:
    """For what is kept, map the journey (or check) that it came after to the one that it comes after now."""
    now = dict(_arrivals(itinerary.legs, CHECK + suffix))
    replaced: dict[str, str] = {}
    for label, after in now.items():
        if label in saga.operations:
            for before in saga.operations[label].spec.depends_on:
                if before in removed:
                    replaced.setdefault(before, after)
    return replaced


def _arrivals(legs: tuple[Leg, ...], first: str) -> Iterator[tuple[str, str]]:
    """Return each leg, and the journey that leads to it."""
    arrived_by = first
    for leg in legs:
        yield leg.label, arrived_by
        if not isinstance(leg.offer, HotelOffer):
            arrived_by = leg.label


def _workflow(
    itinerary: Itinerary, to_book: tuple[Leg, ...], actions: Mapping[str, Action], suffix: str
) -> tuple[OperationSpec, ...]:
    labels = tuple(leg.label for leg in itinerary.legs)
    offers = tuple(Quoted(offer_id=leg.offer.offer_id, price=leg.offer.price) for leg in to_book)
    pay = PAYMENT + suffix
    payment = {
        "amount": itinerary.model_dump(mode="json")["total"],
        "currency": itinerary.currency,
        "reservations": [reference(label, "reservation_id") for label in labels],
    }
    sending = {
        "plan": plan_hash(itinerary),
        "itinerary": itinerary.model_dump(mode="json", exclude={"legs": {"__all__": {"choice"}}}),
        "reservations": {label: reference(label, "reservation_id") for label in labels},
        "captured_at": reference(pay, "captured_at"),
    }
    return (
        actions["check_prices"].spec(CHECK + suffix, PriceCheck(offers=offers), **_CHECKED),
        *_booking_specs(itinerary, actions, CHECK + suffix, also=(CHECK + suffix,) if suffix else ()),
        actions["capture_payment"].spec(pay, payment, labels, justification="; ".join(itinerary.reasons), **_PAID),
        actions["send_itinerary"].spec(SEND + suffix, sending, (*labels, pay), **_SENT),
    )


def _booking_specs(
    itinerary: Itinerary, actions: Mapping[str, Action], check: str, *, also: tuple[str, ...]
) -> Iterator[OperationSpec]:
    """Return the bookings. `also`: further prerequisites of each; in a trip with nothing booked, the first names them for all."""
    arrived_by = dict(_arrivals(itinerary.legs, check))
    for leg in itinerary.legs:
        request = BookingRequest(
            kind=leg.offer.kind,
            offer_id=leg.offer.offer_id,
            title=headline(leg.offer),
            quantity=_quantity(leg, itinerary),
            price=leg.offer.price,
            offer=leg.offer,
        )
        choice = leg.choice or Choice()
        yield actions[f"book_{leg.offer.kind}"].spec(
            leg.label,
            request,
            tuple(dict.fromkeys((arrived_by[leg.label], *also))),
            **_chosen(leg, choice),
            resources=resources(leg.offer),
        )


def _chosen(leg: Leg, choice: Choice) -> dict[str, Any]:
    """Return the remarks of the agent that chose it (SagaLLM table 1, S_O)."""
    others = tuple(each.model_dump(mode="json") for each in choice.alternatives)
    return {
        "reasoning": f"the {leg.offer.kind} agent ({choice.by}) chose it: {choice.why or 'it keeps most of the plan before'}",
        "justification": choice.why,
        "alternatives": others or ({"title": "going without", "note": f"there is no other {leg.offer.kind} on that day"},),
        "confidence": choice.confidence,
    }


def _settled(why: str, instead: str, why_not: str) -> dict[str, Any]:
    """Return the remarks on a step that every trip has."""
    remarks = {"reasoning": f"the budget agent: {why}", "confidence": 1.0}
    return {**remarks, "alternatives": ({"title": instead, "note": why_not},)}


_CHECKED: Final = _settled(
    "an approval holds for these prices, so they are asked for again",
    "book at once",
    "a price may have changed since the approval",
)
_PAID: Final = _settled(
    "all is paid at once, when all of it is booked", "pay for each booking", "what is paid costs more to undo than what is booked"
)
_SENT: Final = _settled("what is paid is sent, and only that", "send it before the payment", "it could not be taken back")


def _quantity(leg: Leg, itinerary: Itinerary) -> int:
    return itinerary.request.rooms if isinstance(leg.offer, HotelOffer) else itinerary.request.travellers


def resources(offer: Offer) -> tuple[str, ...]:
    """Return what a booking takes: a flight or train on one day, a hotel night by night."""
    if isinstance(offer, HotelOffer):
        nights = (offer.check_in + timedelta(days=night) for night in range(offer.nights))
        return tuple(f"hotel {offer.name}, {offer.city} on {night}" for night in nights)
    return (f"{offer.kind} {offer.number} on {offer.departs:%Y-%m-%d}",)
