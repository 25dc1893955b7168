"""Case from which slices are selected: a trip, what was asked for, and what the world says now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Final, TypeVar

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.money import Rates
from sagagraph.domains.travel.offers import Bookable, HotelOffer
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.request import TripRequest
from sagagraph.validators.verdict import Violation

View = TypeVar("View")
TRIP: Final = "the trip"
"""The scope of what concerns all of a trip."""


@dataclass(frozen=True)
class Visit:
    """Visit: the time between two journeys, in the city where the first of them ended."""

    city: str
    arrives: date
    leaves: date
    """The day of the next journey; after the last one, the end of the stay."""
    arrived_by: Leg
    is_last: bool
    stays: tuple[tuple[Leg, HotelOffer], ...]

    @property
    def is_change(self) -> bool:
        """Tell whether the traveller only changes here, on the same day."""
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
    def otherwise(self) -> Case | None:
        """Return the trip if all its flights with a train under a condition land as late as they may; None if it has no such
        train.
        """
        latest = {flight.label: only_if.lands_by for flight, train, only_if in self.itinerary.conditions if train.otherwise}
        landings = {label: moment for label, moment in latest.items() if moment is not None}
        return replace(self, itinerary=self.itinerary.as_landed(landings)) if landings else None

    @cached_property
    def visits(self) -> tuple[Visit, ...]:
        """Return one visit after each journey, including the return home; of a trip that is only a stay, that one."""
        found: list[Visit] = []
        for leg in self.itinerary.legs:
            offer = leg.offer
            if not isinstance(offer, HotelOffer):
                if found:
                    found[-1] = replace(found[-1], leaves=offer.departs.date(), is_last=False)
                day = offer.arrives.date()
                found.append(Visit(offer.destination_city, day, day, leg, is_last=True, stays=()))
            elif found:
                found[-1] = replace(found[-1], stays=(*found[-1].stays, (leg, offer)))
            elif self.request.is_stay_only:
                found.append(Visit(offer.city, offer.check_in, offer.check_in, leg, is_last=True, stays=((leg, offer),)))
        return tuple(replace(visit, leaves=self._end_of(visit)) if visit.is_last else visit for visit in found)

    def zones(self, cities: Iterable[str]) -> dict[str, str]:
        """Return the time zones of these cities, as far as they are known."""
        found = {city: self.cities.zone(city) for city in cities}
        return {city: zone.key for city, zone in found.items() if zone is not None}

    def _end_of(self, visit: Visit) -> date:
        """Return the end of the last visit. If a one-way trip ends without a hotel, one was needed for the nights asked for."""
        if visit.city == self.request.return_to:
            return visit.arrives
        last_stop = self.request.stops[-1]
        ends_as_asked = self.request.return_to is None and visit.city == last_stop.city
        needed = visit.arrives + timedelta(days=last_stop.nights) if ends_as_asked else visit.arrives
        return max((hotel.check_out for _, hotel in visit.stays), default=needed)


def also_otherwise(scopes: Callable[[Case], Iterable[tuple[str, View]]]) -> Callable[[Case], Iterator[tuple[str, View]]]:
    """Return the scopes of a trip, and of the trip that results if no condition of its trains holds."""

    def both(case: Case) -> Iterator[tuple[str, View]]:
        yield from scopes(case)
        if case.otherwise is not None:
            yield from ((f"{name}, otherwise", view) for name, view in scopes(case.otherwise))

    return both


def span(labels: list[str]) -> str:
    """Return the name of a window of legs."""
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
    """Tell whether it is an amount. NaN is neither more nor less than a budget, so it is tested explicitly."""
    return value.is_finite() and value >= 0
