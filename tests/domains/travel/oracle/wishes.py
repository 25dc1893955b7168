"""Wishes: whether hotels and flights are as requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagagraph.domains.travel.offers import FlightOffer
from sagagraph.domains.travel.request import Direct, Weekday
from tests.domains.travel.oracle.case import at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sagagraph.domains.travel.plan import Leg
    from sagagraph.domains.travel.request import Hours
    from sagagraph.validators.verdict import Violation
    from tests.domains.travel.oracle.case import Case


def check_stars(case: Case) -> Iterator[Violation]:
    fewest, most = case.request.stars
    for leg, hotel in case.stays:
        if not fewest <= hotel.stars <= most:
            message = f"has {hotel.stars} stars, not {fewest} to {most}"
            yield at(leg, "STARS", message, stars=hotel.stars, fewest=fewest, most=most)


def check_direct(case: Case) -> Iterator[Violation]:
    """Check direct flights. If they are only preferred, the planner decides."""
    if case.request.direct is not Direct.REQUIRED:
        return
    for leg, transport in case.transports:
        if isinstance(transport, FlightOffer) and not transport.is_direct:
            message = f"stops {transport.stops} times"
            yield at(leg, "NOT_DIRECT", message, stops=transport.stops, via=list(transport.via))


def check_way(case: Case) -> Iterator[Violation]:
    wanted = case.request.by.value
    for leg, transport in case.transports:
        way = "flight" if isinstance(transport, FlightOffer) else "train"
        if wanted not in ("any", way):
            yield at(leg, "WAY", f"is a {way}, not a {wanted}", way=way, wished=wanted)


def check_hours(case: Case) -> Iterator[Violation]:
    """Check hours on the local clock: the small hours end the night before, and so are later than any latest hour."""
    for leg, transport in case.transports:
        yield from _outside(leg, "leaves", transport.departs, case.request.hours.depart)
        yield from _outside(leg, "arrives", transport.arrives, case.request.hours.arrive)


def _outside(leg: Leg, verb: str, moment: datetime, hours: Hours) -> Iterator[Violation]:
    minutes = moment.hour * 60 + moment.minute
    if hours.earliest is not None and minutes < hours.earliest.hour * 60 + hours.earliest.minute:
        message = f"{verb} at {moment:%H:%M}, before {hours.earliest:%H:%M}"
        yield at(leg, "HOURS", message, time=moment.isoformat(), earliest=f"{hours.earliest:%H:%M}")
    if hours.latest is not None and (moment.hour < 4 or minutes > hours.latest.hour * 60 + hours.latest.minute):
        message = f"{verb} at {moment:%H:%M}, after {hours.latest:%H:%M}"
        yield at(leg, "HOURS", message, time=moment.isoformat(), latest=f"{hours.latest:%H:%M}")


def check_weekdays(case: Case) -> Iterator[Violation]:
    unwanted = [list(Weekday).index(day) for day in case.request.not_on]
    for leg, transport in case.transports:
        for verb, moment in (("leaves", transport.departs), ("arrives", transport.arrives)):
            if moment.weekday() in unwanted:
                yield at(leg, "WEEKDAY", f"{verb} on {moment:%A}, {moment:%Y-%m-%d}", day=f"{moment:%Y-%m-%d}")
