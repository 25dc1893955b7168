"""Journeys: whether vehicles can go where and as fast as the plan says, and who drives them."""

from __future__ import annotations

from collections.abc import Iterator

from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.request import Vehicle
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.domains.reunion.rules.facts.simulation import Obstacle
from sagagraph.validators.verdict import Violation


def check_roads(case: Case) -> Iterator[Violation]:
    for index, journey in case.journeys:
        if {journey.from_, journey.to} <= case.problem.places.keys():
            rerouted = case.history.is_rerouted(index) if case.history else None
            yield from _check_road(case, index, journey, case.world.needed(journey, rerouted=rerouted))


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


def check_vehicles_ready(case: Case) -> Iterator[Violation]:
    """Check for rentals that are not unlocked, and vehicles that have broken down."""
    hindered = [each for each in case.simulation.hindrances if each.obstacle is Obstacle.NOT_YET_AVAILABLE]
    early = {each.index for each in hindered if each.subject.is_vehicle}
    for index, journey in case.journeys:
        vehicle = case.world.vehicles.get(journey.vehicle)
        why = vehicle and index not in early and _not_ready(case, vehicle, journey)
        if why:
            yield Violation(
                code="NOT_YET_AVAILABLE",
                message=f"{journey.vehicle} leaves {journey.from_} at {clock(journey.start)[0]}: {why}",
                scope={"vehicle": journey.vehicle, "action": index},
                evidence={"starts": clock(journey.start)[0]},
            )


def _not_ready(case: Case, vehicle: Vehicle, journey: Journey) -> str:
    down = case.world.breakdown(vehicle.name, journey.start)
    if down is not None:
        until = "" if down.until is None else f" until {clock(down.until)[0]}"
        return f"it is down from {clock(down.at)[0]} on{until}"
    if vehicle.unlocked_by is None:
        return ""
    unlocked, by = case.first_end(vehicle.unlocked_by), f"it is unlocked by {vehicle.unlocked_by!r}"
    if unlocked is None:
        return "" if case.is_accounted_for(vehicle.unlocked_by) else f"{by}, which nobody does"
    return f"{by} at {clock(unlocked)[0]}" if journey.start < unlocked else ""
