"""Repair of a trip: another hotel for the same nights, another train on the same day; more only if that is not enough.

Preferences, in this order (ALAS section 3.4, smallest neighbourhood first): as many reservations as possible are kept; as few
legs as possible change; then what the planner prefers, including cancellation fees. Each neighbourhood holds the best of all
repairs that keep as much, so it grows only if it holds none (ADR-0009).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain
from operator import attrgetter

from sagagraph.domains.travel.cities import City
from sagagraph.domains.travel.money import PRICE_CURRENCY, Rates
from sagagraph.domains.travel.offers import HotelOffer, Offer, TransportOffer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.planning.market import AnyOffer, Market, gather, journeys_of
from sagagraph.domains.travel.planning.measures import balance, cents, converted
from sagagraph.domains.travel.planning.planner import infeasible
from sagagraph.domains.travel.planning.search import Path, best_path, time_to_change
from sagagraph.domains.travel.progress import Standing
from sagagraph.domains.travel.provider.provider import ReservationProvider, journeys
from sagagraph.domains.travel.request import TripRequest
from sagagraph.domains.travel.wording import count_text, headline
from sagagraph.planning.domain import Infeasible


@dataclass(frozen=True)
class Damage:
    """Damage: a trip that cannot continue as planned."""

    request: TripRequest
    itinerary: Itinerary
    """The itinerary that was accepted last."""
    stands: tuple[Standing, ...]
    refused: frozenset[tuple[str, Decimal]]
    """Offers that are unavailable at a price, whatever is quoted."""
    paid: Decimal
    """What cancelling has cost so far."""
    version: int
    """Of the accepted plan."""
    lost: frozenset[str] = frozenset()
    """Offers that no longer count as available, booked or not."""
    is_renamed: bool = False
    """Whether what is not booked yet gets new names: it was planned under conditions that do not apply to another plan."""
    begun: tuple[Leg, ...] = ()
    """Legs of the itinerary that have begun: they stay as they are."""

    @property
    def fitting(self) -> tuple[Leg, ...]:
        """Return the legs planned for the present number of travellers: all of them, or none."""
        party = attrgetter("travellers", "children", "rooms")
        return self.itinerary.legs if party(self.itinerary.request) == party(self.request) else ()

    @property
    def usable(self) -> tuple[Standing, ...]:
        return tuple(each for each in self.stands if each.leg.offer.offer_id not in self.lost) if self.fitting else ()

    @property
    def booked(self) -> dict[str, Offer]:
        """Return the offers that can be kept, by label: they are reserved, whatever is left for others."""
        return {each.leg.label: each.leg.offer.model_copy(update={"left": 99}) for each in self.usable}

    @property
    def has_same_route(self) -> bool:
        planned = self.itinerary.request
        return (journeys_of(planned), planned.stops) == (journeys_of(self.request), self.request.stops)


async def repair(damage: Damage, provider: ReservationProvider, cities: Collection[City] | None = None) -> Itinerary | Infeasible:
    """Return the best trip that keeps what is booked. `cities`: as for `gather`. Raises `ProviderError` if offers could not be
    read.
    """
    usable = {each.leg.label for each in damage.usable}
    if spoilt := [headline(leg.offer) for leg in damage.begun if leg.label not in usable]:
        return Infeasible((f"{'; '.join(spoilt)}: what has begun cannot be changed any more",))
    now = await provider.now()
    quoted = await _still_to_be_had(damage, provider)
    market = await _beside_what_failed(damage, quoted, provider, now)
    path = _best(damage, market, now) if damage.has_same_route else None
    if path is None:
        market = await _everything(damage, quoted, provider, cities)
        path = _best(damage, market, now)
    if path is not None:
        return _itinerary(damage, path, now, market.rates)
    found = infeasible(damage.request, _reckoned(damage, market, now))
    return replace(found, reasons=("no trip is left, whichever bookings are kept", *found.reasons[:1]))


# -- what there is ---------------------------------------------------------------------------------------------------


async def _still_to_be_had(damage: Damage, provider: ReservationProvider) -> dict[str, Offer]:
    """Return the legs that are still available as planned, by label: booked, or offered at the same price."""
    found = damage.booked
    asked = [leg for leg in damage.fitting if leg.label not in found]
    quotes = await asyncio.gather(*(provider.offer(leg.offer.offer_id) for leg in asked))
    for leg, quote in zip(asked, quotes, strict=True):
        if quote is not None and quote.price == leg.offer.price and _may_be_had(damage, quote):
            found[leg.label] = quote
    return found


def _may_be_had(damage: Damage, offer: Offer) -> bool:
    needed = damage.request.rooms if isinstance(offer, HotelOffer) else damage.request.travellers
    is_refused = offer.offer_id in damage.lost or (offer.offer_id, offer.price) in damage.refused
    return offer.left >= needed and not is_refused and not _is_missed(damage, offer)


def _is_missed(damage: Damage, offer: Offer) -> bool:
    """Tell whether a late arrival leaves no time to reach it, though there would have been time by the timetable."""
    for leg in damage.itinerary.legs:
        late, ride = damage.request.late.get(leg.label), leg.offer
        if late is not None and isinstance(ride, TransportOffer) and isinstance(offer, TransportOffer):
            ready = late + time_to_change(offer, is_from_flight=ride.kind == "flight")
            if offer.origin_city == ride.destination_city and ride.arrives <= offer.departs < ready:
                return True
    return False


async def _beside_what_failed(
    damage: Damage, quoted: Mapping[str, Offer], provider: ReservationProvider, now: datetime
) -> Market:
    """Return the smallest neighbourhood: alternatives for the day or nights of a failed leg; the rest unchanged."""
    legs, request = damage.itinerary.legs, damage.request
    found = await asyncio.gather(*(_instead(damage, leg, quoted, provider) for leg in legs))
    offered = {each.offer_id: each for each in (*chain.from_iterable(found), *damage.booked.values())}
    rates = None if request.currency == PRICE_CURRENCY or request.budget is None else await provider.rates()
    return Market.of(offered.values(), now, legs[0].begins, rates)


async def _instead(damage: Damage, leg: Leg, quoted: Mapping[str, Offer], provider: ReservationProvider) -> list[Offer]:
    if leg.label in quoted:
        return [quoted[leg.label]]
    offer, request = leg.offer, damage.request
    offered: Iterable[Offer]
    if isinstance(offer, HotelOffer):
        offered = await provider.hotels(offer.city, offer.check_in, offer.check_out, request.rooms)
    else:
        where = (offer.origin_city, offer.destination_city, offer.departs.date(), request)
        trains, flights = await asyncio.gather(journeys(provider, "train", *where), journeys(provider, "flight", *where))
        offered = (*trains, *flights)
    return [each for each in offered if _may_be_had(damage, each)]


async def _everything(
    damage: Damage, quoted: Mapping[str, Offer], provider: ReservationProvider, cities: Collection[City] | None
) -> Market:
    """Return everything offered and everything booked, but nothing that was refused."""
    begun = tuple(leg.offer for leg in damage.begun)
    market = await gather(damage.request, provider, known=tuple(quoted.values()), begun=begun, cities=cities)
    return _each(market, lambda offer: _may_be_had(damage, offer), {})


def _each(market: Market, keeps: Callable[[Offer], bool], less: Mapping[str, Decimal]) -> Market:
    """Return the market with the offers that it keeps, each made cheaper by this amount."""

    def changed(offers: tuple[AnyOffer, ...]) -> tuple[AnyOffer, ...]:
        fees = [(each, less.get(each.offer_id)) for each in offers if keeps(each)]
        return tuple(each if fee is None else each.model_copy(update={"price": each.price - fee}) for each, fee in fees)

    journeys = {slot: changed(offers) for slot, offers in market.journeys.items()}
    return replace(market, journeys=journeys, stays={slot: changed(offers) for slot, offers in market.stays.items()})


# -- what is best ----------------------------------------------------------------------------------------------------


def _best(damage: Damage, market: Market, now: datetime) -> Path | None:
    booked = {each.leg.offer.offer_id for each in damage.usable}
    begun = {leg.offer.offer_id for leg in damage.begun}
    planned = {leg.offer.offer_id for leg in damage.fitting}
    weigh_trip = balance(damage.request)

    def weigh(offer: Offer) -> tuple[int, ...]:
        return (-(offer.offer_id in begun), -(offer.offer_id in booked), int(offer.offer_id not in planned), *weigh_trip(offer))

    path = best_path(damage.request, _reckoned(damage, market, now), weigh)
    return path if path is not None and begun <= set(path.ids) else None


def _reckoned(damage: Damage, market: Market, now: datetime) -> Market:
    """Return the market as a repair pays for it: all bookings pay their fee in advance, and each that is kept refunds its own."""
    fees = {each.leg.offer.offer_id: each.fee(now) for each in damage.usable}
    # A moment at which what has begun could still be boarded; what is offered now is offered from now on.
    departed = (leg.offer.departs for leg in damage.begun if not isinstance(leg.offer, HotelOffer))
    before = min([now, *(each - timedelta(minutes=1) for each in departed)])
    due = cents(sum((each.fee(now) for each in damage.stands), damage.paid))
    return replace(_each(market, lambda _: True, fees), now=before, has_slow_trains=True, fees_cents=due)


# -- the resulting plan ----------------------------------------------------------------------------------------------


def _itinerary(damage: Damage, path: Path, now: datetime, rates: Rates | None) -> Itinerary:
    known = {leg.offer.offer_id: leg for leg in (*damage.fitting, *(each.leg for each in damage.usable))}
    version = damage.version + 1
    legs = tuple(_leg(offer, f"T{n}.{version}", known, damage) for n, offer in enumerate(path.offers, start=1))
    kept = {leg.label for leg in legs}
    gone = [each for each in damage.stands if each.leg.label not in kept]
    total = sum((leg.price for leg in legs), Decimal(0))
    fees = damage.paid + sum((each.fee(now) for each in gone), Decimal(0))
    return Itinerary(
        request=damage.request,
        legs=legs,
        total=total,
        currency=PRICE_CURRENCY,
        fees=fees,
        converted=converted(damage.request, cents(total + fees), rates) if damage.request.budget is not None else None,
        reasons=_reasons(damage, legs, gone, total, fees),
    )


def _leg(offer: Offer, label: str, known: Mapping[str, Leg], damage: Damage) -> Leg:
    """Make a leg. A planned leg that is still available keeps its name and its booked or planned price."""
    leg = known.get(offer.offer_id)
    if leg is not None and any(each.leg.label == leg.label for each in damage.stands):
        return leg
    if (
        leg is None
        or damage.is_renamed
        or offer.price != leg.offer.price
        or (leg.offer.offer_id, leg.offer.price) in damage.refused
    ):
        return Leg(label=label, offer=offer)
    return leg


def _reasons(damage: Damage, legs: tuple[Leg, ...], gone: list[Standing], total: Decimal, fees: Decimal) -> tuple[str, ...]:
    before = {leg.label for leg in damage.itinerary.legs}
    fresh = [leg for leg in legs if leg.label not in before]
    said = [f"new: {'; '.join(headline(leg.offer) for leg in fresh) or 'nothing'}"]
    kept = len(damage.stands) - len(gone)
    said.append(f"{count_text(kept, 'reservation')} of {len(damage.stands)} kept")
    if gone:
        said.append(f"cancelled: {'; '.join(headline(each.leg.offer) for each in gone)}")
    more = total + fees - damage.itinerary.total - damage.itinerary.fees
    if more:
        said.append(
            f"{damage.itinerary.price_text(abs(more), damage.itinerary.currency)} {'more' if more > 0 else 'less'} than before"
        )
    if fees:
        said.append(f"{damage.itinerary.price_text(fees, damage.itinerary.currency)} of cancellation fees are counted")
    return tuple(said)
