"""What a trip has to keep besides its wishes, said once more: by nothing that the planner or its validator is made of."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

PRICES_IN = "USD"
LONGEST_TRAIN_MINUTES = 360
"""Where a train of up to six hours can be had, no flight is taken."""
_NIGHT_ENDS = 4 * 60
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def minutes_to_change(earlier: str, later: str) -> int:
    """`flight` or `train`, both."""
    if earlier == "flight":
        return 90
    return 60 if later == "flight" else 0


def keeps_hours(body: Mapping[str, Any], departs: datetime, arrives: datetime) -> bool:
    hours = body.get("hours") or {}
    return _is_within(hours.get("depart") or {}, departs) and _is_within(hours.get("arrive") or {}, arrives)


def _is_within(limits: Mapping[str, str | None], moment: datetime) -> bool:
    """The small hours belong to the night before: later than any latest hour."""
    minute = moment.hour * 60 + moment.minute
    earliest, latest = limits.get("earliest"), limits.get("latest")
    if earliest and minute < _minute(earliest):
        return False
    return not latest or _NIGHT_ENDS <= minute <= _minute(latest)


def _minute(text: str) -> int:
    return int(text[:2]) * 60 + int(text[3:])


def keeps_weekdays(body: Mapping[str, Any], *days: date) -> bool:
    return not any(_WEEKDAYS[day.weekday()] in body.get("not_on", ()) for day in days)


def first_days(body: Mapping[str, Any]) -> list[date]:
    """On which the first journey may leave."""
    if body.get("depart"):
        return [date.fromisoformat(body["depart"])]
    first, last = (date.fromisoformat(body["window"][end]) for end in ("first", "last"))
    nights = sum(stop["nights"] for stop in body["stops"])
    return [first + timedelta(days=n) for n in range((last - first).days - nights + 1)]


def ends_in_time(body: Mapping[str, Any], day: date) -> bool:
    window = body.get("window")
    return not window or day <= date.fromisoformat(window["last"])


def is_affordable(body: Mapping[str, Any], total: Decimal, rates: Mapping[str, Decimal]) -> bool:
    """`rates`: what one unit of some base is worth, by currency."""
    if body.get("budget") is None:
        return True
    return Fraction(total) * Fraction(rates[body["currency"]]) <= Fraction(str(body["budget"])) * Fraction(rates[PRICES_IN])


def most_cents(body: Mapping[str, Any], rates: Mapping[str, Decimal]) -> int | None:
    """The same limit as a price; None: no limit."""
    if body.get("budget") is None:
        return None
    return floor(Fraction(str(body["budget"])) * 100 * Fraction(rates[PRICES_IN]) / Fraction(rates[body["currency"]]))


def route_of(body: Mapping[str, Any]) -> list[str]:
    """Every city in the order of travel, the origin first."""
    cities = [body["origin"], *(stop["city"] for stop in body["stops"])]
    return [*cities, body["return_to"]] if body["return_to"] else cities
