"""Course of a trip: its connections, its nights, and what only a summary of all legs can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Final

from msgspec import Struct

from sagagraph.domains.travel.offers import HotelOffer
from sagagraph.domains.travel.plan import Leg
from sagagraph.domains.travel.request import MOST_STOPS, Order
from sagagraph.domains.travel.rules.case import TRIP, Case, also_otherwise, at, of_trip, span
from sagagraph.validators.concern import Concern, windows
from sagagraph.validators.kinds import Kind
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


class CourseView(Struct, frozen=True, omit_defaults=True):
    origin: str
    """Where the trip begins."""
    before: Ride | None
    """The latest journey before these legs; None: the trip begins with them."""
    legs: tuple[Ride | Sojourn, ...]
    train_if: tuple[time, str | None] | None = None
    """The hour before which a flight must land for a train to be taken, and the train's destination; no city: any destination."""
    stated: dict[str, datetime] = {}
    """The conditions of these legs, as the plan states them."""
    is_stay_only: bool = False


def _connections_scopes(case: Case) -> Iterator[tuple[str, CourseView]]:
    before: Ride | None = None
    wish = case.request.train_if
    train_if = None if wish is None else (wish.landed_before, wish.to)
    conditions = {leg.label: leg.only_if.lands_before for leg in case.itinerary.legs if leg.only_if}

    def row(leg: Leg) -> Ride | Sojourn:
        offer = leg.offer
        if isinstance(offer, HotelOffer):
            return Sojourn(leg.label, offer.city)
        arrives = case.request.late.get(leg.label, offer.arrives)
        return Ride(leg.label, offer.kind, offer.origin_city, offer.destination_city, offer.departs, arrives)

    for window in windows(map(row, case.itinerary.legs)):
        labels = [each.label for each in ([before] if before else []) + window]
        stated = {label: conditions[label] for label in labels if label in conditions}
        request = case.request
        yield span(labels), CourseView(request.origin, before, tuple(window), train_if, stated, request.is_stay_only)
        before = next((each for each in reversed(window) if isinstance(each, Ride)), before)


def _check_connections(view: CourseView) -> Iterator[Violation]:
    latest = view.before
    for leg in view.legs:
        here = view.origin if latest is None else latest.destination_city
        begins = leg.origin_city if isinstance(leg, Ride) else leg.city
        if begins != here:
            yield at(leg.label, "ROUTE", f"is in {begins}, while the traveller is in {here}", begins=begins, traveller=here)
        elif isinstance(leg, Sojourn) and latest is None and not view.is_stay_only:
            yield at(leg.label, "ROUTE", "is a stay before the first journey", begins=begins)
        if isinstance(leg, Ride) and latest is not None:
            minutes = (leg.departs - latest.arrives) // timedelta(minutes=1)
            change = AFTER_FLIGHT if latest.kind == "flight" else FROM_TRAIN_TO_FLIGHT if leg.kind == "flight" else timedelta(0)
            needed = change // timedelta(minutes=1)
            if minutes < needed:
                message = f"leaves {minutes} minutes after the {latest.kind} before it arrives; {needed} are needed"
                yield at(leg.label, "CONNECTION", message, minutes=minutes, needed=needed)
            yield from _check_condition(leg, latest, view)
        latest = leg if isinstance(leg, Ride) else latest


def _check_condition(ride: Ride, before: Ride, view: CourseView) -> Iterator[Violation]:
    """Check that a train follows a flight only if that lands early enough, and that the plan states exactly this condition."""
    lands, stated, limit = before.arrives, view.stated.get(ride.label), None
    if view.train_if is not None and (before.kind, ride.kind) == ("flight", "train"):
        hour, to = view.train_if
        limit = datetime.combine(lands.date(), hour, lands.tzinfo) if to in (None, ride.destination_city) else None
    if limit is not None and (lands.hour < 4 or lands >= limit):
        message = f"is a train, and the flight before it lands at {lands:%H:%M}, not before {limit:%H:%M}"
        yield at(ride.label, "CONDITION", message, lands=lands.isoformat(), before=limit.isoformat())
    elif stated is not None and stated != limit:
        message = f"states that the flight before it lands before {stated.isoformat()}, which was not requested"
        yield at(ride.label, "CONDITION", message, stated=stated.isoformat(), wished=limit and limit.isoformat())


