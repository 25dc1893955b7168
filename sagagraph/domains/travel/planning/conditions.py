"""Conditions of a trip: trains that depend on what the flight before them confirms, and the flights that are taken otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from sagagraph.domains.travel.money import Rates, money_text
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, TrainOffer, Transport, TransportOffer
from sagagraph.domains.travel.plan import Itinerary, Leg, OnlyIf
from sagagraph.domains.travel.planning import market
from sagagraph.domains.travel.planning.measures import balance, cents, converted, most_cents
from sagagraph.domains.travel.planning.search import AFTER_A_FLIGHT
from sagagraph.domains.travel.provider.provider import ReservationProvider, journeys
from sagagraph.domains.travel.request import Direct, TrainIf, TripRequest
from sagagraph.domains.travel.wording import headline


class _Train(NamedTuple):
    """A train under a condition, the flight before it, and the journey after it."""

    leg: Leg
    offer: TrainOffer
    flight: FlightOffer
    after: TransportOffer | None


async def conditional(trip: Itinerary, provider: ReservationProvider) -> Itinerary:
    """Return the trip with the wished condition on its trains, each with the flight that is taken otherwise, if there is one.

    Raises `ProviderError` if a question was not answered.
    """
    wish = trip.request.train_if
    trains = () if wish is None else tuple(_trains(trip))
    rates = await provider.rates() if trains and trip.converted is not None else None
    for train in trains:
        if wish is not None and wish.to in (None, train.offer.destination_city) and train.leg.only_if is None:
            where = train.offer.origin_city, train.offer.destination_city, train.leg.begins, trip.request
            now, offered = await provider.now(), await journeys(provider, "flight", *where)
            flights = [each for each in offered if market.can_be_boarded(each, trip.request.travellers, now)]
            trip = _with_condition(trip, wish, train, flights, rates)
    return trip


def _trains(trip: Itinerary) -> Iterator[_Train]:
    rides = [(leg, leg.offer) for leg in trip.legs if not isinstance(leg.offer, HotelOffer)]
    for n, (leg, offer) in enumerate(rides):
        flight = rides[n - 1][1] if n else None
        if isinstance(offer, TrainOffer) and isinstance(flight, FlightOffer):
            yield _Train(leg, offer, flight, rides[n + 1][1] if n + 1 < len(rides) else None)


def _with_condition(trip: Itinerary, wish: TrainIf, train: _Train, flights: list[Transport], rates: Rates | None) -> Itinerary:
    hour = wish.landed_before
    before = train.flight.arrives.replace(hour=hour.hour, minute=hour.minute, second=0, microsecond=0)
    weigh = balance(trip.request)
    found: list[tuple[tuple[int, ...], str, Itinerary]] = []
    for each in flights:
        lands_by = _lands_by(trip.request, train.flight, each)
        if isinstance(each, FlightOffer) and lands_by >= before and _fits(trip.request, train, each):
            only_if = OnlyIf(lands_before=before, lands_by=lands_by, otherwise=each)
            found.append((weigh(each), each.offer_id, _with(trip, train.leg, only_if, rates)))
    most = most_cents(trip.request, rates)
    affordable = [each for each in found if most is None or cents(each[2].total + each[2].fees) <= most]
    if affordable:
        return min(affordable, key=lambda each: each[:2])[2]
    why = f"{headline(train.leg.offer)}: no flight can be taken instead; if the flight before it is retimed, the trip is repaired"
    found_none = _with(trip, train.leg, OnlyIf(lands_before=before), rates)
    return found_none.model_copy(update={"considered": (*trip.considered, why)})


def _lands_by(request: TripRequest, flight: TransportOffer, otherwise: TransportOffer) -> datetime:
    """Return until when the flight may land for the rest of the trip to stand: on its day, and within the hours wished for."""
    latest = request.hours.arrive.latest
    ends = flight.arrives.replace(hour=23, minute=59, second=0, microsecond=0)
    wished = ends if latest is None else ends.replace(hour=latest.hour, minute=latest.minute)
    return min(wished, otherwise.departs.astimezone(ends.tzinfo) - AFTER_A_FLIGHT)


def _fits(request: TripRequest, train: _Train, instead: FlightOffer) -> bool:
    """Tell whether a flight keeps the wishes, and the stay and the journey that come after the train."""
    is_wished = market.keeps_hours(request, instead) and market.keeps_weekdays(request, instead)
    if not is_wished or (request.direct is Direct.REQUIRED and not instead.is_direct):
        return False
    after, lands = train.after, instead.arrives
    if lands.date() != train.leg.ends or (after is not None and after.departs - lands < AFTER_A_FLIGHT):
        return False
    is_train_next = isinstance(after, TrainOffer) and market.has_condition(request, after.destination_city)
    return not (is_train_next and market.lands_too_late(request, instead))


def _with(trip: Itinerary, train: Leg, only_if: OnlyIf, rates: Rates | None) -> Itinerary:
    legs = tuple(leg.model_copy(update={"only_if": only_if}) if leg.label == train.label else leg for leg in trip.legs)
    total = sum((leg.price for leg in legs), Decimal(0))
    said = f"{headline(train.offer)}: only if the flight before it lands before {only_if.lands_before:%H:%M}"
    if only_if.otherwise is not None:
        more = only_if.otherwise.price - train.offer.price
        differs = f"{money_text(abs(more))} {'more' if more > 0 else 'less'}" if more else "the same price"
        said += f"; otherwise {headline(only_if.otherwise)} for {money_text(only_if.otherwise.price)}, {differs}"
        said += ", which is not insured" if trip.request.insured else ""
    other = converted(trip.request, cents(total + trip.fees), rates)
    changed = {"legs": legs, "total": total, "converted": other, "reasons": (*trip.reasons, said)}
    return trip.model_copy(update=changed)
