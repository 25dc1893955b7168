"""Looks through a plan, as JSON, with nothing but the request, the clocks of the cities and the rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from benchmarks.trips import rules


@dataclass(frozen=True)
class World:
    """`zones`: time zones by city. `rates`: what one unit of some base is worth, by currency."""

    now: datetime
    zones: Mapping[str, str]
    rates: Mapping[str, Decimal]


def faults(plan: Mapping[str, Any], body: Mapping[str, Any], world: World) -> list[str]:
    """Everything that is wrong with it, in words; empty where nothing is."""
    offers = [leg["offer"] for leg in plan["legs"]]
    route = rules.route_of(body)
    if _shape(offers) != _shape_of(body):
        return [f"is made of {', '.join(_shape(offers))}"]
    rides, stays = [each for each in offers if _is_ride(each)], [each for each in offers if not _is_ride(each)]
    found: list[str] = []
    for ride, (here, there) in zip(rides, pairwise(route), strict=True):
        found += (f"{ride['offer_id']} {fault}" for fault in _of_ride(ride, here, there, body, world))
    for stay, stop in zip(stays, body["stops"], strict=True):
        found += (f"{stay['offer_id']} {fault}" for fault in _of_stay(stay, stop, body))
    return [*found, *_of_days(rides, stays, body), *_of_changes(rides), *_of_money(plan, offers, body, world)]


def _shape_of(body: Mapping[str, Any]) -> list[str]:
    """A journey and a stay for each stop, and a journey back."""
    return ["ride", "hotel"] * len(body["stops"]) + (["ride"] if body["return_to"] else [])


def _shape(offers: list[Mapping[str, Any]]) -> list[str]:
    return ["ride" if _is_ride(offer) else "hotel" for offer in offers]


def _is_ride(offer: Mapping[str, Any]) -> bool:
    return offer["kind"] in ("flight", "train")


def _of_ride(ride: Mapping[str, Any], here: str, there: str, body: Mapping[str, Any], world: World) -> Iterator[str]:
    departs, arrives = _departs(ride), _arrives(ride)
    if (ride["origin_city"], ride["destination_city"]) != (here, there):
        yield f"goes from {ride['origin_city']} to {ride['destination_city']}, not from {here} to {there}"
    if departs <= world.now:
        yield "has left"
    if arrives - departs != timedelta(minutes=ride["duration_minutes"]) or arrives <= departs:
        yield f"takes {arrives - departs}, and says {ride['duration_minutes']} minutes"
    for city, moment in ((here, departs), (there, arrives)):
        if moment.utcoffset() != moment.astimezone(ZoneInfo(world.zones[city])).utcoffset():
            yield f"has a time that no clock in {city} shows: {moment.isoformat()}"
    if not rules.keeps_hours(body, departs, arrives):
        yield "is not within the hours"
    if not rules.keeps_weekdays(body, departs.date(), arrives.date()):
        yield "is on an unwanted weekday"
    if body["direct"] == "required" and ride["kind"] == "flight" and (ride["stops"] or ride["via"]):
        yield "is not direct"
    if _amount(ride["price"]) != _amount(ride["price_per_person"]) * body["travellers"] or ride["left"] < body["travellers"]:
        yield f"is not for {body['travellers']} travellers"


def _of_stay(stay: Mapping[str, Any], stop: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    nights = (date.fromisoformat(stay["check_out"]) - date.fromisoformat(stay["check_in"])).days
    if stay["city"] != stop["city"]:
        yield f"is in {stay['city']}, not in {stop['city']}"
    if {nights, stay["nights"]} != {stop["nights"]}:
        yield f"is for {nights} nights, not {stop['nights']}"
    if not body["stars"][0] <= stay["stars"] <= body["stars"][1]:
        yield f"has {stay['stars']} stars"
    price = _amount(stay["price_per_night"]) * nights * body["rooms"]
    if stay["rooms"] != body["rooms"] or stay["left"] < body["rooms"] or _amount(stay["price"]) != price:
        yield f"is not for {body['rooms']} rooms"


def _of_days(rides: list[Mapping[str, Any]], stays: list[Mapping[str, Any]], body: Mapping[str, Any]) -> Iterator[str]:
    for ride, stay in zip(rides, stays, strict=False):
        if stay["check_in"] != _arrives(ride).date().isoformat():
            yield f"{stay['offer_id']} does not begin on the day of arrival"
    for stay, ride in zip(stays, rides[1:], strict=False):
        if stay["check_out"] != _departs(ride).date().isoformat():
            yield f"{ride['offer_id']} does not leave on the day of the check-out"
    begins = _departs(rides[0]).date()
    if begins not in rules.first_days(body):
        yield f"begins on {begins}"
    ends = max(date.fromisoformat(stays[-1]["check_out"]), _arrives(rides[-1]).date())
    if not rules.ends_in_time(body, ends):
        yield f"ends on {ends}"


def _of_changes(rides: list[Mapping[str, Any]]) -> Iterator[str]:
    for earlier, later in pairwise(rides):
        needed = timedelta(minutes=rules.minutes_to_change(earlier["kind"], later["kind"]))
        if _departs(later) - _arrives(earlier) < needed:
            yield f"{later['offer_id']} leaves before one can change to it"


def _of_money(plan: Mapping[str, Any], offers: list[Mapping[str, Any]], body: Mapping[str, Any], world: World) -> Iterator[str]:
    if {plan["currency"], *(offer["currency"] for offer in offers)} != {rules.PRICES_IN}:
        yield "is priced in several currencies"
    total = sum((_amount(offer["price"]) for offer in offers), Decimal(0))
    if _amount(plan["total"]) != total:
        yield f"costs {total}, and says {plan['total']}"
    if not rules.is_affordable(body, total, world.rates):
        yield f"costs {total} {rules.PRICES_IN}, more than {body['budget']} {body['currency']}"


def _departs(ride: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(ride["departs"])


def _arrives(ride: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(ride["arrives"])


def _amount(value: Any) -> Decimal:
    return Decimal(str(value))
