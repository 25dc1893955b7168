"""Every trip that a small market holds, found by trying everything: it shares no code with the planner.

What a trip breaks is told by predicates of its own, so that any question about wishes is one about sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time, timedelta
from fractions import Fraction
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, TrainOffer

from .world import RATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sagagraph.domains.travel.offers import Offer
    from sagagraph.domains.travel.request import Stop, TripRequest

    _Predicate = Callable[["Trip"], bool]
    _Measure = Callable[[TripRequest, "Trip"], tuple[float, ...]]


@dataclass(frozen=True)
class Trip:
    legs: tuple[Offer, ...]

    @property
    def transports(self) -> list[FlightOffer | TrainOffer]:
        return [leg for leg in self.legs if not isinstance(leg, HotelOffer)]

    @property
    def hotels(self) -> list[HotelOffer]:
        return [leg for leg in self.legs if isinstance(leg, HotelOffer)]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(leg.offer_id for leg in self.legs)

    @property
    def price(self) -> Fraction:
        return sum((Fraction(leg.price) for leg in self.legs), Fraction(0))

    @property
    def minutes(self) -> int:
        return sum(leg.duration_minutes for leg in self.transports)

    @property
    def departs(self) -> date:
        return self.transports[0].departs.date()

    @property
    def ends(self) -> date:
        return max(_end(leg) for leg in self.legs)


def every_trip(request: TripRequest, offers: list[Offer]) -> list[Trip]:
    """That can be had at all: over the stops in their order, with beds and seats and time to change, whatever was wished."""
    found = [trip for order in _orders(request) for trip in _along(request, order, offers)]
    return list({trip.ids: trip for trip in found}.values())


def _orders(request: TripRequest) -> Iterator[tuple[Stop, ...]]:
    if request.order == "any":
        yield from permutations(request.stops)
    else:
        yield request.stops


def _along(request: TripRequest, stops: tuple[Stop, ...], offers: list[Offer]) -> Iterator[Trip]:
    here = request.origin
    wanted: list[tuple[str, str | int]] = []
    for stop in stops:
        wanted += [(here, stop.city), (stop.city, stop.nights)]
        here = stop.city
    if request.return_to is not None:
        wanted.append((here, request.return_to))

    def extended(legs: tuple[Offer, ...]) -> Iterator[Trip]:
        if len(legs) == len(wanted):
            yield Trip(legs)
            return
        for offer in offers:
            if _serves(offer, wanted[len(legs)]) and _can_be_had(offer, request) and _follows(offer, legs):
                yield from extended((*legs, offer))

    return extended(())


def _serves(offer: Offer, wanted: tuple[str, str | int]) -> bool:
    return wanted == (
        (offer.city, offer.nights) if isinstance(offer, HotelOffer) else (offer.origin_city, offer.destination_city)
    )


def _can_be_had(offer: Offer, request: TripRequest) -> bool:
    return offer.left >= (request.rooms if isinstance(offer, HotelOffer) else request.travellers)


def _follows(offer: Offer, legs: tuple[Offer, ...]) -> bool:
    if not legs:
        return True
    begins = offer.check_in if isinstance(offer, HotelOffer) else offer.departs.date()
    if begins != _end(legs[-1]):
        return False
    before = [leg for leg in legs if not isinstance(leg, HotelOffer)]
    return isinstance(offer, HotelOffer) or not before or offer.departs - before[-1].arrives >= _change(before[-1], offer)


def _end(leg: Offer) -> date:
    return leg.check_out if isinstance(leg, HotelOffer) else leg.arrives.date()


def _change(earlier: FlightOffer | TrainOffer, later: FlightOffer | TrainOffer) -> timedelta:
    if earlier.kind == "flight":
        return timedelta(minutes=90)
    return timedelta(minutes=60 if later.kind == "flight" else 0)


# -- wishes ------------------------------------------------------------------------------------------------------------


def wishes(request: TripRequest) -> list[str]:
    return [name for name, _ in _wishes(request)]


def broken(request: TripRequest, trip: Trip) -> frozenset[str]:
    """The wishes that `trip` does not keep, in words."""
    return frozenset(name for name, is_kept in _wishes(request) if not is_kept(trip))


def keeps_all(request: TripRequest, trips: list[Trip]) -> list[Trip]:
    return [trip for trip in trips if not broken(request, trip)]


def _wishes(request: TripRequest) -> Iterator[tuple[str, _Predicate]]:
    if request.depart is not None:
        yield f"leave on {request.depart}", lambda trip: trip.departs == request.depart
    window = request.window
    if window is not None:
        yield f"between {window.first} and {window.last}", lambda trip: trip.departs >= window.first and trip.ends <= window.last
    if request.direct == "required":
        yield "direct flights only", lambda trip: all(leg.kind == "train" or leg.stops == 0 for leg in trip.transports)
    if request.by != "any":
        yield f"by {request.by} only", lambda trip: all(leg.kind == request.by for leg in trip.transports)
    for verb, what in (("leave", "departs"), ("arrive", "arrives")):
        hours = request.hours.depart if verb == "leave" else request.hours.arrive
        if hours.earliest is not None:
            yield f"{verb} at {hours.earliest.isoformat('minutes')} or later", _no_earlier(what, hours.earliest)
        if hours.latest is not None:
            yield f"{verb} at {hours.latest.isoformat('minutes')} or earlier", _no_later(what, hours.latest)
    for day in request.not_on:
        yield f"not on {day.value}", _never_on(day.value)
    condition = request.train_if
    if condition is not None:
        to = f" to {condition.to}" if condition.to else ""
        name = f"a train{to} only if the flight lands before {condition.landed_before:%H:%M}"
        yield name, _no_train_after_late_flight(condition.landed_before, condition.to)
    low, high = request.stars
    if (low, high) != (1, 5):
        name = f"{low} to {high} stars" if low < high else f"{low} star" + "s" * (low > 1)
        yield name, lambda trip: all(low <= hotel.stars <= high for hotel in trip.hotels)
    budget = request.budget
    if budget is not None:
        shown = str(int(budget)) if budget == int(budget) else f"{budget:.2f}"
        yield f"budget {shown} {request.currency}", lambda trip: in_currency(trip, request.currency) <= Fraction(budget)


def in_currency(trip: Trip, currency: str) -> Fraction:
    """Rounded up to the next cent."""
    if currency == "USD":
        return trip.price
    per_euro = Fraction(1) if currency == "EUR" else Fraction(RATES.rates[currency])
    cents = trip.price / Fraction(RATES.rates["USD"]) * per_euro * 100
    return Fraction(-(-cents.numerator // cents.denominator), 100)


def _moments(trip: Trip, what: str) -> list[time]:
    return [getattr(leg, what).time() for leg in trip.transports]


def _no_earlier(what: str, limit: time) -> _Predicate:
    return lambda trip: all(moment >= limit for moment in _moments(trip, what))


def _no_later(what: str, limit: time) -> _Predicate:
    return lambda trip: all(time(4) <= moment <= limit for moment in _moments(trip, what))


def _no_train_after_late_flight(hour: time, to: str | None) -> _Predicate:
    def is_kept(trip: Trip) -> bool:
        after_flight = [
            earlier.arrives.time()
            for earlier, later in pairwise(trip.transports)
            if (earlier.kind, later.kind) == ("flight", "train") and to in (None, later.destination_city)
        ]
        return all(time(4) <= moment < hour for moment in after_flight)

    return is_kept


def _never_on(weekday: str) -> _Predicate:
    return lambda trip: all(
        moment.strftime("%A").lower() != weekday for leg in trip.transports for moment in (leg.departs, leg.arrives)
    )


# -- measures ----------------------------------------------------------------------------------------------------------


def _balance(request: TripRequest, trip: Trip) -> tuple[Fraction | int, ...]:
    """Unwanted changes of plane, then dollars: $30 an hour and $60 an odd hour for everybody."""
    changes = sum(leg.kind == "flight" and leg.stops > 0 for leg in trip.transports)
    hardship = Fraction(trip.minutes, 2) + 60 * _odd(trip)
    return changes if request.direct == "preferred" else 0, trip.price + hardship * request.travellers


def _comfort(_: TripRequest, trip: Trip) -> tuple[Fraction | int, ...]:
    stars = sum(hotel.stars * (hotel.check_out - hotel.check_in).days for hotel in trip.hotels)
    return sum(leg.stops for leg in trip.transports), _odd(trip), -stars, trip.minutes


def _odd(trip: Trip) -> int:
    early = [leg for leg in trip.transports if leg.departs.time() < time(7)]
    late = [leg for leg in trip.transports if not time(6) <= leg.arrives.time() < time(23)]
    return len(early) + len(late)


MEASURES: dict[str, _Measure] = {
    "the best balance of price and time": _balance,
    "the cheapest": lambda _, trip: (trip.price,),
    "the fastest": lambda _, trip: (trip.minutes,),
    "the most comfortable": _comfort,
}


def best_of(request: TripRequest, trips: list[Trip]) -> dict[str, tuple[str, ...]]:
    """The offers of the best trip by each measure; ties go to the lower price, then to the first in the alphabet."""
    return {
        title: min(trips, key=lambda trip: (*measure(request, trip), trip.price, trip.ids)).ids
        for title, measure in MEASURES.items()
    }
