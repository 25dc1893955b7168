"""Connections: every leg begins where the traveller is, with time to change. Windows of legs share the journey between them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from sagagraph.domains.travel.offers import HotelOffer
from sagagraph.domains.travel.rules.case import at, span
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.plan import Leg
    from sagagraph.domains.travel.rules.case import Case
    from sagagraph.validators.verdict import Violation

AFTER_FLIGHT: Final = timedelta(minutes=90)
FROM_TRAIN_TO_FLIGHT: Final = timedelta(minutes=60)


class Ride(Struct, frozen=True, array_like=True, tag="ride"):
    label: str
    kind: str
    origin_city: str
    destination_city: str
    departs: datetime
    arrives: datetime


class Sojourn(Struct, frozen=True, array_like=True, tag="stay"):
    label: str
    city: str


class CourseView(Struct, frozen=True):
    origin: str
    """Where the trip begins."""
    before: Ride | None
    """The latest journey before these legs; None: the trip begins with them."""
    legs: tuple[Ride | Sojourn, ...]


def _scopes(case: Case) -> Iterator[tuple[str, CourseView]]:
    before: Ride | None = None
    for window in windows(map(_row, case.itinerary.legs)):
        labels = [each.label for each in ([before] if before else []) + window]
        yield span(labels), CourseView(case.request.origin, before, tuple(window))
        before = next((each for each in reversed(window) if isinstance(each, Ride)), before)


def _row(leg: Leg) -> Ride | Sojourn:
    offer = leg.offer
    if isinstance(offer, HotelOffer):
        return Sojourn(leg.label, offer.city)
    return Ride(leg.label, offer.kind, offer.origin_city, offer.destination_city, offer.departs, offer.arrives)


def _check(view: CourseView) -> Iterator[Violation]:
    latest = view.before
    for leg in view.legs:
        here = view.origin if latest is None else latest.destination_city
        begins = leg.origin_city if isinstance(leg, Ride) else leg.city
        if begins != here:
            yield at(leg.label, "ROUTE", f"is in {begins}, while the traveller is in {here}", begins=begins, traveller=here)
        elif isinstance(leg, Sojourn) and latest is None:
            yield at(leg.label, "ROUTE", "is a stay before the first journey", begins=begins)
        if isinstance(leg, Ride):
            if latest is not None:
                yield from _time_to_change(latest, leg)
            latest = leg


def _time_to_change(earlier: Ride, later: Ride) -> Iterator[Violation]:
    """Check that nothing leaves before the traveller has arrived and had time to change."""
    minutes = (later.departs - earlier.arrives) // timedelta(minutes=1)
    needed = _change(earlier, later) // timedelta(minutes=1)
    if minutes < needed:
        message = f"leaves {minutes} minutes after the {earlier.kind} before it arrives; {needed} are needed"
        yield at(later.label, "CONNECTION", message, minutes=minutes, needed=needed)


def _change(earlier: Ride, later: Ride) -> timedelta:
    if earlier.kind == "flight":
        return AFTER_FLIGHT
    return FROM_TRAIN_TO_FLIGHT if later.kind == "flight" else timedelta(0)


CONNECTIONS = Concern("connections", Kind.DEPENDENCY, CourseView, _scopes, _check)
