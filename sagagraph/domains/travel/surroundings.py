"""All that a repair may use: trains and flights alike, on every day that an offer or a reservation leads to.

The market of a plan (market.py) leaves out flights where a train would be chosen; where something stands already, or the budget
is nearly used up, just that flight may be what fits.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Protocol, TypeVar

from sagagraph.domains.travel.market import CALLS_AT_ONCE, MOST_DEPARTURE_DAYS, Market, journeys_of
from sagagraph.domains.travel.money import PRICE_CURRENCY
from sagagraph.domains.travel.offers import HotelOffer

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Mapping
    from datetime import date

    from sagagraph.domains.travel.offers import FlightOffer, Offer, TrainOffer, Transport
    from sagagraph.domains.travel.problem import TripRequest
    from sagagraph.domains.travel.provider import ReservationProvider
    from sagagraph.domains.travel.rates import Rates

    AnyOffer = TypeVar("AnyOffer", bound=FlightOffer | TrainOffer | HotelOffer)
    Answer = TypeVar("Answer")


class Filter(Protocol):
    def __call__(self, offer: Offer, /) -> bool: ...


@dataclass(frozen=True)
class Known:
    """Offers of the plan that can still be had, or are booked: by journey and by stop, counted from 0 in the order of travel."""

    first_day: date
    journeys: Mapping[int, Transport]
    stays: Mapping[int, HotelOffer]


async def rates_for(request: TripRequest, provider: ReservationProvider) -> Rates | None:
    return None if request.currency == PRICE_CURRENCY or request.budget is None else await provider.rates()


async def surroundings(request: TripRequest, known: Known, may_be_had: Filter, provider: ReservationProvider) -> Market:
    """Of many days of departure the nearest to the planned one. Raises `ProviderError` when a question was not answered."""
    now = await provider.now()
    days = _nearest(request.departure_days(now.astimezone(UTC).date()), known.first_day)
    asking = _Asking(request, known, may_be_had, provider)
    await asking.follow(days)
    return Market(now, days, asking.journeys, asking.stays, await rates_for(request, provider), is_for_repair=True)


def _nearest(days: tuple[date, ...], to: date) -> tuple[date, ...]:
    return tuple(sorted(sorted(days, key=lambda day: abs(day - to))[:MOST_DEPARTURE_DAYS]))


class _Asking:
    def __init__(self, request: TripRequest, known: Known, may_be_had: Filter, provider: ReservationProvider) -> None:
        self.journeys: dict[tuple[int, date], tuple[Transport, ...]] = {}
        self.stays: dict[tuple[int, date], tuple[HotelOffer, ...]] = {}
        self._request = request
        self._known = known
        self._may_be_had = may_be_had
        self._provider = provider
        self._turn = asyncio.Semaphore(CALLS_AT_ONCE)

    async def follow(self, days: Iterable[date]) -> None:
        for journey, ends in enumerate(journeys_of(self._request)):
            await self._travel(journey, ends, days)
            if journey < len(self._request.stops):
                arrivals = {offer.arrives.date() for (n, _), offers in self.journeys.items() if n == journey for offer in offers}
                await self._stay(journey, sorted(arrivals))
                days = sorted({offer.check_out for (n, _), offers in self.stays.items() if n == journey for offer in offers})

    async def _travel(self, journey: int, ends: tuple[str, str], days: Iterable[date]) -> None:
        asked = {day: self._transports(*ends, day) for day in days}
        for day, offers in zip(asked, await _all(asked.values()), strict=True):
            self.journeys[journey, day] = self._with_known(offers, self._known.journeys.get(journey), day)

    async def _stay(self, stop: int, days: Iterable[date]) -> None:
        asked = {day: self._hotels(stop, day) for day in days}
        for day, offers in zip(asked, await _all(asked.values()), strict=True):
            known = self._known.stays.get(stop)
            self.stays[stop, day] = self._with_known(offers, known, day)

    async def _transports(self, here: str, there: str, day: date) -> tuple[Transport, ...]:
        where = (here, there, day, self._request.travellers)
        async with self._turn:
            return (*await self._provider.trains(*where), *await self._provider.flights(*where))

    async def _hotels(self, stop: int, check_in: date) -> tuple[HotelOffer, ...]:
        where = self._request.stops[stop]
        async with self._turn:
            check_out = check_in + timedelta(days=where.nights)
            return await self._provider.hotels(where.city, check_in, check_out, self._request.rooms)

    def _with_known(self, offers: Iterable[AnyOffer], known: AnyOffer | None, day: date) -> tuple[AnyOffer, ...]:
        """What is known goes before what is asked: what is booked may be sold out for others."""
        first = () if known is None or _begins(known) != day else (known,)
        names = {each.offer_id for each in first}
        return (*first, *(each for each in offers if each.offer_id not in names and self._may_be_had(each)))


def _begins(offer: Offer) -> date:
    return offer.check_in if isinstance(offer, HotelOffer) else offer.departs.date()


async def _all(questions: Iterable[Coroutine[None, None, Answer]]) -> list[Answer]:
    """The answers in the order of the questions."""
    try:
        async with asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(each) for each in questions]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [each.result() for each in asked]
