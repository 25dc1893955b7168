"""Measures: what a person cares about in a trip, as numbers to minimise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.offers import FlightOffer, HotelOffer
from sagagraph.domains.travel.planning.search import cents
from sagagraph.domains.travel.request import Direct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sagagraph.domains.travel.offers import Offer, Transport
    from sagagraph.domains.travel.planning.search import Weigh
    from sagagraph.domains.travel.request import TripRequest

CENTS_PER_MINUTE: Final = 50
"""What a minute under way is worth to a traveller when price and time are weighed: $30 an hour."""
CENTS_PER_ODD_HOUR: Final = 60_00
"""What it is worth to a traveller not to leave before 7:00 once, or not to arrive between 23:00 and 6:00."""


def measures(request: TripRequest) -> dict[str, Weigh]:
    """What each proposal is best at; the preferred one first."""
    direct = "direct flights where possible, then " if request.direct is Direct.PREFERRED else ""
    return {
        f"{direct}the best balance of price and time": balance(request),
        "the cheapest": price_alone,
        "the fastest": _minutes,
        "the most comfortable": discomfort,
    }


def balance(request: TripRequest) -> Weigh:
    """Return the measure by which the preferred proposal is chosen; see `planner.choose`."""

    def weigh(offer: Offer) -> tuple[int, ...]:
        if isinstance(offer, HotelOffer):
            return 0, cents(offer.price)
        changes_planes = isinstance(offer, FlightOffer) and not offer.is_direct
        is_unwanted = changes_planes and request.direct is Direct.PREFERRED
        hardship = CENTS_PER_MINUTE * offer.duration_minutes + CENTS_PER_ODD_HOUR * _odd_hours(offer)
        return int(is_unwanted), cents(offer.price) + hardship * request.travellers

    return weigh


def price_alone(_: Offer) -> tuple[int, ...]:
    return ()


def _minutes(offer: Offer) -> tuple[int, ...]:
    return (0 if isinstance(offer, HotelOffer) else offer.duration_minutes,)


def discomfort(offer: Offer) -> tuple[int, ...]:
    """Return changes, then departures and arrivals at odd hours, then stars (more is better), then minutes."""
    if isinstance(offer, HotelOffer):
        return 0, 0, -offer.stars * offer.nights, 0
    return offer.stops, _odd_hours(offer), 0, offer.duration_minutes


def discomfort_of(offers: Iterable[Offer]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*map(discomfort, offers), strict=True)))


def _odd_hours(offer: Transport) -> int:
    leaves_early = offer.departs.hour < 7
    arrives_at_night = offer.arrives.hour >= 23 or offer.arrives.hour < 6
    return leaves_early + arrives_at_night
