"""Validator: judges a trip by concerns, each with slices of its own, without knowing how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from pydantic import ValidationError

from sagagraph.domains.travel.cities import Gazetteer
from sagagraph.domains.travel.money import Rates
from sagagraph.domains.travel.offers import Bookable
from sagagraph.domains.travel.plan import Itinerary, Leg
from sagagraph.domains.travel.request import TripRequest
from sagagraph.domains.travel.rules.case import Case
from sagagraph.domains.travel.rules.course import CALENDAR, CONNECTIONS, PAST, WHOLE
from sagagraph.domains.travel.rules.legs import LODGING, TRANSPORT
from sagagraph.domains.travel.rules.money import MONEY, PRICES
from sagagraph.domains.travel.rules.wishes import WISHES
from sagagraph.validators.complaints import in_words
from sagagraph.validators.concern import Concern, Remembered, judge_scopes
from sagagraph.validators.verdict import Verdict, Violation

NO_FEES: Final = Decimal(0)
CONCERNS: Final[tuple[Concern[Case, Any], ...]] = (
    *(PRICES, MONEY, WHOLE, CONNECTIONS, CALENDAR),
    *(TRANSPORT, LODGING, PAST, WISHES),
)


def validate_itinerary(
    itinerary: Itinerary,
    request: TripRequest,
    quotes: Mapping[str, Bookable] | None,
    *,
    now: datetime,
    cities: Gazetteer,
    rates: Rates | None = None,
    fees: Decimal = NO_FEES,
    begun: Mapping[str, Leg] | None = None,
    remembered: Remembered | None = None,
) -> Verdict:
    """Judge by `request`, not by the request that the itinerary says it was made for.

    `quotes`: its offers as quoted now, by offer id; a missing one is gone. None: prices and availability are not checked.
    `rates`: needed if the budget is in another currency than the prices. `fees`: what cancelling has cost, and what it costs now
    to cancel bookings that are not in the itinerary. `begun`: bookings that have begun, by label: they stay as they are.
    `remembered`: scopes that have been judged already.
    """
    case = Case(itinerary, request, quotes, now, cities, rates, fees, begun or {})
    return judge_scopes(CONCERNS, case, remembered)


def parsed_itinerary(plan_json: object) -> Itinerary | Verdict:
    """Parse an itinerary from JSON, as text or parsed; anything that is not an itinerary is INVALID: `MALFORMED`."""
    try:
        if isinstance(plan_json, str | bytes):
            return Itinerary.model_validate_json(plan_json)
        return Itinerary.model_validate(plan_json)
    except ValidationError as exc:
        return Verdict.of(
            Violation(code="MALFORMED", message=f"{field or 'plan'}: {message}", scope={"field": field})
            for field, message in in_words(exc)
        )
