"""Faults in trips: in the itinerary, in what it is judged by, and in the operations that are made of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import structs

from sagagraph.domains.travel.actions.actions import travel_actions
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.provider.receipts import ProviderGuarantees
from sagagraph.domains.travel.rules.evidence import Evidence
from sagagraph.workflow.kind import ActionKind
from tests.domains.travel.test_validator import valid_plans
from tests.domains.travel.world import GAZETTEER, NOW, RATES, OfferBook
from tests.planning.faults.table import Case, Fault, Specs, Table
from tests.planning.faults.workflows import (
    again,
    circle,
    first_input,
    first_of,
    plan_fault,
    same_resource,
    second_pivot,
    workflow_fault,
)

PLANS = ("the sample trip", "one way", "open jaw", "a single stop", "a party with rooms", "a change of trains on the way")


def table() -> Table:
    provider: Any = OfferBook([])
    guarantees = ProviderGuarantees(dedup=timedelta(days=1), void=True, deadline=True, refusals_final=True)
    domain = Travel(provider, GAZETTEER, travel_actions(provider, guarantees, Path("outbox")))
    return Table(domain, {name: _case(valid_plans[name]) for name in PLANS}, FAULTS)


def _case(itinerary: Itinerary) -> Case:
    shown = Evidence(now=NOW, quotes=tuple(leg.offer for leg in itinerary.legs), rates=RATES)
    request = itinerary.request.model_dump(mode="json")
    return Case(request, itinerary.model_dump(mode="json"), shown.model_dump(mode="json"))


# -- in the plan -------------------------------------------------------------------------------------------------------


def _legs(case: Case) -> list[dict[str, Any]]:
    legs: list[dict[str, Any]] = case.plan["legs"]
    return legs


def _of(case: Case, *kinds: str) -> list[dict[str, Any]]:
    return [leg["offer"] for leg in _legs(case) if leg["offer"]["kind"] in kinds]


def _quote(case: Case, offer: dict[str, Any]) -> dict[str, Any]:
    return next(each for each in case.shown["quotes"] if each["offer_id"] == offer["offer_id"])


def _first(kind: str, **facts: Any) -> Callable[[Case], None]:
    """Changes the first offer of a kind, in the plan and as it is quoted: the world agrees with the fault."""

    def change(case: Case) -> None:
        offer = _of(case, *(("flight", "train") if kind == "journey" else (kind,)))[0]
        _quote(case, offer).update(facts)
        offer.update(facts)

    return change


def _relabelled(case: Case) -> None:
    for number, leg in enumerate(_legs(case), 1):
        leg["label"] = f"T{number}"
    case.plan["total"] = str(sum(Decimal(str(leg["offer"]["price"])) for leg in _legs(case)))


def _swap(case: Case) -> None:
    legs = _legs(case)
    legs[0]["offer"], legs[-1]["offer"] = legs[-1]["offer"], legs[0]["offer"]


def _book_twice(case: Case) -> None:
    legs = _legs(case)
    place = next(n for n, leg in enumerate(legs) if leg["offer"]["kind"] == "hotel")
    legs.insert(place, {**legs[place]})
    _relabelled(case)


def _without(kind: str, *, last: bool = False) -> Callable[[Case], None]:
    def change(case: Case) -> None:
        legs = _legs(case)
        places = [n for n, leg in enumerate(legs) if leg["offer"]["kind"] == kind]
        legs.pop(places[-1 if last else 0])
        _relabelled(case)

    return change


def _too_dear(case: Case) -> None:
    offer = _of(case, "flight", "train")[0]
    each = Decimal(str(offer["price"])) / Decimal(str(offer["price_per_person"]))
    raised = {"price_per_person": 6000, "price": int(6000 * each)}
    _quote(case, offer).update(raised)
    offer.update(raised)
    _relabelled(case)


def _forget_wishes(case: Case) -> None:
    """The plan says that it was made for other wishes, and keeps only those."""
    case.plan["request"]["stars"] = [1, 5]
    case.plan["request"]["budget"] = None
    _first("hotel", stars=5)(case)


def _invent(case: Case) -> None:
    _of(case, "hotel")[0]["offer_id"] = "hotel.Paradise"


def _understate(case: Case) -> None:
    offer = _of(case, "hotel")[0]
    offer["price"] = str(Decimal(str(offer["price"])) - 10)
    _relabelled(case)


def _set(**facts: Any) -> Callable[[Case], None]:
    return lambda case: case.plan.update(facts)


def _sold_out(case: Case) -> None:
    _quote(case, _of(case, "flight", "train")[0])["left"] = case.request["travellers"] - 1


def _room_too_few(case: Case) -> None:
    case.request["rooms"] += 1


def _miss_the_deadline(case: Case) -> None:
    window = case.request["window"]
    window["last"] = max(str(_legs(case)[0]["offer"].get("arrives", ""))[:10], window["first"])


def _in_the_past(case: Case) -> None:
    case.shown["now"] = "2025-12-01T00:00:00+00:00"


def _no_home(case: Case) -> None:
    legs = _legs(case)
    while legs[-1]["offer"]["kind"] != "hotel":
        legs.pop()
    _relabelled(case)


def _dropped_field(case: Case) -> None:
    del _legs(case)[0]["offer"]["departs"]


def _has_return(case: Case) -> bool:
    return case.request["return_to"] is not None


# -- in the workflow ---------------------------------------------------------------------------------------------------


def _precedence(specs: Specs) -> Specs:
    """The payment before the last booking."""
    pay = next(spec for spec in specs if spec.kind is ActionKind.PIVOT)
    last = next(spec for spec in reversed(specs) if spec.kind is ActionKind.COMPENSATABLE)
    pay_early = structs.replace(pay, depends_on=(specs[0].id,), inputs={**pay.inputs, "reservations": []})
    book_late = structs.replace(last, depends_on=(pay.id,))
    return [pay_early if spec is pay else book_late if spec is last else spec for spec in specs]


FAULTS: dict[str, Fault] = {
    "precedence swapped: the last leg first": plan_fault(_swap, "ROUTE"),
    "precedence swapped: a booking behind the payment": workflow_fault(_precedence, "STRUCTURE"),
    "resource double-booked: two beds for one night": plan_fault(_book_twice, "DATE_OVERLAP"),
    "resource double-booked: two operations take the same": workflow_fault(same_resource, "DOUBLE_BOOKED"),
    "capacity overflow: a seat too few": plan_fault(_sold_out, "UNAVAILABLE"),
    "capacity overflow: a room too few": plan_fault(_room_too_few, "PARTY"),
    "deadline missed: back after the window": plan_fault(_miss_the_deadline, "WINDOW"),
    "deadline missed: it has left already": plan_fault(_in_the_past, "DATE_PAST"),
    "budget exceeded": plan_fault(_too_dear, "BUDGET"),
    "cyclic dependency": workflow_fault(circle, "STRUCTURE"),
    "hallucinated action": workflow_fault(first_of(ActionKind.COMPENSATABLE, action="book_rocket"), "UNKNOWN_ACTION"),
    "hallucinated version of an action": workflow_fault(first_of(ActionKind.PIVOT, action_version=9), "UNKNOWN_ACTION"),
    "hallucinated offer": plan_fault(_invent, "UNAVAILABLE"),
    "wrong type: a total in words": plan_fault(_set(total="a lot"), "MALFORMED"),
    "wrong type: no legs but a sentence": plan_fault(_set(legs="fly there and back"), "MALFORMED"),
    "wrong type: how many, in words": workflow_fault(first_input("quantity", "two"), "WRONG_TYPE"),
    "missing input": workflow_fault(first_input("offer_id", None), "WRONG_TYPE"),
    "missing field": plan_fault(_dropped_field, "MALFORMED"),
    "dropped constraint: stars and budget forgotten": plan_fault(_forget_wishes, "STARS"),
    "dropped leg: a night without a bed": plan_fault(_without("hotel"), "DATE_GAP", "ROUTE"),
    "dropped leg: no way home": plan_fault(_no_home, "ROUTE", needs=_has_return),
    "a price that nobody quotes": plan_fault(_understate, "PRICE"),
    "a total that does not add up": plan_fault(_set(total="1.00"), "PRICE"),
    "another currency": plan_fault(_set(currency="EUR"), "PRICE"),
    "no number: NaN as a total": plan_fault(_set(total="NaN"), "PRICE", "MALFORMED"),
    "clock of another place": plan_fault(_first("journey", departs="2025-06-10T20:25:00+09:00"), "TIMEZONE"),
    "another city": plan_fault(_first("hotel", city="Rome"), "ROUTE"),
    "fees that nobody charges": plan_fault(_set(fees="25.00"), "FEES"),
    "wrong kind: a payment that can be undone": workflow_fault(
        first_of(ActionKind.PIVOT, kind=ActionKind.COMPENSATABLE), "WRONG_KIND"
    ),
    "two points of no return": workflow_fault(second_pivot, "STRUCTURE"),
    "one operation twice": workflow_fault(again, "STRUCTURE"),
    "a prerequisite that is not there": workflow_fault(first_of(ActionKind.COMPENSATABLE, depends_on=("blessing",)), "STRUCTURE"),
    "an outcome used without waiting for it": workflow_fault(first_of(ActionKind.PIVOT, depends_on=()), "STRUCTURE"),
}
