"""Conditions of a trip: trains that depend on what the flight before them confirms, and the flights that are taken otherwise."""

from __future__ import annotations

from datetime import datetime

from sagagraph.domains.travel.money import Rates
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, TrainOffer, TransportOffer
from sagagraph.domains.travel.plan import Itinerary, Leg, OnlyIf
from sagagraph.domains.travel.planning import market
from sagagraph.domains.travel.planning.measures import balance, cents, converted, most_cents
from sagagraph.domains.travel.planning.search import AFTER_A_FLIGHT
from sagagraph.domains.travel.provider.provider import ReservationProvider, journeys
from sagagraph.domains.travel.request import Direct, TripRequest
from sagagraph.domains.travel.wording import compared, headline


async def conditional(trip: Itinerary, provider: ReservationProvider) -> Itinerary:
    """Return the trip with the requested condition on its trains, each with the flight that is taken otherwise, if there is one.

    Raises `ProviderError` if a query was not answered.
    """
    request = trip.request
    rides = [(leg, leg.offer) for leg in trip.legs if not isinstance(leg.offer, HotelOffer)]
    for n, (leg, ride) in enumerate(rides[1:], start=1):
        flight = rides[n - 1][1]
        is_meant = market.has_condition(request, ride.destination_city) and leg.only_if is None
        if request.train_if is None or not is_meant or not isinstance(flight, FlightOffer):
            continue
        if isinstance(ride, FlightOffer):
            if market.lands_too_late(request, flight):
                why = f"{headline(ride)}: no train, as the flight before it lands at {flight.arrives:%H:%M}"
                trip = trip.model_copy(update={"considered": tuple(dict.fromkeys((*trip.considered, why)))})
            continue
        after = rides[n + 1][1] if n + 1 < len(rides) else None
        now, rates = await provider.now(), await provider.rates() if trip.converted is not None else None
        offered = await journeys(provider, "flight", ride.origin_city, ride.destination_city, leg.begins, request)
        hour = request.train_if.landed_before
        before = flight.arrives.replace(hour=hour.hour, minute=hour.minute, second=0, microsecond=0)
        ways = [_under(trip, leg, OnlyIf(lands_before=before), rates)]
        for each in sorted(offered, key=lambda offer: (balance(request)(offer), offer.offer_id)):
            lands_by = _lands_by(request, flight, each)
            is_free = market.can_be_boarded(each, request.travellers, now) and lands_by >= before
            if is_free and isinstance(each, FlightOffer) and _fits(request, leg, each, after):
                only_if = OnlyIf(lands_before=before, lands_by=lands_by, otherwise=each)
                ways.append(_under(trip, leg, only_if, rates))
        most = most_cents(request, rates)
        trip = next((way for way in ways[1:] if most is None or cents(way.total + way.fees) <= most), ways[0])
    return trip


def _lands_by(request: TripRequest, flight: FlightOffer, otherwise: TransportOffer) -> datetime:
    """Return how late the flight may land so that the rest of the trip still works: on its day, and within the requested
    hours.
    """
    latest = request.hours.arrive.latest
    ends = flight.arrives.replace(hour=23, minute=59, second=0, microsecond=0)
    wished = ends if latest is None else ends.replace(hour=latest.hour, minute=latest.minute)
    return min(wished, otherwise.departs.astimezone(ends.tzinfo) - AFTER_A_FLIGHT)


def _fits(request: TripRequest, train: Leg, instead: FlightOffer, after: TransportOffer | None) -> bool:
    """Tell whether a flight keeps the wishes, and the stay and the journey that come after the train."""
    wishes = (market.keeps_hours, market.keeps_weekdays, market.goes_as_wished)
    is_wished = all(keeps(request, instead) for keeps in wishes)
    is_direct = request.direct is not Direct.REQUIRED or instead.is_direct
    if not is_wished or not is_direct or instead.arrives.date() != train.ends:
        return False
    is_train_next = isinstance(after, TrainOffer) and market.has_condition(request, after.destination_city)
    is_in_time = after is None or after.departs - instead.arrives >= AFTER_A_FLIGHT
    return is_in_time and not (is_train_next and market.lands_too_late(request, instead))


def _under(trip: Itinerary, train: Leg, only_if: OnlyIf, rates: Rates | None) -> Itinerary:
    found = trip.with_legs(leg.model_copy(update={"only_if": only_if}) if leg.label == train.label else leg for leg in trip.legs)
    said = f"{headline(train.offer)}: only if the flight before it lands before {only_if.lands_before:%H:%M}; "
    if only_if.otherwise is None:
        said += "there is no flight to take instead, so the trip is repaired if that is retimed"
    else:
        differs = compared(only_if.otherwise.price - train.offer.price, trip.price_text)
        said += (
            f"otherwise {headline(only_if.otherwise)} for {trip.price_text(only_if.otherwise.price, trip.currency)}, {differs}"
        )
        said += ", which is not insured" if trip.request.insured else ""
    other = converted(trip.request, cents(found.total + trip.fees), rates)
    return found.model_copy(update={"converted": other, "reasons": (*trip.reasons, said)})
