"""Transport: each flight and train by itself: on offer, for everybody, by the clocks of its places, and not yet gone."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from msgspec import Struct

from sagagraph.domains.travel.rules.case import at, is_amount
from sagagraph.domains.travel.rules.offered import Journey, Policy, Quote, check_amount, check_quote, described, quote_of
from sagagraph.validators.concern import Concern
from sagagraph.validators.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.plan import Leg
    from sagagraph.domains.travel.rules.case import Case
    from sagagraph.validators.verdict import Violation


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


def _scopes(case: Case) -> Iterator[tuple[str, TransportView]]:
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


def _check(view: TransportView) -> Iterator[Violation]:
    yield from check_amount(view.label, view.planned)
    yield from check_quote(view.label, view.planned, view.quote, view.travellers)
    yield from _party(view)
    yield from _clocks(view)
    yield from _duration(view)
    yield from _not_past(view)
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


def _not_past(view: TransportView) -> Iterator[Violation]:
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


TRANSPORT = Concern("transport", Kind.FACTUAL, TransportView, _scopes, _check)
