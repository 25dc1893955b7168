"""Whether the trip goes where it should, and everybody has one bed every night."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagagraph.domains.travel.checks.case import at, of_trip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from sagagraph.domains.travel.checks.case import Case, Visit
    from sagagraph.validators.verdict import Violation


def check_route(case: Case) -> Iterator[Violation]:
    """Over the stops, in their order, to where the trip is to end. Its start is a matter of continuity."""
    wanted = [stop.city for stop in case.request.stops]
    if case.request.return_to is not None:
        wanted.append(case.request.return_to)
    travelled = [visit.city for visit in case.visits if not visit.is_change]
    if travelled != wanted:
        message = f"goes to {', '.join(travelled) or 'no city'}, not to {', '.join(wanted)}"
        yield of_trip("ROUTE", message, travelled=travelled, wanted=wanted)


def check_continuity(case: Case) -> Iterator[Violation]:
    """Every leg begins where the traveller is, and nobody needs a hotel before the first journey."""
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
    """As many in each stop as were asked for; where there are too few beds for them, that is `DATE_GAP`."""
    for leg, hotel in case.stays:
        nights = (hotel.check_out - hotel.check_in).days
        if nights != hotel.nights:
            message = f"says {hotel.nights} nights, and its dates {nights}"
            yield at(leg, "NIGHTS", message, stated=hotel.nights, dates=nights)
    if [visit.city for visit in case.stops] != [stop.city for stop in case.request.stops]:
        return  # that is a matter of the route
    for visit, stop in zip(case.stops, case.request.stops, strict=True):
        nights = (visit.leaves - visit.arrives).days
        if nights != stop.nights:
            message = f"leads to {nights} nights in {stop.city}, not {stop.nights}"
            yield at(visit.arrived_by, "NIGHTS", message, city=stop.city, planned=nights, asked=stop.nights)


def check_beds(case: Case) -> Iterator[Violation]:
    for visit in case.visits:
        yield from _beds_of(visit)


def _beds_of(visit: Visit) -> Iterator[Violation]:
    """Follows the stays through the visit: `covered` is the first night that has no bed yet."""
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
