"""Journeys: whether vehicles can go where and as fast as the plan says, and who drives them."""

from __future__ import annotations

from collections.abc import Iterator

from sagagraph.domains.reunion.events import Event, MayReroute, RoadClosed, TravelFactor
from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.request import Vehicle
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.domains.reunion.rules.facts.part import (
    Part,
    checking,
    events_about,
    known_places,
    raw,
    raw_act,
    raw_events,
    raw_people,
)
from sagagraph.validators.concern import Concern
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


def _scopes(case: Case) -> Iterator[tuple[str, Part]]:
    """The driver is shown as in the problem; of riders it matters only that they are known."""
    for index, journey in case.journeys:
        vehicle, ends = case.world.vehicles.get(journey.vehicle), {journey.from_, journey.to}
        drivers = () if journey.driver is None else (journey.driver,)
        riders = [name for name in journey.riders if name != journey.driver]
        yield (
            f"{journey.vehicle}, action {index}",
            Part(
                about=(index,),
                actions={str(index): raw_act(journey)},
                places=known_places(case, ends),
                roads=tuple(raw(each) for each in case.problem.travel_minutes if {each.here, each.there} == ends),
                people=(*raw_people(case, drivers), *raw_people(case, riders, ("name", "place"))),
                vehicles=() if vehicle is None else (raw(vehicle),),
                events=(
                    *events_about(case, journey.people),
                    *raw_events(each for each in case.world.events if _is_on_the_way(each, journey)),
                ),
                rerouted=case.is_rerouted(index),
            ),
        )


def _is_on_the_way(event: Event, journey: Journey) -> bool:
    match event:
        case TravelFactor():
            return event.place in (journey.from_, journey.to)
        case RoadClosed():
            return {event.from_, event.to} == {journey.from_, journey.to}
        case MayReroute():
            return event.vehicle == journey.vehicle
        case _:
            return False


def check_roads(case: Case) -> Iterator[Violation]:
    for index, journey in case.journeys:
        if {journey.from_, journey.to} <= case.problem.places.keys():
            yield from _check_road(case, index, journey, case.world.needed(journey, rerouted=case.is_rerouted(index)))


def _check_road(case: Case, index: int, journey: Journey, needed: int | None) -> Iterator[Violation]:
    way = {"from": journey.from_, "to": journey.to}
    scope = {"people": list(journey.people), "vehicle": journey.vehicle, **way, "action": index}
    said = f"{journey.vehicle}, {journey.from_} to {journey.to} at {clock(journey.start)[0]}"
    stated = journey.end - journey.start
    if needed is None:
        closed = case.world.closure(journey.from_, journey.to, journey.start)
        why = f"that road is closed from {clock(closed.at)[0]} on" if closed else "no direct way is listed"
        yield Violation(code="NO_ROUTE", message=f"{said}: {why}", scope=scope)
    elif stated < needed:
        yield Violation(
            code="TRAVEL_TIME",
            message=f"{said}: {stated} minutes for a way of {needed}, {needed - stated} too few",
            scope=scope,
            evidence={"stated": stated, "needed": needed, "short_by": needed - stated},
        )


def check_drivers(case: Case) -> Iterator[Violation]:
    """Check drivers. An unknown driver is reported as such."""
    for index, journey in case.journeys:
        vehicle = case.world.vehicles.get(journey.vehicle)
        why = vehicle and _no_driver(case, vehicle, journey)
        if why:
            yield Violation(
                code="NO_DRIVER",
                message=f"{journey.vehicle} at {clock(journey.start)[0]}, {journey.from_} to {journey.to}: {why}",
                scope={
                    "vehicle": journey.vehicle,
                    **({"people": [journey.driver]} if journey.driver else {}),
                    "action": index,
                },
                evidence={"driver": journey.driver, "drivers": list(vehicle.drivers or ()) if vehicle else []},
            )


def _no_driver(case: Case, vehicle: Vehicle, journey: Journey) -> str:
    name = journey.driver
    if vehicle.drivers is None:
        known = name is not None and case.world.takes_part(name, journey.start)
        return f"it brings its own driver, and {name} is not to drive it" if known else ""
    if name is None:
        return "nobody drives it"
    if not case.world.takes_part(name, journey.start):
        return ""
    if name not in vehicle.drivers:
        return f"{name} is not one of its drivers"
    return f"{name} does not drive" if case.world.people[name].drives is False else ""


def check_seats(case: Case) -> Iterator[Violation]:
    """Check that everybody aboard has a seat, the driver too unless the vehicle brings its own. Unknown names need none."""
    for index, journey in case.journeys:
        vehicle = case.world.vehicles.get(journey.vehicle)
        aboard = sorted({name for name in journey.people if case.world.takes_part(name, journey.start)})
        if vehicle is not None and len(aboard) > vehicle.seats:
            yield Violation(
                code="CAPACITY",
                message=f"{vehicle.name} at {clock(journey.start)[0]}: {len(aboard)} people for {vehicle.seats} seats",
                scope={"vehicle": vehicle.name, "people": aboard, "action": index},
                evidence={"people": len(aboard), "seats": vehicle.seats, "too_many": len(aboard) - vehicle.seats},
            )


JOURNEYS = Concern("journey", Kind.FACTUAL, Part, _scopes, checking(check_roads, check_drivers, check_seats))
