"""Offered: one leg as planned and as quoted now: still available, as it was planned and for that price."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from sagagraph.domains.travel.money import PRICE_CURRENCY
from sagagraph.domains.travel.offers import HotelOffer, InsuranceOffer
from sagagraph.domains.travel.rules.case import at, is_amount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.offers import Bookable
    from sagagraph.domains.travel.rules.case import Case
    from sagagraph.validators.verdict import Violation

MAY_CHANGE: Final = frozenset({"price", "price_per_person", "price_per_night", "left"})
"""What an offer may say differently later and still be the same offer."""


class Journey(Struct, frozen=True, tag_field="of", tag="journey"):
    """A flight or train, as an offer describes it; what it costs to cancel is left out."""

    kind: str
    offer_id: str
    price: Decimal
    price_per_person: Decimal
    currency: str
    left: int
    carrier: str
    number: str
    origin: str
    destination: str
    origin_city: str
    destination_city: str
    departs: datetime
    arrives: datetime
    duration_minutes: int
    stops: int
    via: tuple[str, ...]


class Stay(Struct, frozen=True, tag_field="of", tag="stay"):
    """A hotel, as an offer describes it; what it costs to cancel is left out."""

    kind: str
    offer_id: str
    price: Decimal
    price_per_night: Decimal
    currency: str
    left: int
    name: str
    city: str
    stars: int
    check_in: date
    check_out: date
    check_in_from: time
    check_out_until: time
    nights: int
    rooms: int


class Policy(Struct, frozen=True, tag_field="of", tag="policy"):
    """What insures a fare, as an offer describes it."""

    kind: str
    offer_id: str
    price: Decimal
    currency: str
    left: int
    name: str
    covers: str


class Quote(Struct, frozen=True):
    """`offer` None: it is gone."""

    offer: Journey | Stay | Policy | None


def described(offer: Bookable) -> Journey | Stay | Policy:
    facts = offer.__dict__
    if isinstance(offer, InsuranceOffer):
        return Policy(**{name: facts[name] for name in Policy.__struct_fields__})
    if isinstance(offer, HotelOffer):
        return Stay(**{name: facts[name] for name in Stay.__struct_fields__})
    return Journey(**{name: facts[name] for name in Journey.__struct_fields__})


def quote_of(offer: Bookable, case: Case) -> Quote | None:
    """What is quoted now under the offer's id; None: nobody asked."""
    if case.quotes is None:
        return None
    found = case.quotes.get(offer.offer_id)
    return Quote(None if found is None else described(found))


def check_amount(label: str, planned: Journey | Stay | Policy) -> Iterator[Violation]:
    """Check that the price is an amount in the one currency of all prices."""
    if not is_amount(planned.price):
        yield at(label, "PRICE", f"{planned.price} is no price", price=planned.price)
    if planned.currency != PRICE_CURRENCY:
        yield at(label, "PRICE", f"priced in {planned.currency}, not in {PRICE_CURRENCY}", currency=planned.currency)


def check_quote(label: str, planned: Journey | Stay | Policy, quote: Quote | None, needed: int) -> Iterator[Violation]:
    """Check that it is still available for as many as needed, as it was planned and for that price."""
    if quote is None or (quote.offer == planned and planned.left >= needed):
        return
    quoted = quote.offer
    if quoted is None:
        yield at(label, "UNAVAILABLE", "is not on offer any more", offer_id=planned.offer_id)
    elif quoted.left < needed:
        yield at(label, "UNAVAILABLE", f"{quoted.left} left, and {needed} needed", left=quoted.left, needed=needed)
    elif changed := _changed(planned, quoted):
        yield at(label, "UNAVAILABLE", f"is on offer with another {', '.join(changed)}", changed=changed)
    elif quoted.price != planned.price:
        message = f"costs {quoted.price} now, not {planned.price}"
        yield at(label, "PRICE", message, planned=planned.price, quoted=quoted.price)


def _changed(planned: Journey | Stay | Policy, quoted: Journey | Stay | Policy) -> list[str]:
    names = {*planned.__struct_fields__, *quoted.__struct_fields__} - MAY_CHANGE
    return sorted(name for name in names if getattr(planned, name, None) != getattr(quoted, name, None))
