"""Case: what slices are selected from: a trip, what was asked for, and what the world says now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Final

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.money import Rates
from sagagraph.domains.travel.offers import Bookable, FlightOffer, HotelOffer, TrainOffer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.request import TripRequest
from sagagraph.validators.verdict import Violation

TRIP: Final = "the trip"
"""The scope of what concerns all of a trip."""


@dataclass(frozen=True)
class Visit:
    """The time between two journeys, in the city where the first of them ended."""

    city: str
    arrives: date
    leaves: date
    """The day of the next journey; after the last one, the end of the stay."""
    arrived_by: Leg
    is_last: bool
    stays: tuple[tuple[Leg, HotelOffer], ...]

    @property
    def is_change(self) -> bool:
        """Whether the traveller only changes here, on the same day."""
        return not self.is_last and not self.stays and self.leaves == self.arrives


@dataclass(frozen=True)
class Case:
    itinerary: Itinerary
    request: TripRequest
    quotes: Mapping[str, Bookable] | None
    """By offer id, as quoted now; one that is missing is gone. None: nobody asked."""
    now: datetime
    cities: Gazetteer
    rates: Rates | None = None
    """None: nobody asked; a budget in another currency cannot be checked then."""
    fees: Decimal = Decimal(0)
    """What cancelling has cost, and what it costs now to cancel bookings that are not in the itinerary."""

    begun: Mapping[str, Leg] = field(default_factory=dict)
    """Bookings that had begun at that moment, by label."""

    @cached_property
    def visits(self) -> tuple[Visit, ...]:
        """One visit after each journey, including the return home."""
        groups: list[_Group] = []
        for leg in self.itinerary.legs:
            if isinstance(leg.offer, HotelOffer):
                if groups:
                    groups[-1].stays.append((leg, leg.offer))
            else:
                groups.append(_Group(leg, leg.offer))
        following = [group.transport.departs.date() for group in groups[1:]]
        return tuple(
            Visit(
                city=group.transport.destination_city,
                arrives=group.transport.arrives.date(),
                leaves=next_day if next_day is not None else self._end_of(group),
                arrived_by=group.leg,
                is_last=next_day is None,
                stays=tuple(group.stays),
            )
            for group, next_day in zip(groups, [*following, None], strict=False)  # a plan may have no journey
        )

    def zones(self, cities: Iterable[str]) -> dict[str, str]:
        """The time zones of these cities, as far as they are known."""
        found = {city: self.cities.zone(city) for city in cities}
        return {city: zone.key for city, zone in found.items() if zone is not None}

    def _end_of(self, group: _Group) -> date:
        """Of the last visit. Where a one-way trip ends without a hotel, one was needed for the nights asked for."""
        city, arrives = group.transport.destination_city, group.transport.arrives.date()
        if city == self.request.return_to:
            return arrives
        last_stop = self.request.stops[-1]
        ends_as_asked = self.request.return_to is None and city == last_stop.city
        needed = arrives + timedelta(days=last_stop.nights) if ends_as_asked else arrives
        return max((hotel.check_out for _, hotel in group.stays), default=needed)


@dataclass
class _Group:
    leg: Leg
    transport: FlightOffer | TrainOffer
    stays: list[tuple[Leg, HotelOffer]] = field(default_factory=list)


def span(labels: list[str]) -> str:
    """The name of a window of legs."""
    return labels[0] if len(labels) == 1 else f"{labels[0]} to {labels[-1]}"


def at(label: str, code: str, message: str, **evidence: object) -> Violation:
    """Return a violation at one leg."""
    return Violation(code=code, message=f"{label}: {message}", scope={"leg": label}, evidence=shown(evidence))


def of_trip(code: str, message: str, **evidence: object) -> Violation:
    """Return a violation of the trip as a whole."""
    return Violation(code=code, message=message, evidence=shown(evidence))


def shown(evidence: Mapping[str, object]) -> dict[str, object]:
    """Return a value fit for JSON, and exact."""
    return {name: value if isinstance(value, int | list) else str(value) for name, value in evidence.items()}


def is_amount(value: Decimal) -> bool:
    """Tell whether it is an amount. NaN compares as neither more nor less than a budget, so it is named explicitly."""
    return value.is_finite() and value >= 0
