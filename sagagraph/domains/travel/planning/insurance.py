"""Insurance of the fares of a trip, where it is wished for, on offer, and within the budget."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING

from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.offers import TransportOffer
from sagagraph.domains.travel.planning.exchange import converted, most_cents
from sagagraph.domains.travel.planning.search import cents
from sagagraph.domains.travel.provider.provider import Insuring

if TYPE_CHECKING:
    from datetime import datetime

    from sagagraph.domains.travel.plan import Itinerary, Leg
    from sagagraph.domains.travel.provider.provider import ReservationProvider


async def insured(trip: Itinerary, provider: ReservationProvider) -> Itinerary:
    """Return the trip with what insures its fares; as it is, and why, where that would not keep the budget.

    Raises `ProviderError` if a question was not answered.
    """
    if not trip.request.insured:
        return _with(trip, [leg.model_copy(update={"cover": None}) for leg in trip.legs]) if _is_insured(trip) else trip
    now = await provider.now()
    found = _with(trip, await asyncio.gather(*(_covered(leg, provider, now) for leg in trip.legs)))
    rates = await provider.rates() if found.converted is not None else None
    most = most_cents(found.request, rates)
    if most is not None and cents(found.total + found.fees) > most:
        premiums = money_text(found.total - sum((leg.offer.price for leg in trip.legs), Decimal(0)))
        bare = _with(trip, [leg.model_copy(update={"cover": None}) for leg in trip.legs])
        why = f"not insured: with {premiums} for insurance it would exceed the budget"
        return bare.model_copy(update={"considered": (*bare.considered, why)})
    if not _is_insured(found):
        return found.model_copy(update={"considered": (*found.considered, "not insured: no insurance is on offer")})
    other = converted(found.request, cents(found.total + found.fees), rates)
    return found.model_copy(update={"converted": other})


async def _covered(leg: Leg, provider: ReservationProvider, now: datetime) -> Leg:
    is_fare = isinstance(leg.offer, TransportOffer) and leg.offer.departs > now
    if leg.cover is not None or not is_fare or not isinstance(provider, Insuring):
        return leg
    return leg.model_copy(update={"cover": await provider.insurance(leg.offer.offer_id)})


def _is_insured(trip: Itinerary) -> bool:
    return any(leg.cover is not None for leg in trip.legs)


def _with(trip: Itinerary, legs: list[Leg]) -> Itinerary:
    return trip.model_copy(update={"legs": tuple(legs), "total": sum((leg.price for leg in legs), Decimal(0))})