CONNECTIONS = Concern("connections", Kind.DEPENDENCY, CourseView, also_otherwise(_connections_scopes), _check_connections)


class Nights(Struct, frozen=True, array_like=True):
    label: str
    check_in: date
    check_out: date


class BedsView(Struct, frozen=True):
    """View of beds. `covered`: the first night without a bed, after `last`, the leg before these stays."""

    city: str
    covered: date
    last: str
    stays: tuple[Nights, ...]
    needed: date
    """The day on which the traveller leaves."""
    is_end: bool
    """Whether no other stays of the visit follow."""


def _calendar_scopes(case: Case) -> Iterator[tuple[str, BedsView]]:
    for visit in case.visits:
        if not (case.request.hotels or visit.stays):
            continue
        covered, last = visit.arrives, visit.arrived_by.label
        stays = [Nights(leg.label, hotel.check_in, hotel.check_out) for leg, hotel in visit.stays]
        shared = list(windows(stays)) or [[]]
        for number, window in enumerate(shared, start=1):
            view = BedsView(visit.city, covered, last, tuple(window), visit.leaves, is_end=number == len(shared))
            yield span([last, *(each.label for each in window)]), view
            for each in window:
                covered, last = max(covered, each.check_out), each.label


def _check_calendar(view: BedsView) -> Iterator[Violation]:
    """Follow the stays through the visit."""
    covered, last = view.covered, view.last
    for stay in view.stays:
        if stay.check_in > covered:
            message = _without_bed(view, covered, stay.check_in)
            yield at(stay.label, "DATE_GAP", message, first=covered, until=stay.check_in)
        if stay.check_in < covered:
            message = f"begins on {stay.check_in}, before {covered}, when it is needed"
            yield at(stay.label, "DATE_OVERLAP", message, first=stay.check_in, until=covered)
        covered, last = max(covered, stay.check_out), stay.label
    if not view.is_end:
        return
    if covered < view.needed:
        yield at(last, "DATE_GAP", _without_bed(view, covered, view.needed), first=covered, until=view.needed)
    if covered > view.needed:
        message = f"ends on {covered}, after {view.needed}, when the traveller leaves {view.city}"
        yield at(last, "DATE_OVERLAP", message, first=view.needed, until=covered)


def _without_bed(view: BedsView, first: date, until: date) -> str:
    return f"no bed in {view.city} from {first} to {until}"


CALENDAR = Concern("calendar", Kind.TEMPORAL, BedsView, also_otherwise(_calendar_scopes), _check_calendar)


_MOST_SHOWN: Final = 4 * MOST_STOPS
"""The most stops of a trip that are checked, more than anybody may ask for."""


class Stop(Struct, frozen=True, array_like=True):
    """Stop: a visit that is more than a change; `label` is the journey that leads there."""

    label: str
    city: str
    nights: int


class Asked(Struct, frozen=True, array_like=True):
    city: str
    nights: int


class Span(Struct, frozen=True):
    """Span from one leg to another, by their days."""

    first: str
    begins: date
    last: str
    ends: date


class WholeView(Struct, frozen=True):
    asked: tuple[Asked, ...]
    return_to: str | None
    in_any_order: bool
    travelled: tuple[Stop, ...]
    is_home: bool
    """Whether the last of them is the return."""
    more: int
    """How many others follow them."""
    span: Span
    window: tuple[date, date] | None
    depart: date | None


class Begun(Struct, frozen=True, array_like=True):
    label: str
    booked: str
    planned: str | None
    """By offer id; None: the plan has no such leg."""


class PastView(Struct, frozen=True):
    begun: tuple[Begun, ...]


def _whole_scopes(case: Case) -> Iterator[tuple[str, WholeView]]:
    request, legs = case.request, case.itinerary.legs
    for_a_day = {stop.city for stop in request.stops if stop.nights == 0}
    visits = [visit for visit in case.visits if not visit.is_change or visit.city in for_a_day]
    travelled = tuple(Stop(each.arrived_by.label, each.city, (each.leaves - each.arrives).days) for each in visits)
    ends = max(reversed(legs), key=lambda leg: leg.ends)
    view = WholeView(
        asked=tuple(Asked(stop.city, stop.nights) for stop in request.stops),
        return_to=request.return_to,
        in_any_order=request.order is Order.ANY,
        travelled=travelled[:_MOST_SHOWN],
        is_home=bool(visits) and visits[-1].is_last and visits[-1].city == request.return_to,
        more=len(travelled[_MOST_SHOWN:]),
        span=Span(legs[0].label, legs[0].begins, ends.label, ends.ends),
        window=None if request.window is None else (request.window.first, request.window.last),
        depart=request.depart,
    )
    yield TRIP, view


