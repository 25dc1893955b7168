"""Journeys: what flights and trains share, from the minute of departure to the offer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from sagagraph.sandbox.world.cities import City
from sagagraph.sandbox.world.draws import draw_between
from sagagraph.sandbox.world.offers import Offer, Stock

_FIRST_MINUTE, _LAST_MINUTE = 6 * 60, 22 * 60


@dataclass(frozen=True, kw_only=True)
class Departure:
    """One number in the timetable: the same times on every day on which it runs."""

    kind: Literal["flight", "train"]
    carrier: str
    number: str
    leaves: int
    """Minutes after midnight at the origin."""
    minutes: int
    """The duration."""
    via: tuple[str, ...] = ()


def departure_minute(slot: int, slots: int, *about: object) -> int:
    """Minutes after midnight at which the `slot`-th of `slots` departures leaves: they share the day."""
    width = (_LAST_MINUTE - _FIRST_MINUTE) // slots
    minute = _FIRST_MINUTE + slot * width + draw_between(0, width - 1, "departure", slot, *about)
    return minute // 5 * 5


def journey_id(kind: str, origin: str, destination: str, day: date, number: str) -> str:
    return f"{kind}.{origin}-{destination}.{day}.{number}"


def journey_offer(
    departure: Departure, origin: City, destination: City, day: date, travellers: int, *, unit: str, seats: int, dollars: int
) -> Offer:
    """`unit`: what has the seats; cities may share it. `dollars`: per traveller."""
    departs = datetime.combine(day, time(departure.leaves // 60, departure.leaves % 60), origin.zone)
    # In UTC: adding to a local time would ignore a clock change on the way.
    arrives = (departs.astimezone(UTC) + timedelta(minutes=departure.minutes)).astimezone(destination.zone)
    flies = departure.kind == "flight"
    return Offer(
        kind=departure.kind,
        base_id=journey_id(departure.kind, origin.key, destination.key, day, departure.number),
        quantity=travellers,
        rate=dollars * 100,
        starts=departs,
        stock=(Stock(unit=unit, capacity=seats, until=departs),),
        facts={
            "carrier": departure.carrier,
            "number": departure.number,
            "origin": origin.airport.code if flies else origin.name,
            "destination": destination.airport.code if flies else destination.name,
            "origin_city": origin.name,
            "destination_city": destination.name,
            "departs": departs.isoformat(),
            "arrives": arrives.isoformat(),
            "duration_minutes": departure.minutes,
            "stops": len(departure.via),
            "via": list(departure.via),
        },
    )
