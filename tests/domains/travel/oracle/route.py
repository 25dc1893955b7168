"""Route: whether the trip goes where it should, and everybody has one bed every night."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sagagraph.domains.travel.request import Order
from tests.domains.travel.oracle.case import at, of_trip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from sagagraph.validators.verdict import Violation
    from tests.domains.travel.oracle.case import Case, Visit


def check_route(case: Case) -> Iterator[Violation]:
    """Check the stops, in order unless any order will do, and the end of the trip. Its start is a matter of continuity."""
    wanted = [stop.city for stop in case.request.stops]
    end = [] if case.request.return_to is None else [case.request.return_to]
    travelled = [visit.city for visit in case.visits if not visit.is_change]
    there, back = travelled[: len(wanted)], travelled[len(wanted) :]
    is_there = there == wanted or (case.request.order is Order.ANY and sorted(there) == sorted(wanted))
    if not is_there or back != end:
        cities = ", ".join([*wanted, *end])
        in_any_order = ", in any order of the stops" if case.request.order is Order.ANY else ""
        message = f"goes to {', '.join(travelled) or 'no city'}, not to {cities}{in_any_order}"
        yield of_trip("ROUTE", message, travelled=travelled, wanted=[*wanted, *end])


def check_continuity(case: Case) -> Iterator[Violation]:
    """Check that every leg begins where the traveller is, and nobody needs a hotel before the first journey."""
    here, has_left = case.request.origin, False
    for leg in case.itinerary.legs:
        offer = leg.offer
        begins = offer.city if offer.kind == "hotel" else offer.origin_city
        if begins != here:
            yield at(leg, "ROUTE", f"is in {begins}, while the traveller is in {here}", begins=begins, traveller=here)
        elif offer.kind == "hotel" and not has_left:
            yield at(leg, "ROUTE", "is a stay before the first journey", begins=begins)
        if offer.kind != "hotel":
            here, has_left = offer.destination_city, True


def check_nights(case: Case) -> Iterator[Violation]:
    """Check that each stop has the requested number of nights; too few beds for them are a `DATE_GAP`."""
    for leg, hotel in case.stays:
        nights = (hotel.check_out - hotel.check_in).days
        if nights != hotel.nights:
            message = f"says {hotel.nights} nights, and its dates {nights}"
            yield at(leg, "NIGHTS", message, stated=hotel.nights, dates=nights)
    yield from _nights_in_any_order(case) if case.request.order is Order.ANY else _nights_in_order(case)


def _nights_in_order(case: Case) -> Iterator[Violation]:
    if [visit.city for visit in case.stops] != [stop.city for stop in case.request.stops]:
        return  # the check of the route reports that
    for visit, stop in zip(case.stops, case.request.stops, strict=True):
        if _nights_of(visit) != stop.nights:
            yield _other_nights(visit, [stop.nights])


def _nights_in_any_order(case: Case) -> Iterator[Violation]:
    """Compare nights in any order: a city that is visited twice may have its longer stay first."""
    if sorted(visit.city for visit in case.stops) != sorted(stop.city for stop in case.request.stops):
        return  # the check of the route reports that
    asked = Counter((stop.city, stop.nights) for stop in case.request.stops)
    asked.subtract((visit.city, _nights_of(visit)) for visit in case.stops)
    for visit in case.stops:
        if asked[visit.city, _nights_of(visit)] < 0:
            asked[visit.city, _nights_of(visit)] += 1
            yield _other_nights(visit, [nights for (city, nights), left in asked.items() if city == visit.city and left > 0])


def _nights_of(visit: Visit) -> int:
    return (visit.leaves - visit.arrives).days


def _other_nights(visit: Visit, asked: list[int]) -> Violation:
    wanted = " or ".join(str(nights) for nights in asked)
    message = f"leads to {_nights_of(visit)} nights in {visit.city}, not {wanted}"
    return at(visit.arrived_by, "NIGHTS", message, city=visit.city, planned=_nights_of(visit), asked=wanted)


def check_beds(case: Case) -> Iterator[Violation]:
    for visit in case.visits:
        yield from _beds_of(visit)


def _beds_of(visit: Visit) -> Iterator[Violation]:
    """Follow the stays through the visit: `covered` is the first night without a bed."""
    covered, last_leg = visit.arrives, visit.arrived_by
    for leg, hotel in visit.stays:
        if hotel.check_in > covered:
            yield at(leg, "DATE_GAP", _without_bed(visit, covered, hotel.check_in), first=covered, until=hotel.check_in)
        if hotel.check_in < covered:
            message = f"begins on {hotel.check_in}, before {covered}, when it is needed"
            yield at(leg, "DATE_OVERLAP", message, first=hotel.check_in, until=covered)
        covered, last_leg = max(covered, hotel.check_out), leg
    if covered < visit.leaves:
        message = _without_bed(visit, covered, visit.leaves)
        yield at(last_leg, "DATE_GAP", message, first=covered, until=visit.leaves)
    if covered > visit.leaves:
        message = f"ends on {covered}, after {visit.leaves}, when the traveller leaves {visit.city}"
        yield at(last_leg, "DATE_OVERLAP", message, first=visit.leaves, until=covered)


def _without_bed(visit: Visit, first: date, until: date) -> str:
    return f"no bed in {visit.city} from {first} to {until}"
