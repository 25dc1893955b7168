"""Planner: proposes trips that differ in what a person cares about, or says what rules out every trip."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import replace
from decimal import Decimal
from itertools import repeat

from sagagraph.domains.travel.cities import City
from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.offers import InsuranceOffer, TransportOffer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.planning import explanation
from sagagraph.domains.travel.planning.conflict import Conflict
from sagagraph.domains.travel.planning.market import Market, gather
from sagagraph.domains.travel.planning.measures import cents, converted, measures, most_cents
from sagagraph.domains.travel.planning.search import Path, best_path
from sagagraph.domains.travel.provider.provider import Insuring, ReservationProvider
from sagagraph.domains.travel.request import TripRequest
from sagagraph.planning.background import in_background
from sagagraph.planning.domain import Infeasible

Proposals = tuple[Itinerary, ...] | Infeasible
"""The preferred trip first."""


async def propose(
    request: TripRequest, provider: ReservationProvider, *, limit: int = 4, cities: Collection[City] | None = None
) -> Proposals:
    """Propose at most `limit` trips, without blocking others on this event loop. `cities`: as for `gather`.

    Raises:
        ProviderError: the offers could not be read.
    """
    market = (await gather(request, provider, cities=cities)).with_trains_first(request)
    proposals: Proposals = await in_background(_best_of, request, market)
    if not proposals:
        proposals = await in_background(choose, request, await gather(request, provider, widely=True, cities=cities))
    return proposals if isinstance(proposals, Infeasible) else proposals[:limit]


def choose(request: TripRequest, offers: Market) -> Proposals:
    """Return the best trip by each measure, without duplicates. The first is the preferred one:

    the fewest flights with a change of plane if direct ones are preferred, then the least of price plus, for every traveller, $30
    for an hour under way and $60 for leaving before 7:00 or arriving between 23:00 and 6:00. Ties go to the lower price, then to
    the offer id that sorts first. If there is a good train, flights (and trains of more than six hours) are considered only if
    there is no trip without them.
    """
    everything = replace(offers, has_slow_trains=True)
    for market in (offers.with_trains_first(request), everything):
        if found := _best_of(request, market):
            return found
    return infeasible(request, everything)


def _best_of(request: TripRequest, market: Market) -> tuple[Itinerary, ...]:
    """Return the best trips, each with the measures in which it is best; empty if there is no trip at all."""
    best: dict[str, Path] = {}
    for title, weigh in measures(request).items():
        path = best_path(request, market, weigh)
        if path is None:
            return ()
        best[title] = path
    paths = {path.ids: path for path in best.values()}
    considered = tuple(explanation.considered(request, market))
    return tuple(
        Itinerary.of(
            request,
            path.offers,
            converted=converted(request, path.cents, market.rates),
            reasons=explanation.reasons(
                request, market, path, [title for title, each in best.items() if each.ids == ids], tuple(paths.values())
            ),
            considered=considered,
            choices=explanation.choices(request, market, path, best.values()),
        )
        for ids, path in paths.items()
    )


def infeasible(request: TripRequest, offers: Market) -> Infeasible:
    """Return why no trip on this market keeps all wishes, and what would help."""
    conflict = Conflict(request, offers)
    relaxations = tuple(conflict.relaxations())
    reasons = explanation.why_not(request, offers, conflict.in_words, relaxations)
    return Infeasible(reasons, conflict.in_words, relaxations)


async def insured(trip: Itinerary, provider: ReservationProvider) -> Itinerary:
    """Return the trip with insurance for its fares; if that would exceed the budget, the trip unchanged, and why.

    Raises `ProviderError` if a query was not answered.
    """
    if not trip.request.insured:
        return _with(trip, repeat(None)) if _is_insured(trip) else trip
    now = await provider.now()

    async def cover(leg: Leg) -> InsuranceOffer | None:
        is_fare = isinstance(leg.offer, TransportOffer) and leg.offer.departs > now
        if leg.cover is not None or not is_fare or not isinstance(provider, Insuring):
            return leg.cover
        return await provider.insurance(leg.offer.offer_id)

    found = _with(trip, await asyncio.gather(*map(cover, trip.legs)))
    rates = await provider.rates() if found.converted is not None else None
    most = most_cents(found.request, rates)
    if most is not None and cents(found.total + found.fees) > most:
        premiums = money_text(sum((leg.cover.price for leg in found.legs if leg.cover), Decimal(0)))
        why = f"not insured: with {premiums} for insurance it would exceed the budget"
        return _with(trip, repeat(None)).model_copy(update={"considered": (*trip.considered, why)})
    if not _is_insured(found):
        return found.model_copy(update={"considered": (*found.considered, "not insured: no insurance is on offer")})
    other = converted(found.request, cents(found.total + found.fees), rates)
    return found.model_copy(update={"converted": other})


def _is_insured(trip: Itinerary) -> bool:
    return any(leg.cover is not None for leg in trip.legs)


def _with(trip: Itinerary, covers: Iterable[InsuranceOffer | None]) -> Itinerary:
    return trip.with_legs(leg.model_copy(update={"cover": cover}) for leg, cover in zip(trip.legs, covers, strict=False))
