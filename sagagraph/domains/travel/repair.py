"""Repairs a trip: another hotel for the same nights, another train on the same day; only where that is not enough, more.

What is preferred, in this order (ALAS section 3.4, smallest neighbourhood first): as many reservations as possible stay; as few
legs as possible change; then what the planner prefers of a trip, with the fees for what is cancelled. Each neighbourhood holds
the best of all that keep as much, so growing it is only needed where it holds nothing (ADR-0009).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from sagagraph.domains.travel import explanation
from sagagraph.domains.travel.exchange import converted
from sagagraph.domains.travel.market import Market
from sagagraph.domains.travel.money import PRICE_CURRENCY, money_text
from sagagraph.domains.travel.offers import HotelOffer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.planner import Infeasible, balance
from sagagraph.domains.travel.search import best_path, cents
from sagagraph.domains.travel.surroundings import Known, rates_for, surroundings
from sagagraph.domains.travel.wording import count_text, headline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from sagagraph.domains.travel.offers import FlightOffer, Offer, TrainOffer, Transport
    from sagagraph.domains.travel.problem import TripRequest
    from sagagraph.domains.travel.provider import ReservationProvider
    from sagagraph.domains.travel.rates import Rates
    from sagagraph.domains.travel.search import Path
    from sagagraph.domains.travel.standing import Standing

    AnyOffer = TypeVar("AnyOffer", FlightOffer | TrainOffer, HotelOffer)


@dataclass(frozen=True)
class Damage:
    """A trip that can not go on as it was planned."""

    request: TripRequest
    itinerary: Itinerary
    """As it was accepted last."""
    stands: tuple[Standing, ...]
    refused: frozenset[tuple[str, Decimal]]
    """Offers that can not be had at a price, whatever is quoted."""
    paid: Decimal
    """What cancelling has cost so far."""
    version: int
    """Of the accepted plan."""


async def repair(damage: Damage, provider: ReservationProvider) -> Itinerary | Infeasible:
    """The best way on from what stands. Raises `ProviderError` when the offers could not be read."""
    now = await provider.now()
    rates = await rates_for(damage.request, provider)
    quoted = await _still_to_be_had(damage, provider)
    narrow = await _beside_what_failed(damage, quoted, provider)
    path = _best(damage, Market(now, (damage.itinerary.legs[0].begins,), *narrow, rates, is_for_repair=True), now)
    if path is None:
        wide = await surroundings(damage.request, _known(damage, quoted), partial(_may_be_had, damage), provider)
        path = _best(damage, wide, now)
        if path is None:
            return Infeasible(("what stands can not be kept together, nor anything else", *_why_not(damage, wide)))
    return _itinerary(damage, path, now, rates)


# -- what there is ---------------------------------------------------------------------------------------------------


async def _still_to_be_had(damage: Damage, provider: ReservationProvider) -> dict[str, Offer]:
    """By label, the legs that are as they were planned: booked, or offered at the same price."""
    booked = {each.leg.label for each in damage.stands}
    asked = [leg for leg in damage.itinerary.legs if leg.label not in booked]
    quotes = await asyncio.gather(*(provider.offer(leg.offer.offer_id) for leg in asked))
    found: dict[str, Offer] = {each.leg.label: _as_booked(each) for each in damage.stands}
    for leg, quote in zip(asked, quotes, strict=True):
        if quote is not None and quote.price == leg.offer.price and _may_be_had(damage, quote):
            found[leg.label] = quote
    return found


def _as_booked(stands: Standing) -> Offer:
    """It is ours, whatever is left for others."""
    return stands.leg.offer.model_copy(update={"left": 99})


def _may_be_had(damage: Damage, offer: Offer) -> bool:
    needed = damage.request.rooms if isinstance(offer, HotelOffer) else damage.request.travellers
    return offer.left >= needed and (offer.offer_id, offer.price) not in damage.refused


_Journeys = dict[tuple[int, date], tuple["Transport", ...]]
_Stays = dict[tuple[int, date], tuple[HotelOffer, ...]]


async def _beside_what_failed(
    damage: Damage, quoted: Mapping[str, Offer], provider: ReservationProvider
) -> tuple[_Journeys, _Stays]:
    """The smallest neighbourhood: what else there is on the day, or for the nights, of a leg that failed; the rest as it is."""
    found = await asyncio.gather(*(_instead(damage, leg, quoted, provider) for leg in damage.itinerary.legs))
    journeys: _Journeys = {}
    stays: _Stays = {}
    for leg, offers in zip(damage.itinerary.legs, found, strict=True):
        if isinstance(leg.offer, HotelOffer):
            stays[len(stays), leg.offer.check_in] = tuple(each for each in offers if isinstance(each, HotelOffer))
        else:
            transports = tuple(each for each in offers if not isinstance(each, HotelOffer))
            journeys[len(journeys), leg.offer.departs.date()] = transports
    return journeys, stays


async def _instead(damage: Damage, leg: Leg, quoted: Mapping[str, Offer], provider: ReservationProvider) -> list[Offer]:
    if leg.label in quoted:
        return [quoted[leg.label]]
    offer, request = leg.offer, damage.request
    offered: Iterable[Offer]
    if isinstance(offer, HotelOffer):
        offered = await provider.hotels(offer.city, offer.check_in, offer.check_out, request.rooms)
    else:
        where = (offer.origin_city, offer.destination_city, offer.departs.date(), request.travellers)
        trains, flights = await asyncio.gather(provider.trains(*where), provider.flights(*where))
        offered = (*trains, *flights)
    return [each for each in offered if _may_be_had(damage, each)]


def _known(damage: Damage, quoted: Mapping[str, Offer]) -> Known:
    journeys: dict[int, Transport] = {}
    stays: dict[int, HotelOffer] = {}
    journey = stop = 0
    for leg in damage.itinerary.legs:
        offer = quoted.get(leg.label)
        if isinstance(leg.offer, HotelOffer):
            if isinstance(offer, HotelOffer):
                stays[stop] = offer
            stop += 1
        else:
            if offer is not None and not isinstance(offer, HotelOffer):
                journeys[journey] = offer
            journey += 1
    return Known(damage.itinerary.legs[0].begins, journeys, stays)


# -- what is best ----------------------------------------------------------------------------------------------------


def _best(damage: Damage, market: Market, now: datetime) -> Path | None:
    """Fees are counted as if all that stands were cancelled, and each that is taken brings its own back."""
    fees = {each.leg.offer.offer_id: each.fee(now) for each in damage.stands}
    planned = {leg.offer.offer_id for leg in damage.itinerary.legs}
    weigh_trip = balance(damage.request)
    reckoned = replace(
        market,
        fees_cents=cents(damage.paid + sum(fees.values(), Decimal(0))),
        journeys={slot: tuple(_less(each, fees) for each in offers) for slot, offers in market.journeys.items()},
        stays={slot: tuple(_less(each, fees) for each in offers) for slot, offers in market.stays.items()},
    )

    def weigh(offer: Offer) -> tuple[int, ...]:
        return (-(offer.offer_id in fees), int(offer.offer_id not in planned), *weigh_trip(offer))

    return best_path(damage.request, reckoned, weigh)


def _less(offer: AnyOffer, fees: Mapping[str, Decimal]) -> AnyOffer:
    fee = fees.get(offer.offer_id)
    return offer if fee is None else offer.model_copy(update={"price": offer.price - fee})


def _why_not(damage: Damage, market: Market) -> tuple[str, ...]:
    return explanation.why_not(damage.request, replace(market, fees_cents=cents(damage.paid)))


# -- the plan that comes of it ---------------------------------------------------------------------------------------


def _itinerary(damage: Damage, path: Path, now: datetime, rates: Rates | None) -> Itinerary:
    known = {leg.offer.offer_id: leg for leg in damage.itinerary.legs}
    booked = {each.leg.offer.offer_id: each for each in damage.stands}
    version = damage.version + 1
    legs = tuple(_leg(offer, f"T{n}.{version}", known, damage) for n, offer in enumerate(path.offers, start=1))
    kept = {leg.offer.offer_id for leg in legs}
    gone = [each for offer_id, each in booked.items() if offer_id not in kept]
    total = sum((leg.offer.price for leg in legs), Decimal(0))
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
    """What was planned and can still be had keeps its name, and the price that it was booked or planned at."""
    leg = known.get(offer.offer_id)
    if leg is None or _was_refused(leg, damage) or (offer.price != leg.offer.price and not _is_booked(leg, damage)):
        return Leg(label=label, offer=offer)
    return leg


def _is_booked(leg: Leg, damage: Damage) -> bool:
    return any(each.leg.label == leg.label for each in damage.stands)


def _was_refused(leg: Leg, damage: Damage) -> bool:
    return not _is_booked(leg, damage) and (leg.offer.offer_id, leg.offer.price) in damage.refused


def _reasons(damage: Damage, legs: tuple[Leg, ...], gone: list[Standing], total: Decimal, fees: Decimal) -> tuple[str, ...]:
    before = {leg.label for leg in damage.itinerary.legs}
    fresh = [leg for leg in legs if leg.label not in before]
    said = [f"instead of what failed: {'; '.join(headline(leg.offer) for leg in fresh)}"]
    kept = len(damage.stands) - len(gone)
    said.append(f"{count_text(kept, 'reservation')} of {len(damage.stands)} kept")
    if gone:
        said.append(f"cancelled: {'; '.join(headline(each.leg.offer) for each in gone)}")
    more = total + fees - damage.itinerary.total - damage.itinerary.fees
    if more:
        said.append(f"{money_text(abs(more))} {'more' if more > 0 else 'less'} than before")
    if fees:
        said.append(f"{money_text(fees)} of cancellation fees are counted")
    return tuple(said)
