"""Parts: a part of a problem and its plan, by which one rule can be judged: what a slice of a reunion holds.

The rules see a part as they would see the whole: everything that is not in it does not concern them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from msgspec import Struct
from pydantic import TypeAdapter

from sagagraph.domains.reunion.events import EVENTS, Added, Cancelled, Delayed
from sagagraph.domains.reunion.parsing import ParsedPlan
from sagagraph.domains.reunion.plan import Act, Work
from sagagraph.domains.reunion.request import Goal, Person, ReunionProblem, Road, Task, Vehicle
from sagagraph.domains.reunion.rules.facts.case import Case
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.unjudged import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import BaseModel

    from sagagraph.domains.reunion.events import Event

_ROAD: TypeAdapter[Road] = TypeAdapter(Road)
_PERSON, _VEHICLE, _TASK, _GOAL = TypeAdapter(Person), TypeAdapter(Vehicle), TypeAdapter(Task), TypeAdapter(Goal)
_ACT: TypeAdapter[Act] = TypeAdapter(Act)
ACTIONS = TypeAdapter(dict[int, Act])
T = TypeVar("T")
Json = dict[str, Any]
_NOTHING: Final = ReunionProblem.model_construct(name="part", places={}, people=())


class Traced(Struct, frozen=True, omit_defaults=True):
    """What an action that cannot be judged may have done, as far as it matters here."""

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

    @property
    def trace(self) -> Trace:
        return Trace(
            frozenset(self.people),
            frozenset(self.other_people),
            self.vehicle,
            frozenset(self.other_vehicles),
            self.task,
            self.other_tasks,
            self.moves,
            self.origin,
            self.to,
            self.start,
        )


class Part(Struct, frozen=True, omit_defaults=True):
    """In the form of the files. `about`: the actions to be judged; the others are there for them."""

    about: tuple[int, ...] = ()
    actions: dict[str, Json] = {}
    """By their index, written as text: JSON has no other keys."""
    places: tuple[str, ...] = ()
    roads: tuple[Any, ...] = ()
    people: tuple[Json, ...] = ()
    vehicles: tuple[Json, ...] = ()
    tasks: tuple[Json, ...] = ()
    goals: tuple[Json, ...] = ()
    events: tuple[Json, ...] = ()
    traces: tuple[Traced, ...] = ()
    rerouted: bool | None = None
    """Whether the journey goes elsewhere than it first did; None: not known."""


@dataclass(frozen=True)
class _Told:
    """As much of the history as a part tells."""

    rerouted: bool | None
    lost: tuple[Act, ...] = ()

    def is_rerouted(self, _index: int) -> bool | None:
        return self.rerouted


class PartCase(Case):
    """The case of a part. Its traces were found where all actions are known."""

    @classmethod
    def of(cls, part: Part) -> PartCase:
        problem = _NOTHING.model_copy(
            update={
                "places": dict.fromkeys(part.places, ""),
                "travel_minutes": _all(_ROAD, part.roads),
                "people": _all(_PERSON, part.people),
                "vehicles": _all(_VEHICLE, part.vehicles),
                "tasks": _all(_TASK, part.tasks),
                "goals": _all(_GOAL, part.goals),
            }
        )
        world = Circumstances(problem, EVENTS.validate_python(list(part.events)))
        told: Any = _Told(part.rerouted)
        acts = dict(zip(map(int, part.actions), _all(_ACT, part.actions.values()), strict=True))
        case = cls(world, ParsedPlan(acts), told)
        case.__dict__["traces"] = tuple(each.trace for each in part.traces)
        return case


def _all(kind: TypeAdapter[T], values: Iterable[Any]) -> tuple[T, ...]:
    return tuple(_read(kind, msgspec.json.encode(each)) for each in values)


@lru_cache(maxsize=10_000)
def _read(kind: TypeAdapter[T], written: bytes) -> T:
    """The same person or action is in many parts: it is read once."""
    return kind.validate_python(msgspec.json.decode(written))


def by_index(acts: Mapping[int, Json]) -> dict[str, Json]:
    return {str(index): act for index, act in acts.items()}


def json_of(value: BaseModel) -> Json:
    return value.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)


def act_json(act: Act, **changes: Any) -> Json:
    return {**json_of(act), "do": act.do, **changes}


def person_json(case: Case, name: str, *, with_goals: bool = False) -> tuple[Json, ...]:
    """Somebody of the problem, as far as rules look at them; who is added later is in an event."""
    found = next((each for each in case.problem.people if each.name == name), None)
    left_out = {"prefers"} if with_goals else {"prefers", "goals"}
    return () if found is None else ({k: v for k, v in json_of(found).items() if k not in left_out},)


def people_json(case: Case, names: Iterable[str]) -> tuple[Json, ...]:
    return tuple(each for name in dict.fromkeys(names) for each in person_json(case, name))


def events_about(case: Case, names: Iterable[str], *others: type[Any]) -> tuple[Json, ...]:
    """The events that concern these people, and all of the `others`."""
    wanted = set(names)
    return tuple(json_of_event(event) for event in case.world.events if _is_about(event, wanted) or isinstance(event, others))


def _is_about(event: Event, names: set[str]) -> bool:
    if isinstance(event, Added):
        return event.person.name in names
    return isinstance(event, Delayed | Cancelled) and event.person in names


def json_of_event(event: Event) -> Json:
    return {**json_of(event), "event": event.event}


def known_places(case: Case, names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name is not None and name in case.problem.places}))


def task_json(case: Case, name: str, *fields: str) -> tuple[Json, ...]:
    """A task with these fields, or all of them without any."""
    task = case.world.tasks.get(name)
    if task is None:
        return ()
    told = json_of(task)
    return ({key: value for key, value in told.items() if not fields or key in ("name", *fields)},)


def traced(case: Case, name: str, *, is_vehicle: bool) -> tuple[Traced, ...]:
    """The traces of what may have moved somebody, or a vehicle."""
    return tuple(
        Traced(
            people=(name,) if name in each.people and not is_vehicle else (),
            other_people=(name,) if name in each.other_people and not is_vehicle else (),
            vehicle=each.vehicle if is_vehicle else None,
            other_vehicles=(name,) if name in each.other_vehicles and is_vehicle else (),
            origin=each.origin,
            to=each.to,
            start=each.start,
        )
        for each in case.traces
        if each.moves and _may_be(each, name, is_vehicle=is_vehicle)
    )


def _may_be(trace: Trace, name: str, *, is_vehicle: bool) -> bool:
    if is_vehicle:
        return name == trace.vehicle or name in trace.other_vehicles
    return name in trace.people or name in trace.other_people


def at_its_site(case: Case, index: int, act: Work) -> Json:
    """A task's action where it is done: what can be done anywhere is done where its people meet."""
    own = case.world.tasks[act.task].place if act.task in case.world.tasks else None
    site = case.simulation.sites.get(index)
    return act_json(act) if own is not None or site is None else act_json(act, place=site)


def first_work(case: Case, task: str) -> Mapping[int, Json]:
    """The action that completes a task first."""
    works = [(work.end, index, work) for index, work in case.works if work.task == task]
    if not works:
        return {}
    _end, index, work = min(works, key=lambda each: each[:2])
    return {index: act_json(work, who=[])}
