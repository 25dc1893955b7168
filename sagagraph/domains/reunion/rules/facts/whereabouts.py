"""Whereabouts: where everybody is at a moment of a plan, also half-way along a road."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sagagraph.domains.reunion.plan import Journey, Work
from sagagraph.domains.reunion.rules.facts.simulation import Simulation, Subject


@dataclass(frozen=True, slots=True)
class Leg:
    """The road that somebody is on: `elapsed` of its stated `minutes`."""

    from_: str
    to: str
    elapsed: int
    minutes: int
    vehicle: str


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Whereabouts of one subject. `places`: one, or several if the plan contradicts itself; none on the way."""

    name: str
    is_vehicle: bool
    places: tuple[str, ...]
    leg: Leg | None
    tasks: tuple[str, ...]
    is_available: bool


def whereabouts(simulation: Simulation, at: int) -> Iterator[Whereabouts]:
    """Return those of all people and vehicles that take part at that moment."""
    for subject in simulation.courses:
        if subject.is_vehicle or simulation.world.takes_part(subject.name, at):
            yield _of(simulation, subject, at)


def in_words(found: Whereabouts) -> str:
    """Return `Alex is between B and T, 10 of 30 minutes`."""
    place = " or ".join(found.places)
    if found.leg is not None:
        place = f"between {found.leg.from_} and {found.leg.to}, {found.leg.elapsed} of {found.leg.minutes} minutes"
    doing = f", at work on {' and '.join(found.tasks)}" if found.tasks else ""
    if not found.is_available:
        return f"{found.name} is not available yet, and will be at {place}"
    return f"{found.name} is {place if found.leg else f'at {place}'}{doing}"


def _of(simulation: Simulation, subject: Subject, at: int) -> Whereabouts:
    course = simulation.courses[subject]
    index = simulation.journey_at(subject, at)
    journey = None if index is None else simulation.actions[index]
    works = (act for act in map(simulation.actions.__getitem__, course.works) if not simulation.is_watched(act))
    return Whereabouts(
        name=subject.name,
        is_vehicle=subject.is_vehicle,
        places=() if journey else tuple(sorted(course.places_at(at))),
        leg=_leg(journey, at) if isinstance(journey, Journey) else None,
        tasks=tuple(work.task for work in works if isinstance(work, Work) and work.start <= at < work.end),
        is_available=simulation.is_ready(subject, at),
    )


def _leg(journey: Journey, at: int) -> Leg:
    return Leg(journey.from_, journey.to, at - journey.start, journey.end - journey.start, journey.vehicle)
