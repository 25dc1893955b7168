"""Journeys: whether vehicles can go where and as fast as the plan says, and who drives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from sagagraph.domains.reunion.rules.days import VERSION
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.domains.reunion.rules.facts.circumstances import Way
from sagagraph.validators.concern import each_row
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation


class Seats(Struct, frozen=True, array_like=True):
    """Seats of a vehicle. `drivers` None: it brings its own."""

    count: int
    drivers: tuple[str, ...] | None


class Ride(Struct, frozen=True, array_like=True):
    """Ride: a journey, and what the problem says about its road, its vehicle and the people in it."""

    action: int
    vehicle: str
    from_: str
    to: str
    start: int
    end: int
    driver: str | None
    riders: tuple[str, ...]
    way: Way | None
    """None: at least one of its ends is not known."""
    rerouted: bool | None
    """Whether it goes elsewhere than it first did; None: not known."""
    seats: Seats | None
    """None: the vehicle is not known."""
    present: tuple[str, ...]
    """People in it who take part at its start, sorted."""
    may_drive: bool
    """The driver drives at all."""

    @property
    def people(self) -> list[str]:
        return [*(() if self.driver is None else (self.driver,)), *self.riders]

    def __str__(self) -> str:
        return f"{self.vehicle}, action {self.action}"


def _rides(case: Case) -> Iterator[Ride]:
    world, history = case.world, case.history
    for index, act in case.journeys:
        vehicle = world.vehicles.get(act.vehicle)
        yield Ride(
            index,
            act.vehicle,
            act.from_,
            act.to,
            act.start,
            act.end,
            act.driver,
            act.riders,
            world.way(act) if act.from_ in case.problem.places and act.to in case.problem.places else None,
            history.is_rerouted(index) if history else None,
            None if vehicle is None else Seats(vehicle.seats, vehicle.drivers),
            tuple(sorted({name for name in act.people if world.takes_part(name, act.start)})),
            act.driver not in world.people or world.people[act.driver].drives is not False,
        )


def _check(ride: Ride) -> Iterator[Violation]:
    yield from _check_road(ride)
    if ride.seats is not None:
        yield from _check_driver(ride, ride.seats)
        aboard, seats = len(ride.present), ride.seats.count
        if aboard > seats:
            yield Violation(
                code="CAPACITY",
                message=f"{ride.vehicle} at {clock(ride.start)[0]}: {aboard} people for {seats} seats",
                scope={"vehicle": ride.vehicle, "people": list(ride.present), "action": ride.action},
                evidence={"people": aboard, "seats": seats, "too_many": aboard - seats},
            )


def _check_road(ride: Ride) -> Iterator[Violation]:
    stated = ride.end - ride.start
    needed = ride.way.needed(rerouted=ride.rerouted) if ride.way else stated
    if needed is not None and stated >= needed:
        return
    ends = {"from": ride.from_, "to": ride.to}
    scope = {"people": ride.people, "vehicle": ride.vehicle, **ends, "action": ride.action}
    said = f"{ride.vehicle}, {ride.from_} to {ride.to} at {clock(ride.start)[0]}"
    if needed is not None:
        why = f"{stated} minutes for a way of {needed}, {needed - stated} too few"
        evidence = {"stated": stated, "needed": needed, "short_by": needed - stated}
        yield Violation(code="TRAVEL_TIME", message=f"{said}: {why}", scope=scope, evidence=evidence)
    else:
        closed = ride.way.closed_at if ride.way else None
        why = "no direct way is listed" if closed is None else f"that road is closed from {clock(closed)[0]} on"
        yield Violation(code="NO_ROUTE", message=f"{said}: {why}", scope=scope)


def _check_driver(ride: Ride, seats: Seats) -> Iterator[Violation]:
    why = _no_driver(ride, seats)
    if why:
        whose: dict[str, Any] = {"people": [ride.driver]} if ride.driver else {}
        yield Violation(
            code="NO_DRIVER",
            message=f"{ride.vehicle} at {clock(ride.start)[0]}, {ride.from_} to {ride.to}: {why}",
            scope={"vehicle": ride.vehicle, **whose, "action": ride.action},
            evidence={"driver": ride.driver, "drivers": list(seats.drivers or ())},
        )


def _no_driver(ride: Ride, seats: Seats) -> str:
    """Return the fault of the drivers; an unknown driver is reported as such."""
    is_known = ride.driver in ride.present
    if seats.drivers is None:
        return f"it brings its own driver, and {ride.driver} is not to drive it" if is_known else ""
    if ride.driver is None:
        return "nobody drives it"
    if is_known and ride.driver not in seats.drivers:
        return f"{ride.driver} is not one of its drivers"
    return f"{ride.driver} does not drive" if is_known and not ride.may_drive else ""


JOURNEYS = each_row("journey", Kind.FACTUAL, Ride, _rides, _check, VERSION)