def _check_whole(view: WholeView) -> Iterator[Violation]:
    yield from _route(view)
    if not view.more:
        yield from _nights(view, view.travelled[: len(view.travelled) - view.is_home])
    yield from _window(view)


def _route(view: WholeView) -> Iterator[Violation]:
    """Check the stops, in order unless any order will do, and the end of the trip. Its start is checked with the connections."""
    wanted = [stop.city for stop in view.asked]
    end = [] if view.return_to is None else [view.return_to]
    travelled = [stop.city for stop in view.travelled]
    there, back = travelled[: len(wanted)], travelled[len(wanted) :]
    is_there = there == wanted or (view.in_any_order and sorted(there) == sorted(wanted))
    if not is_there or back != end:
        cities = ", ".join([*wanted, *end])
        in_any_order = ", in any order of the stops" if view.in_any_order else ""
        more = f" and {view.more} more" if view.more else ""
        message = f"goes to {', '.join(travelled) or 'no city'}{more}, not to {cities}{in_any_order}"
        yield of_trip("ROUTE", message, travelled=travelled, wanted=[*wanted, *end])


def _nights(view: WholeView, stops: tuple[Stop, ...]) -> Iterator[Violation]:
    """Compare nights. In any order, a city that is visited twice may have its longer stay first."""
    cities, wanted = [stop.city for stop in stops], [stop.city for stop in view.asked]
    if cities != wanted and not (view.in_any_order and sorted(cities) == sorted(wanted)):
        return  # the check of the route reports that
    if not view.in_any_order:
        for stop, here in zip(stops, view.asked, strict=True):
            if stop.nights != here.nights:
                yield _other_nights(stop, [here.nights])
        return
    asked = Counter((stop.city, stop.nights) for stop in view.asked)
    asked.subtract((stop.city, stop.nights) for stop in stops)
    for stop in stops:
        if asked[stop.city, stop.nights] < 0:
            asked[stop.city, stop.nights] += 1
            yield _other_nights(stop, [nights for (city, nights), left in asked.items() if city == stop.city and left > 0])


def _other_nights(stop: Stop, asked: list[int]) -> Violation:
    wanted = " or ".join(str(nights) for nights in asked)
    message = f"leads to {stop.nights} nights in {stop.city}, not {wanted}"
    return at(stop.label, "NIGHTS", message, city=stop.city, planned=stop.nights, asked=wanted)


def _window(view: WholeView) -> Iterator[Violation]:
    """Check that the whole trip lies in the window, and begins on the day of departure."""
    days = view.span  # across the date line, what comes next may begin on the day before the first leg
    if view.window is not None:
        first, last = view.window
        if days.begins < first:
            yield at(days.first, "WINDOW", f"begins on {days.begins}, before {first}", begins=days.begins, first=first)
        if days.ends > last:
            yield at(days.last, "WINDOW", f"ends on {days.ends}, after {last}", ends=days.ends, last=last)
    if view.depart is not None and days.begins != view.depart:
        message = f"begins on {days.begins}, not on {view.depart}"
        yield at(days.first, "WINDOW", message, begins=days.begins, depart=view.depart)


def _past_scopes(case: Case) -> Iterator[tuple[str, PastView]]:
    planned = {leg.label: leg.offer.offer_id for leg in case.itinerary.legs}
    begun = (Begun(leg.label, leg.offer.offer_id, planned.get(leg.label)) for leg in case.begun.values())
    for window in windows(begun):
        yield span([each.label for each in window]), PastView(tuple(window))


def _check_past(view: PastView) -> Iterator[Violation]:
    """Check that what has begun is in the plan, as it was booked."""
    for each in view.begun:
        if each.planned != each.booked:
            message = "has begun, and is not in the plan any more"
            yield at(each.label, "PAST_REWRITTEN", message, offer_id=each.booked)


WHOLE = Concern("the whole", Kind.RETENTION, WholeView, _whole_scopes, _check_whole)
PAST = Concern("past", Kind.CONSISTENCY, PastView, _past_scopes, _check_past)
