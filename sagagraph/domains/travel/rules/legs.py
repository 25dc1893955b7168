"""Legs, each by itself: on offer as planned, for everybody, in local times, and not yet gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from sagagraph.domains.travel.money import PRICE_CURRENCY
from sagagraph.domains.travel.offers import Bookable
from sagagraph.domains.travel.plan import ways_of
from sagagraph.domains.travel.rules.case import Case, at, is_amount
from sagagraph.validators.concern import Concern
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation

MAY_CHANGE: Final = frozenset({"price", "price_per_person", "price_per_child", "price_per_night", "left"})
"""Fields in which an offer may change later and still be the same offer."""


class Journey(Struct, frozen=True, tag_field="of", tag="journey"):
    """Journey: a flight or train, as an offer describes it; cancellation terms are left out."""

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
    children: int = 0
    price_per_child: Decimal = Decimal(0)


class Stay(Struct, frozen=True, tag_field="of", tag="stay"):
    """Stay in a hotel, as an offer describes it; cancellation terms are left out."""

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
    """Policy that insures a fare, as an offer describes it."""

    kind: str
    offer_id: str
    price: Decimal
    currency: str
    left: int
    name: str
    covers: str


class Quote(Struct, frozen=True):
    """Quote. `offer` None: it is gone."""

    offer: Journey | Stay | Policy | None


FORMS: Final[Mapping[str, type[Journey | Stay | Policy]]] = {
    "flight": Journey,
    "train": Journey,
    "hotel": Stay,
    "insurance": Policy,
}


def described(offer: Bookable) -> Journey | Stay | Policy:
    form, facts = FORMS[offer.kind], offer.__dict__
    return form(**{name: facts[name] for name in form.__struct_fields__})


def quote_of(offer: Bookable, case: Case) -> Quote | None:
    """Return what is quoted now under the offer's id; None if nobody asked."""
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
    """Check that it is still available for as many people as needed, as planned and for that price."""
    if quote is None or (quote.offer == planned and planned.left >= needed):
        return
    quoted = quote.offer
    if quoted is None:
        yield at(label, "UNAVAILABLE", "is not on offer any more", offer_id=planned.offer_id)
    elif quoted.left < needed:
        yield at(label, "UNAVAILABLE", f"{quoted.left} left, and {needed} needed", left=quoted.left, needed=needed)
    else:
        names = {*planned.__struct_fields__, *quoted.__struct_fields__} - MAY_CHANGE
        changed = sorted(name for name in names if getattr(planned, name, None) != getattr(quoted, name, None))
        if changed:
            yield at(label, "UNAVAILABLE", f"is on offer with another {', '.join(changed)}", changed=changed)
        elif quoted.price != planned.price:
            message = f"costs {quoted.price} now, not {planned.price}"
            yield at(label, "PRICE", message, planned=planned.price, quoted=quoted.price)


class TransportView(Struct, frozen=True):
    label: str
    planned: Journey
    quote: Quote | None
    travellers: int
    children: int
    now: datetime
    zones: dict[str, str]
    has_begun: bool
    cover: Policy | None = None
    cover_quote: Quote | None = None


def _transport_scopes(case: Case) -> Iterator[tuple[str, TransportView]]:
    for leg in ways_of(case.itinerary.legs):
        planned = described(leg.offer)
        if isinstance(planned, Journey):
            cover = None if leg.cover is None else described(leg.cover)
            view = TransportView(
                label=leg.label,
                planned=planned,
                quote=quote_of(leg.offer, case),
                travellers=case.request.travellers,
                children=case.request.children,
                now=case.now,
                zones=case.zones((planned.origin_city, planned.destination_city)),
                has_begun=leg.label in case.begun,
                cover=cover if isinstance(cover, Policy) else None,
                cover_quote=None if leg.cover is None else quote_of(leg.cover, case),
            )
            yield leg.label, view


def _check_transport(view: TransportView) -> Iterator[Violation]:
    yield from check_amount(view.label, view.planned)
    yield from check_quote(view.label, view.planned, view.quote, view.travellers)
    young, fare = view.planned.children, view.planned.price_per_child
    seats = _seats(view.planned.price - young * fare, view.planned.price_per_person) if is_amount(fare) else None
    seats = None if seats is None else seats + young
    if young not in (0, view.children):
        message = f"priced for {young} at a child's fare, and {view.children} are children"
        yield at(view.label, "PARTY", message, seats=young, travellers=view.children)
    if seats is not None and seats != view.travellers:
        message = f"priced for {seats}, and {view.travellers} travel"
        yield at(view.label, "PARTY", message, seats=seats, travellers=view.travellers)
    yield from _clocks(view)
    departs = view.planned.departs
    if departs <= view.now and not view.has_begun:
        message = f"left at {departs.isoformat()}; it is {view.now.isoformat()}"
        yield at(view.label, "DATE_PAST", message, departs=departs.isoformat(), now=view.now.isoformat())
    if view.cover is not None:
        yield from check_amount(view.label, view.cover)
        yield from check_quote(view.label, view.cover, view.cover_quote, view.travellers)
        if view.cover.covers != view.planned.offer_id:
            yield at(view.label, "OTHER_FARE", f"is not what {view.cover.name} insures", covers=view.cover.covers)


def _clocks(view: TransportView) -> Iterator[Violation]:
    """Check that local times carry the offset of their place on that day (by the gazetteer's zones), and are as far apart as
    stated.
    """
    journey = view.planned
    for city, moment in ((journey.origin_city, journey.departs), (journey.destination_city, journey.arrives)):
        zone = view.zones.get(city)
        if zone is None:
            yield at(view.label, "TIMEZONE", f"the time zone of {city} is not known", city=city)
        elif not _is_local(moment, ZoneInfo(zone)):
            message = f"{moment.isoformat()} is no local time of {city} ({zone})"
            yield at(view.label, "TIMEZONE", message, time=moment.isoformat(), zone=zone)
    stated, taken = timedelta(minutes=journey.duration_minutes), journey.arrives - journey.departs
    if stated != taken:
        message = f"takes {taken} by its times, and {stated} as stated"
        yield at(view.label, "TIMEZONE", message, stated=journey.duration_minutes, taken=taken)


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
            view = LodgingView(
                label=leg.label,
                planned=planned,
                quote=quote_of(leg.offer, case),
                rooms=case.request.rooms,
                now=case.now,
                zone=case.zones((planned.city,)).get(planned.city),
                has_begun=leg.label in case.begun,
            )
            yield leg.label, view


def _check_lodging(view: LodgingView) -> Iterator[Violation]:
    label, stay = view.label, view.planned
    yield from check_amount(label, stay)
    yield from check_quote(label, stay, view.quote, view.rooms)
    if stay.rooms != view.rooms:
        yield at(label, "PARTY", f"has {stay.rooms} rooms, and {view.rooms} are needed", rooms=stay.rooms, needed=view.rooms)
    nights = (stay.check_out - stay.check_in).days
    if nights != stay.nights:
        yield at(label, "NIGHTS", f"says {stay.nights} nights, and its dates {nights}", stated=stay.nights, dates=nights)
    today = view.now.astimezone(UTC if view.zone is None else ZoneInfo(view.zone)).date()
    if stay.check_in < today and not view.has_begun:
        message = f"begins on {stay.check_in}; it is {today} there"
        yield at(label, "DATE_PAST", message, check_in=stay.check_in, today=today)


LODGING = Concern("lodging", Kind.FACTUAL, LodgingView, _lodging_scopes, _check_lodging)
