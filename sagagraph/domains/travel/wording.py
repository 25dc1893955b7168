"""Wording: days, durations, counts and offers as people read them."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal

from sagagraph.domains.travel.money import PRICE_CURRENCY, money_text
from sagagraph.domains.travel.offers import HotelOffer, Offer
from sagagraph.domains.travel.request import TrainIf


def day_text(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def moment_text(moment: datetime) -> str:
    """Format `Wed 3 Jun 15:25`."""
    return f"{moment:%a} {moment.day} {moment:%b %H:%M}"


def duration_text(minutes: int) -> str:
    """Format `11 h 25 min`."""
    hours, rest = divmod(minutes, 60)
    return " ".join([f"{hours} h"] * (hours > 0) + [f"{rest} min"] * (rest > 0)) or "0 min"


def count_text(count: int, singular: str) -> str:
    return f"{count} {singular}{'' if count == 1 else 's'}"


def compared(more: Decimal, money: Callable[[Decimal, str], str] = money_text) -> str:
    """Format `$21 more`. `money`: formats the amount."""
    return f"{money(abs(more), PRICE_CURRENCY)} {'more' if more > 0 else 'less'}" if more else "the same price"


def party_text(travellers: int, children: int) -> str:
    """Format `2 adults and 1 child`; `3 travellers` if all are adults."""
    if not children:
        return count_text(travellers, "traveller")
    return f"{count_text(travellers - children, 'adult')} and {children} {'child' if children == 1 else 'children'}"


def listed(parts: Sequence[str]) -> str:
    """Format `a, b and c`."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def train_if_text(condition: TrainIf) -> str:
    """Format `a train to Brussels only if the flight lands before 12:00`."""
    return (
        f"a train{f' to {condition.to}' if condition.to else ''} only if the flight lands before {condition.landed_before:%H:%M}"
    )


def brief(offer: Offer) -> str:
    """Return what tells an offer from others for the same leg on the same day."""
    return offer.name if isinstance(offer, HotelOffer) else f"{offer.kind} {offer.number} at {offer.departs:%H:%M}"


def headline(offer: Offer) -> str:
    """Return one leg in a few words."""
    if isinstance(offer, HotelOffer):
        return f"{offer.name}, {offer.city}, {offer.check_in} to {offer.check_out}"
    return f"{offer.kind} {offer.number}, {offer.origin_city} to {offer.destination_city}, {offer.departs:%Y-%m-%d %H:%M}"
