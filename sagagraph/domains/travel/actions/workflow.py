"""Workflow: an itinerary as operations: what must be booked before what, and where the point of no return is.

A journey comes after the journey that leads to its start, a stay after the journey that arrives at it (SagaLLM table 2: hotels
are booked once the flight is); stays and onward journeys are booked in parallel. Then comes the payment, and finally the
itinerary is sent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from msgspec.structs import replace

from sagagraph.domains.travel.actions.bookings import BookingRequest, PriceCheck, Quoted
from sagagraph.domains.travel.money import as_json_number, in_cents
from sagagraph.domains.travel.offers import HotelOffer, Offer
from sagagraph.domains.travel.plan import INSTEAD, Choice, Itinerary, Leg, plan_hash, ways_of
from sagagraph.domains.travel.wording import headline
from sagagraph.planning.domain import Revision
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.services.stripe import Charge
from sagagraph.workflow.condition import All, AnyOf, Comparison, Condition, Not, OutputIs, Succeeded
from sagagraph.workflow.operation import OperationSpec, reference
from sagagraph.workflow.policy import ANY_ERROR, Catch

CHECK, HOLD, PAYMENT, SEND = "check", "hold", "payment", "itinerary"
CAPTURE, AUTHORISE, PAY = "capture_payment", "stripe_authorise", "capture_at_stripe"
PAYING: Final = frozenset({CAPTURE, AUTHORISE, PAY})
"""Actions that pay, at the reservation service's own bank or at Stripe."""


