"""Documents for a traveller: the itinerary as a calendar file and as text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from icalendar import Calendar, Event

from sagagraph.domains.travel.money import money_text
from sagagraph.domains.travel.offers import HotelOffer
from sagagraph.domains.travel.plan import Itinerary, Leg, moments, plan_hash
from sagagraph.domains.travel.wording import count_text, day_text, duration_text

_PLAN: Final = "X-SAGAGRAPH-PLAN"
_LEG: Final = "X-SAGAGRAPH-LEG"
_AT_US: Final = "@sagagraph"
_UNBOOKED: Final = "@unbooked.sagagraph"


def itinerary_ics(itinerary: Itinerary, reservations: Mapping[str, str], *, created: datetime, plan: str = "") -> bytes:
    """Return a calendar with one event for each leg; the same input gives the same bytes.

    `reservations`: reservation id by leg label. `plan`: the hash of the plan behind it. Journeys are in UTC, which every
    calendar shows in its reader's local time; stays are whole days.
    """
    calendar = Calendar()
    calendar.add("prodid", "-//SagaGraph//Trip//EN")
    calendar.add("version", "2.0")
    plan = plan or plan_hash(itinerary)
    calendar.add(_PLAN, plan)
    for leg in itinerary.legs:
        calendar.add_component(_event(leg, plan, reservations.get(leg.label), created))
    return bytes(calendar.to_ical())


def told_in(calendar: bytes) -> tuple[str, dict[str, str]]:
    """Return the hash of the plan in a calendar, and the reservation of each leg: read from what was written."""
    read = Calendar.from_ical(calendar)
    events = (each for each in read.walk("VEVENT") if _LEG in each and not str(each["uid"]).endswith(_UNBOOKED))
    return str(read.get(_PLAN, "")), {str(each[_LEG]): str(each["uid"]).removesuffix(_AT_US) for each in events}


def itinerary_text(
    itinerary: Itinerary, reservations: Mapping[str, str], policies: Mapping[str, str | None] | None = None
) -> str:
    """Return one block of text for each leg, with its reservation and its insurance if it has one, and the total, in which
    fees for cancelling are named.
    """
    blocks = []
    for leg in itinerary.legs:
        policy = policies.get(leg.label) if policies else None
        blocks.append(_block(leg, reservations.get(leg.label)) + (f"\n    Insured: {policy}" if policy else ""))
    fees = f"{money_text(itinerary.total)} + {money_text(itinerary.fees)} cancellation fees = " if itinerary.fees else ""
    paid = f"{fees}{money_text(itinerary.total + itinerary.fees)} {itinerary.currency}"
    total = f"Total: {'at most ' if policies else ''}{paid}"
    if other := itinerary.converted:
        total += f", {money_text(other.total, other.currency)} by the rate of {day_text(other.on)} ({other.source})"
    request = itinerary.request
    start = () if request.is_stay_only else (request.origin,)
    cities = [*start, *(stop.city for stop in request.stops), *filter(None, [request.return_to])]
    first, last = itinerary.legs[0].begins, itinerary.legs[-1].ends
    title = f"{' → '.join(cities)}\n{day_text(first)} to {day_text(last)}"
    return "\n\n".join([title, *blocks, total]) + "\n"


def _event(leg: Leg, plan: str, reservation: str | None, created: datetime) -> Event:
    event = Event()
    event.add("uid", f"{reservation}{_AT_US}" if reservation else f"{plan}-{leg.label}{_UNBOOKED}")
    event.add(_LEG, leg.label)
    event.add("dtstamp", created.astimezone(UTC))
    for name, moment in zip(("dtstart", "dtend"), moments(leg.offer), strict=True):
        event.add(name, moment.astimezone(UTC) if isinstance(moment, datetime) else moment)
    event.add("summary", _headline(leg))
    event.add("location", leg.offer.city if isinstance(leg.offer, HotelOffer) else leg.offer.origin)
    event.add("status", "CONFIRMED" if reservation else "TENTATIVE")
    event.add("description", _block(leg, reservation))
    return event


def _headline(leg: Leg) -> str:
    offer = leg.offer
    if isinstance(offer, HotelOffer):
        return f"{offer.name}, {offer.city}"
    return f"{offer.carrier} {offer.number}: {offer.origin} → {offer.destination}"


def _block(leg: Leg, reservation: str | None) -> str:
    offer = leg.offer
    lines = [f"{offer.kind.capitalize()} {_headline(leg)}"]
    if isinstance(offer, HotelOffer):
        lines += [
            f"{count_text(offer.stars, 'star')}, {count_text(offer.rooms, 'room')}, {count_text(offer.nights, 'night')}",
            f"check in {day_text(offer.check_in)} from {offer.check_in_from:%H:%M}",
            f"check out {day_text(offer.check_out)} until {offer.check_out_until:%H:%M}",
        ]
    else:
        over = f", via {', '.join(offer.via)}" if offer.via else ""
        lines += [
            f"leaves {offer.origin_city} {_moment(offer.departs)}",
            f"arrives {offer.destination_city} {_moment(offer.arrives)}",
            f"{duration_text(offer.duration_minutes)}{over}",
        ]
    fee, free_until = f"cancelling costs {money_text(offer.cancellation.fee)}", offer.cancellation.free_until
    lines += [money_text(offer.price), f"{fee} after {_moment(free_until)}, nothing before" if free_until else fee]
    if reservation is not None:
        lines.append(f"Reservation {reservation}")
    return "\n    ".join(lines)


def _moment(moment: datetime) -> str:
    """Format the local time of the place, with its offset."""
    return f"{day_text(moment.date())} {moment:%H:%M} (UTC{moment.isoformat()[-6:]})"
