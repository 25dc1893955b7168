"""Wishes: whether hotels and journeys are as requested, leg by leg."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, time

from msgspec import Struct, convert

from sagagraph.domains.travel.offers import HotelOffer
from sagagraph.domains.travel.plan import Leg
from sagagraph.domains.travel.request import By, Direct, Weekday
from sagagraph.domains.travel.rules.case import Case, also_otherwise, at, span
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


class WishedHours(Struct, frozen=True):
    earliest: time | None
    latest: time | None


class Wishes(Struct, frozen=True):
    direct: Direct
    by: By
    depart: WishedHours
    arrive: WishedHours
    not_on: tuple[Weekday, ...]


class Ride(Struct, frozen=True, array_like=True, tag="ride"):
    label: str
    kind: str
    stops: int
    via: tuple[str, ...]
    departs: datetime
    arrives: datetime


class Hotel(Struct, frozen=True, array_like=True, tag="hotel"):
    label: str
    stars: int
    wished: tuple[int, int]
    """The fewest and the most stars, in its city."""


class WishesView(Struct, frozen=True):
    wishes: Wishes
    legs: tuple[Ride | Hotel, ...]


def _scopes(case: Case) -> Iterator[tuple[str, WishesView]]:
    request = case.request
    depart, arrive = (convert(each, WishedHours, from_attributes=True) for each in (request.hours.depart, request.hours.arrive))
    wishes = Wishes(request.direct, request.by, depart, arrive, request.not_on)

    def row(leg: Leg) -> Ride | Hotel:
        offer = leg.offer
        if isinstance(offer, HotelOffer):
            return Hotel(leg.label, offer.stars, request.stars_in(offer.city))
        return Ride(leg.label, offer.kind, offer.stops, offer.via, offer.departs, offer.arrives)

    for window in windows(map(row, case.itinerary.legs)):
        yield span([each.label for each in window]), WishesView(wishes, tuple(window))


def _check(view: WishesView) -> Iterator[Violation]:
    for leg in view.legs:
        if isinstance(leg, Ride):
            yield from _journey(leg, view.wishes)
            continue
        fewest, most = leg.wished
        if not fewest <= leg.stars <= most:
            message = f"has {leg.stars} stars, not {fewest} to {most}"
            yield at(leg.label, "STARS", message, stars=leg.stars, fewest=fewest, most=most)


def _journey(ride: Ride, wishes: Wishes) -> Iterator[Violation]:
    """Check a direct flight if it is required (if it is only preferred, the planner decides), the way to go, hours and days."""
    if wishes.direct is Direct.REQUIRED and ride.kind == "flight" and (ride.stops or ride.via):
        yield at(ride.label, "NOT_DIRECT", f"stops {ride.stops} times", stops=ride.stops, via=list(ride.via))
    if wishes.by is not By.ANY and ride.kind != wishes.by.value:
        yield at(ride.label, "WAY", f"is a {ride.kind}, not a {wishes.by}", way=ride.kind, wished=wishes.by.value)
    yield from _outside(ride.label, "leaves", ride.departs, wishes.depart)
    yield from _outside(ride.label, "arrives", ride.arrives, wishes.arrive)
    unwanted = [list(Weekday).index(day) for day in wishes.not_on]
    for verb, moment in (("leaves", ride.departs), ("arrives", ride.arrives)):
        if moment.weekday() in unwanted:
            yield at(ride.label, "WEEKDAY", f"{verb} on {moment:%A}, {moment:%Y-%m-%d}", day=f"{moment:%Y-%m-%d}")


def _outside(label: str, verb: str, moment: datetime, hours: WishedHours) -> Iterator[Violation]:
    """Check hours in local time: the small hours end the night before, and so are later than any latest hour."""
    minutes = moment.hour * 60 + moment.minute
    if hours.earliest is not None and minutes < hours.earliest.hour * 60 + hours.earliest.minute:
        message = f"{verb} at {moment:%H:%M}, before {hours.earliest:%H:%M}"
        yield at(label, "HOURS", message, time=moment.isoformat(), earliest=f"{hours.earliest:%H:%M}")
    if hours.latest is not None and (moment.hour < 4 or minutes > hours.latest.hour * 60 + hours.latest.minute):
        message = f"{verb} at {moment:%H:%M}, after {hours.latest:%H:%M}"
        yield at(label, "HOURS", message, time=moment.isoformat(), latest=f"{hours.latest:%H:%M}")


WISHES = Concern("wishes", Kind.CONSTRAINT, WishesView, also_otherwise(_scopes), _check)
