"""Legs by themselves: on offer as planned, for everybody, by the clocks of their places, and not yet gone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from sagagraph.domains.travel.money import PRICE_CURRENCY
from sagagraph.domains.travel.offers import Bookable, HotelOffer, InsuranceOffer
from sagagraph.domains.travel.plan import Leg
from sagagraph.domains.travel.rules.case import Case, at, is_amount
from sagagraph.validators.concern import Concern
from sagagraph.validators.kinds import Kind
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


class TransportView(Struct, frozen=True):
    label: str
    planned: Journey
    quote: Quote | None
    travellers: int
    now: datetime
    zones: dict[str, str]
    has_begun: bool
    cover: Policy | None = None
    cover_quote: Quote | None = None


def _transport_scopes(case: Case) -> Iterator[tuple[str, TransportView]]:
    for leg in case.itinerary.legs:
        planned = described(leg.offer)
        if isinstance(planned, Journey):
            yield (
                leg.label,
                TransportView(
                    label=leg.label,
                    planned=planned,
                    quote=quote_of(leg.offer, case),
                    travellers=case.request.travellers,
                    now=case.now,
                    zones=case.zones((planned.origin_city, planned.destination_city)),
                    has_begun=leg.label in case.begun,
                    cover=_policy(leg),
                    cover_quote=None if leg.cover is None else quote_of(leg.cover, case),
                ),
            )


def _policy(leg: Leg) -> Policy | None:
    found = None if leg.cover is None else described(leg.cover)
    return found if isinstance(found, Policy) else None


def _check_transport(view: TransportView) -> Iterator[Violation]:
    yield from check_amount(view.label, view.planned)
    yield from check_quote(view.label, view.planned, view.quote, view.travellers)
    yield from _party(view)
    yield from _clocks(view)
    yield from _duration(view)
    yield from _not_gone(view)
    yield from _insurance(view)


def _insurance(view: TransportView) -> Iterator[Violation]:
    """Check that what insures the fare is on offer, for this fare."""
    if view.cover is None:
        return
    yield from check_amount(view.label, view.cover)
    yield from check_quote(view.label, view.cover, view.cover_quote, view.travellers)
    if view.cover.covers != view.planned.offer_id:
        yield at(view.label, "OTHER_FARE", f"is not what {view.cover.name} insures", covers=view.cover.covers)


def _party(view: TransportView) -> Iterator[Violation]:
    """Check that everybody has a seat."""
    seats = _seats(view.planned.price, view.planned.price_per_person)
    if seats is not None and seats != view.travellers:
        message = f"priced for {seats}, and {view.travellers} travel"
        yield at(view.label, "PARTY", message, seats=seats, travellers=view.travellers)


def _clocks(view: TransportView) -> Iterator[Violation]:
    """Check that local times carry the offset of their place on that day. The zones are the gazetteer's, not the offer's."""
    journey = view.planned
    for city, moment in ((journey.origin_city, journey.departs), (journey.destination_city, journey.arrives)):
        zone = view.zones.get(city)
        if zone is None:
            yield at(view.label, "TIMEZONE", f"the time zone of {city} is not known", city=city)
        elif not _is_local(moment, ZoneInfo(zone)):
            message = f"{moment.isoformat()} is no local time of {city} ({zone})"
            yield at(view.label, "TIMEZONE", message, time=moment.isoformat(), zone=zone)


def _duration(view: TransportView) -> Iterator[Violation]:
    stated = timedelta(minutes=view.planned.duration_minutes)
    taken = view.planned.arrives - view.planned.departs
    if stated != taken:
        message = f"takes {taken} by its times, and {stated} as stated"
        yield at(view.label, "TIMEZONE", message, stated=view.planned.duration_minutes, taken=taken)


def _not_gone(view: TransportView) -> Iterator[Violation]:
    departs = view.planned.departs
    if departs <= view.now and not view.has_begun:
        message = f"left at {departs.isoformat()}; it is {view.now.isoformat()}"
        yield at(view.label, "DATE_PAST", message, departs=departs.isoformat(), now=view.now.isoformat())


def _seats(price: Decimal, price_per_person: Decimal) -> int | None:
    """Return how many the price is for; None if it is not a multiple (a wrong price, which is judged by its quote)."""
    if not is_amount(price) or not is_amount(price_per_person) or price_per_person == 0:
        return None
    seats, rest = divmod(price, price_per_person)
    return int(seats) if rest == 0 else None


def _is_local(moment: datetime, zone: ZoneInfo) -> bool:
    try:
        return moment.astimezone(zone).utcoffset() == moment.utcoffset()
    except OverflowError:  # the first and the last day that a datetime can hold
        return False


TRANSPORT = Concern("transport", Kind.FACTUAL, TransportView, _transport_scopes, _check_transport)


class LodgingView(Struct, frozen=True):
    label: str
    planned: Stay
    quote: Quote | None
    rooms: int
    now: datetime
    zone: str | None
    """Of the hotel's city; None: not known."""
    has_begun: bool


def _lodging_scopes(case: Case) -> Iterator[tuple[str, LodgingView]]:
    for leg in case.itinerary.legs:
        planned = described(leg.offer)
        if isinstance(planned, Stay):
            yield (
                leg.label,
                LodgingView(
                    label=leg.label,
                    planned=planned,
                    quote=quote_of(leg.offer, case),
                    rooms=case.request.rooms,
                    now=case.now,
                    zone=case.zones((planned.city,)).get(planned.city),
                    has_begun=leg.label in case.begun,
                ),
            )


def _check_lodging(view: LodgingView) -> Iterator[Violation]:
    yield from check_amount(view.label, view.planned)
    yield from check_quote(view.label, view.planned, view.quote, view.rooms)
    yield from _rooms(view)
    yield from _nights(view)
    yield from _not_past(view)


def _rooms(view: LodgingView) -> Iterator[Violation]:
    """Check that everybody has a bed."""
    if view.planned.rooms != view.rooms:
        message = f"has {view.planned.rooms} rooms, and {view.rooms} are needed"
        yield at(view.label, "PARTY", message, rooms=view.planned.rooms, needed=view.rooms)


def _nights(view: LodgingView) -> Iterator[Violation]:
    nights = (view.planned.check_out - view.planned.check_in).days
    if nights != view.planned.nights:
        message = f"says {view.planned.nights} nights, and its dates {nights}"
        yield at(view.label, "NIGHTS", message, stated=view.planned.nights, dates=nights)


def _not_past(view: LodgingView) -> Iterator[Violation]:
    today = view.now.astimezone(UTC if view.zone is None else ZoneInfo(view.zone)).date()
    if view.planned.check_in < today and not view.has_begun:
        message = f"begins on {view.planned.check_in}; it is {today} there"
        yield at(view.label, "DATE_PAST", message, check_in=view.planned.check_in, today=today)


LODGING = Concern("lodging", Kind.FACTUAL, LodgingView, _lodging_scopes, _check_lodging)
