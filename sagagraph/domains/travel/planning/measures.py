"""Measures: what a person cares about in a trip, as numbers to minimise; money is exact, in whole cents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Final

from sagagraph.domains.travel.money import PRICE_CURRENCY, Converted, Rates, money_text
from sagagraph.domains.travel.offers import FlightOffer, HotelOffer, Offer, Transport
from sagagraph.domains.travel.request import Direct, Prefer, TripRequest

Weigh = Callable[[Offer], tuple[int, ...]]
"""What an offer adds to the sum to minimise; sums are compared from left to right, then the price counts."""


def cents(amount: Decimal) -> int:
    return int(amount * 100)


def worth(currency: str, rates: Rates | None) -> Fraction | None:
    """Return the units of `currency` that one unit of the currency of all prices is worth; None if no rate is known."""
    if currency == PRICE_CURRENCY:
        return Fraction(1)
    if rates is None:
        return None
    per_base = {**rates.rates, rates.base: Decimal(1)}
    if currency not in per_base or PRICE_CURRENCY not in per_base:
        return None
    return Fraction(per_base[currency]) / Fraction(per_base[PRICE_CURRENCY])


def most_cents(request: TripRequest, rates: Rates | None) -> int | None:
    """Return the most that the whole trip may cost, in cents of prices; None: no limit. Zero if no rate is known."""
    if request.budget is None:
        return None
    rate = worth(request.currency, rates)
    return 0 if rate is None else floor(Fraction(request.budget) * 100 / rate)


def converted(request: TripRequest, total_cents: int, rates: Rates | None) -> Converted | None:
    """Convert a total; None if the budget is in the currency of prices anyway, or no rate is known."""
    rate = worth(request.currency, rates)
    if request.currency == PRICE_CURRENCY or rates is None or rate is None:
        return None
    total = Decimal(ceil(total_cents * rate)) / 100
    return Converted(total=total, currency=request.currency, on=rates.on, source=rates.source)


def price_text(request: TripRequest, amount: Decimal, rates: Rates | None) -> str:
    """Format an amount of prices in the currency of the budget, where a rate for it is known."""
    other = converted(request, cents(amount), rates)
    return money_text(amount) if other is None else money_text(other.total, other.currency)


CENTS_PER_MINUTE: Final = 50
"""What a minute under way is worth to a traveller when price and time are weighed: $30 an hour."""
CENTS_PER_ODD_HOUR: Final = 60_00
"""What it is worth to a traveller not to leave before 7:00 once, or not to arrive between 23:00 and 6:00."""


CHEAPEST: Final = "the cheapest"
MOST_COMFORTABLE: Final = "the most comfortable"


def measures(request: TripRequest) -> dict[str, Weigh]:
    """Return the measures in which each proposal is best; the preferred one first."""
    direct = "direct flights where possible, then " if request.direct is Direct.PREFERRED else ""
    known: dict[Prefer, tuple[str, Weigh]] = {
        Prefer.BALANCE: (f"{direct}the best balance of price and time", balance(request)),
        Prefer.CHEAPEST: (CHEAPEST, price_alone),
        Prefer.FASTEST: ("the fastest", lambda offer: (0 if isinstance(offer, HotelOffer) else offer.duration_minutes,)),
        Prefer.MOST_COMFORTABLE: (MOST_COMFORTABLE, discomfort),
    }
    return dict((known.pop(request.prefer), *known.values()))


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


def discomfort(offer: Offer) -> tuple[int, ...]:
    """Return changes, then departures and arrivals at odd hours, then stars (more is better), then minutes."""
    if isinstance(offer, HotelOffer):
        return 0, 0, -offer.stars * offer.nights, 0
    return offer.stops, _odd_hours(offer), 0, offer.duration_minutes


def discomfort_of(offers: Iterable[Offer]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*map(discomfort, offers), strict=True)))


def _odd_hours(offer: Transport) -> int:
    leaves_early = offer.departs.hour < 7
    return leaves_early + arrives_at_night(offer)


def arrives_at_night(offer: Transport) -> bool:
    return offer.arrives.hour >= 23 or offer.arrives.hour < 6
