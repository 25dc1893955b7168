"""Unjudged actions and what they may have done. Each is itself reported; its consequences are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sagagraph.domains.reunion.parsing import Broken, moment_in
from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.course import Excuse
from sagagraph.domains.reunion.times import is_dated

_PEOPLE = ("driver", "riders", "who")


@dataclass(frozen=True, slots=True)
class Trace:
    """Trace. None stands for what is unknown. `other_people`, `other_vehicles`: it may mean any of these that were at
    `origin`.
    """

    people: tuple[str, ...] = ()
    other_people: tuple[str, ...] = ()
    vehicle: str | None = None
    other_vehicles: tuple[str, ...] = ()
    task: str | None = None
    other_tasks: bool = False
    moves: bool = True
    origin: str | None = None
    to: str | None = None
    start: int | None = None
    is_restated: bool = False
    """Whether it had been done, and the plan states it otherwise."""

    def excuse(self, name: str, *, is_vehicle: bool) -> Excuse | None:
        """Return the journey of one person or vehicle that it may stand for."""
        is_named = name == self.vehicle if is_vehicle else name in self.people
        is_meant = is_named or name in (self.other_vehicles if is_vehicle else self.other_people)
        return Excuse(is_named, self.origin, self.to, self.start, self.is_restated) if self.moves and is_meant else None


def of_broken(broken: Broken, world: Circumstances) -> Trace:
    """Return its trace, as far as it can be read."""
    said, anybody, any_vehicle = broken.said, tuple(world.people), tuple(world.vehicles)
    if not isinstance(said, Mapping):
        return Trace(other_people=anybody, other_vehicles=any_vehicle, other_tasks=True)
    is_work = said.get("do") == "task" or ("task" in said and "vehicle" not in said and "to" not in said)
    is_journey = said.get("do") == "travel" or (not is_work and ("vehicle" in said or "to" in said))
    named = [name for field in _PEOPLE for name in _names_in(said.get(field))]
    is_named = all(name in world.people for name in named) and any(field in said for field in _PEOPLE)
    vehicle = _known(said.get("vehicle"), world.vehicles)
    task = _known(said.get("task"), world.tasks)
    start = moment_in(said.get("start"))
    return Trace(
        people=tuple(name for name in named if name in world.people),
        other_people=() if is_named else anybody,
        vehicle=vehicle,
        other_vehicles=any_vehicle if vehicle is None and not is_work else (),
        task=task,
        other_tasks=task is None and not is_journey,
        moves=not is_work,
        origin=_known(said.get("from"), world.problem.places),
        to=_known(said.get("to"), world.problem.places),
        start=None if start is None or is_dated(start) is not world.problem.is_dated else start,
    )


def of_unknown(act: Act, world: Circumstances) -> Trace | None:
    """Return the trace of an action with an unknown name, or without a driver where there should be one; None if nothing is open.

    An unknown name may mean anybody, if nobody drives any of the drivers, apart from those who are named.
    """
    if isinstance(act, Work):
        return None if act.task in world.tasks else Trace(other_tasks=True, moves=False)
    places, vehicle = world.problem.places, world.vehicles.get(act.vehicle)
    if any(name not in world.people for name in act.people):
        meant = tuple(world.people)
    else:
        meant = vehicle.drivers or () if vehicle is not None and act.driver is None else ()
    others = tuple(name for name in meant if name not in act.people)
    if not others and vehicle is not None and act.to in places:
        return None
    return Trace(
        people=() if act.to in places else act.people,
        other_people=others,
        vehicle=None if act.to in places else act.vehicle,
        other_vehicles=() if vehicle is not None else tuple(world.vehicles),
        origin=_known(act.from_, places),
        to=_known(act.to, places),
        start=act.start,
    )


def of_lost(act: Act, *, is_restated: bool) -> Trace:
    """Return the trace of an earlier plan's action that should still be there as it was."""
    if isinstance(act, Journey):
        people, vehicle = act.people, act.vehicle
        return Trace(people, (), vehicle, origin=act.from_, to=act.to, start=act.start, is_restated=is_restated)
    return Trace(task=act.task, moves=False)


def _names_in(value: object) -> Iterator[str]:
    """Return the names in it; an unknown name stands for nobody."""
    for each in value if isinstance(value, list) else [] if value is None else [value]:
        yield each if isinstance(each, str) else ""


def _known(value: object, names: Mapping[str, Any]) -> str | None:
    return value if isinstance(value, str) and value in names else None
