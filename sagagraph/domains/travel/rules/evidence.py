"""Evidence that a trip's validators are shown: gathered once, kept in the journal, the same in a replay."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal

from pydantic import AwareDatetime, BaseModel

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.money import PRICE_CURRENCY, Price, Rates
from sagagraph.domains.travel.offers import Bookable, InsuranceOffer
from sagagraph.domains.travel.plan import Itinerary, Leg, ways_of
from sagagraph.domains.travel.progress import Standing, fees_to_come, has_begun
from sagagraph.domains.travel.provider.provider import Insuring, ReservationProvider
from sagagraph.domains.travel.request import TripRequest


class Evidence(BaseModel, frozen=True):
    now: AwareDatetime
    """By the provider's clock."""
    quotes: tuple[Bookable, ...]
    """Offers as planned, as quoted, or as booked; a missing one is unavailable."""
    rates: Rates | None = None
    begun: tuple[Leg, ...] = ()
    """Bookings that have begun by that clock."""
    fees: Price = Decimal(0)
    """What cancelling has cost, and what it costs now to cancel bookings that are no longer planned."""


async def gather_evidence(
    itinerary: Itinerary,
    request: TripRequest,
    stands: Sequence[Standing],
    paid: Decimal,
    provider: ReservationProvider,
    cities: Gazetteer,
) -> Evidence:
    """Gather the evidence. `paid`: what cancelling has cost so far. Raises `ProviderError` if a query was not answered."""
    booked = {each.leg.label: each for each in stands}
    now = await provider.now()

    async def cover(leg: Leg) -> InsuranceOffer | None:
        """Return the insurance as it is quoted; with a booked fare, the insurance itself is either booked or not."""
        if leg.cover is None or leg.label in booked or not isinstance(provider, Insuring):
            return leg.cover
        return await provider.insurance(leg.offer.offer_id)

    async def quote(leg: Leg) -> Bookable | None:
        """Return the quote. For a booking it is the provider's record: nobody else can take it any more."""
        if leg.label not in booked:
            return await provider.offer(leg.offer.offer_id)
        found = await provider.find(leg.offer.kind, booked[leg.label].key)
        live = [each for each in found.reservations if each.state == "confirmed"]
        return live[0].offer.model_copy(update={"left": leg.offer.left}) if live else None

    found = await asyncio.gather(*map(quote, ways_of(itinerary.legs)))
    covers = await asyncio.gather(*map(cover, itinerary.legs))
    return Evidence(
        now=now,
        quotes=tuple(offer for offer in (*found, *covers) if offer is not None),
        rates=None if request.currency == PRICE_CURRENCY else await provider.rates(),
        begun=tuple(each.leg for each in stands if has_begun(each.leg, now, cities)),
        fees=paid + fees_to_come(stands, itinerary, now),
    )
