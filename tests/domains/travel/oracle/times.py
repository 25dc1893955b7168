"""Times: whether they match the clocks of the places, and leave time to change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.offers import FlightOffer, TransportOffer
from tests.domains.travel.oracle.case import at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

    from sagagraph.validators.verdict import Violation
    from tests.domains.travel.oracle.case import Case

AFTER_FLIGHT: Final = timedelta(minutes=90)
FROM_TRAIN_TO_FLIGHT: Final = timedelta(minutes=60)


def check_connections(case: Case) -> Iterator[Violation]:
    """Check that nothing leaves before the traveller has arrived and had time to change."""
    for (_, earlier), (leg, later) in pairwise(case.transports):
        minutes = (later.departs - earlier.arrives) // timedelta(minutes=1)
        needed = _change(earlier, later) // timedelta(minutes=1)
        if minutes < needed:
            message = f"leaves {minutes} minutes after the {earlier.kind} before it arrives; {needed} are needed"
            yield at(leg, "CONNECTION", message, minutes=minutes, needed=needed)


def check_conditions(case: Case) -> Iterator[Violation]:
    """Check that a train follows a flight only if that lands early enough, and that the plan states this condition or none."""
    wish = case.request.train_if
    for (_, earlier), (leg, later) in pairwise(case.transports):
        is_meant = wish is not None and wish.to in (None, later.destination_city)
        lands, stated = earlier.arrives, leg.only_if and leg.only_if.lands_before
        limit = None
        if wish is not None and is_meant and (earlier.kind, later.kind) == ("flight", "train"):
            limit = datetime.combine(lands.date(), wish.landed_before, lands.tzinfo)
        if limit is not None and not limit.replace(hour=4, minute=0) <= lands < limit:
            message = f"is a train, and the flight before it lands at {lands:%H:%M}, not before {limit:%H:%M}"
            yield at(leg, "CONDITION", message, lands=lands.isoformat(), before=limit.isoformat())
        elif stated and stated != limit:
            message = f"states that the flight before it lands before {stated.isoformat()}, which was not requested"
            yield at(leg, "CONDITION", message, stated=stated.isoformat(), wished=limit and limit.isoformat())


def check_clocks(case: Case) -> Iterator[Violation]:
    """Check that local times carry the offset of their place on that day. The zones are the gazetteer's, not the offer's."""
    for leg, transport in case.transports:
        ends = ((transport.origin_city, transport.departs), (transport.destination_city, transport.arrives))
        for city, moment in ends:
            zone = case.cities.zone(city)
            if zone is None:
                yield at(leg, "TIMEZONE", f"the time zone of {city} is not known", city=city)
            elif not _is_local(moment, zone):
                message = f"{moment.isoformat()} is no local time of {city} ({zone})"
                yield at(leg, "TIMEZONE", message, time=moment.isoformat(), zone=zone)


def check_durations(case: Case) -> Iterator[Violation]:
    for leg, transport in case.transports:
        stated = timedelta(minutes=transport.duration_minutes)
        taken = transport.arrives - transport.departs
        if stated != taken:
            message = f"takes {taken} by its times, and {stated} as stated"
            yield at(leg, "TIMEZONE", message, stated=transport.duration_minutes, taken=taken)


def check_window(case: Case) -> Iterator[Violation]:
    """Check that the whole trip lies in the window, and begins on the day of departure."""
    begins = case.itinerary.legs[0]  # over the date line, what comes next may begin on the day before
    ends = max(reversed(case.itinerary.legs), key=lambda leg: leg.ends)
    window, depart = case.request.window, case.request.depart
    if window is not None and begins.begins < window.first:
        message = f"begins on {begins.begins}, before {window.first}"
        yield at(begins, "WINDOW", message, begins=begins.begins, first=window.first)
    if window is not None and ends.ends > window.last:
        yield at(ends, "WINDOW", f"ends on {ends.ends}, after {window.last}", ends=ends.ends, last=window.last)
    if depart is not None and begins.begins != depart:
        yield at(begins, "WINDOW", f"begins on {begins.begins}, not on {depart}", begins=begins.begins, depart=depart)


def check_not_past(case: Case) -> Iterator[Violation]:
    for leg, transport in case.transports:
        if transport.departs <= case.now and leg.label not in case.begun:
            message = f"left at {transport.departs.isoformat()}; it is {case.now.isoformat()}"
            yield at(leg, "DATE_PAST", message, departs=transport.departs.isoformat(), now=case.now.isoformat())
    for leg, hotel in case.stays:
        today = case.now.astimezone(case.cities.zone(hotel.city) or UTC).date()
        if hotel.check_in < today and leg.label not in case.begun:
            message = f"begins on {hotel.check_in}; it is {today} there"
            yield at(leg, "DATE_PAST", message, check_in=hotel.check_in, today=today)


def check_past(case: Case) -> Iterator[Violation]:
    """Check that what has begun is in the plan, as it was booked."""
    planned = {leg.label: leg.offer.offer_id for leg in case.itinerary.legs}
    for leg in case.begun.values():
        if planned.get(leg.label) != leg.offer.offer_id:
            yield at(leg, "PAST_REWRITTEN", "has begun, and is not in the plan any more", offer_id=leg.offer.offer_id)


def _change(earlier: TransportOffer, later: TransportOffer) -> timedelta:
    if isinstance(earlier, FlightOffer):
        return AFTER_FLIGHT
    return FROM_TRAIN_TO_FLIGHT if isinstance(later, FlightOffer) else timedelta(0)


def _is_local(moment: datetime, zone: ZoneInfo) -> bool:
    try:
        return moment.astimezone(zone).utcoffset() == moment.utcoffset()
    except OverflowError:  # the first and the last day that a datetime can hold
        return False
