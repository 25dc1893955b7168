"""Mistakes: what the service books in place of what it was asked for, and says so: only a look at its answer finds them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, Final

from sagagraph.sandbox.books.faults import Fault
from sagagraph.sandbox.money import Cents
from sagagraph.sandbox.world.offers import Offer

ANOTHER_FEE: Final[Cents] = 25_00
_MOMENTS: Final = ("departs", "arrives")
_DAYS: Final = ("check_in", "check_out")


def mistaken(offer: Offer, fault: Fault | None) -> Offer:
    """The offer as it is booked by mistake; a fault that is none of these changes nothing."""
    match fault:
        case "other_night":
            return replace(offer, facts={**offer.facts, **_a_day_later(offer.facts)})
        case "other_class":
            facts = offer.facts
            other = {"stars": facts["stars"] % 5 + 1} if "stars" in facts else {"stops": facts.get("stops", 0) + 1}
            return replace(offer, facts={**facts, **other})
        case "other_name":
            name = "name" if "name" in offer.facts else "number"
            return replace(offer, facts={**offer.facts, name: f"{offer.facts[name]}9"})
        case "double_charge":
            return replace(offer, rate=2 * offer.rate)
        case _:
            return offer


def _a_day_later(facts: Any) -> dict[str, str]:
    a_day = timedelta(days=1)
    moments = {name: (datetime.fromisoformat(facts[name]) + a_day).isoformat() for name in _MOMENTS if name in facts}
    days = {name: (date.fromisoformat(facts[name]) + a_day).isoformat() for name in _DAYS if name in facts}
    return moments | days
