"""Whether hotels and flights are as they were wished for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagagraph.domains.travel.checks.case import at
from sagagraph.domains.travel.offers import FlightOffer
from sagagraph.domains.travel.problem import Direct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.checks.case import Case
    from sagagraph.validators.verdict import Violation


def check_stars(case: Case) -> Iterator[Violation]:
    fewest, most = case.request.stars
    for leg, hotel in case.stays:
        if not fewest <= hotel.stars <= most:
            message = f"has {hotel.stars} stars, not {fewest} to {most}"
            yield at(leg, "STARS", message, stars=hotel.stars, fewest=fewest, most=most)


def check_direct(case: Case) -> Iterator[Violation]:
    """Where direct flights are only preferred, the planner decides."""
    if case.request.direct is not Direct.REQUIRED:
        return
    for leg, transport in case.transports:
        if isinstance(transport, FlightOffer) and not transport.is_direct:
            message = f"stops {transport.stops} times"
            yield at(leg, "NOT_DIRECT", message, stops=transport.stops, via=list(transport.via))
