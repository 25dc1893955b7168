"""Amendment: a trip that is changed after it was paid: what is kept of it, and the way to another one (ADR-0011)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from sagagraph.domains.travel.actions.bookings import Booking, BookingRequest, KeepRequest
from sagagraph.domains.travel.actions.workflow import PAYING, PAYMENT, covers_of, revised_workflow
from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.planning.repair import Damage
from sagagraph.domains.travel.progress import (
    BOOKINGS,
    Standing,
    amount,
    as_booked,
    as_it_stands,
    fees_paid,
    has_begun,
    refused,
    standing,
)
from sagagraph.domains.travel.provider.provider import ReservationProvider
from sagagraph.domains.travel.request import TripRequest
from sagagraph.domains.travel.wording import headline
from sagagraph.planning.domain import Revision
from sagagraph.saga.core.amendments import Amendment, amendment_in, amendment_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.reversal import undoing_specs
from sagagraph.workflow.operation import OperationSpec


def wish_of(request: Any) -> TripRequest:
    """Return what is asked for, whether the saga is a trip or changes one."""
    amendment = amendment_in(request)
    return TripRequest.model_validate(request if amendment is None else amendment.request)


def itinerary_before(saga: Saga) -> Itinerary | None:
    """Return the plan that was accepted last: this saga's, or its parent's."""
    if saga.plan.accepted is not None:
        return as_it_stands(saga, saga.plan.accepted.content)
    amendment = amendment_of(saga)
    return None if amendment is None else _plan_of(amendment)


async def all_standing(saga: Saga, provider: ReservationProvider) -> tuple[Standing, ...]:
    """Return its reservations, and for an amendment those of its parent that the provider still has on record."""
    before = itinerary_before(saga)
    own = () if before is None else standing(saga, before)
    amendment = amendment_of(saga)
    parents = [] if amendment is None else list(_booked_by_parent(amendment))
    found = await asyncio.gather(*(provider.find(each.leg.offer.kind, each.key) for each in parents))
    live = [{each.id for each in answer.reservations if each.state == "confirmed"} for answer in found]
    return (*(each for each, ids in zip(parents, live, strict=True) if each.booking.reservation_id in ids), *own)


def _booked_by_parent(amendment: Amendment) -> Iterator[Standing]:
    legs = _legs_of(amendment)
    for each in amendment.stands:
        if each.action in BOOKINGS and each.id in legs:
            yield Standing(legs[each.id], Booking.model_validate(each.result), each.key)


def _plan_of(amendment: Amendment) -> Itinerary:
    return as_booked(amendment.plan, {each.id: each.result for each in amendment.stands})


def _legs_of(amendment: Amendment) -> dict[str, Leg]:
    return {leg.label: leg for leg in _plan_of(amendment).legs}


def all_fees_paid(saga: Saga) -> Decimal:
    """Return all fees paid by this saga, and earlier by the one that it amends."""
    amendment = amendment_of(saga)
    return fees_paid(saga) + (amount(amendment.fees) if amendment is not None else Decimal(0))


async def damage_of(saga: Saga, provider: ReservationProvider, cities: Gazetteer) -> Damage:
    """Return the starting point of a repair, or of a change after the payment."""
    before = itinerary_before(saga)
    if before is None:
        raise AssertionError(f"saga {saga.id!r} has no plan to start from")
    amendment = amendment_of(saga)
    booked = {each.id for each in saga.in_order() if each.succeeded} | (amendment.by_id.keys() if amendment else set())
    now, stands = await asyncio.gather(provider.now(), all_standing(saga, provider))
    lost: frozenset[str] = frozenset()
    if amendment is not None:  # what has been reported lost, and what the provider no longer has on record
        still, legs = {each.leg.label for each in stands}, _legs_of(amendment)
        gone = {each.leg.label for each in _booked_by_parent(amendment)} - still
        lost = frozenset(legs[name].offer.offer_id for name in {*amendment.lost, *gone} if name in legs)
    return Damage(
        request=wish_of(saga.request),
        itinerary=before,
        stands=stands,
        refused=refused(saga),
        paid=all_fees_paid(saga),
        version=saga.plan.version + (0 if amendment is None else last_version(amendment)),
        lost=lost,
        is_renamed=saga.plan.accepted is not None and any(Itinerary.model_validate(saga.plan.accepted.content).conditions),
        begun=tuple(leg for leg in before.legs if leg.label in booked and has_begun(leg, now, cities)),
    )


def last_version(amendment: Amendment) -> int:
    """Return the highest version in the names of the parent's operations; no name is ever used twice."""
    endings = (each.id.rpartition(".")[2] for each in amendment.stands if "." in each.id)
    return max([1, *(int(each) for each in endings if each.isdigit())])


def amending_workflow(saga: Saga, itinerary: Itinerary, actions: Mapping[str, Action]) -> Revision:
    """Book what is new, pay for all of it, then refund and cancel what the parent has and the new plan lacks.

    What is kept is checked, not booked. If everything is kept, nothing is paid.
    """
    amendment = amendment_of(saga)
    if amendment is None:
        raise AssertionError(f"saga {saga.id!r} amends nothing")
    # What the parent has booked of this itinerary, with its title: legs, and their insurance.
    kept = {leg.label: headline(leg.offer) for leg in itinerary.legs if leg.label in amendment.by_id}
    covers = covers_of(itinerary, amendment.by_id)
    titles = {covers[leg.label]: leg.cover.name for leg in itinerary.legs if leg.cover is not None}
    kept |= {name: title for name, title in titles.items() if name in amendment.by_id}
    version = saga.plan.version + last_version(amendment) + 1
    dropped = tuple(each.id for each in amendment.stands if each.action in BOOKINGS and each.id not in kept)
    is_same = not dropped and all(leg.label in kept for leg in itinerary.legs)
    undone = () if is_same else (*dropped, *(each.id for each in amendment.stands if each.action in PAYING))
    undoing = undoing_specs(amendment, undone, f"undo.{version}", f"{PAYMENT}.{version}", actions)
    return revised_workflow(
        saga,
        itinerary,
        actions,
        version=version,
        standing_elsewhere={name: _keeping(amendment, name, title, actions) for name, title in kept.items()},
        afterwards=tuple(undoing),
        is_paid=is_same,
    )


def _keeping(amendment: Amendment, name: str, title: str, actions: Mapping[str, Action]) -> OperationSpec:
    stands = amendment.by_id[name]
    booking = BookingRequest.model_validate(stands.request)
    reservation = Booking.model_validate(stands.result).reservation_id
    request = KeepRequest(kind=booking.kind, title=title, key=stands.key, reservation_id=reservation)
    return actions["keep_booking"].spec(name, request)