def itinerary_workflow(itinerary: Itinerary, actions: Mapping[str, Action]) -> tuple[OperationSpec, ...]:
    """Return the workflow. `actions`: travel's, by name. Operations of legs have the names of the legs: T1, T2, …"""
    return _workflow(itinerary, itinerary.legs, actions, "", covers_of(itinerary, ()))


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

    `version`: the ending of new names; by default the plan's next version. `standing_elsewhere`: operations for legs that another
    saga has booked. `afterwards`: more operations after the payment. `is_paid`: nothing must be paid or sent.
    """
    elsewhere = standing_elsewhere or {}
    suffix = f".{version or saga.plan.version + 1}"
    known = {each.id for each in saga.in_order() if not each.removed or each.rejected}
    covers = covers_of(itinerary, known | elsewhere.keys(), suffix)
    kept = known & {*(leg.label for leg in itinerary.legs), *covers.values()}
    fresh = tuple(leg for leg in itinerary.legs if leg.label not in kept)
    unbooked = tuple(
        leg
        for leg in itinerary.legs
        if leg.label not in elsewhere and (leg.label not in kept or not saga.operations[leg.label].succeeded)
    )
    paying = itinerary.model_copy(update={"charged": None}) if is_paid else itinerary
    first = (HOLD if paying.charged else CHECK) + suffix
    specs = (*_workflow(paying, unbooked, actions, suffix, covers), *afterwards)
    ends = () if is_paid else (first, PAYMENT + suffix, SEND + suffix, *(each.id for each in afterwards))
    added = {*(leg.label for leg in fresh), *(set(covers.values()) - known), CHECK + suffix, *ends}
    # Bookings still depend on the checks on which they were based.
    checks = {each.id for each in saga.in_order() if each.spec.action == "check_prices" and each.succeeded}
    removed = tuple(sorted(known - kept - checks))
    new = (
        replace(elsewhere[each.id], depends_on=each.depends_on) if each.id in elsewhere else each
        for each in specs
        if each.id in added
    )
    # The payment, which from now on goes ahead without insurance if some that is kept may still be refused.
    caught = {each.handler for name in kept for each in saga.operations[name].spec.policy.catch}
    paid_otherwise = {name: PAYMENT + suffix for name in removed if name in caught}
    return Revision(tuple(new), removed, {**_replaced(saga, itinerary, removed, first), **paid_otherwise})


def _replaced(saga: Saga, itinerary: Itinerary, removed: tuple[str, ...], first: str) -> dict[str, str]:
    """Map, for what is kept, the journey (or check) that it came after to the one that it comes after now."""
    now = dict(_arrivals(itinerary.legs, first))
    replaced: dict[str, str] = {}
    for label, after in now.items():
        if label in saga.operations:
            for before in saga.operations[label].spec.depends_on:
                if before in removed:
                    replaced.setdefault(before, after)
    return replaced


def _arrivals(legs: tuple[Leg, ...], first: str) -> Iterator[tuple[str, str]]:
    """Yield each leg, and the journey that leads to it."""
    arrived_by = first
    for leg in legs:
        yield leg.label, arrived_by
        if not isinstance(leg.offer, HotelOffer):
            arrived_by = leg.label


def covers_of(itinerary: Itinerary, known: Collection[str], suffix: str = "") -> dict[str, str]:
    """Return the operation that insures each insured leg: the existing one, or a new one."""
    covers = {leg.label: f"{leg.label}.cover" for leg in itinerary.legs if leg.cover is not None}
    named = {label: [each for each in known if f"{each}.".startswith(f"{cover}.")] for label, cover in covers.items()}
    return {label: named[label][0] if named[label] else cover + suffix for label, cover in covers.items()}


def _workflow(
    itinerary: Itinerary, to_book: tuple[Leg, ...], actions: Mapping[str, Action], suffix: str, covers: Mapping[str, str]
) -> tuple[OperationSpec, ...]:
    ways = ways_of(itinerary.legs)
    labels = tuple(way.label for way in ways)
    all_booked = All(tuple(_one_of(leg) for leg in itinerary.legs)) if covers or len(ways) > len(itinerary.legs) else None
    offers = tuple(Quoted(offer_id=way.offer.offer_id, price=way.offer.price) for way in ways_of(to_book))
    pay, check, hold = PAYMENT + suffix, CHECK + suffix, HOLD + suffix
    held = () if itinerary.charged is None else (hold,)
    first = (check, *held)[-1]
    certain = [leg for leg in itinerary.legs if leg.otherwise is None]
    uncertain = (*(way.label for way in ways if way not in certain), *covers.values())
    payment = {
        "amount": as_json_number(sum((leg.offer.price for leg in certain), Decimal(0))),
        "currency": itinerary.currency,
        "reservations": [reference(name, "reservation_id") for name in (*labels, *covers.values())],
        **({"premiums": [reference(name, "price") for name in uncertain]} if uncertain else {}),
        **({"payment_intent": reference(hold, "payment_intent")} if held else {}),
    }
    landings = [flight.label for flight, train, _ in itinerary.conditions if train.otherwise is not None]
    sending = {
        "plan": plan_hash(itinerary),
        "itinerary": itinerary.model_dump(mode="json", exclude={"legs": {"__all__": {"choice"}}}),
        "reservations": {label: reference(label, "reservation_id") for label in labels},
        "captured_at": reference(pay, "captured_at"),
        **({"landings": {name: reference(name, "offer", "arrives") for name in landings}} if landings else {}),
        **({"policies": {label: reference(name, "reservation_id") for label, name in covers.items()}} if covers else {}),
    }
    return (
        actions["check_prices"].spec(check, PriceCheck(offers=offers), **_CHECKED),
        *_hold_specs(itinerary, actions, hold, check),
        *_booking_specs(itinerary, actions, first, also=(first,) if suffix else ()),
        *_cover_specs(itinerary, actions, covers, pay),
        actions[PAY if held else CAPTURE].spec(
            pay,
            payment,
            (*labels, *covers.values(), *held),
            condition=all_booked,
            justification="; ".join(itinerary.reasons),
            **_PAID,
        ),
        actions["send_itinerary"].spec(
            SEND + suffix, sending, (*labels, *covers.values(), pay), condition=Succeeded(pay) if all_booked else None, **_SENT
        ),
    )


def _hold_specs(itinerary: Itinerary, actions: Mapping[str, Action], hold: str, check: str) -> Iterator[OperationSpec]:
    """Yield what holds the highest possible price, if it is charged elsewhere: a card that is declined books nothing."""
    if (charged := itinerary.charged) is not None:
        charge = Charge(
            amount=in_cents(itinerary.total),
            currency=itinerary.currency,
            payment_method=charged.method,
            description=f"trip from {itinerary.request.origin} on {itinerary.legs[0].begins}",
        )
        yield actions[AUTHORISE].spec(hold, charge, (check,), **_HELD)


def _cover_specs(
    itinerary: Itinerary, actions: Mapping[str, Action], covers: Mapping[str, str], pay: str
) -> Iterator[OperationSpec]:
    """Yield the insurances: each unless its fare turns out to be refundable; if one is refused, the trip continues without it."""
    for leg in itinerary.legs:
        if leg.cover is None:
            continue
        request = BookingRequest(
            kind="insurance",
            offer_id=leg.cover.offer_id,
            title=leg.cover.name,
            quantity=itinerary.request.travellers,
            price=leg.cover.price,
            offer=leg.cover,
        )
        is_refundable = OutputIs(leg.label, ("cancellation", "free_until"), Comparison.MORE, "")
        spec = actions["book_insurance"].spec(
            covers[leg.label],
            request,
            (leg.label,),
            condition=All((Succeeded(leg.label), Not(is_refundable))),
            **_INSURED,
        )
        yield replace(spec, policy=replace(spec.policy, catch=(Catch((ANY_ERROR,), pay),)))


def _booking_specs(
    itinerary: Itinerary, actions: Mapping[str, Action], check: str, *, also: tuple[str, ...]
) -> Iterator[OperationSpec]:
    """Yield the bookings. `also`: further prerequisites of each; in a trip with nothing booked, they are those of the first, and
    apply to all.
    """
    arrived_by = dict(_arrivals(itinerary.legs, check))
    by_label = {leg.label: leg for leg in itinerary.legs}
    lands_by = {flight.label: only_if.lands_by for flight, _, only_if in itinerary.conditions}
    for leg in ways_of(itinerary.legs):
        wanted, choice, kind = itinerary.request, leg.choice or Choice(), leg.offer.kind
        planned = leg if leg.label in by_label else by_label[leg.label.removesuffix(INSTEAD)]
        before = by_label.get(arrived_by[planned.label])
        needs = tuple(way.label for way in ways_of([before])) if before else (check,)
        request = BookingRequest(
            kind=kind,
            offer_id=leg.offer.offer_id,
            title=headline(leg.offer),
            quantity=wanted.rooms if kind == "hotel" else wanted.travellers,
            price=leg.offer.price,
            offer=leg.offer,
            lands_by=lands_by.get(leg.label),
        )
        others = tuple(each.model_dump(mode="json") for each in choice.alternatives)
        yield actions[f"book_{kind}"].spec(
            leg.label,
            request,
            tuple(dict.fromkeys((*needs, *also))),
            condition=_condition(leg, planned, before, also) if before else None,
            # The remarks of the agent that chose it (SagaLLM table 1, S_O).
            reasoning=f"the {kind} agent ({choice.by}) chose it: {choice.why or 'it keeps most of the plan before'}",
            justification=choice.why,
            alternatives=others or ({"title": "going without", "note": f"there is no other {kind} on that day"},),
            confidence=choice.confidence,
            resources=resources(leg.offer),
        )


def _condition(way: Leg, planned: Leg, before: Leg, also: tuple[str, ...]) -> Condition | None:
    """Return the condition of one alternative of a leg, on the journey before it; None: that everything before it succeeds."""
    if planned.only_if is None:
        return All((_one_of(before), *map(Succeeded, also))) if before.otherwise else None
    limit = planned.only_if.model_dump(mode="json")["lands_before"]
    in_time = OutputIs(before.label, ("offer", "arrives"), Comparison.LESS, limit)
    return All((_one_of(before), in_time if way is planned else Not(in_time), *map(Succeeded, also)))


def _one_of(leg: Leg) -> Condition:
    """Return the condition that a leg is booked, by either alternative."""
    ways = tuple(Succeeded(way.label) for way in ways_of([leg]))
    return AnyOf(ways) if len(ways) > 1 else ways[0]


def _settled(why: str, instead: str, why_not: str) -> dict[str, Any]:
    """Return the remarks on a step that every trip has."""
    alternatives = ({"title": instead, "note": why_not},)
    return {"reasoning": f"the budget agent: {why}", "confidence": 1.0, "alternatives": alternatives}


_INSURED: Final = _settled(
    "a fare that cannot be refunded is insured, as requested",
    "decide at once",
    "only the booking says whether its fare can be refunded",
)
_CHECKED: Final = _settled(
    "an approval holds for these prices, so they are asked for again",
    "book at once",
    "a price may have changed since the approval",
)
_PAID: Final = _settled(
    "all is paid at once, when all of it is booked", "pay for each booking", "what is paid costs more to undo than what is booked"
)
_HELD: Final = _settled(
    "what is held can be taken when all is booked, and a card that is declined books nothing",
    "charge it at the end only",
    "the card could be declined when all is booked",
)
_SENT: Final = _settled("what is paid is sent, and only that", "send it before the payment", "it could not be taken back")


def resources(offer: Offer) -> tuple[str, ...]:
    """Return what a booking takes: a flight or train on one day, a hotel night by night."""
    if isinstance(offer, HotelOffer):
        nights = (offer.check_in + timedelta(days=night) for night in range(offer.nights))
        return tuple(f"hotel {offer.name}, {offer.city} on {night}" for night in nights)
    return (f"{offer.kind} {offer.number} on {offer.departs:%Y-%m-%d}",)
