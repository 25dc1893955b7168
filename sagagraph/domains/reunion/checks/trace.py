"""What an action that can not be judged may have done: it is reported itself, and what follows from it is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sagagraph.domains.reunion.circumstances import Circumstances
from sagagraph.domains.reunion.parsing import Broken, moment_in
from sagagraph.domains.reunion.plan import Act, Journey, Work

_PEOPLE = ("driver", "riders", "who")


@dataclass(frozen=True, slots=True)
class Trace:
    """Nothing is known of what is None. `others`: also people or vehicles that it does not name, of those at `origin`."""

    people: frozenset[str] = frozenset()
    other_people: bool = False
    vehicle: str | None = None
    other_vehicles: bool = False
    task: str | None = None
    other_tasks: bool = False
    moves: bool = True
    origin: str | None = None
    to: str | None = None
    start: int | None = None

    def may_have_moved(self, name: str, *, is_vehicle: bool, places: frozenset[str], to: str, by: int) -> bool:
        """To `to` until `by`, from one of `places`."""
        if not self.moves or (self.start is not None and self.start > by) or self.to not in (None, to):
            return False
        if name == self.vehicle if is_vehicle else name in self.people:
            return True
        may_be_another = self.other_vehicles if is_vehicle else self.other_people
        return may_be_another and (self.origin is None or self.origin in places)


def of_broken(broken: Broken, world: Circumstances) -> Trace:
    """As far as it can be read."""
    said = broken.said
    if not isinstance(said, Mapping):
        return Trace(other_people=True, other_vehicles=True, other_tasks=True)
    is_work = said.get("do") == "task" or ("task" in said and "vehicle" not in said and "to" not in said)
    is_journey = said.get("do") == "travel" or (not is_work and ("vehicle" in said or "to" in said))
    named = [name for field in _PEOPLE for name in _names_in(said.get(field))]
    vehicle = _known(said.get("vehicle"), world.vehicles)
    task = _known(said.get("task"), world.tasks)
    return Trace(
        people=frozenset(name for name in named if name in world.people),
        other_people=not all(name in world.people for name in named) or not any(field in said for field in _PEOPLE),
        vehicle=vehicle,
        other_vehicles=vehicle is None and not is_work,
        task=task,
        other_tasks=task is None and not is_journey,
        moves=not is_work,
        origin=_known(said.get("from"), world.problem.places),
        to=_known(said.get("to"), world.problem.places),
        start=moment_in(said.get("start")),
    )


def of_unknown(act: Act, world: Circumstances) -> Trace | None:
    """Of an action with a name that nobody has; None if all are known."""
    if isinstance(act, Work):
        return None if act.task in world.tasks else Trace(other_tasks=True, moves=False)
    places = world.problem.places
    strangers = any(name not in world.people for name in act.people)
    if not strangers and act.vehicle in world.vehicles and act.to in places:
        return None
    return Trace(
        people=frozenset() if act.to in places else frozenset(act.people),
        other_people=strangers,
        vehicle=None if act.to in places else act.vehicle,
        other_vehicles=act.vehicle not in world.vehicles,
        origin=_known(act.from_, places),
        to=_known(act.to, places),
        start=act.start,
    )


def of_lost(act: Act) -> Trace:
    """Of an action of an earlier plan that should still be there as it was."""
    if isinstance(act, Journey):
        return Trace(people=frozenset(act.people), vehicle=act.vehicle, origin=act.from_, to=act.to, start=act.start)
    return Trace(task=act.task, moves=False)


def _names_in(value: object) -> Iterator[str]:
    """What stands for nobody is a name that nobody has."""
    for each in value if isinstance(value, list) else [] if value is None else [value]:
        yield each if isinstance(each, str) else ""


def _known(value: object, names: Mapping[str, Any]) -> str | None:
    return value if isinstance(value, str) and value in names else None
