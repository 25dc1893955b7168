"""All that is on offer for a request, fetched without the planner: trains and flights, for every day within reach."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from benchmarks.trips import rules
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, TrainOffer
from sagagraph.domains.travel.provider.provider import ReservationProvider

Ride = FlightOffer | TrainOffer
_CALLS_AT_ONCE = 8


@dataclass(frozen=True)
class Supply:
    """Journeys and stops are counted from 0 in the order of travel."""

    now: datetime
    rides: dict[tuple[int, date], tuple[Ride, ...]] = field(default_factory=dict)
    """By journey and local day of departure."""
    stays: dict[tuple[int, date], tuple[HotelOffer, ...]] = field(default_factory=dict)
    """By stop and day of check-in."""


async def fetch(body: Mapping[str, Any], provider: ReservationProvider) -> Supply:
    supply = Supply(await provider.now())
    turn = asyncio.Semaphore(_CALLS_AT_ONCE)
    days = rules.first_days(body)
    for journey, (here, there) in enumerate(pairwise(rules.route_of(body))):
        found = await asyncio.gather(*(_rides(provider, turn, here, there, day, body["travellers"]) for day in days))
        supply.rides.update({(journey, day): rides for day, rides in zip(days, found, strict=True)})
        if journey == len(body["stops"]):
            break
        stop = body["stops"][journey]
        arrivals = sorted({ride.arrives.date() for rides in found for ride in rides})
        houses = await asyncio.gather(*(_stays(provider, turn, stop, day, body["rooms"]) for day in arrivals))
        supply.stays.update({(journey, day): stays for day, stays in zip(arrivals, houses, strict=True)})
        days = [day + timedelta(days=stop["nights"]) for day in arrivals]
    return supply


async def _rides(
    provider: ReservationProvider, turn: asyncio.Semaphore, here: str, there: str, day: date, travellers: int
) -> tuple[Ride, ...]:
    async with turn:
        trains = await provider.trains(here, there, day, travellers)
        return (*trains, *await provider.flights(here, there, day, travellers))


async def _stays(
    provider: ReservationProvider, turn: asyncio.Semaphore, stop: Mapping[str, Any], check_in: date, rooms: int
) -> tuple[HotelOffer, ...]:
    async with turn:
        return await provider.hotels(stop["city"], check_in, check_in + timedelta(days=stop["nights"]), rooms)
