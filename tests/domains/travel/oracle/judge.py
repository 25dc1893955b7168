"""Judge: every check on the whole trip."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from sagagraph.validators.verdict import Verdict
from tests.domains.travel.oracle.case import Case
from tests.domains.travel.oracle.money import (
    check_amounts,
    check_budget,
    check_converted,
    check_fees,
    check_party,
    check_quotes,
    check_total,
)
from tests.domains.travel.oracle.route import check_beds, check_continuity, check_nights, check_route
from tests.domains.travel.oracle.times import (
    check_clocks,
    check_conditions,
    check_connections,
    check_durations,
    check_not_past,
    check_past,
    check_window,
)
from tests.domains.travel.oracle.wishes import check_direct, check_hours, check_stars, check_way, check_weekdays

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sagagraph.domains.travel.cities import Gazetteer
    from sagagraph.domains.travel.money import Rates
    from sagagraph.domains.travel.offers import Offer
    from sagagraph.domains.travel.plan import Itinerary, Leg
    from sagagraph.domains.travel.request import TripRequest
    from tests.domains.travel.oracle.case import Check

NO_FEES: Final = Decimal(0)
CHECKS: Final[tuple[Check, ...]] = (
    check_amounts,
    check_total,
    check_budget,
    check_fees,
    check_converted,
    check_quotes,
    check_party,
    check_route,
    check_continuity,
    check_nights,
    check_beds,
    check_connections,
    check_clocks,
    check_conditions,
    check_durations,
    check_window,
    check_not_past,
    check_past,
    check_stars,
    check_direct,
    check_way,
    check_hours,
    check_weekdays,
)


def validate_itinerary(
    itinerary: Itinerary,
    request: TripRequest,
    quotes: Mapping[str, Offer] | None,
    *,
    now: datetime,
    cities: Gazetteer,
    rates: Rates | None = None,
    fees: Decimal = NO_FEES,
    begun: Mapping[str, Leg] | None = None,
) -> Verdict:
    """Judge by `request`, not by the request that the itinerary says it was made for.

    `quotes`: its offers as quoted now, by offer id; a missing one is gone. None: prices and availability are not compared with
    anything. `rates`: needed if the budget is in another currency than the prices. `fees`: what cancelling has cost, and what it
    costs now to cancel bookings that are not in the itinerary. `begun`: bookings that have begun, by label: they stay as they
    are.
    """
    case = Case(itinerary, request, quotes, now, cities, rates, fees, begun or {})
    return Verdict.of([violation for check in CHECKS for violation in check(case)])
